"""How much waits in the store, for whoever watches over an installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

LATE_AFTER = timedelta(seconds=10)
"""A scheduler that lives fires within a second."""
MISSED_AFTER = timedelta(seconds=15)
"""A process says every 5 s that it lives."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Numbers of one moment, of everything in the store together."""

    ready: int
    """Conversations that a worker could take now and none has."""
    waiting: Mapping[str, int]
    """By platform: conversations with something still to be sent."""
    due: int
    """Due times ahead or past: of reminders, and of what expires."""
    late: int
    """Of those, past by more than `LATE_AFTER`."""


class Overview(Protocol):
    """The store at a glance."""

    async def look(self, platforms: Sequence[str], *, now: datetime) -> Standing:
        """How things stand; a handful of commands that cost the same however much there is."""
