"""What is known of people, in Redis."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from kernel.chat import ConversationId, Sender
from kernel.stores import keys, rules
from kernel.stores.keys import conversation_piece, encoded
from kernel.stores.redis.connect import Server, answering

_REFUSE_AGAIN_US = rules.REFUSE_AGAIN // timedelta(microseconds=1)


class RedisPeople:
    """`People` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def see(self, platform: str, sender: Sender) -> None:
        """See `People.see`."""
        key = keys.PERSON.of(platform, sender.id)
        told = {
            "id": sender.id,
            "name": sender.name,
            "language": sender.language,
            "zone": sender.zone,
            "team": sender.team,
            "bot": "1" if sender.is_bot else "",
        }
        fields = [piece for name, value in told.items() if value for piece in (name, value)]
        async with answering(), self._server.client.pipeline() as batch:
            batch.hset(key, items=fields)
            batch.expire(key, rules.KEEP_PEOPLE)
            await batch.execute()

    async def get(self, platform: str, person: str) -> Sender | None:
        """See `People.get`."""
        key = keys.PERSON.of(platform, person)
        names = ("id", "name", "language", "zone", "team", "bot")
        known = cast(list[str | None], await self._server.ask("HMGET", key, *names))
        id_, name, language, zone, team, bot = known
        return Sender(person, name or "", language, zone, team or "", bool(bot)) if id_ is not None else None

    async def forget(self, platform: str, person: str) -> None:
        """See `People.forget`."""
        await self._server.ask("DEL", keys.PERSON.of(platform, person))

    async def refuse(self, platform: str, person: str, *, now: datetime) -> bool:
        """See `People.refuse`."""
        who = f"{encoded(platform)}:{encoded(person)}"
        return await self._server.run("refuse", who, rules.stamp(now), _REFUSE_AGAIN_US) == 1

    async def set_zone(self, conversation: ConversationId, zone: str) -> None:
        """See `People.set_zone`."""
        await self._keep(conversation, "zone", zone)

    async def zone(self, conversation: ConversationId) -> str | None:
        """See `People.zone`."""
        return await self._kept(conversation, "zone")

    async def set_language(self, conversation: ConversationId, language: str) -> None:
        """See `People.set_language`."""
        await self._keep(conversation, "language", language)

    async def language(self, conversation: ConversationId) -> str | None:
        """See `People.language`."""
        return await self._kept(conversation, "language")

    async def _keep(self, conversation: ConversationId, name: str, value: str) -> None:
        async with answering():
            await self._server.client.hset(keys.RECORD.head + conversation_piece(conversation), name, value)

    async def _kept(self, conversation: ConversationId, name: str) -> str | None:
        key = keys.RECORD.head + conversation_piece(conversation)
        return cast(str | None, await self._server.ask("HGET", key, name))
