-- platform:person, now, how long -> 1 the first time in that long, else 0
local who, now, span = take(), take_number(), take_number()
local before = tonumber(redis.call('GET', K.refused .. who) or '')
if before and now - before < span then return 0 end
redis.call('SET', K.refused .. who, num(now), 'EX', L.refused)
return 1
