-- now, limits (key, most, kept, window, refills) -> how long to wait; '0' when the call is counted against all of them
--
-- Of each key the newest `most` instants are kept: a call fits when the one that would have to leave is old enough. Of
-- a limit that refills an instant is when its call will have come back, one share of the window after the one before.
local now = take_number()
local counted, wait = {}, 0
for _ = 1, take_number() do
  local key, most, kept, window, refills = take(), take_number(), take_number(), take_number(), take() == '1'
  wait = math.max(wait, tonumber(redis.call('GET', K.rest .. key) or 0) - now)
  if most > 0 then
    local share, instant = window / most, now
    if refills then
      local last = tonumber(redis.call('LINDEX', K.flood .. key, -1) or '')
      if last then
        wait = math.max(wait, math.min(last - (most - kept - 2) * share - now, window))
        instant = math.max(now, last + share)
      end
    else
      local at = redis.call('LINDEX', K.flood .. key, kept - most)
      if at then wait = math.max(wait, math.min(tonumber(at) + window - now, window)) end
    end
    counted[#counted + 1] = {K.flood .. key, most, window, instant}
  end
end
if wait > 0 then return num(wait) end
for _, each in ipairs(counted) do
  redis.call('RPUSH', each[1], num(each[4]))
  redis.call('LTRIM', each[1], -each[2], -1)
  redis.call('PEXPIRE', each[1], num(math.ceil(each[3] / 1000)))
end
return '0'
