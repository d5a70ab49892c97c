"""Which processes live, in Redis."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from kernel.stores import keys, rules
from kernel.stores.keys import decoded, encoded
from kernel.stores.redis.connect import Server, answering

_LIVES_US = rules.BEAT_LIVES // timedelta(microseconds=1)


class RedisBeats:
    """`Beats` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def beat(self, role: str, process: str, *, now: datetime) -> None:
        """See `Beats.beat`."""
        who = f"{encoded(role)}:{encoded(process)}"
        await self._server.run("beat", who, rules.stamp(now), _LIVES_US)

    async def end(self, role: str, process: str) -> None:
        """See `Beats.end`."""
        await self._server.ask("ZREM", keys.BEATS.head, f"{encoded(role)}:{encoded(process)}")

    async def seen(self) -> tuple[tuple[str, str, datetime], ...]:
        """See `Beats.seen`."""
        async with answering():
            found = await self._server.client.zrange(keys.BEATS.head, 0, -1, withscores=True)
        beats = []
        for who, at in cast(list[tuple[str, float]], found):
            role, process = who.split(":")
            beats.append((decoded(role), decoded(process), rules.instant(int(at))))
        return tuple(sorted(beats))
