"""How often somebody did something lately, in Redis: a hash for each window, gone with it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from kernel.ports.rates import EVENTS_KNOWN, Counted
from kernel.stores import rules
from kernel.stores.keys import encoded
from kernel.stores.redis.connect import Server


class RedisRates:
    """`Rates` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def count(self, what: str, window: timedelta, event: str, *, now: datetime) -> Counted:
        """See `Rates.count`."""
        name = f"{encoded(what)}:{rules.window_of(now, window)}"
        seconds = int(window.total_seconds()) + 1
        number, is_again = cast(list[int], await self._server.run("count", name, event, seconds, EVENTS_KNOWN))
        return Counted(number, bool(is_again))
