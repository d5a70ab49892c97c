"""How often somebody did something lately, counted by all processes together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

EVENTS_KNOWN = 1_000
"""Of one window: what comes behind so many is counted whenever it is told."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The how many-th it is; `is_again`: it was counted before, and is no more now."""

    number: int
    is_again: bool = False


class Rates(Protocol):
    """Counts in windows that follow each other without a gap: each minute, each hour."""

    async def count(self, what: str, window: timedelta, event: str, *, now: datetime) -> Counted:
        """Count `event` as one more of `what` in the window that `now` is in; a copy of it does not count again."""
