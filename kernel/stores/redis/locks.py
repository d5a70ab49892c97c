"""What only one process may do at a time, in Redis."""

from __future__ import annotations

from datetime import datetime, timedelta

from kernel.ports.locks import HOLD
from kernel.stores import rules
from kernel.stores.keys import encoded
from kernel.stores.redis.connect import Server

_HOLD_US = HOLD // timedelta(microseconds=1)


class RedisLocks:
    """`Locks` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def take(self, name: str, holder: str, *, now: datetime) -> bool:
        """See `Locks.take`."""
        return await self._server.run("lock", encoded(name), holder, rules.stamp(now), _HOLD_US) == "held"

    async def leave(self, name: str, holder: str) -> None:
        """See `Locks.leave`."""
        await self._server.run("unlock", encoded(name), holder)
