-- One step of a conversation, whole or not at all -> done | lost
--
-- The digest names the step: told again because its answer was lost, it is done already and nothing is written.
local c, fence, revision, digest, now = take(), take(), take(), take(), take_number()

local state = redis.call('HMGET', K.s .. c, 'fence', 'revision', 'digest')
if state[1] ~= fence then return 'lost' end
if (state[2] or '0') ~= revision then return state[3] == digest and 'done' or 'lost' end

-- session
local session, next_revision, outcome, clears_tries = take(), take(), take(), take()
redis.call('HSET', K.s .. c, 'session', session, 'revision', next_revision, 'digest', digest)
if clears_tries == '1' then redis.call('HSET', K.s .. c, 'tries', '0') end
if outcome == 'run' then
  redis.call('HSET', K.s .. c, 'run', num(now))
else
  redis.call('HDEL', K.s .. c, 'run')
end

-- what is forgotten, before anything else is written
if take() == '1' then
  local shelf, upto, spared = take(), take(), {}
  for _ = 1, take_number() do spared[take()] = true end
  wipe(c, shelf, upto, spared, now)
end

-- inbox
for _ = 1, take_number() do remove_item(c, take()) end
for _ = 1, take_number() do park_item(c, take()) end

-- history: only what is new is written; cut at a message marked `+` once it is too long
local history, begins_anew = K.h .. c, take() == '1'
if begins_anew and redis.call('EXISTS', history) == 1 then
  local old = K.old .. c .. ':' .. next_revision
  redis.call('RENAME', history, old)
  redis.call('EXPIRE', old, L.old)
  redis.call('ZREMRANGEBYSCORE', K.olds .. c, '-inf', num(now - L.old * 1000000))
  redis.call('ZADD', K.olds .. c, num(now), next_revision)
  redis.call('EXPIRE', K.olds .. c, L.olds)
end
for _ = 1, take_number() do redis.call('RPUSH', history, take()) end
local keep_from, length = take_number(), take_number()
local first = length - redis.call('LLEN', history)
local surplus = keep_from - first
if first >= 0 and surplus > L.history_slack then
  local cut
  while not cut do
    local messages = redis.call('LRANGE', history, surplus, surplus + 49)
    if #messages == 0 then break end
    for number, message in ipairs(messages) do
      if string.sub(message, 1, 1) == '+' then
        cut = surplus + number - 1
        break
      end
    end
    surplus = surplus + 50
  end
  if cut then redis.call('LTRIM', history, cut, -1) end
end

-- notes
local used = take()
if used ~= '0' then redis.call('LTRIM', K.notes .. c, used, -1) end
for _ = 1, take_number() do add_note(c, take()) end

-- workspace
for _ = 1, take_number() do
  local path, blob = take(), take()
  local holder = 'w:' .. c .. ':' .. path
  local before = redis.call('HGET', K.files .. c, path)
  if blob == '' then
    redis.call('HDEL', K.files .. c, path)
  else
    redis.call('HSET', K.files .. c, path, blob)
    hold(blob, holder)
  end
  if before and before ~= blob then let_go(before, holder) end
end

-- what is remembered
for _ = 1, take_number() do
  local shelf, what, text = K.mem .. take(), take(), take()
  if what == 'all' then
    redis.call('DEL', shelf)
  else
    redis.call('LREM', shelf, 0, text)
  end
  if what == 'keep' then
    redis.call('RPUSH', shelf, text)
    redis.call('LTRIM', shelf, -L.most_memories, -1)
  end
end

-- what model calls used up
for _ = 1, take_number() do
  local person, day = take(), take()
  spend(c, person, day, {take(), take(), take(), take()})
end

-- what goes out, after the prompts it may close
keep_prompts()
for _ = 1, take_number() do append_delivery(now, '') end

-- triggers and alarms
for _ = 1, take_number() do
  local id, where, record, trigger_revision, due = take(), take(), take(), take(), take()
  local before = redis.call('HGET', K.tr .. id, 'conversation')
  if before and before ~= where then forget_trigger(id) end
  redis.call('HSET', K.tr .. id, 'record', record, 'revision', trigger_revision, 'conversation', where)
  redis.call('SADD', K.trs .. where, id)
  set_trigger_due(id, where, due)
end
for _ = 1, take_number() do forget_trigger(take()) end
for _ = 1, take_number() do
  local token, at = take(), take()
  set_alarm(c, token, at)
end

place(c)
return 'done'
