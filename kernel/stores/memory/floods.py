"""How fast a platform lets us speak, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kernel.ports.floods import LONGEST_REST, Limit
from kernel.stores.memory.state import Memory


class MemoryFloods:
    """The twin of `RedisFloods`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def take(self, limits: Sequence[Limit], *, now: datetime) -> timedelta:
        """See `Floods.take`."""
        self._memory.here()
        return self._memory.floods.take(limits, now)

    async def rest(self, key: str, until: datetime, *, now: datetime) -> None:
        """See `Floods.rest`."""
        self._memory.here()
        self._memory.floods.rest(key, min(until, now + LONGEST_REST))
