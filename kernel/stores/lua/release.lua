-- conversation, fence, now, lease, keep -> again | hint | idle | lost; told again, it keeps nothing: it is given back
local c, fence, now, lease, keeps = take(), take(), take_number(), take_number(), take() == '1'

if not holds(c, fence) then return 'lost' end
redis.call('HSET', K.s .. c, 'tries', '0')
local at = work_at(c)
if keeps and at and at <= now and redis.call('HEXISTS', K.s .. c, 'holder') == 1 then
  redis.call('HSET', K.s .. c, 'until', num(now + lease))
  place(c)
  return 'again'
end
redis.call('HDEL', K.s .. c, 'holder', 'until')
return place(c) and 'hint' or 'idle'
