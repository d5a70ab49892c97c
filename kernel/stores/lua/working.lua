-- conversation, turn: it works here, for a while
local c, turn = take(), take()

redis.call('SET', K.working .. c, turn, 'EX', L.working)
local live = K.live .. platform_of(c)
redis.call('ZADD', live, 'GT', num(server_now() + L.working * 1000000), c)
redis.call('EXPIRE', live, L.live)
redis.call('PUBLISH', K.out_channel .. platform_of(c), c)
return 'done'
