-- conversation, fence, delivery, now, lease, token, ref, then field and value pairs -> held | lost
--
-- Check and renew the lease and record how far the head has come; empty values remove their field. With a token,
-- `ref` is one more place where its prompt is shown.
local c, fence, id, now, lease, token, ref = take(), take(), take(), take_number(), take_number(), take(), take()

local state = redis.call('HMGET', K.o .. c, 'fence', 'holder')
if state[1] ~= fence or not state[2] or redis.call('LINDEX', K.ox .. c, 0) ~= id then return 'lost' end
redis.call('HSET', K.o .. c, 'until', num(now + lease))
while cursor < #ARGV do
  local field, value = id .. ':' .. take(), take()
  if value == '' then
    redis.call('HDEL', K.dl .. c, field)
  else
    redis.call('HSET', K.dl .. c, field, value)
  end
end
if token ~= '' and redis.call('EXISTS', K.prompt .. token) == 1 then
  local is_known = false
  for _, place in ipairs(places_of(token)) do is_known = is_known or place == ref end
  if not is_known then
    redis.call('HSET', K.prompt .. token, 'p' .. num(redis.call('HINCRBY', K.prompt .. token, 'places', 1)), ref)
  end
end
place_line(c)
return 'held'
