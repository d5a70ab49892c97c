"""How often somebody did something lately, in Redis: a number for each window, gone with it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from kernel.stores import rules
from kernel.stores.keys import RATE, encoded
from kernel.stores.redis.connect import Server


class RedisRates:
    """`Rates` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def count(self, what: str, window: timedelta, *, now: datetime) -> int:
        """See `Rates.count`. Told again because an answer was lost, it counts once too much."""
        key = RATE.of(encoded(what), str(rules.window_of(now, window)))
        counted = cast(int, await self._server.ask("INCR", key))
        if counted == 1:
            await self._server.ask("EXPIRE", key, int(window.total_seconds()) + 1)
        return counted
