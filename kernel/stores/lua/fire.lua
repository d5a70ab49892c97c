-- trigger, revision, due, next due or '', conversation, outcome, proven outcome or '', note, now, prompts, which
-- delivery proves (0: none), deliveries -> fired, or '' when the trigger was changed, moved on or is gone
local id, revision, due, next_due, c = take(), take(), take(), take(), take()
local outcome, word, note, now = take(), take(), take(), take_number()

if redis.call('HGET', K.tr .. id, 'revision') ~= revision then return '' end
if tonumber(redis.call('ZSCORE', K.due, 't:' .. id) or '') ~= tonumber(due) then return '' end

keep_prompts()
local proof, count = take_number(), take_number()
for number = 1, count do
  append_delivery(now, number == proof and id .. ' ' .. due .. ' ' .. word or '')
end
write_ledger(id, due, proof > 0 and 'claimed' or outcome, '')
if note ~= '' then add_note(c, note) end
if next_due == '' then
  forget_trigger(id)
else
  set_trigger_due(id, c, next_due)
end
return 'fired'
