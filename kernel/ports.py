"""What the kernel needs of the world: one Protocol a port, each with a real one and an in-memory twin.

Every method may raise `RetryLater` when its service is away; nothing else crosses unless a docstring says so.
Instants are aware UTC and come from the caller's `Clock`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from kernel.chat import ConversationId, Draft, Inbound, MessageRef, Outbound, Sender
from kernel.messages import Message, ModelReply, ModelRequest
from kernel.session import Session
from kernel.triggers import Firing, Trigger

LEASE = timedelta(seconds=15)
"""How long a conversation or an outbox stays with a holder that does not renew."""
RENEW_EVERY = timedelta(seconds=5)
MAX_TRIES = 3
"""After so many deaths of its holder in one step, an input is parked."""


class Clock(Protocol):
    """Time. The twin jumps."""

    def now(self) -> datetime:
        """This instant, aware UTC."""

    def boottime(self) -> float:
        """Seconds on a clock that never jumps and counts sleep (CLOCK_BOOTTIME where there is one)."""

    async def sleep_until(self, at: datetime) -> None:
        """Return at `at` or soon after; at once when it has passed."""


class Provider(Protocol):
    """One model behind one service."""

    @property
    def name(self) -> str:
        """`anthropic:<model>` or `openai:<model>`; what `Opaque` parts are bound to."""

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """The model's whole reply; `delta` hears pieces of its text as they come.

        `delta` never hears text of a try that failed before twice: a retry after some text was heard is not made.
        Raises `ProviderFailed` (after own bounded retries) and `ProviderRefused`.
        """

    async def close(self) -> None:
        """Let go of connections."""


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
class PromptRecord:
    """What a token on a button stands for, and every place where it was shown.

    `kind` is the mind module that made it; `data` is that module's JSON. `is_open` until a PromptClosed for it. `kept`
    is how long it is remembered although nobody closes it; None: until it is closed.
    """

    token: str
    conversation: ConversationId
    kind: str
    data: str
    places: tuple[MessageRef, ...] = ()
    is_open: bool = True
    kept: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: everything in it takes effect together, or nothing does.

    `history` is appended; with `new_history` an empty one is begun first (the old one is kept 30 days).
    `outbound` goes out in order. `prompts` are stored for `Prompt`s in `outbound`. `notes_used` removes that many of
    the oldest notes, `notes` are added after. `files` maps a path to its new blob, or to None when it is deleted.
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

    def wakes(self, worker: str) -> AsyncIterator[ConversationId]:
        """Conversations held by `worker` into which something was put, as it happens.

        May miss some: whoever renews looks too.
        """


@dataclass(frozen=True, slots=True)
class Delivery:
    """The head of one conversation's outbox, leased. `parts` is empty until `split`; parts with a `ref` are out.

    `places` is where the prompt was shown that a `PromptClosed` closes. `attempts` counts earlier `later`s.
    """

    id: str
    outbound: Outbound
    fence: int
    holder: str
    attempts: int = 0
    parts: tuple[str, ...] = ()
    refs: tuple[MessageRef, ...] = ()
    """Of the first parts, in order: `len(refs)` parts are out."""
    places: tuple[MessageRef, ...] = ()
    is_doubtful: bool = False
    """A part was in flight when its sender died or its answer was lost: it may be on the platform already."""


class Outbox(Protocol):
    """Deliveries, leased per conversation: one adapter process sends a conversation's deliveries, in order.

    Methods that take a `Delivery` raise `LeaseLost` when its fence has moved on.
    """

    async def add(self, outbound: Outbound, *, now: datetime) -> None:
        """Append something that belongs to no commit (a stranger's refusal, a `parked` notice)."""

    async def pull(self, platform: str, holder: str, *, now: datetime) -> Delivery | None:
        """Lease the next conversation of the platform with something to send, and give its head.

        Conversations whose head is a reminder or a prompt go first.
        """

    async def next_due(self, platform: str, *, now: datetime) -> datetime | None:
        """When the earliest unleased delivery may be sent; may lie in the past."""

    async def split(self, delivery: Delivery, parts: Sequence[str], *, now: datetime) -> Delivery:
        """Record how it is split, before the first part is sent."""

    async def sending(self, delivery: Delivery, *, now: datetime) -> Delivery:
        """Check and renew the lease right before a part is sent, and record that it is in flight.

        The delivery that comes back is not doubtful; after a crash the next holder's will be.
        """

    async def sent(self, delivery: Delivery, ref: MessageRef | None, *, now: datetime) -> Delivery:
        """The next part is out under `ref`; with None it counts as out, under a ref with an empty id."""

    async def done(self, delivery: Delivery, *, now: datetime) -> Delivery | None:
        """All of it is out. The conversation's next delivery under the same lease, or None and the lease is gone."""

    async def later(self, delivery: Delivery, after: timedelta, *, now: datetime) -> None:
        """Not now: try this conversation again after that time. Lets the lease go.

        `delivery.is_doubtful` is kept as it is handed in: set it when the answer was lost, not when it was a refusal.
        """

    async def fail(self, delivery: Delivery, why: str, *, now: datetime) -> None:
        """It will never be delivered; recorded in the ledger. The conversation's next one may go."""

    async def draft(self, draft: Draft, *, fence: int) -> None:
        """Replace the conversation's draft (60 s); an older fence is ignored."""

    async def working(self, conversation: ConversationId, *, turn: str) -> None:
        """Say that a turn works here; true for 10 s."""

    async def drafts(self, platform: str) -> tuple[Draft, ...]:
        """The live drafts of the platform; empty text where only `working` is known."""

    def wakes(self, platform: str) -> AsyncIterator[None]:
        """Something was put into the platform's outbox or drafts, or may have been when listening began.

        May miss some.
        """


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What became of one due time of a trigger. `outcome`: claimed, delivered, late, unknown, skipped, failed.

    Delivered and late have a message id for proof; unknown was sent, but the platform's answer was lost.
    """

    trigger: str
    due: datetime
    outcome: str
    detail: str = ""


class Triggers(Protocol):
    """Stored triggers, their due times, alarms, and the ledger of what became of each due time."""

    async def list(self, conversation: ConversationId) -> tuple[tuple[Trigger, datetime | None], ...]:
        """The conversation's triggers with their next due time (None: paused or ended), soonest first."""

    async def all(self) -> tuple[tuple[Trigger, datetime | None], ...]:
        """Every trigger there is, likewise; for the operator, as it reads them all."""

    async def get(self, trigger: str) -> Trigger | None:
        """One trigger, None when it is gone."""

    async def due(self, *, now: datetime, limit: int) -> tuple[Firing | tuple[ConversationId, Alarm], ...]:
        """What is due, earliest first: firings, and alarms with their conversation."""

    async def fire(
        self,
        firing: Firing,
        next_due: datetime | None,
        outbound: Sequence[Outbound],
        prompts: Sequence[PromptRecord] = (),
        *,
        outcome: str,
        note: str = "",
        now: datetime,
    ) -> bool:
        """Claim the due time, append what goes out, store the next due time: one step.

        A trigger without a next due time is removed.
        False, and nothing happened, when the trigger was changed, moved on or is gone.
        """

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> Put | None:
        """Put `Expired` for the alarm and remove it: one step; None when it was moved or removed meanwhile."""

    async def next_due(self) -> datetime | None:
        """The earliest due time of all triggers and alarms."""

    async def ledger(self, trigger: str) -> tuple[LedgerLine, ...]:
        """What became of its due times, oldest first (90 days)."""

    async def count(self, platform: str) -> int:
        """How many triggers of the platform wait to fire."""

    async def wait(self, until: datetime) -> None:
        """Return at `until`, or as soon as an earlier due time was stored."""


class Prompts(Protocol):
    """What tokens on buttons stand for; kept 30 days after closing."""

    async def get(self, token: str) -> PromptRecord | None:
        """The record, open or closed; None for a token nobody knows."""


class People(Protocol):
    """What bots have seen of people and what people told us, by platform and id."""

    async def see(self, platform: str, sender: Sender) -> None:
        """Remember name, language and zone where the sender carries them."""

    async def get(self, platform: str, person: str) -> Sender | None:
        """What is known of the person."""

    async def refuse(self, platform: str, person: str, *, now: datetime) -> bool:
        """True the first time in 24 h that this stranger is refused: say it; False: be silent."""

    async def set_zone(self, conversation: ConversationId, zone: str) -> None:
        """This conversation reads and shows times in `zone` (IANA name)."""

    async def zone(self, conversation: ConversationId) -> str | None:
        """What `set_zone` stored."""


class Blobs(Protocol):
    """Bytes by reference; at most 20 MB each, kept 24 h or as long as something holds them."""

    async def put(self, content: bytes) -> str:
        """Store, and give the id. The same bytes have the same id.

        Raises `BadArguments` above 20 MB, and `StoreUnfit` when what is held leaves no room.
        """

    async def get(self, blob: str) -> bytes | None:
        """The bytes; None when they are gone."""


class Wakeups(Protocol):
    """Hints to workers that something is ready. Losing one costs seconds, doubling one nothing."""

    async def hint(self) -> None:
        """Push one."""

    async def unflag(self) -> None:
        """A worker has read a hint: the next put may push another."""


class Beats(Protocol):
    """Which processes live."""

    async def beat(self, role: str, process: str, *, now: datetime) -> None:
        """Say that this process lives; forgotten after 60 s."""

    async def seen(self) -> tuple[tuple[str, str, datetime], ...]:
        """(role, process, last beat) of every process not yet forgotten."""


Deliver = Callable[[Inbound], Awaitable[None]]
"""Returns only when the inbound is stored (or dropped by a rule); waits while Redis is away."""
