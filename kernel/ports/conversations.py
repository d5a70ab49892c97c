"""Conversations: the inbox, the ready set, leases, and the step that is committed as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Protocol

from kernel.chat import ConversationId, Inbound, Outbound
from kernel.messages import Message
from kernel.ports.memories import MemoryChange, Shelf
from kernel.ports.records import PromptRecord
from kernel.ports.spendings import Spending, Spent
from kernel.session import Session
from kernel.triggers import Trigger

LEASE = timedelta(seconds=15)
"""How long a conversation or an outbox stays with a holder that does not renew."""
RENEW_EVERY = timedelta(seconds=5)
MAX_TRIES = 3
"""After so many deaths of its holder in one step, an input is parked."""


class Put(Enum):
    """What became of an inbound at the door."""

    DUPLICATE = "duplicate"
    """Its event was stored before; nothing changed."""
    STORED = "stored"
    HINTED = "hinted"
    """Stored, and a wake-up should be pushed (`Wakeups.hint`)."""
    HELD = "held"
    """Stored, and the holder of the conversation was told."""


@dataclass(frozen=True, slots=True)
class Item:
    """An inbound in the inbox, under the id that removes it; ids of one conversation sort by arrival."""

    id: str
    inbound: Inbound


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to change one conversation.

    `tries` counts holders in a row that died without a commit, this one included.
    """

    conversation: ConversationId
    worker: str
    fence: int
    tries: int


@dataclass(frozen=True, slots=True)
class Checkout:
    """A lease and what was stored when it began; `notes` oldest first."""

    lease: Lease
    session: Session
    history: tuple[Message, ...]
    notes: tuple[str, ...]
    files: Mapping[str, str]
    """Workspace: path to blob id."""
    zone: str | None = None
    """What `People.set_zone` stored for it."""
    spent: Mapping[date, Spent] = field(default_factory=dict)
    """What the whole chat used up, by day, of those that may be today somewhere on Earth."""


class Outcome(Enum):
    """How a commit leaves the conversation."""

    RUN = "run"
    """A turn has work left: stays in the ready set."""
    WAITING = "waiting"
    """Only a person can go on: ready only while the inbox holds something."""
    DONE = "done"
    """Likewise."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Put `Expired(token)` into `conversation` at `at`; `at` None removes it. A later alarm of a token replaces it."""

    token: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class TriggerPut:
    """Store `trigger` (new, or changed with its revision raised) with its next due time; None: it rests."""

    trigger: Trigger
    due: datetime | None


@dataclass(frozen=True, slots=True)
class TriggerGone:
    """Remove the trigger of that id."""

    id: str


TriggerChange = TriggerPut | TriggerGone


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Everything that is kept of the conversation goes at once, and the notes on `shelf`.

    That is: what waits in the inbox and arrived up to the item `upto`, parked inputs, its histories, notes, files with
    their blobs where nobody else holds them, deliveries that are not out, drafts, prompts, alarms, triggers, what was
    not answered in the chat. Its settings stay, and so do sums of usage.
    """

    shelf: Shelf
    upto: str = ""


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much is kept of a conversation beside what its session and its triggers say."""

    messages: int = 0
    """Of the history."""
    old_histories: int = 0
    files: int = 0
    parked: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: everything in it takes effect together, or nothing does.

    `history` is appended; with `new_history` an empty one is begun first (the old one is kept 30 days).
    `outbound` goes out in order. `prompts` are stored for `Prompt`s in `outbound`. `notes_used` removes that many of
    the oldest notes, `notes` are added after. `files` maps a path to its new blob, or to None when it is deleted.
    `memories` are made in order; `spendings` are added to the sums of the chat and of people.
    With `forgets` the rest is written after everything else has gone; of `prompts` that were known it stays known where
    they are shown.
    `parked` items are taken out of the inbox into the record that the operator can look at. With `clears_tries` the
    count of holders that died begins anew; a commit that only writes down what is about to happen leaves it, or a step
    that kills every holder would be tried for ever.
    """

    session: Session
    outcome: Outcome
    taken: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    new_history: bool = False
    outbound: tuple[Outbound, ...] = ()
    prompts: tuple[PromptRecord, ...] = ()
    triggers: tuple[TriggerChange, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    notes_used: int = 0
    notes: tuple[str, ...] = ()
    files: Mapping[str, str | None] | None = None
    memories: tuple[MemoryChange, ...] = ()
    spendings: tuple[Spending, ...] = ()
    forgets: Forgetting | None = None
    clears_tries: bool = True


class Release(Enum):
    """What `release` found."""

    AGAIN = "again"
    """The conversation is due again; the lease is kept: go on."""
    HINT = "hint"
    """Released; it is ready for somebody: push a hint."""
    IDLE = "idle"


class Conversations(Protocol):
    """Inbox, ready set, leases and the one record of each conversation."""

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> Put:
        """Store `inbound` once (by its event, remembered 48 h) and make its conversation ready at `now + settle`.

        User messages are inserted by the platform's order among items not yet taken; presses, commands
        and expiries come by arrival and before messages. Parts of one album share the ready time of the last one.
        """

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
        """Lease the ready conversation that waits longest; None when none is due and free.

        With `last_try` False, conversations on their last try (two holders died) are left for others.
        """

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]:
        """Items of the inbox that are due, in the order in which they are to be read; unreadable ones are parked."""

    async def renew(self, lease: Lease, *, now: datetime) -> None:
        """Hold it for another `LEASE`. Raises `LeaseLost`."""

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        """Write the step; the session with its new revision. Raises `LeaseLost`, then nothing was written."""

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        """Give it back. With `keep`, a conversation that is due again stays leased (AGAIN).

        Raises `LeaseLost`. Clears the count of tries.
        """

    async def next_ready(self, *, now: datetime) -> datetime | None:
        """When the earliest conversation that nobody holds becomes ready; may lie in the past."""

    async def note(self, conversation: ConversationId, text: str) -> None:
        """Append a note (200 characters, the newest 20 are kept); the same words twice in a row are one note."""

    async def parked(self, conversation: ConversationId) -> tuple[Item, ...]:
        """Inputs that were parked, oldest first."""

    async def holdings(self, conversation: ConversationId, *, now: datetime) -> Holdings:
        """How much is kept of it."""

    def wakes(self, worker: str) -> AsyncIterator[ConversationId]:
        """Conversations held by `worker` into which something was put, as it happens.

        May miss some: whoever renews looks too.
        """
