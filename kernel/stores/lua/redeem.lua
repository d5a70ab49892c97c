-- digest of the code, field and value of the grant, field that goes with it (or empty), platform, event, now, tries
-- -> owner | wrong | none
-- Told twice because its answer was lost, a right code is right again for the one who used it up; a wrong one that
-- comes again is the same try.
local code, field, value, ends, platform, event = take(), take(), take(), take(), take(), take()
local now, tries = take_number(), take_number()
local offered = redis.call('HMGET', K.pairing, 'code', 'until', 'wrong', 'used')
if not offered[1] or tonumber(offered[2]) <= now then return 'none' end
if offered[4] then return (offered[4] == platform .. ':' .. field and offered[1] == code) and 'owner' or 'none' end
if tonumber(offered[3]) >= tries then return 'wrong' end
if offered[1] ~= code then
  if redis.call('HSETNX', K.pairing, 'wrong:' .. event, '1') == 1 then redis.call('HINCRBY', K.pairing, 'wrong', 1) end
  return 'wrong'
end
redis.call('HSET', K.pairing, 'used', platform .. ':' .. field)
redis.call('HSET', K.granted .. platform, field, value)
if ends ~= '' then redis.call('HDEL', K.granted .. platform, ends) end
return 'owner'
