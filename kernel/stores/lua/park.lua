-- conversation, item: out of the inbox, for the operator to look at
park_item(take(), take())
return 'done'
