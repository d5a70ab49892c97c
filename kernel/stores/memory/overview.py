"""How much waits in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kernel.ports import LATE_AFTER, Standing
from kernel.stores.memory.state import Memory


class MemoryOverview:
    """The twin of `RedisOverview`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def look(self, platforms: Sequence[str], *, now: datetime) -> Standing:
        """See `Overview.look`."""
        memory = self._memory
        memory.here()
        free = [record.free_at for record in memory.records.values()]
        lines = [where.platform for where, line in memory.lines.items() if line.parcels]
        return Standing(
            sum(at is not None and at <= now for at in free),
            {platform: lines.count(platform) for platform in platforms},
            len(memory.due),
            sum(at < now - LATE_AFTER for at in memory.due.values()),
        )
