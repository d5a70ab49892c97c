"""A clock for code that pauses between tries."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.twins.clock import JumpingClock


class HastyClock(JumpingClock):
    """Jumps to where somebody wants to sleep, and remembers how long that was."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[timedelta] = []

    async def sleep_until(self, at: datetime) -> None:
        """Return at once."""
        self.pauses.append(at - self.now())
        self.set(at)
