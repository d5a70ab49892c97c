"""What Slack told us of its people and channels: asked for once, believed for a while, better old than none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from kernel.ports import Clock

RETRY_AFTER: Final = timedelta(seconds=10)
"""How long what could not be read is not asked for again."""
MOST: Final = 10_000

T = TypeVar("T")

Lookup = Callable[[str], Awaitable[Mapping[str, object] | None]]
"""The object that Slack has for an id; None when it does not give it now. Soon, and raises nothing."""


class Remembered(Generic[T]):
    """Values by Slack's ids. One request at a time for each is not promised, one for each message is avoided."""

    def __init__(self, clock: Clock, fresh: timedelta) -> None:
        self._clock = clock
        self._fresh = fresh
        self._known: OrderedDict[str, tuple[T | None, datetime]] = OrderedDict()

    def last(self, key: str) -> T | None:
        """What is known without asking, however old."""
        value, _ = self._known.get(key, (None, None))
        return value

    async def get(self, key: str, ask: Callable[[], Awaitable[T | None]]) -> T | None:
        """What is known and fresh, else what `ask` gives, else what is known."""
        if key in self._known:
            value, until = self._known[key]
            if self._clock.now() < until:
                return value
        answer = await ask()
        if answer is None:
            old = self.last(key)
            self._put(key, old, RETRY_AFTER)
            return old
        self.keep(key, answer)
        return answer

    def keep(self, key: str, value: T) -> None:
        """Believe `value` from now on."""
        self._put(key, value, self._fresh)

    def _put(self, key: str, value: T | None, during: timedelta) -> None:
        self._known[key] = value, self._clock.now() + during
        self._known.move_to_end(key)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
