"""Flood limits: a platform that told us to wait is not called before, and one with a known pace is not hurried."""

from __future__ import annotations

from datetime import datetime, timedelta

from kernel.errors import RetryLater
from kernel.ports import Clock


class FloodLimits:
    """What one platform told us to leave alone, by a key of its adapter's: calls before the end count against us."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    def check(self, key: str) -> None:
        """Raises `RetryLater` for the rest of a limit on `key`."""
        now = self._clock.now()
        self._until = {each: until for each, until in self._until.items() if until > now}
        if key in self._until:
            raise RetryLater("the platform asked us to wait", self._until[key] - now)

    def obey(self, key: str, after: timedelta) -> None:
        """Let `key` rest so long from now."""
        self._until[key] = self._clock.now() + after


class Pace:
    """At most `burst` calls for each key in any `window`. Only this process's: for others the platform has to tell."""

    def __init__(self, clock: Clock, burst: int, window: timedelta) -> None:
        self._clock = clock
        self._burst = burst
        self._window = window
        self._calls: dict[str, list[datetime]] = {}

    def take(self, key: str) -> None:
        """Count one call now. Raises `RetryLater` until there is room for it."""
        now = self._clock.now()
        since = now - self._window
        self._calls = {each: calls for each, calls in self._calls.items() if calls[-1] > since}
        calls = [call for call in self._calls.get(key, []) if call > since]
        if len(calls) >= self._burst:
            raise RetryLater("as fast as the platform takes it", calls[-self._burst] + self._window - now)
        self._calls[key] = [*calls, now]
