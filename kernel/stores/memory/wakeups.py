"""Hints, in memory."""

from __future__ import annotations

import asyncio

from kernel.stores.memory.state import Memory


class MemoryWakeups:
    """The twin of `RqWakeups`; `hinted` waits for the next hint as a worker would."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._hints = asyncio.Semaphore(0)

    async def hint(self) -> None:
        """See `Wakeups.hint`."""
        self._memory.here()
        self._hints.release()

    async def unflag(self) -> None:
        """See `Wakeups.unflag`."""
        self._memory.here()
        self._memory.wake_until = None

    async def hinted(self) -> None:
        """Return when there is a hint that nobody has taken yet, and take it."""
        await self._hints.acquire()
