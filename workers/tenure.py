"""Holding a conversation: the lease is renewed, and tells whether something with effects may still be started."""

from __future__ import annotations

import asyncio

from kernel.errors import RetryLater
from kernel.ports import LEASE, RENEW_EVERY, Clock, Conversations, Lease

SAFETY_S = 2.0
"""How long before the end of its lease a worker no longer starts anything that has effects."""


class Tenure:
    """A lease and the permit that goes with it.

    `asked_at` is the boot time *before* the lease was asked for: a process that is frozen between the store's answer
    and its own next step must not believe that it has just got it.
    """

    __slots__ = ("_clock", "_conversations", "_permit_until", "lease")

    def __init__(self, lease: Lease, conversations: Conversations, clock: Clock, *, asked_at: float) -> None:
        self.lease = lease
        self._conversations = conversations
        self._clock = clock
        self._permit_until = asked_at + LEASE.total_seconds() - SAFETY_S

    def has_permit(self) -> bool:
        """Whether the lease certainly still holds; the boot-time clock counts sleep and freezes."""
        return self._clock.boottime() < self._permit_until

    async def keep(self) -> bool:
        """Renew when it is time to. False: the store is away. Raises `LeaseLost`."""
        await asyncio.sleep(RENEW_EVERY.total_seconds())
        try:
            await self.refresh()
        except RetryLater:
            return False
        return True

    async def refresh(self) -> None:
        """Renew now: after the store was away the lease may still be ours. Raises `LeaseLost`, `RetryLater`."""
        asked_at = self._clock.boottime()
        await self._conversations.renew(self.lease, now=self._clock.now())
        self._permit_until = asked_at + LEASE.total_seconds() - SAFETY_S
