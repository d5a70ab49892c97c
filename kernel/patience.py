"""Waiting for what is away: how long between two tries, and for a store for as long as it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import structlog

from kernel.errors import RetryLater
from kernel.ports import Clock

log = structlog.get_logger(__name__)

T = TypeVar("T")

FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=5)
_STORE_LOOKED_AT = timedelta(seconds=1)
"""A store that is back is found within this time."""


def pause_after(failures: int, longest: timedelta = LONGEST_PAUSE) -> timedelta:
    """How long to wait after the `failures`-th failure in a row (from 1): doubles up to `longest`."""
    return min(FIRST_PAUSE * (1 << min(failures - 1, 20)), longest)


async def patiently(clock: Clock, attempt: Callable[[], Awaitable[T]]) -> T:
    """What `attempt` gives, tried again for as long as it raises `RetryLater`; everything else passes through.

    For calls of the store: while it is away nothing else can be done anyway, and nothing may be lost.
    """
    failures = 0
    while True:
        try:
            return await attempt()
        except RetryLater as error:
            failures += 1
            if failures == 1:
                log.warning("store is away, waiting", why=str(error))
        await clock.sleep_until(clock.now() + pause_after(failures, _STORE_LOOKED_AT))
