"""Flood limits: a platform is not called faster than it takes it, nor before a pause that it told us is over.

What becomes of one call:

    the limits, as this process knows them     and as all processes know them     so the call
    ----------------------------------------   --------------------------------   ---------------------------------
    full, or at rest                           (not asked)                        waits, `NotYet`
    have room                                  full, or at rest                   waits, `NotYet`
    have room                                  have room                          is counted in both, and goes
    have room                                  the store is away, or slow         is counted here, and goes
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog

from kernel.errors import RetryLater, StoreUnfit
from kernel.ports import Clock, Floods, Limit
from kernel.ports.floods import Tally

log = structlog.get_logger(__name__)

T = TypeVar("T")

_ASK_WITHIN_S: Final = 0.5
_ASK_AGAIN: Final = timedelta(seconds=2)
"""A store that did not answer is not asked before: a slow one would make every call slow."""
_LEAST_WAIT: Final = timedelta(milliseconds=20)


class NotYet(RetryLater):
    """The platform was not asked at all: its pace, or a pause that it told us, is not over."""


class Pace:
    """The pace of one bot on its platform. With `floods` all processes of the bot keep it together."""

    def __init__(self, clock: Clock, floods: Floods | None = None) -> None:
        self._clock = clock
        self._floods = floods
        self._own = Tally()
        self._alone_until: datetime | None = None

    async def take(self, limits: Sequence[Limit]) -> None:
        """Count one call against all of these. Raises `NotYet`, with nothing counted, until there is room for it.

        One question to the store for a call that goes, none where this process knows that it must wait.
        """
        floods, now = self._floods, self._clock.now()
        _wait_for(self._own.wait(limits, now))
        if floods is not None:
            _wait_for(await self._told(lambda: floods.take(limits, now=now), timedelta()))
        _wait_for(self._own.take(limits, self._clock.now()))

    def check(self, key: str) -> None:
        """Raises `NotYet` while `key` rests, as far as this process was told."""
        _wait_for(self._own.wait([Limit(key)], self._clock.now()))

    async def rest(self, key: str, after: timedelta) -> None:
        """The platform told us to leave `key` alone for so long: nobody gets through it."""
        floods, now = self._floods, self._clock.now()
        self._own.rest(key, now + after)
        if floods is not None:
            await self._told(lambda: floods.rest(key, now + after, now=now), None)

    async def _told(self, question: Callable[[], Awaitable[T]], without: T) -> T:
        """The store's answer; `without` when there is none: whoever is limited then hears it from the platform."""
        if self._alone_until is not None and self._clock.now() < self._alone_until:
            return without
        try:
            async with asyncio.timeout(_ASK_WITHIN_S):
                answer = await question()
        except (RetryLater, StoreUnfit, TimeoutError) as error:
            if self._alone_until is None:
                log.warning("pace kept by this process alone", why=str(error) or type(error).__name__)
            self._alone_until = self._clock.now() + _ASK_AGAIN
            return without
        if self._alone_until is not None:
            self._alone_until = None
            log.info("pace kept with all processes again")
        return answer


def _wait_for(wait: timedelta) -> None:
    if wait > timedelta():
        raise NotYet("as fast as the platform takes it", max(wait, _LEAST_WAIT))
