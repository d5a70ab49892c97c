"""Processes that only send: the deliveries of several adapters over one memory, on one jumping clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from bots.adapter import Adapter
from bots.counters import Counters
from bots.deliveries import Deliveries
from bots.drafts import Drafts
from bots.moves import Moves
from bots.presses import Presses
from bots.typing import Typing
from kernel.chat import Outbound
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.twins.clock import JumpingClock


class Senders:
    """What is put into the outbox goes out through `adapters`, which are of one platform."""

    def __init__(self, adapters: Sequence[Adapter], memory: Memory, clock: JumpingClock) -> None:
        self.clock = clock
        self.stores = memory_stores(clock, memory=memory)
        self._memory = memory
        self.counters = Counters()
        self.deliveries = [self._deliveries(adapter, f"p{number}") for number, adapter in enumerate(adapters)]

    async def says(self, *outbounds: Outbound) -> None:
        """It is to be said now."""
        for outbound in outbounds:
            await self.stores.outbox.add(outbound, now=self.clock.now())
        self.wake()

    async def passes(self, by: timedelta) -> None:
        """Time goes on; whoever waited looks again."""
        self.clock.jump(by)
        self.wake()

    async def until(self, holds: Callable[[], bool]) -> None:
        """The event loop runs until it holds; the clock stands still."""
        async with asyncio.timeout(10):
            while not holds():  # noqa: ASYNC110 — what is waited for goes through sockets
                await asyncio.sleep(0.001)

    async def rest(self) -> None:
        """Nothing is being sent, and nothing could be at this instant."""
        await self.until(self._is_at_rest)

    @property
    def waiting(self) -> int:
        """Deliveries that are not out."""
        return sum(len(line.parcels) for line in self._memory.lines.values())

    def wake(self) -> None:
        """As the store does."""
        for each in self.deliveries:
            each.woken.set()

    def _is_at_rest(self) -> bool:
        now = self.clock.now()
        return all(
            not line.parcels or (not line.holder and line.free_at is not None and line.free_at > now)
            for line in self._memory.lines.values()
        )

    def _deliveries(self, adapter: Adapter, holder: str) -> Deliveries:
        moves = Moves(self.stores.grants, self.clock)
        return Deliveries(
            adapter,
            self.stores.outbox,
            self.clock,
            holder=holder,
            moves=moves,
            counters=self.counters,
            presses=Presses(adapter, self.clock, "auto", self.stores.locks, holder),
            typing=Typing(adapter, self.stores.outbox, self.clock, moves),
            drafts=Drafts(adapter, self.stores.outbox, self.clock, str, moves),
            mask=str,
        )


@asynccontextmanager
async def senders(adapters: Sequence[Adapter], memory: Memory, clock: JumpingClock) -> AsyncIterator[Senders]:
    """Running ones."""
    made = Senders(adapters, memory, clock)
    tasks = [asyncio.create_task(each.run()) for each in made.deliveries]
    try:
        yield made
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
