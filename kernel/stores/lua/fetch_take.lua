-- platform, now, lease -> false, or the message that waits longest for its files: conversation, item, until when, body
local platform, now, lease = take(), take_number(), take_number()
local work = K.fetch .. platform

while true do
  local member = redis.call('ZRANGE', work, '-inf', num(now), 'BYSCORE', 'LIMIT', 0, 1)[1]
  if not member then return false end
  local c, id = string.match(member, '^(%S+) (%S+)$')
  local ends, body = redis.call('HGET', K.im .. c, id .. ':until'), redis.call('HGET', K.it .. c, id)
  if ends and body and tonumber(ends) > now then
    redis.call('ZADD', work, num(now + lease), member)
    return {c, id, ends, body}
  end
  redis.call('ZREM', work, member)
end
