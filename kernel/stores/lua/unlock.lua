-- name, holder: it may be taken by others, if this holder has it
local name, holder = take(), take()
if redis.call('HGET', K.lock .. name, 'holder') == holder then redis.call('DEL', K.lock .. name) end
return 'done'
