"""How fast a platform lets us speak, in Redis: the newest instants of each limit, and what rests until when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kernel.ports.floods import LONGEST_REST, Limit
from kernel.stores import rules
from kernel.stores.keys import encoded
from kernel.stores.redis.connect import Server

_MICROSECOND = timedelta(microseconds=1)


class RedisFloods:
    """`Floods` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def take(self, limits: Sequence[Limit], *, now: datetime) -> timedelta:
        """See `Floods.take`."""
        told: list[str | int] = [rules.stamp(now), len(limits)]
        for each in limits:
            told += encoded(each.key), each.most, each.kept, each.window // _MICROSECOND, int(each.refills)
        return int(str(await self._server.run("flood", *told))) * _MICROSECOND

    async def rest(self, key: str, until: datetime, *, now: datetime) -> None:
        """See `Floods.rest`."""
        until = min(until, now + LONGEST_REST)
        await self._server.run("rest", encoded(key), rules.stamp(until), rules.stamp(now))
