-- conversation -> record and due time ('' for none) of each of its triggers
local c = take()
local found = {}
for _, id in ipairs(redis.call('SMEMBERS', K.trs .. c)) do
  local due = redis.call('ZSCORE', K.due, 't:' .. id)
  found[#found + 1] = {redis.call('HGET', K.tr .. id, 'record'), due and num(tonumber(due)) or ''}
end
return found
