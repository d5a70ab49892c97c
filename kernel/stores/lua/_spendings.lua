-- What model calls used up, summed by chat and day (`spent`) and by person and day (`spentby`).

local SUMS = {'input', 'output', 'cached', 'money'}

local function chat_of(c)
  return string.match(c, '^[^:]*:[^:]*')
end

local function spent_on(c, day)
  return redis.call('HMGET', K.spent .. chat_of(c) .. ':' .. day, unpack(SUMS))
end

-- Of persons beyond the bound of a day the sums are one, under no name.
local function spend(c, person, day, amounts)
  local of_chat = K.spent .. chat_of(c) .. ':' .. day
  local of_people = K.spentby .. platform_of(c) .. ':' .. day
  local is_known = redis.call('HEXISTS', of_people, person .. ' ' .. SUMS[1]) == 1
  if not is_known and redis.call('HLEN', of_people) >= L.most_spenders * #SUMS then person = '' end
  for number, sum in ipairs(SUMS) do
    redis.call('HINCRBY', of_chat, sum, amounts[number])
    redis.call('HINCRBY', of_people, person .. ' ' .. sum, amounts[number])
  end
  redis.call('EXPIRE', of_chat, L.spent)
  redis.call('EXPIRE', of_people, L.spentby)
end
