-- platform:event, conversation, body, order, ready time, album, until when it waits for its files (0: has none), now
-- -> duplicate | stored | hinted | held
local event, c, body, order, at, album = take(), take(), take(), take_number(), take_number(), take()
local ends, now = take_number(), take_number()

if not redis.call('SET', K.seen .. event, '1', 'NX', 'EX', L.seen) then return 'duplicate' end
local id = insert_item(c, body, order, at, album)
if ends > 0 then wait_for_files(c, id, ends, now) end
return announce(c, now)
