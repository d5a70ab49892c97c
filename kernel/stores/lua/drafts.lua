-- platform -> conversation, turn, sequence, text of each live draft; sequence 0 and no text where only work is known
local platform = take()

local live, found = K.live .. platform, {}
redis.call('ZREMRANGEBYSCORE', live, '-inf', num(server_now()))
for _, c in ipairs(redis.call('ZRANGE', live, 0, -1)) do
  local draft = redis.call('HMGET', K.draft .. c, 'turn', 'sequence', 'text')
  if draft[1] then
    found[#found + 1] = {c, draft[1], draft[2], draft[3]}
  else
    local turn = redis.call('GET', K.working .. c)
    if turn then found[#found + 1] = {c, turn, '0', ''} end
  end
end
return found
