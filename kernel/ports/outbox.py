"""The outbox: what is to be said, and how far each delivery has come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kernel.chat import ConversationId, Draft, MessageRef, Outbound


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

    async def pull(
        self, platform: str, holder: str, *, now: datetime, only: Collection[ConversationId] = ()
    ) -> Delivery | None:
        """Lease the next conversation of the platform with something to send, and give its head.

        Conversations whose head is a reminder or a prompt go first. `only` names those that may be sent to; empty: all.
        """

    async def next_due(self, platform: str, *, now: datetime, only: Collection[ConversationId] = ()) -> datetime | None:
        """When the earliest unleased delivery may be sent, to `only` these conversations; may lie in the past."""

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

    async def later(self, delivery: Delivery, after: timedelta, *, now: datetime, tried: bool = True) -> None:
        """Not now: try this conversation again after that time. Lets the lease go.

        An attempt is counted, except when nothing was `tried`.

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
