-- conversation, fence, now, lease -> held | lost; a lapsed lease that nobody took is still its holder's
--
-- Without a holder it has been released: a renewal that arrives behind the release must not make others wait for it.
local c, fence, now, lease = take(), take(), take_number(), take_number()

if not holds(c, fence) or redis.call('HEXISTS', K.s .. c, 'holder') == 0 then return 'lost' end
redis.call('HSET', K.s .. c, 'until', num(now + lease))
place(c)
return 'held'
