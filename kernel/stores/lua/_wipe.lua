-- Everything that is kept of a conversation goes, but for its lease and its settings; see `Forgetting`.

local RECENT_US = L.b * 1000000

-- Of what waits in its inbox, what arrived up to the item `upto`. Of the prompts that are `spared` it stays known where
-- they were shown: their cards are closed. Blobs that nobody else holds go at once; those of pictures that were shown
-- longer ago than blobs live are gone already.
local function wipe(c, shelf, upto, spared, now)
  local blobs = {}
  local function look_in(bodies)
    for _, body in ipairs(bodies) do
      for blob in string.gmatch(body, '"blob":"(%x+)"') do blobs[blob] = true end
    end
  end

  for _, id in ipairs(redis.call('ZRANGE', K['in'] .. c, 0, -1)) do
    if id <= upto then
      look_in({redis.call('HGET', K.it .. c, id)})
      remove_item(c, id)
    end
  end
  look_in(redis.call('LRANGE', K.parked .. c, 0, -1))
  look_in(redis.call('LRANGE', K.h .. c, 0, -1))
  local olds = redis.call('ZRANGE', K.olds .. c, 0, -1, 'WITHSCORES')
  for number = 1, #olds, 2 do
    local old = K.old .. c .. ':' .. olds[number]
    if tonumber(olds[number + 1]) > now - RECENT_US then look_in(redis.call('LRANGE', old, 0, -1)) end
    redis.call('UNLINK', old)
  end
  redis.call('UNLINK', K.parked .. c, K.h .. c, K.olds .. c, K.notes .. c)

  local files = redis.call('HGETALL', K.files .. c)
  for number = 1, #files, 2 do
    redis.call('SREM', K.bh .. files[number + 1], 'w:' .. c .. ':' .. files[number])
    blobs[files[number + 1]] = true
  end
  redis.call('UNLINK', K.files .. c)

  for _, id in ipairs(redis.call('LRANGE', K.ox .. c, 0, -1)) do
    for blob in string.gmatch(redis.call('HGET', K.dl .. c, id .. ':blobs') or '', '%S+') do
      redis.call('SREM', K.bh .. blob, 'd:' .. c .. ':' .. id)
      blobs[blob] = true
    end
  end
  redis.call('UNLINK', K.ox .. c, K.dl .. c, K.draft .. c, K.working .. c)
  if redis.call('EXISTS', K.o .. c) == 1 then
    redis.call('HINCRBY', K.o .. c, 'fence', 1)
    redis.call('HDEL', K.o .. c, 'after', 'prior')
    free_line(c)
  end

  for _, token in ipairs(redis.call('ZRANGE', K.pts .. c, 0, -1)) do
    set_alarm(c, token, '')
    if spared[token] then
      redis.call('HDEL', K.prompt .. token, 'record')
    else
      redis.call('UNLINK', K.prompt .. token)
    end
  end
  for _, id in ipairs(redis.call('SMEMBERS', K.trs .. c)) do
    forget_trigger(id)
    redis.call('UNLINK', K.led .. id)
  end
  redis.call('UNLINK', K.pts .. c, K.mem .. shelf, K.unanswered .. chat_of(c), K.askers .. c)
  for blob in pairs(blobs) do
    if redis.call('EXISTS', K.bh .. blob) == 0 then drop_blob(blob) end
  end
end
