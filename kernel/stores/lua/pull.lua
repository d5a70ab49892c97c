-- platform, holder, now, lease, ticket, conversations that may be pulled (none: all)
-- -> false, or the head of the line that waits longest, prior ones first
--
-- The ticket names this call: when its answer was lost, the same call gives the same line, which nobody else may send.
local platform, holder, now, lease, ticket = take(), take(), take_number(), take_number(), take()
local allowed = {}
for _ = 1, take_number() do allowed[take()] = true end
local pulled = K.pulled .. platform .. ':' .. holder

local told = redis.call('GET', pulled)
if told then
  local number, fence, c = string.match(told, '^(%S+) (%d+) (.*)$')
  if number == ticket and redis.call('HGET', K.o .. c, 'fence') == fence then
    redis.call('HSET', K.o .. c, 'until', num(now + lease))
    place_line(c)
    return head_of(c, redis.call('LINDEX', K.ox .. c, 0), tonumber(fence))
  end
end

local function first_of(lines)
  if not next(allowed) then
    return redis.call('ZRANGE', lines .. platform, '-inf', num(now), 'BYSCORE', 'LIMIT', 0, 1)[1]
  end
  for _, c in ipairs(redis.call('ZRANGE', lines .. platform, '-inf', num(now), 'BYSCORE')) do
    if allowed[c] then return c end
  end
end

local c = first_of(K.oxfirst) or first_of(K.oxready)
if not c then return false end
local fence = redis.call('HINCRBY', K.o .. c, 'fence', 1)
redis.call('HSET', K.o .. c, 'holder', holder, 'until', num(now + lease))
redis.call('SET', pulled, ticket .. ' ' .. num(fence) .. ' ' .. c, 'EX', L.pulled)
place_line(c)
return head_of(c, redis.call('LINDEX', K.ox .. c, 0), fence)
