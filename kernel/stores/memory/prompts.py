"""What tokens on buttons stand for, in memory."""

from __future__ import annotations

from kernel.ports import PromptRecord
from kernel.stores.memory.state import Memory


class MemoryPrompts:
    """The twin of `RedisPrompts`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def get(self, token: str) -> PromptRecord | None:
        """See `Prompts.get`."""
        self._memory.here()
        forget = self._memory.forget_prompts.get(token)
        if forget is not None and forget <= self._memory.clock.now():
            return None
        return self._memory.prompts.get(token)
