"""How often somebody did something lately, in memory."""

from __future__ import annotations

from datetime import datetime, timedelta

from kernel.ports.rates import EVENTS_KNOWN, Counted
from kernel.stores import rules
from kernel.stores.memory.state import Memory


class MemoryRates:
    """The twin of `RedisRates`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def count(self, what: str, window: timedelta, event: str, *, now: datetime) -> Counted:
        """See `Rates.count`."""
        self._memory.here()
        rate = self._memory.rates[what, rules.window_of(now, window)]
        if event in rate.events:
            return Counted(rate.events[event], is_again=True)
        rate.number += 1
        if rate.number <= EVENTS_KNOWN:
            rate.events[event] = rate.number
        return Counted(rate.number)
