"""Messages that wait for their files, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from kernel.chat import UserMessage
from kernel.ports import FETCH_LEASE, Fetching, Put
from kernel.stores.memory.state import Entry, Memory


class MemoryFetches:
    """The twin of `RedisFetches`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def take(self, platform: str, *, now: datetime) -> Fetching | None:
        """See `Fetches.take`."""
        self._memory.here()
        for each, _, until in self._waiting(platform):
            if until <= now:
                each.fetch_at = None  # It is read as it is.
        free = [
            (at, each.item.inbound, each, until)
            for each, at, until in self._waiting(platform)
            if at <= now < until and isinstance(each.item.inbound, UserMessage)
        ]
        if not free:
            return None
        _, message, entry, until = min(free, key=lambda each: each[0])
        entry.fetch_at = now + FETCH_LEASE
        return Fetching(entry.item.id, message, until)

    async def hold(self, fetching: Fetching, *, now: datetime) -> None:
        """See `Fetches.hold`."""
        self._memory.here()
        if (entry := self._entry(fetching)) is not None:
            entry.fetch_at = now + FETCH_LEASE

    async def next_due(self, platform: str) -> datetime | None:
        """See `Fetches.next_due`."""
        self._memory.here()
        return min((at for _, at, _ in self._waiting(platform)), default=None)

    async def complete(self, fetching: Fetching, message: UserMessage, *, now: datetime) -> Put:
        """See `Fetches.complete`."""
        self._memory.here()
        entry = self._entry(fetching)
        if entry is None:
            return Put.DUPLICATE
        entry.item = replace(entry.item, inbound=message)
        entry.until = entry.fetch_at = None
        record = self._memory.record(fetching.message.conversation)
        record.level()
        return self._memory.announce(record, now)

    def _waiting(self, platform: str) -> Iterator[tuple[Entry, datetime, datetime]]:
        """What waits on that platform, when it may be fetched, and until when."""
        for conversation, record in self._memory.records.items():
            for each in record.inbox:
                if conversation.platform == platform and each.fetch_at is not None and each.until is not None:
                    yield each, each.fetch_at, each.until

    def _entry(self, fetching: Fetching) -> Entry | None:
        record = self._memory.record(fetching.message.conversation)
        return next((each for each in record.inbox if each.item.id == fetching.item and each.until is not None), None)
