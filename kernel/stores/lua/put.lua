-- platform:event, conversation, body, order, ready time, album, now -> duplicate | stored | hinted | held
local event, c, body, order, at, album, now = take(), take(), take(), take_number(), take_number(), take(), take_number()

if not redis.call('SET', K.seen .. event, '1', 'NX', 'EX', L.seen) then return 'duplicate' end
insert_item(c, body, order, at, album)
return announce(c, now)
