"""What only one process may do at a time, in memory."""

from __future__ import annotations

from datetime import datetime

from kernel.ports.locks import HOLD
from kernel.stores.memory.state import Memory


class MemoryLocks:
    """The twin of `RedisLocks`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def take(self, name: str, holder: str, *, now: datetime) -> bool:
        """See `Locks.take`."""
        self._memory.here()
        has, until = self._memory.locks.get(name, (holder, now))
        if has != holder and until > now:
            return False
        self._memory.locks[name] = holder, now + HOLD
        return True

    async def leave(self, name: str, holder: str) -> None:
        """See `Locks.leave`."""
        self._memory.here()
        if name in self._memory.locks and self._memory.locks[name][0] == holder:
            del self._memory.locks[name]
