-- digest of the code, field, value and platform of the grant, now, tries -> owner | wrong | none
-- Told twice because its answer was lost, a right code is right again for the one who used it up.
local code, field, value, platform, now, tries = take(), take(), take(), take(), take_number(), take_number()
local offered = redis.call('HMGET', K.pairing, 'code', 'until', 'wrong', 'used')
if not offered[1] or tonumber(offered[2]) <= now then return 'none' end
if offered[4] then return (offered[4] == platform .. ':' .. field and offered[1] == code) and 'owner' or 'none' end
if tonumber(offered[3]) >= tries then return 'wrong' end
if offered[1] ~= code then
  redis.call('HINCRBY', K.pairing, 'wrong', 1)
  return 'wrong'
end
redis.call('HSET', K.pairing, 'used', platform .. ':' .. field)
redis.call('HSET', K.granted .. platform, field, value)
return 'owner'
