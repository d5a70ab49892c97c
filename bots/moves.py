"""Chats whose id changed on their platform: inside they keep the one that we knew first, outside they get the new one.

So reminders, history and rights stay where they are, and nothing has to be carried over.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import structlog

from bots.adapter import ChatMoved
from kernel.chat import ConversationId
from kernel.patience import patiently
from kernel.ports import Clock, Grants

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Moves:
    """The moved chats of one platform, as far as this process has met them."""

    def __init__(self, grants: Grants, clock: Clock) -> None:
        self._grants = grants
        self._clock = clock
        self._now: dict[ConversationId, str] = {}

    async def here(self, conversation: ConversationId) -> ConversationId:
        """The conversation as we know it, of one as its platform calls it."""
        platform = conversation.platform
        known = await patiently(self._clock, lambda: self._grants.known_as(platform, conversation.chat))
        if known != conversation.chat:
            # What is heard late may still come from an id before the last.
            called = await patiently(self._clock, lambda: self._grants.called(platform, known))
            self._now[ConversationId(platform, known)] = called
        return replace(conversation, chat=known)

    def there(self, conversation: ConversationId) -> ConversationId:
        """The conversation as its platform calls it, as far as we have been told."""
        return replace(conversation, chat=self._now.get(replace(conversation, thread=""), conversation.chat))

    async def follow(self, conversation: ConversationId, to: str) -> None:
        """The chat that we know so has the id `to` now."""
        platform, chat = conversation.platform, conversation.chat
        await patiently(self._clock, lambda: self._grants.move(platform, chat, to))
        self._now[ConversationId(platform, chat)] = to
        log.info("chat moved", platform=platform, chat=chat, to=to)

    async def through(self, conversation: ConversationId, call: Callable[[ConversationId], Awaitable[T]]) -> T:
        """What `call` gives for the conversation as its platform calls it; once more when it has moved on since."""
        try:
            return await call(self.there(conversation))
        except ChatMoved as moved:
            await self.follow(conversation, moved.to)
        return await call(self.there(conversation))
