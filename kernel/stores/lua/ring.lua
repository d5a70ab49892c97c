-- conversation, token, time of the alarm, body, now -> as put, or '' when the alarm was moved or removed
local c, token, at, body, now = take(), take(), take_number(), take(), take_number()

local stored = tonumber(redis.call('ZSCORE', K.due, 'x:' .. c .. '|' .. token) or '')
if stored ~= at then return '' end
set_alarm(c, token, '')
insert_item(c, body, -1, now, '')
return announce(c, now)
