"""Which processes live, in memory."""

from __future__ import annotations

from datetime import datetime

from kernel.stores import rules
from kernel.stores.memory.state import Memory


class MemoryBeats:
    """The twin of `RedisBeats`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._last: dict[tuple[str, str], datetime] = {}

    async def beat(self, role: str, process: str, *, now: datetime) -> None:
        """See `Beats.beat`."""
        self._memory.here()
        self._last = {who: at for who, at in self._last.items() if at > now - rules.BEAT_LIVES}
        self._last[role, process] = now

    async def end(self, role: str, process: str) -> None:
        """See `Beats.end`."""
        self._memory.here()
        self._last.pop((role, process), None)

    async def seen(self) -> tuple[tuple[str, str, datetime], ...]:
        """See `Beats.seen`."""
        self._memory.here()
        return tuple(sorted((role, process, at) for (role, process), at in self._last.items()))
