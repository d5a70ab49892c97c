-- worker, now, lease, tries at which only the brave take, brave, ticket, days -> false, or the lease and all that is stored
--
-- The ticket names this call: when its answer was lost, the same call gives the same lease and counts no second try.
local worker, now, lease, last, is_brave, ticket = take(), take_number(), take_number(), take_number(), take() == '1', take()
local days = {take(), take(), take()}

local function hand_out(c, fence, tries)
  redis.call('HSET', K.s .. c, 'holder', worker, 'until', num(now + lease))
  place(c)
  local kept = redis.call('HMGET', K.s .. c, 'session', 'zone')
  local spent = {}
  for number, day in ipairs(days) do spent[number] = spent_on(c, day) end
  return {c, num(fence), num(tries), kept[1],
    redis.call('LRANGE', K.h .. c, 0, -1), redis.call('LRANGE', K.notes .. c, 0, -1),
    redis.call('HGETALL', K.files .. c), kept[2], spent}
end

local told = redis.call('GET', K.ticket .. ticket)
if told then
  local fence, c = string.match(told, '^(%d+) (.*)$')
  if redis.call('HGET', K.s .. c, 'holder') == worker and holds(c, fence) then
    return hand_out(c, tonumber(fence), tonumber(redis.call('HGET', K.s .. c, 'tries')))
  end
end

local skipped = 0
while true do
  local c = redis.call('ZRANGE', K.ready, '-inf', num(now), 'BYSCORE', 'LIMIT', skipped, 1)[1]
  if not c then return false end
  local tries = tonumber(redis.call('HGET', K.s .. c, 'tries') or 0) + 1
  if tries ~= last or is_brave then
    local fence = redis.call('HINCRBY', K.s .. c, 'fence', 1)
    redis.call('HSET', K.s .. c, 'tries', num(tries))
    redis.call('SET', K.ticket .. ticket, num(fence) .. ' ' .. c, 'EX', L.ticket)
    return hand_out(c, fence, tries)
  end
  skipped = skipped + 1
end
