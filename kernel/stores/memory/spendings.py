"""What model calls used up, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date

from kernel.chat import ConversationId
from kernel.ports import Spent
from kernel.stores.memory.state import Memory


class MemorySpendings:
    """The twin of `RedisSpendings`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def of_chat(self, conversation: ConversationId, days: Sequence[date]) -> tuple[Spent, ...]:
        """See `Spendings.of_chat`."""
        self._memory.here()
        return tuple(self._memory.spent.get((conversation.platform, conversation.chat, day), Spent()) for day in days)

    async def of_people(self, platform: str, days: Sequence[date]) -> Mapping[str, Spent]:
        """See `Spendings.of_people`."""
        self._memory.here()
        totals: defaultdict[str, Spent] = defaultdict(Spent)
        for day in days:
            for person, spent in self._memory.spent_by[platform, day].items():
                totals[person] += spent
        return dict(totals)
