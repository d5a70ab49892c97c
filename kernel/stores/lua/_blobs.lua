-- A blob lives 24 h, or as long as something holds it.

local function hold(blob, holder)
  if redis.call('EXISTS', K.b .. blob) == 0 then return end
  redis.call('SADD', K.bh .. blob, holder)
  redis.call('PERSIST', K.b .. blob)
  redis.call('ZREM', K.blobspare, blob)
end

-- It goes at once.
local function drop_blob(blob)
  local bytes = redis.call('HGET', K.blobsizes, blob)
  redis.call('UNLINK', K.b .. blob)
  redis.call('ZREM', K.blobspare, blob)
  redis.call('HDEL', K.blobsizes, blob)
  if bytes then redis.call('INCRBY', K.blobtotal, -tonumber(bytes)) end
end

local function let_go(blob, holder)
  if redis.call('SREM', K.bh .. blob, holder) == 0 then return end
  if redis.call('SCARD', K.bh .. blob) > 0 then return end
  redis.call('EXPIRE', K.b .. blob, L.b)
  redis.call('ZADD', K.blobspare, num(server_now() + L.b * 1000000), blob)
end
