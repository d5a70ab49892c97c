-- Triggers and alarms share the set of due times: `t:<trigger>` and `x:<conversation>|<token>`.

local function set_due(member, due)
  if due == '' then
    redis.call('ZREM', K.due, member)
  else
    redis.call('ZADD', K.due, due, member)
    redis.call('PUBLISH', K.due_channel, due)
  end
end

local function forget_trigger(id)
  local c = redis.call('HGET', K.tr .. id, 'conversation')
  redis.call('ZREM', K.due, 't:' .. id)
  if not c then return end
  redis.call('DEL', K.tr .. id)
  redis.call('SREM', K.trs .. c, id)
  redis.call('SREM', K.waiting .. platform_of(c), id)
end

-- A due time of a trigger that is stored already; empty when it rests.
local function set_trigger_due(id, c, due)
  set_due('t:' .. id, due)
  redis.call(due == '' and 'SREM' or 'SADD', K.waiting .. platform_of(c), id)
end

local function set_alarm(c, token, at)
  set_due('x:' .. c .. '|' .. token, at)
end

-- The newest word on one due time of a trigger; lines older than 90 days before it go.
local function write_ledger(trigger, due, outcome, detail)
  local key = K.led .. trigger
  redis.call('ZREMRANGEBYSCORE', key, due, due)
  redis.call('ZADD', key, due, due .. '|' .. outcome .. '|' .. detail)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. num(tonumber(due) - L.led * 1000000))
  redis.call('ZREMRANGEBYRANK', key, 0, -L.most_ledger - 1)
  redis.call('EXPIRE', key, L.led)
end
