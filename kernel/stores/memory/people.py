"""What is known of people, in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kernel.chat import ConversationId, Sender
from kernel.stores import rules
from kernel.stores.memory.state import Memory


class MemoryPeople:
    """The twin of `RedisPeople`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def see(self, platform: str, sender: Sender) -> None:
        """See `People.see`."""
        self._memory.here()
        known = self._memory.people.get((platform, sender.id), sender)
        self._memory.people[platform, sender.id] = replace(
            known,
            name=sender.name or known.name,
            language=sender.language or known.language,
            zone=sender.zone or known.zone,
            team=sender.team or known.team,
            is_bot=sender.is_bot or known.is_bot,
            is_guest=False,
        )

    async def get(self, platform: str, person: str) -> Sender | None:
        """See `People.get`."""
        self._memory.here()
        return self._memory.people.get((platform, person))

    async def forget(self, platform: str, person: str) -> None:
        """See `People.forget`."""
        self._memory.here()
        self._memory.people.pop((platform, person), None)

    async def refuse(self, platform: str, person: str, *, now: datetime) -> bool:
        """See `People.refuse`."""
        self._memory.here()
        before = self._memory.refused.get((platform, person))
        if before is not None and now - before < rules.REFUSE_AGAIN:
            return False
        self._memory.refused[platform, person] = now
        return True

    async def set_zone(self, conversation: ConversationId, zone: str) -> None:
        """See `People.set_zone`."""
        self._memory.here()
        self._memory.record(conversation).zone = zone

    async def zone(self, conversation: ConversationId) -> str | None:
        """See `People.zone`."""
        self._memory.here()
        return self._memory.record(conversation).zone

    async def set_language(self, conversation: ConversationId, language: str) -> None:
        """See `People.set_language`."""
        self._memory.here()
        self._memory.record(conversation).language = language

    async def language(self, conversation: ConversationId) -> str | None:
        """See `People.language`."""
        self._memory.here()
        return self._memory.record(conversation).language
