"""How often somebody did something lately, counted by all processes together."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol


class Rates(Protocol):
    """Counts in windows that follow each other without a gap: each minute, each hour."""

    async def count(self, what: str, window: timedelta, *, now: datetime) -> int:
        """How many times `what` has been counted in the window that `now` is in, this time included."""
