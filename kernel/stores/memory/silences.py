"""What was not answered, in memory."""

from __future__ import annotations

from dataclasses import replace

from kernel.chat import ConversationId
from kernel.ports.unanswered import KEEP_UNANSWERED, MAX_UNANSWERED, Unanswered
from kernel.stores.memory.state import Memory


class MemorySilences:
    """The twin of `RedisSilences`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def note(self, conversation: ConversationId, unanswered: Unanswered) -> None:
        """See `Silences.note`."""
        self._memory.here()
        lines = self._memory.unanswered.setdefault(replace(conversation, thread=""), [])
        lines.append(unanswered)
        del lines[:-MAX_UNANSWERED]

    async def of(self, conversation: ConversationId) -> tuple[Unanswered, ...]:
        """See `Silences.of`."""
        self._memory.here()
        lines = self._memory.unanswered.get(replace(conversation, thread=""), [])
        is_kept = lines and lines[-1].at + KEEP_UNANSWERED > self._memory.clock.now()
        return tuple(lines) if is_kept else ()
