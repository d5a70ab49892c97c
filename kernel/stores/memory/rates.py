"""How often somebody did something lately, in memory."""

from __future__ import annotations

from datetime import datetime, timedelta

from kernel.stores import rules
from kernel.stores.memory.state import Memory


class MemoryRates:
    """The twin of `RedisRates`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def count(self, what: str, window: timedelta, *, now: datetime) -> int:
        """See `Rates.count`."""
        self._memory.here()
        self._memory.rates[what, rules.window_of(now, window)] += 1
        return self._memory.rates[what, rules.window_of(now, window)]
