-- key, until, now: nobody gets through it before; a longer rest stays
local key, till, now = K.rest .. take(), take_number(), take_number()
if till <= now or till <= tonumber(redis.call('GET', key) or 0) then return 'done' end
redis.call('SET', key, num(till), 'PX', num(math.min(math.ceil((till - now) / 1000), L.rest * 1000)))
return 'done'
