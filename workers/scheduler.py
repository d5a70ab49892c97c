"""The scheduler: a loop without opinions. It sleeps, wakes, asks what is due, and has it done.

What a due time means (deliver, skip, move on) is decided by `fire`; that it happens once is the store's matter, so
several schedulers may run and any may die.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from kernel.chat import ConversationId
from kernel.errors import RetryLater
from kernel.ports import Alarm, Beats, Clock, Triggers
from kernel.triggers import Firing

Fire = Callable[[Firing], Awaitable[None]]
Ring = Callable[[ConversationId, Alarm], Awaitable[None]]
Due = Firing | tuple[ConversationId, Alarm]

_IDLE = timedelta(seconds=5)
"""The longest sleep; a wake-up that was missed costs no more. Three commands a round: under one a second."""
_ROUND_WITH_REST = timedelta(seconds=1)
"""While something due must wait for its next try, the store cannot tell when the one behind it is due."""
_BATCH = 200
_AT_ONCE = 32
"""Conversations served side by side."""
_FIRST_REST = timedelta(seconds=1)
_LONGEST_REST = timedelta(minutes=5)
ROLE = "scheduler"

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Rest:
    """When something that failed is tried again, and how long the next pause is."""

    until: datetime
    pause: timedelta


@dataclass(slots=True)
class _Rests:
    """What failed lately. Kept in memory: another process, or this one anew, tries at once and learns the same."""

    _rests: dict[Hashable, _Rest] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._rests)

    def holds(self, due: Due, now: datetime) -> bool:
        """Whether its next try lies ahead."""
        rest = self._rests.get(_key(due))
        return rest is not None and rest.until > now

    def add(self, due: Due, now: datetime, after: timedelta | None = None) -> timedelta:
        """Note a failure; how long it rests: `after`, else twice as long as the last time."""
        earlier = self._rests.get(_key(due))
        pause = _FIRST_REST if earlier is None else min(earlier.pause * 2, _LONGEST_REST)
        until = now + (pause if after is None else after)
        self._rests[_key(due)] = _Rest(until, pause)
        return until - now

    def keep(self, dues: Sequence[Due]) -> None:
        """Forget all that is not due any more."""
        keys = {_key(due) for due in dues}
        self._rests = {key: rest for key, rest in self._rests.items() if key in keys}


async def run_scheduler(
    triggers: Triggers, fire: Fire, ring: Ring, *, clock: Clock, beats: Beats, process: str
) -> None:
    """Fire triggers and ring alarms when they are due, until cancelled.

    Those of one conversation happen one after the other, earliest first; conversations do not wait for each other.
    What raises is logged and tried again after a growing pause (`RetryLater`: after its own), and stops nothing else.
    While the store is away the loop waits for it.
    """
    rests = _Rests()
    is_away = False
    beaten: datetime | None = None
    while True:
        try:
            now = clock.now()
            if beaten is None or now >= beaten + _IDLE:
                await beats.beat(ROLE, process, now=now)
                beaten = now
            await _round(triggers, fire, ring, clock, rests)
            is_away = False
        except RetryLater as away:
            if not is_away:
                log.warning("store away", why=str(away))
            is_away = True
            await clock.sleep_until(clock.now() + min(max(away.after, _FIRST_REST), _IDLE))


async def _round(triggers: Triggers, fire: Fire, ring: Ring, clock: Clock, rests: _Rests) -> None:
    """Do what is due; when nothing is, sleep."""
    now = clock.now()
    next_due = await triggers.next_due()
    if next_due is None or next_due > now:
        await triggers.wait(min(next_due or now + _IDLE, now + _IDLE))
        return
    dues = await triggers.due(now=now, limit=_BATCH + len(rests))
    rests.keep(dues)
    fresh = [due for due in dues if not rests.holds(due, now)]
    if not fresh:
        await clock.sleep_until(now + _ROUND_WITH_REST)
        return
    by_conversation: dict[ConversationId, list[Due]] = defaultdict(list)
    for due in fresh:
        by_conversation[_conversation(due)].append(due)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def serve(queue: Sequence[Due]) -> None:
        async with gate:
            for due in queue:
                await _do(due, fire, ring, clock, rests)

    async with asyncio.TaskGroup() as group:
        for queue in by_conversation.values():
            group.create_task(serve(queue))
    late = clock.now() - min(_at(due) or now for due in fresh)
    log.info("due done", count=len(fresh), late_s=late.total_seconds())


async def _do(due: Due, fire: Fire, ring: Ring, clock: Clock, rests: _Rests) -> None:
    try:
        if isinstance(due, Firing):
            await fire(due)
        else:
            await ring(*due)
    except RetryLater as later:
        rests.add(due, clock.now(), max(later.after, _FIRST_REST))
        log.warning("due later", **_named(due), why=str(later))
    except Exception:  # The boundary of a tick: one broken trigger must not keep the others.
        pause = rests.add(due, clock.now())
        log.exception("due failed", **_named(due), again_s=pause.total_seconds())
    else:
        # Should it be due still, somebody forgot to move it on: that must not become a loop without sleep.
        rests.add(due, clock.now(), _FIRST_REST)


def _conversation(due: Due) -> ConversationId:
    return due.trigger.conversation if isinstance(due, Firing) else due[0]


def _at(due: Due) -> datetime | None:
    return due.due if isinstance(due, Firing) else due[1].at


def _key(due: Due) -> Hashable:
    return due.id if isinstance(due, Firing) else due


def _named(due: Due) -> dict[str, str]:
    """Fields for the log; an alarm's token is that of a button and stays out of it."""
    if isinstance(due, Firing):
        return {"trigger": due.trigger.id, "due": due.due.isoformat()}
    return {"alarm_in": str(due[0])}
