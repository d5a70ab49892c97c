-- conversation, fence, delivery, now, lease, outcome ('' for what the firing asks), detail -> lost, '' or the next head
local c, fence, id, now, lease, outcome, detail = take(), take(), take(), take_number(), take_number(), take(), take()

if redis.call('HGET', K.o .. c, 'fence') ~= fence then return 'lost' end
if redis.call('LINDEX', K.ox .. c, 0) == id then
  local proves = drop_head(c, id)
  if proves then
    local trigger, due, word = string.match(proves, '^(%S+) (%S+) (%S+)$')
    write_ledger(trigger, due, outcome == '' and word or outcome, detail)
  end
end
local head = redis.call('LINDEX', K.ox .. c, 0)
if not head then
  free_line(c)
  return ''
end
redis.call('HSET', K.o .. c, 'until', num(now + lease))
place_line(c)
return head_of(c, head, tonumber(fence))
