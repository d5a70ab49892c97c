-- conversation, fence, delivery, not before, '1' while a part may be out unknown to us, attempts -> done | lost
local c, fence, id, after, flight, attempts = take(), take(), take(), take(), take(), take_number()

if redis.call('HGET', K.o .. c, 'fence') ~= fence then return 'lost' end
if redis.call('LINDEX', K.ox .. c, 0) == id then
  redis.call('HINCRBY', K.dl .. c, id .. ':attempts', attempts)
  if flight == '' then redis.call('HDEL', K.dl .. c, id .. ':flight') end
end
redis.call('HSET', K.o .. c, 'after', after)
free_line(c)
return 'done'
