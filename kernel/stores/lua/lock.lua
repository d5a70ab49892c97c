-- name, holder, now, how long -> held | lost; the key itself lapses too, should a caller's clock run ahead
local name, holder, now, span = take(), take(), take_number(), take_number()
local key = K.lock .. name
local has = redis.call('HGET', key, 'holder')
if has and has ~= holder and tonumber(redis.call('HGET', key, 'until')) > now then return 'lost' end
redis.call('HSET', key, 'holder', holder, 'until', num(now + span))
redis.call('EXPIRE', key, L.lock)
return 'held'
