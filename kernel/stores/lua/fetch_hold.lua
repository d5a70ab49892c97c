-- conversation, item, until when nobody else takes it: nothing when it does not wait any more
local c, id, ends = take(), take(), take()
redis.call('ZADD', K.fetch .. platform_of(c), 'XX', ends, c .. ' ' .. id)
return 'done'
