-- now, limit -> record or '', member, time of what is due, earliest first
local now, limit = take_number(), take_number()
local found = {}
local dues = redis.call('ZRANGE', K.due, '-inf', num(now), 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
for number = 1, #dues, 2 do
  local member = dues[number]
  local record = ''
  if string.sub(member, 1, 2) == 't:' then record = redis.call('HGET', K.tr .. string.sub(member, 3), 'record') end
  found[#found + 1] = {record, member, num(tonumber(dues[number + 1]))}
end
return found
