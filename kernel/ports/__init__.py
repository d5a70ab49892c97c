"""What the kernel needs of the world: one Protocol a port, each with a real one and an in-memory twin.

Every method may raise `RetryLater` when its service is away; nothing else crosses unless a docstring says so.
Instants are aware UTC and come from the caller's `Clock`.
"""

from kernel.ports.conversations import (
    LEASE,
    MAX_TRIES,
    RENEW_EVERY,
    Alarm,
    Checkout,
    Conversations,
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
from kernel.ports.outbox import Delivery, Outbox
from kernel.ports.processes import Beats, Clock, Deliver, Provider, Wakeups
from kernel.ports.records import Blobs, People, PromptRecord, Prompts
from kernel.ports.triggers import LedgerLine, Triggers

__all__ = [
    "LEASE",
    "MAX_TRIES",
    "RENEW_EVERY",
    "Alarm",
    "Beats",
    "Blobs",
    "Checkout",
    "Clock",
    "Conversations",
    "Deliver",
    "Delivery",
    "Item",
    "Lease",
    "LedgerLine",
    "Outbox",
    "Outcome",
    "People",
    "PromptRecord",
    "Prompts",
    "Provider",
    "Put",
    "Release",
    "Step",
    "TriggerChange",
    "TriggerGone",
    "TriggerPut",
    "Triggers",
    "Wakeups",
]
