-- member of the due set, its time, a later time: not before then, unless it was moved meanwhile
local member, at, later = take(), take_number(), take()
if tonumber(redis.call('ZSCORE', K.due, member) or '') == at then redis.call('ZADD', K.due, later, member) end
return 'done'
