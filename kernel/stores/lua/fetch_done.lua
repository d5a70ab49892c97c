-- conversation, item, body, blobs, now -> as put; duplicate when it does not wait any more, then nothing is written
local c, id, body, blobs, now = take(), take(), take(), take(), take_number()

if redis.call('HDEL', K.im .. c, id .. ':until') == 0 then return 'duplicate' end
redis.call('ZREM', K.fetch .. platform_of(c), c .. ' ' .. id)
redis.call('HSET', K.it .. c, id, body)
if blobs ~= '' then redis.call('HSET', K.im .. c, id .. ':blobs', blobs) end
for blob in string.gmatch(blobs, '%S+') do hold(blob, 'i:' .. c .. ':' .. id) end
level(c, redis.call('ZRANK', K['in'] .. c, id))
return announce(c, now)
