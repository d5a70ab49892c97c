-- conversation, now -> id, body, id, body, … of what is due, in reading order
local c, now = take(), take_number()
local is_due, found = {}, {}
for _, id in ipairs(redis.call('ZRANGE', K.at .. c, '-inf', num(now), 'BYSCORE')) do is_due[id] = true end
if not next(is_due) then return found end
for _, id in ipairs(redis.call('ZRANGE', K['in'] .. c, 0, -1)) do
  if is_due[id] then
    found[#found + 1] = id
    found[#found + 1] = redis.call('HGET', K.it .. c, id)
  end
end
return found
