"""What people asked to be remembered, in memory."""

from __future__ import annotations

from kernel.ports import Shelf
from kernel.stores.memory.state import Memory


class MemoryMemories:
    """The twin of `RedisMemories`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def on(self, shelf: Shelf) -> tuple[str, ...]:
        """See `Memories.on`."""
        self._memory.here()
        return tuple(self._memory.memories.get(shelf, ()))
