"""Chats that the bot knows, in Redis: one hash a platform, a field a chat."""

from __future__ import annotations

import json
from datetime import datetime
from typing import cast

from kernel.chat import ConversationId
from kernel.ports.chats import KEEP_ASKERS, KEEP_CHATS, MAX_ASKERS, MAX_CHATS, KnownChat
from kernel.stores import rules
from kernel.stores.keys import ASKERS, CHATS, conversation_piece, decoded, encoded
from kernel.stores.redis.connect import Server, answering


class RedisChats:
    """`Chats` over one Redis.

    Two adapters that see one chat at once keep either's word; both are true.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def see(self, chat: KnownChat, *, now: datetime) -> None:
        """See `Chats.see`."""
        key, field = CHATS.of(chat.conversation.platform), encoded(chat.conversation.chat)
        before = cast(str | None, await self._server.ask("HGET", key, field))
        title = chat.title or (str(json.loads(before)["title"]) if before else "")
        told = {"title": title, "person": chat.person, "team": chat.team, "seen": rules.stamp(now)}
        async with answering(), self._server.client.pipeline() as batch:
            batch.hset(key, field, json.dumps(told))
            batch.expire(key, KEEP_CHATS)
            await batch.execute()
        if before is None:
            await self._make_room(key)

    async def leave(self, conversation: ConversationId) -> None:
        """See `Chats.leave`."""
        await self._server.ask("HDEL", CHATS.of(conversation.platform), encoded(conversation.chat))

    async def known(self, platform: str) -> tuple[KnownChat, ...]:
        """See `Chats.known`."""
        told = {decoded(field): value for field, value in (await self._all(CHATS.of(platform))).items()}
        return tuple(
            KnownChat(ConversationId(platform, chat), str(each["title"]), str(each["person"]), str(each["team"]))
            for chat, each in sorted(told.items())
        )

    async def asked(self, thread: ConversationId, person: str, order: int) -> None:
        """See `Chats.asked`."""
        key = ASKERS.head + conversation_piece(thread)
        is_full = cast(int, await self._server.ask("ZCARD", key)) >= MAX_ASKERS
        async with answering(), self._server.client.pipeline() as batch:
            batch.zadd(key, {encoded(person): order}, xx=is_full, lt=True)
            batch.expire(key, KEEP_ASKERS)
            await batch.execute()

    async def has_asked(self, thread: ConversationId, person: str, *, before: int) -> bool:
        """See `Chats.has_asked`."""
        first = await self._server.ask("ZSCORE", ASKERS.head + conversation_piece(thread), encoded(person))
        return first is not None and float(cast(str, first)) < before

    async def _make_room(self, key: str) -> None:
        if cast(int, await self._server.ask("HLEN", key)) <= MAX_CHATS:
            return
        told = await self._all(key)
        oldest = sorted(told, key=lambda field: (int(told[field]["seen"]), decoded(field)))
        await self._server.ask("HDEL", key, *oldest[: len(told) - MAX_CHATS])

    async def _all(self, key: str) -> dict[str, dict[str, str | int]]:
        found = cast(dict[str, str], await self._server.ask("HGETALL", key))
        return {field: json.loads(value) for field, value in found.items()}
