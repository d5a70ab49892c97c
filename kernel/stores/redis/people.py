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
        told = {"id": sender.id, "name": sender.name, "language": sender.language, "zone": sender.zone}
        fields = [piece for name, value in told.items() if value for piece in (name, value)]
        async with answering(), self._server.client.pipeline() as batch:
            batch.hset(key, items=fields)
            batch.expire(key, rules.KEEP_PEOPLE)
            await batch.execute()

    async def get(self, platform: str, person: str) -> Sender | None:
        """See `People.get`."""
        async with answering():
            known = cast(dict[str, str], await self._server.client.hgetall(keys.PERSON.of(platform, person)))
        if not known:
            return None
        return Sender(person, known.get("name", ""), known.get("language"), known.get("zone"))

    async def refuse(self, platform: str, person: str, *, now: datetime) -> bool:
        """See `People.refuse`."""
        who = f"{encoded(platform)}:{encoded(person)}"
        return await self._server.run("refuse", who, rules.stamp(now), _REFUSE_AGAIN_US) == 1

    async def set_zone(self, conversation: ConversationId, zone: str) -> None:
        """See `People.set_zone`."""
        async with answering():
            await self._server.client.hset(keys.RECORD.head + conversation_piece(conversation), "zone", zone)

    async def zone(self, conversation: ConversationId) -> str | None:
        """See `People.zone`."""
        async with answering():
            zone = await self._server.client.hget(keys.RECORD.head + conversation_piece(conversation), "zone")
        return cast(str | None, zone)
