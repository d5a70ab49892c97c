"""How much waits in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kernel.ports import LATE_AFTER, Standing
from kernel.stores import keys, rules
from kernel.stores.keys import encoded
from kernel.stores.redis.connect import Server, answering


class RedisOverview:
    """`Overview` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def look(self, platforms: Sequence[str], *, now: datetime) -> Standing:
        """See `Overview.look`."""
        async with answering(), self._server.client.pipeline(transaction=False) as batch:
            batch.zcount(keys.READY.head, "-inf", rules.stamp(now))
            batch.zcard(keys.DUE.head)
            batch.zcount(keys.DUE.head, "-inf", f"({rules.stamp(now - LATE_AFTER)}")
            for platform in platforms:
                batch.zcard(keys.OUT_FIRST.head + encoded(platform))
                batch.zcard(keys.OUT_READY.head + encoded(platform))
            ready, due, late, *lines = await batch.execute()
        waiting = {platform: lines[2 * n] + lines[2 * n + 1] for n, platform in enumerate(platforms)}
        return Standing(ready, waiting, due, late)
