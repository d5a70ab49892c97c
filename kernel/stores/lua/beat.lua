-- role:process, now, how long: it lives; who has not said so for that long is forgotten
local who, now, span = take(), take_number(), take_number()
redis.call('ZREMRANGEBYSCORE', K.beats, '-inf', num(now - span))
redis.call('ZADD', K.beats, num(now), who)
redis.call('EXPIRE', K.beats, L.beats)
return 'done'
