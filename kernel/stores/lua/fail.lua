-- conversation, fence, delivery, why -> done | lost; the next delivery may go
local c, fence, id, why = take(), take(), take(), take()

if redis.call('HGET', K.o .. c, 'fence') ~= fence then return 'lost' end
if redis.call('LINDEX', K.ox .. c, 0) == id then
  local proves = drop_head(c, id)
  if proves then
    local trigger, due = string.match(proves, '^(%S+) (%S+)')
    write_ledger(trigger, due, 'failed', why)
  end
end
free_line(c)
return 'done'
