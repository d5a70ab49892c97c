-- The outbox of a conversation: `o` its lease, `ox` the ids of its deliveries in order, `dl` what is known of each.

local FIELDS = {'body', 'at', 'prior', 'proves', 'blobs', 'edits', 'ends', 'attempts', 'parts', 'refs', 'flight'}

-- Keep the two sorted sets of a platform true: who may send something, and when.
local function place_line(c)
  local platform = platform_of(c)
  local head = redis.call('LINDEX', K.ox .. c, 0)
  if not head then
    redis.call('ZREM', K.oxfirst .. platform, c)
    redis.call('ZREM', K.oxready .. platform, c)
    return
  end
  local state = redis.call('HMGET', K.o .. c, 'until', 'after', 'prior')
  local at = tonumber(redis.call('HGET', K.dl .. c, head .. ':at'))
  at = math.max(at, tonumber(state[1] or 0) or 0, tonumber(state[2] or 0) or 0)
  local own, other = K.oxready, K.oxfirst
  if tonumber(state[3] or 0) > 0 then own, other = other, own end
  redis.call('ZREM', other .. platform, c)
  redis.call('ZADD', own .. platform, num(at), c)
end

local function close_prompt(token)
  if redis.call('EXISTS', K.prompt .. token) == 0 then return end
  redis.call('HSET', K.prompt .. token, 'open', '0')
  redis.call('EXPIRE', K.prompt .. token, L.closed_prompt)
end

-- Reads one delivery from the arguments and appends it; `proves` names the firing that it proves, or is empty.
local function append_delivery(now, proves)
  local c, body, prior, ends, edits, closes, blobs = take(), take(), take(), take(), take(), take(), take()
  local id = num(redis.call('HINCRBY', K.o .. c, 'counted', 1))
  redis.call('PERSIST', K.o .. c)
  local delivery = {id .. ':body', body, id .. ':at', num(now)}
  local function set(field, value)
    delivery[#delivery + 1] = id .. ':' .. field
    delivery[#delivery + 1] = value
  end
  if prior == '1' then set('prior', '1') end
  if ends == '1' then set('ends', '1') end
  if edits ~= '' then set('edits', edits) end
  if blobs ~= '' then set('blobs', blobs) end
  if proves ~= '' then set('proves', proves) end
  redis.call('HSET', K.dl .. c, unpack(delivery))
  redis.call('RPUSH', K.ox .. c, id)
  if prior == '1' then redis.call('HINCRBY', K.o .. c, 'prior', 1) end
  for blob in string.gmatch(blobs, '%S+') do hold(blob, 'd:' .. c .. ':' .. id) end
  if closes == '1' then close_prompt(edits) end
  place_line(c)
  redis.call('PUBLISH', K.out_channel .. platform_of(c), c)
end

-- Tokens of a conversation's prompts, so that they can be forgotten with it. With each new one two others are looked
-- at: what is gone leaves, what is there is looked at again after all the rest.
local function list_prompt(c, token)
  local key = K.pts .. c
  for _, each in ipairs(redis.call('ZRANGE', key, 0, 1)) do
    if redis.call('EXISTS', K.prompt .. each) == 0 then
      redis.call('ZREM', key, each)
    else
      redis.call('ZADD', key, num(server_now()), each)
    end
  end
  redis.call('ZADD', key, num(server_now()), token)
end

-- Reads prompt records from the arguments and stores them; places that are known already stay.
local function keep_prompts()
  for _ = 1, take_number() do
    local token, c, record, kept_s, places = take(), take(), take(), take_number(), take_number()
    local key = K.prompt .. token
    redis.call('HSET', key, 'record', record, 'open', '1')
    if kept_s > 0 then
      redis.call('EXPIRE', key, kept_s)
    else
      redis.call('PERSIST', key)
    end
    list_prompt(c, token)
    for _ = 1, places do
      redis.call('HSET', key, 'p' .. num(redis.call('HINCRBY', key, 'places', 1)), take())
    end
  end
end

-- Where the prompt of `token` was shown, as a list of records.
local function places_of(token)
  local places = {}
  local count = tonumber(redis.call('HGET', K.prompt .. token, 'places') or 0)
  for number = 1, count do
    places[number] = redis.call('HGET', K.prompt .. token, 'p' .. num(number))
  end
  return places
end

-- The head of the line, as the store reads it. What was being written there is no longer shown.
local function head_of(c, id, fence)
  local key = K.dl .. c
  local got = redis.call('HMGET', key, id .. ':body', id .. ':attempts', id .. ':parts', id .. ':refs',
    id .. ':flight', id .. ':edits', id .. ':ends')
  if got[7] then redis.call('DEL', K.draft .. c, K.working .. c) end
  local places = got[6] and places_of(got[6]) or {}
  return {c, id, num(fence), got[1], got[2] or '0', got[3] or '', got[4] or '', got[5] or '', places}
end

-- Take the head out; gives what it proves, or false.
local function drop_head(c, id)
  local got = redis.call('HMGET', K.dl .. c, id .. ':proves', id .. ':prior', id .. ':blobs')
  redis.call('LPOP', K.ox .. c)
  local names = {}
  for number, field in ipairs(FIELDS) do names[number] = id .. ':' .. field end
  redis.call('HDEL', K.dl .. c, unpack(names))
  if got[2] then redis.call('HINCRBY', K.o .. c, 'prior', -1) end
  for blob in string.gmatch(got[3] or '', '%S+') do let_go(blob, 'd:' .. c .. ':' .. id) end
  return got[1]
end

-- Let the lease of the line go; its record is forgotten 30 days after it has become empty.
local function free_line(c)
  redis.call('HDEL', K.o .. c, 'holder', 'until')
  if redis.call('EXISTS', K.ox .. c) == 0 then redis.call('EXPIRE', K.o .. c, L.empty_line) end
  place_line(c)
end
