-- conversation, fence, turn, sequence, text; the last one wins, an older one is ignored
local c, fence, turn, sequence, text = take(), take_number(), take(), take_number(), take()

local key = K.draft .. c
local known = redis.call('HMGET', key, 'fence', 'turn', 'sequence')
if known[1] then
  if fence < tonumber(known[1]) then return 'old' end
  if fence == tonumber(known[1]) and turn == known[2] and sequence <= tonumber(known[3]) then return 'old' end
end
redis.call('HSET', key, 'fence', num(fence), 'turn', turn, 'sequence', num(sequence), 'text', text)
redis.call('EXPIRE', key, L.draft)
local live = K.live .. platform_of(c)
redis.call('ZADD', live, 'GT', num(server_now() + L.draft * 1000000), c)
redis.call('EXPIRE', live, L.live)
redis.call('PUBLISH', K.out_channel .. platform_of(c), c)
return 'done'
