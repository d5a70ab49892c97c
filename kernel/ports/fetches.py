"""Fetches: messages that wait in their inbox until what was sent with them is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kernel.chat import UserMessage
from kernel.ports.conversations import Put

FETCH_WITHIN = timedelta(seconds=30)
"""A message is read that long after it was put at the latest, whatever is fetched by then."""
FETCH_LEASE = timedelta(seconds=10)
"""How long a message stays with a process that does not say it goes on."""


@dataclass(frozen=True, slots=True)
class Fetching:
    """One message to fetch the files of: where it waits, and until when (aware UTC) anybody waits for it."""

    item: str
    message: UserMessage
    until: datetime


class Fetches(Protocol):
    """The work that `Conversations.put` makes of a message that `waits_for_files`.

    It ends when the message is complete, taken, or due. Two processes may do it at once; the first one counts.
    """

    async def take(self, platform: str, *, now: datetime) -> Fetching | None:
        """The message that waits longest on that platform, for `FETCH_LEASE`; None when nothing is free."""

    async def hold(self, fetching: Fetching, *, now: datetime) -> None:
        """It goes on: another `FETCH_LEASE`."""

    async def next_due(self, platform: str) -> datetime | None:
        """When `take` will give something, as far as is known; None: nothing waits. May lie in the past."""

    async def complete(self, fetching: Fetching, message: UserMessage, *, now: datetime) -> Put:
        """The message as it is to be read takes the place of the one that waits, which may be read from now on.

        The inbox holds its blobs until it is taken. DUPLICATE: it was complete before, or is taken; nothing changed.
        """
