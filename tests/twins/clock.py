"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
"""A Monday, nine o'clock in Shanghai."""


class JumpingClock:
    """Time that jumps; sleepers whose time has come wake up at once."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now
        self._boot = 1000.0
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._slept = asyncio.Condition()

    def now(self) -> datetime:
        """The instant at which the test has put it, aware UTC."""
        return self._now

    def boottime(self) -> float:
        """Moves with `jump`, never back."""
        return self._boot

    async def sleep_until(self, at: datetime) -> None:
        """Return when the test has moved the clock to `at` or past it."""
        if at <= self._now:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at, next(self._numbers), woken))
        async with self._slept:
            self._slept.notify_all()
        await woken

    def jump(self, by: timedelta) -> None:
        """Move on at once, past everything in between."""
        self.set(self._now + by)

    def set(self, at: datetime) -> None:
        """Put the clock on the wall to `at`, which may lie in the past; boot time only moves ahead."""
        self._boot += max((at - self._now).total_seconds(), 0.0)
        self._now = at
        while self._sleepers and (self._sleepers[0][0] <= at or self._sleepers[0][2].done()):
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)

    async def run_to(self, at: datetime, *, turns: int = 20) -> None:
        """Move to `at` in the steps that sleepers ask for, with `turns` rounds of the event loop after each."""
        while self._now < at:
            for _ in range(turns):
                await asyncio.sleep(0)
            sleeping = [due for due, _, woken in self._sleepers if not woken.done() and due <= at]
            self.set(min(sleeping, default=at))
        for _ in range(turns):
            await asyncio.sleep(0)

    async def sleeper(self) -> datetime:
        """Wait until somebody sleeps; when the earliest of them wants to wake."""
        async with self._slept:
            await self._slept.wait_for(lambda: any(not woken.done() for _, _, woken in self._sleepers))
        return min(due for due, _, woken in self._sleepers if not woken.done())
