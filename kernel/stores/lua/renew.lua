-- conversation, fence, now, lease -> held | lost; a lapsed lease that nobody took is still its holder's
local c, fence, now, lease = take(), take(), take_number(), take_number()

if not holds(c, fence) then return 'lost' end
redis.call('HSET', K.s .. c, 'until', num(now + lease))
place(c)
return 'held'
