"""Chats that the bot knows, in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kernel.chat import ConversationId
from kernel.ports.chats import KEEP_CHATS, MAX_ASKERS, MAX_CHATS, KnownChat
from kernel.stores.memory.state import Memory


class MemoryChats:
    """The twin of `RedisChats`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._chats: dict[str, dict[str, tuple[datetime, KnownChat]]] = {}

    async def see(self, chat: KnownChat, *, now: datetime) -> None:
        """See `Chats.see`."""
        self._memory.here()
        chats = self._chats.setdefault(chat.conversation.platform, {})
        before = chats.pop(chat.conversation.chat, None)
        title = chat.title or (before[1].title if before else "")
        chats[chat.conversation.chat] = now, replace(chat, title=title)
        while len(chats) > MAX_CHATS:
            del chats[min(chats, key=lambda each: (chats[each][0], each))]

    async def leave(self, conversation: ConversationId) -> None:
        """See `Chats.leave`."""
        self._memory.here()
        self._chats.get(conversation.platform, {}).pop(conversation.chat, None)

    async def known(self, platform: str) -> tuple[KnownChat, ...]:
        """See `Chats.known`."""
        self._memory.here()
        chats = self._chats.get(platform, {})
        newest = max((seen for seen, _ in chats.values()), default=None)
        if newest is None or newest + KEEP_CHATS <= self._memory.clock.now():
            return ()
        return tuple(chat for _, (_, chat) in sorted(chats.items()))

    async def asked(self, thread: ConversationId, person: str, order: int) -> None:
        """See `Chats.asked`."""
        self._memory.here()
        askers = self._memory.askers.setdefault(thread, {})
        if person in askers or len(askers) < MAX_ASKERS:
            askers[person] = min(order, askers.get(person, order))

    async def has_asked(self, thread: ConversationId, person: str, *, before: int) -> bool:
        """See `Chats.has_asked`."""
        self._memory.here()
        first = self._memory.askers.get(thread, {}).get(person)
        return first is not None and first < before
