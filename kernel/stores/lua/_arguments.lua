-- Every script begins with the tables K (beginnings of keys) and L (lifetimes in seconds), both made from keys.py,
-- and with the files whose name begins with an underscore. Scripts do not roll back: each checks all it needs
-- before its first write. Pieces of keys come in encoded.

local cursor = 0

-- The next argument.
local function take()
  cursor = cursor + 1
  return ARGV[cursor]
end

-- The next argument as a number: microseconds, orders and counts.
local function take_number()
  return tonumber(take())
end

-- A whole number written out; Lua itself would round microseconds to 14 digits.
local function num(value)
  return string.format('%.0f', value)
end

local function platform_of(c)
  return string.match(c, '^[^:]*')
end

-- The server's clock, for what has no instant of the caller.
local function server_now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
