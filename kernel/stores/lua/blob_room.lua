-- blob, bytes, most bytes in all -> known | room | full; blobs that nothing holds make room, the oldest first
local blob, size, most = take(), take_number(), take_number()

for _, each in ipairs(redis.call('ZRANGE', K.blobspare, '-inf', num(server_now()), 'BYSCORE')) do drop_blob(each) end
if redis.call('HEXISTS', K.b .. blob, 'size') == 1 then
  if redis.call('EXISTS', K.bh .. blob) == 0 then
    redis.call('EXPIRE', K.b .. blob, L.b)
    redis.call('ZADD', K.blobspare, num(server_now() + L.b * 1000000), blob)
  end
  return 'known'
end
local known = tonumber(redis.call('HGET', K.blobsizes, blob) or 0)
local total = tonumber(redis.call('GET', K.blobtotal) or 0) - known + size
for _, each in ipairs(redis.call('ZRANGE', K.blobspare, 0, -1)) do
  if total <= most then break end
  if each ~= blob then
    total = total - tonumber(redis.call('HGET', K.blobsizes, each) or 0)
    drop_blob(each)
  end
end
if total > most then return 'full' end
redis.call('HSET', K.blobsizes, blob, num(size))
redis.call('INCRBY', K.blobtotal, num(size - known))
redis.call('ZADD', K.blobspare, num(server_now() + L.b * 1000000), blob)
return 'room'
