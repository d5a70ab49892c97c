"""How fast a platform lets us speak, kept by all processes together.

A platform that is called too often refuses, and counts what it refused against us. So calls are counted before they
are made: `most` of them in any `window` that slides, or, of a limit that `refills`, `most` at once and then one for
each that has come back. The first fits where a platform counts by windows, the second where it leaks: nobody waits
there for longer than a window's share.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

LONGEST_WINDOW = timedelta(minutes=2)
MOST_CALLS = 200
LONGEST_REST = timedelta(days=1)
"""However long a platform asks for: then it is asked again."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` calls of what `key` names in any `window`; 0: they are not counted, only its rest is kept.

    `kept` of them are for others: a caller that can wait is let through only while so many are left.
    Callers of one key agree on `most` and `window`. Raises ValueError for what no call could fit.
    """

    key: str
    most: int = 0
    window: timedelta = timedelta()
    kept: int = 0
    refills: bool = False

    @property
    def interval(self) -> timedelta:
        """How long until the next call has come back, of a limit that refills."""
        return self.window / self.most

    def __post_init__(self) -> None:
        if not (0 <= self.most <= MOST_CALLS and self.window <= LONGEST_WINDOW and 0 <= self.kept <= self.most):
            raise ValueError(f"a limit that cannot be kept: {self}")
        if self.most and self.kept == self.most:
            raise ValueError(f"a limit that lets nobody through: {self}")


class Floods(Protocol):
    """The calls that were made lately, and what is to be left alone."""

    async def take(self, limits: Sequence[Limit], *, now: datetime) -> timedelta:
        """Zero: the call is counted against all of these and may go. Else nothing is counted; how long to wait.

        A clock that ran ahead costs others one window at most. Told again because an answer was lost, it counts the
        call once too much.
        """

    async def rest(self, key: str, until: datetime, *, now: datetime) -> None:
        """Nobody gets through `key` before `until`; the longest of several rests holds, `LONGEST_REST` at most."""


class Tally:
    """Calls and rests as one memory counts them: what `Floods` does, without anything in between."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[timedelta, deque[datetime]]] = {}
        self._rests: dict[str, datetime] = {}
        self._sorted_out: datetime | None = None

    def wait(self, limits: Sequence[Limit], now: datetime) -> timedelta:
        """How long until a call would fit all of these; zero: now."""
        return max((self._wait(limit, now) for limit in limits), default=timedelta())

    def take(self, limits: Sequence[Limit], now: datetime) -> timedelta:
        """As `Floods.take`."""
        self._forget(now)
        if wait := self.wait(limits, now):
            return wait
        for limit in limits:
            if limit.most:
                _, calls = self._calls.setdefault(limit.key, (limit.window, deque(maxlen=limit.most)))
                # Of a limit that refills: when this call will have come back, counted as if none came at once.
                calls.append(max(now, calls[-1] + limit.interval) if limit.refills and calls else now)
        return timedelta()

    def rest(self, key: str, until: datetime) -> None:
        """As `Floods.rest`."""
        self._rests[key] = max(until, self._rests.get(key, until))

    def _wait(self, limit: Limit, now: datetime) -> timedelta:
        wait = max(self._rests.get(limit.key, now) - now, timedelta())
        _, calls = self._calls.get(limit.key, (limit.window, ()))
        room = limit.most - limit.kept
        if limit.refills and calls:
            wait = max(wait, min(calls[-1] - (room - 2) * limit.interval - now, limit.window))
        elif limit.most and len(calls) >= room:
            wait = max(wait, min(calls[-room] + limit.window - now, limit.window))
        return wait

    def _forget(self, now: datetime) -> None:
        if self._sorted_out is not None and abs(now - self._sorted_out) < LONGEST_WINDOW:
            return
        self._sorted_out = now
        self._calls = {key: (window, calls) for key, (window, calls) in self._calls.items() if calls[-1] + window > now}
        self._rests = {key: until for key, until in self._rests.items() if until > now}
