-- what and its window, event, seconds it is kept, events known -> the how many-th it is, 1 when it was counted before
local key, event, seconds, known = K.rate .. take(), 'e:' .. take(), take_number(), take_number()
local before = redis.call('HGET', key, event)
if before then return {tonumber(before), 1} end
local number = redis.call('HINCRBY', key, 'counted', 1)
if number == 1 then redis.call('EXPIRE', key, seconds) end
if number <= known then redis.call('HSET', key, event, number) end
return {number, 0}
