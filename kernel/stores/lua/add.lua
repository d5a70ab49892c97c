-- conversation, name of this call, now, and one delivery; told again because its answer was lost, nothing is written
local c, call, now = take(), take(), take_number()
if redis.call('HGET', K.o .. c, 'added') == call then return 'done' end
redis.call('HSET', K.o .. c, 'added', call)
append_delivery(now, '')
return 'done'
