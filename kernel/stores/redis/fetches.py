"""Messages that wait for their files, in Redis."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

import structlog

from kernel.chat import UserMessage
from kernel.codec import decode, encode
from kernel.errors import BadRecord
from kernel.ports import FETCH_LEASE, Fetching, Put
from kernel.stores import keys, rules
from kernel.stores.keys import conversation_piece, encoded
from kernel.stores.redis.connect import Server, answering

log = structlog.get_logger()

_LEASE_US = FETCH_LEASE // timedelta(microseconds=1)


class RedisFetches:
    """`Fetches` over one Redis; any number of processes may share it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def take(self, platform: str, *, now: datetime) -> Fetching | None:
        """See `Fetches.take`. One that cannot be read stays where it is: whoever reads the inbox parks it."""
        found = await self._server.run("fetch_take", encoded(platform), rules.stamp(now), _LEASE_US)
        if not found:
            return None
        piece, item, until, body = cast(tuple[str, str, str, str], found)
        try:
            message = decode(UserMessage, body)
        except BadRecord as error:
            log.error("a message with files cannot be read", conversation=piece, item=item, why=str(error))
            return None
        return Fetching(item, message, rules.instant(int(until)))

    async def hold(self, fetching: Fetching, *, now: datetime) -> None:
        """See `Fetches.hold`."""
        piece = conversation_piece(fetching.message.conversation)
        await self._server.run("fetch_hold", piece, fetching.item, rules.stamp(now + FETCH_LEASE))

    async def next_due(self, platform: str) -> datetime | None:
        """See `Fetches.next_due`."""
        async with answering():
            first = await self._server.client.zrange(keys.FETCHES.of(platform), 0, 0, withscores=True)
        return rules.instant(int(first[0][1])) if first else None

    async def complete(self, fetching: Fetching, message: UserMessage, *, now: datetime) -> Put:
        """See `Fetches.complete`."""
        done = await self._server.run(
            "fetch_done",
            conversation_piece(fetching.message.conversation),
            fetching.item,
            encode(message),
            " ".join(encoded(blob) for blob in rules.blobs_of(message)),
            rules.stamp(now),
        )
        return Put(done)
