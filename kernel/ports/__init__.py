"""What the kernel needs of the world: one Protocol a port, each with a real one and an in-memory twin.

Every method may raise `RetryLater` when its service is away; nothing else crosses unless a docstring says so.
Instants are aware UTC and come from the caller's `Clock`.
"""

from kernel.ports.chats import Chats, KnownChat
from kernel.ports.children import (
    Child,
    ChildCommand,
    ChildLimits,
    Children,
    Exit,
    Finished,
    Isolation,
    Output,
    TakeBack,
    Taken,
)
from kernel.ports.conversations import (
    LEASE,
    MAX_TRIES,
    RENEW_EVERY,
    Alarm,
    Checkout,
    Conversations,
    Forgetting,
    Holdings,
    Item,
    Lease,
    Outcome,
    Put,
    Release,
    Step,
    TriggerChange,
    TriggerGone,
    TriggerPut,
)
from kernel.ports.fetches import FETCH_LEASE, FETCH_WITHIN, Fetches, Fetching
from kernel.ports.floods import Floods, Limit
from kernel.ports.grants import Grant, Granted, Grants, Redeemed, Right
from kernel.ports.http import Http, HttpReply, HttpRequest
from kernel.ports.locks import Locks
from kernel.ports.memories import (
    MAX_MEMORIES,
    MAX_MEMORY_CHARS,
    Forget,
    ForgetAll,
    Memories,
    MemoryChange,
    Remember,
    Shelf,
)
from kernel.ports.outbox import Delivery, Outbox
from kernel.ports.overview import LATE_AFTER, MISSED_AFTER, Overview, Standing
from kernel.ports.processes import Beats, Clock, Deliver, Provider, SeveralModels, Wakeups
from kernel.ports.rates import Rates
from kernel.ports.records import Blobs, People, PromptRecord, Prompts
from kernel.ports.spendings import Spending, Spendings, Spent
from kernel.ports.triggers import LedgerLine, Triggers
from kernel.ports.unanswered import Silence, Silences, Unanswered

__all__ = [
    "FETCH_LEASE",
    "FETCH_WITHIN",
    "LATE_AFTER",
    "LEASE",
    "MAX_MEMORIES",
    "MAX_MEMORY_CHARS",
    "MAX_TRIES",
    "MISSED_AFTER",
    "RENEW_EVERY",
    "Alarm",
    "Beats",
    "Blobs",
    "Chats",
    "Checkout",
    "Child",
    "ChildCommand",
    "ChildLimits",
    "Children",
    "Clock",
    "Conversations",
    "Deliver",
    "Delivery",
    "Exit",
    "Fetches",
    "Fetching",
    "Finished",
    "Floods",
    "Forget",
    "ForgetAll",
    "Forgetting",
    "Grant",
    "Granted",
    "Grants",
    "Holdings",
    "Http",
    "HttpReply",
    "HttpRequest",
    "Isolation",
    "Item",
    "KnownChat",
    "Lease",
    "LedgerLine",
    "Limit",
    "Locks",
    "Memories",
    "MemoryChange",
    "Outbox",
    "Outcome",
    "Output",
    "Overview",
    "People",
    "PromptRecord",
    "Prompts",
    "Provider",
    "Put",
    "Rates",
    "Redeemed",
    "Release",
    "Remember",
    "Right",
    "SeveralModels",
    "Shelf",
    "Silence",
    "Silences",
    "Spending",
    "Spendings",
    "Spent",
    "Standing",
    "Step",
    "TakeBack",
    "Taken",
    "TriggerChange",
    "TriggerGone",
    "TriggerPut",
    "Triggers",
    "Unanswered",
    "Wakeups",
]
