"""The real clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

_SLICE = timedelta(seconds=5)
"""Sleeps are cut: the event loop's clock stands still while a laptop sleeps, the clock on the wall does not."""


class SystemClock:
    """This machine's time."""

    def now(self) -> datetime:
        """This instant, aware UTC."""
        return datetime.now(UTC)

    def boottime(self) -> float:
        """Seconds on a clock that never jumps; it counts sleep where the system has CLOCK_BOOTTIME (Linux)."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    async def sleep_until(self, at: datetime) -> None:
        """Return at `at` or soon after (within 5 s when the clock on the wall was set); at once when it has passed."""
        while (left := at - self.now()) > timedelta():  # noqa: ASYNC110  (no event tells that time has passed)
            await asyncio.sleep(min(left, _SLICE).total_seconds())
