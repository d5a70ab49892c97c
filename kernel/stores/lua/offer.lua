-- digest of a code, until when it is good, how many seconds it is kept: no other code is good any more
local code, ends, seconds = take(), take_number(), take_number()
redis.call('DEL', K.pairing)
redis.call('HSET', K.pairing, 'code', code, 'until', num(ends), 'wrong', 0)
redis.call('EXPIRE', K.pairing, seconds)
return 'done'
