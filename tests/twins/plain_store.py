"""A conversation's store in a few lines: what interleavings are compared with. One conversation, no Redis, no Lua."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from kernel.chat import ConversationId, Inbound, UserMessage
from kernel.errors import LeaseLost
from kernel.messages import Message
from kernel.ports import LEASE, MAX_TRIES, Alarm, Checkout, Item, Lease, Outcome, Put, Release, Step
from kernel.session import Session
from kernel.stores import rules
from kernel.stores.stores import Stores


class Store(Protocol):
    """The part of the ports that an interleaving needs."""

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> bool:
        """False for a copy."""

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None: ...

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]: ...

    async def renew(self, lease: Lease, *, now: datetime) -> None: ...

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session: ...

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release: ...

    async def next_ready(self, *, now: datetime) -> datetime | None: ...

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> bool:
        """False when the alarm is not there any more."""

    async def alarms(self) -> bool:
        """Whether any alarm is left."""


class RealStore:
    """`Store` over a set of ports."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.checkout = stores.conversations.checkout
        self.due = stores.conversations.due
        self.renew = stores.conversations.renew
        self.commit = stores.conversations.commit
        self.release = stores.conversations.release
        self.next_ready = stores.conversations.next_ready

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> bool:
        return await self._stores.conversations.put(inbound, now=now, settle=settle) is not Put.DUPLICATE

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> bool:
        return await self._stores.triggers.ring(conversation, alarm, now=now) is not None

    async def alarms(self) -> bool:
        return await self._stores.triggers.next_due() is not None


@dataclass(slots=True)
class _Waiting:
    item: Item
    place: tuple[int, int, int]
    at: datetime


@dataclass(slots=True)
class PlainStore:
    """`Store` as the words of the ports describe it, for one conversation."""

    session: Session
    history: list[Message] = field(default_factory=list)
    inbox: list[_Waiting] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    arrivals: int = 0
    fence: int = 0
    tries: int = 0
    until: datetime | None = None
    run: datetime | None = None
    rings: dict[str, datetime] = field(default_factory=dict)
    told: tuple[Lease, Step, Session] | None = None

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> bool:
        if inbound.event in self.seen:
            return False
        self.seen.add(inbound.event)
        self.arrivals += 1
        is_urgent = not isinstance(inbound, UserMessage) or inbound.text.startswith("/")
        order = inbound.order if isinstance(inbound, UserMessage) and not is_urgent else 0
        place = (0 if is_urgent else 1, order, self.arrivals)
        self.inbox.append(_Waiting(Item(f"{self.arrivals:010d}", inbound), place, now + settle))
        self.inbox.sort(key=lambda each: each.place)
        reached = None
        for each in self.inbox:
            if each.place[0]:
                reached = max(each.at, reached or each.at)
                each.at = reached
        return True

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
        ready = await self.next_ready(now=now)
        if ready is None or ready > now or (self.tries + 1 == MAX_TRIES and not last_try):
            return None
        self.fence += 1
        self.tries += 1
        self.until = now + LEASE
        lease = Lease(self.session.conversation, worker, self.fence, self.tries)
        return Checkout(lease, self.session, tuple(self.history), (), {})

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]:
        return tuple(each.item for each in self.inbox if each.at <= now)

    async def renew(self, lease: Lease, *, now: datetime) -> None:
        self._check(lease)
        self.until = now + LEASE

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        self._check(lease)
        if step.session.revision != self.session.revision:
            if self.told is not None and self.told[:2] == (lease, step):
                return self.told[2]
            raise LeaseLost("stale")
        gone = {*step.taken, *step.parked}
        self.inbox = [each for each in self.inbox if each.item.id not in gone]
        self.session = replace(step.session, revision=step.session.revision + 1)
        self.history += step.history
        self.run = now if step.outcome is Outcome.RUN else None
        self.tries = 0 if step.clears_tries else self.tries
        for alarm in step.alarms:
            self.rings.pop(alarm.token, None)
            if alarm.at is not None:
                self.rings[alarm.token] = alarm.at
        self.told = (lease, step, self.session)
        return self.session

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        self._check(lease)
        self.tries = 0
        at = self._work_at()
        if keep and at is not None and at <= now:
            self.until = now + LEASE
            return Release.AGAIN
        self.until = None
        return Release.IDLE if at is None else Release.HINT

    async def next_ready(self, *, now: datetime) -> datetime | None:
        at = self._work_at()
        return at if at is None or self.until is None else max(at, self.until)

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> bool:
        if alarm.at is None or self.rings.get(alarm.token) != alarm.at:
            return False
        del self.rings[alarm.token]
        return await self.put(rules.expired(conversation, alarm), now=now)

    async def alarms(self) -> bool:
        return bool(self.rings)

    def _work_at(self) -> datetime | None:
        times = [each.at for each in self.inbox] + ([self.run] if self.run is not None else [])
        return min(times, default=None)

    def _check(self, lease: Lease) -> None:
        if lease.fence != self.fence:
            raise LeaseLost("the fence has moved on")
