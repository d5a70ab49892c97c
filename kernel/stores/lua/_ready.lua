-- The record of a conversation (`s`), its inbox, and the one set of what is ready.

-- When there is something to do; nil when there is nothing.
local function work_at(c)
  local at = tonumber(redis.call('HGET', K.s .. c, 'run') or '')
  local first = redis.call('ZRANGE', K.at .. c, 0, 0, 'WITHSCORES')[2]
  if first and (not at or tonumber(first) < at) then at = tonumber(first) end
  return at
end

-- Keep the ready set true; a conversation under lease is in it from when the lease lapses.
local function place(c)
  local at = work_at(c)
  if not at then
    redis.call('ZREM', K.ready, c)
    return nil
  end
  local ends = tonumber(redis.call('HGET', K.s .. c, 'until') or '')
  redis.call('ZADD', K.ready, num(math.max(at, ends or at)), c)
  return at
end

local function holds(c, fence)
  return redis.call('HGET', K.s .. c, 'fence') == fence
end

-- Of an item that waits: `own` is when it could be read but for others and its files, `until` when it is read without
-- files that are not fetched, `blobs` what was fetched.
local function remove_item(c, id)
  redis.call('ZREM', K['in'] .. c, id)
  redis.call('ZREM', K.at .. c, id)
  redis.call('HDEL', K.it .. c, id)
  redis.call('HDEL', K.al .. c, id)
  local waits = K.im .. c
  if redis.call('EXISTS', waits) == 0 then return end
  local got = redis.call('HMGET', waits, id .. ':until', id .. ':blobs')
  redis.call('HDEL', waits, id .. ':own', id .. ':until', id .. ':blobs')
  if got[1] then redis.call('ZREM', K.fetch .. platform_of(c), c .. ' ' .. id) end
  for blob in string.gmatch(got[2] or '', '%S+') do let_go(blob, 'i:' .. c .. ':' .. id) end
end

local function park_item(c, id)
  local body = redis.call('HGET', K.it .. c, id)
  if not body then return end
  redis.call('RPUSH', K.parked .. c, id .. ' ' .. body)
  redis.call('LTRIM', K.parked .. c, -L.most_parked, -1)
  redis.call('EXPIRE', K.parked .. c, L.parked)
  remove_item(c, id)
  place(c)
end

-- Ready times never fall along the reading order of messages, so that what is due is always its beginning.
local function level(c, first)
  local inbox, times, waits = K['in'] .. c, K.at .. c, K.im .. c
  local reached, somebody_waits = 0, redis.call('EXISTS', waits) == 1
  if first > 0 then reached = tonumber(redis.call('ZSCORE', times, redis.call('ZRANGE', inbox, first - 1, first - 1)[1])) end
  for _, id in ipairs(redis.call('ZRANGE', inbox, first, -1)) do
    local at = tonumber(redis.call('ZSCORE', times, id))
    local got = somebody_waits and redis.call('HMGET', waits, id .. ':own', id .. ':until') or {}
    local own = tonumber(got[1] or '') or at
    reached = math.max(reached, own, tonumber(got[2] or '') or 0)
    if reached ~= at then redis.call('ZADD', times, num(reached), id) end
    if reached > own then
      if not got[1] then redis.call('HSET', waits, id .. ':own', num(own)) end
    elseif got[1] then
      redis.call('HDEL', waits, id .. ':own')
    end
  end
end

-- It may not be read on its own account before `at`; `level` must follow.
local function put_off(c, id, at)
  local own = redis.call('HGET', K.im .. c, id .. ':own') or redis.call('ZSCORE', K.at .. c, id)
  if tonumber(own) < at then redis.call('HSET', K.im .. c, id .. ':own', num(at)) end
end

-- Into the inbox. What is urgent has an order below 0: it is read by arrival, before messages, and waits for none.
local function insert_item(c, body, order, at, album)
  local id = string.format('%010d', redis.call('HINCRBY', K.s .. c, 'arrivals', 1))
  local inbox, times = K['in'] .. c, K.at .. c
  redis.call('ZADD', inbox, num(order), id)
  redis.call('ZADD', times, num(at), id)
  redis.call('HSET', K.it .. c, id, body)
  if order < 0 then return id end
  local first = redis.call('ZRANK', inbox, id)
  if album ~= '' then
    redis.call('HSET', K.al .. c, id, album)
    local parts = redis.call('HGETALL', K.al .. c)
    for number = 1, #parts, 2 do
      if parts[number + 1] == album then
        put_off(c, parts[number], at)
        first = math.min(first, redis.call('ZRANK', inbox, parts[number]))
      end
    end
  end
  level(c, first)
  return id
end

-- It is read at `ends` at the latest, and before that only once its files are there.
local function wait_for_files(c, id, ends, now)
  redis.call('HSET', K.im .. c, id .. ':until', num(ends))
  redis.call('ZADD', K.fetch .. platform_of(c), num(now), c .. ' ' .. id)
  level(c, redis.call('ZRANK', K['in'] .. c, id))
end

-- After something was put: tell the holder, or say that a hint should be pushed.
local function announce(c, now)
  place(c)
  local state = redis.call('HMGET', K.s .. c, 'holder', 'until')
  if state[1] and tonumber(state[2]) > now then
    redis.call('PUBLISH', K.w_channel .. state[1], c)
    return 'held'
  end
  if redis.call('SET', K.wake, '1', 'NX', 'EX', L.wake) then return 'hinted' end
  return 'stored'
end

local function add_note(c, text)
  redis.call('RPUSH', K.notes .. c, text)
  redis.call('LTRIM', K.notes .. c, -L.most_notes, -1)
end
