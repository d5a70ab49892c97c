-- blob, bytes: all its pieces are there, from now on it can be read
local blob, size = take(), take()
redis.call('HSET', K.b .. blob, 'size', size)
redis.call('EXPIRE', K.b .. blob, L.b)
return 'done'
