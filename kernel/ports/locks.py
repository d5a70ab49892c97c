"""What only one process may do at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

HOLD = timedelta(seconds=12)
"""How long one `take` holds: with the pause between two looks of those who wait, a dead holder costs 15 s at most."""


class Locks(Protocol):
    """Names that one holder has at a time."""

    async def take(self, name: str, holder: str, *, now: datetime) -> bool:
        """Hold `name` for `HOLD` from now, or that long again; False while somebody else holds it."""

    async def leave(self, name: str, holder: str) -> None:
        """Let go of `name`, if this holder has it: the next may take it at once."""
