"""How long we bear with a model's service: one loop of tries for every provider.

The SDK's own retries are switched off (`max_retries=0`): they wait as long as `retry-after` says without a bound, do
not see an overload inside a 200 stream, nor a stream that was cut, and read no clock of ours.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

import structlog

from kernel.errors import ProviderFailed
from kernel.ports import Clock

log = structlog.get_logger(__name__)
Outcome = TypeVar("Outcome")

LARGEST_REPLY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds of one model call."""

    tries: int = 6
    connect: timedelta = timedelta(seconds=10)
    silence: timedelta = timedelta(seconds=120)
    """Without one byte, before the first one too: a local server reads a long prompt for a minute or two."""
    whole: timedelta = timedelta(minutes=10)
    """All tries and pauses together."""
    first_pause: timedelta = timedelta(seconds=1)
    """Each later one is three times as long, and up to half as much again at random: together over two minutes."""
    longest_pause: timedelta = timedelta(seconds=90)
    longest_ask: timedelta = timedelta(seconds=60)
    """A service that asks for more (`retry-after`) is not waited for here: the caller hears what it asked for."""


PATIENCE = Patience()
LAST_WORD_S = 1.0
"""How long a stream may stay open after its last event: read to its end, its connection serves again."""


class Ear:
    """Passes pieces of text on, of one try only: nobody hears two beginnings."""

    __slots__ = ("_delta", "_has_heard")

    def __init__(self, delta: Callable[[str], None] | None) -> None:
        self._delta = delta
        self._has_heard = False

    @property
    def listener(self) -> Callable[[str], None] | None:
        """What hears the next piece; None when nobody does."""
        return self.hear if self._delta is not None else None

    def hear(self, piece: str) -> None:
        """Pass `piece` on when there is somebody to hear it."""
        if piece and self._delta:
            self._has_heard = True
            self._delta(piece)

    def broke_off(self) -> None:
        """The try has failed: whoever heard some of it waits for the whole answer, and hears no other."""
        if self._has_heard:
            self._delta = None


@dataclass(frozen=True, slots=True)
class Persistence:
    """Makes one call out of several tries."""

    provider: str
    patience: Patience
    clock: Clock
    random: random.Random

    async def keep_trying(self, once: Callable[[], Awaitable[Outcome]], ear: Ear) -> Outcome:
        """What `once` gives. Tries again after `ProviderFailed`, with growing, jittered pauses.

        After some of a try was heard, later ones are not. Raises the last `ProviderFailed` when tries or time are used
        up; everything else goes through.
        """
        tries = 0
        try:
            async with asyncio.timeout(self.patience.whole.total_seconds()):
                while True:
                    tries += 1
                    try:
                        return await once()
                    except ProviderFailed as failed:
                        ear.broke_off()
                        if tries >= self.patience.tries or self._asks_too_much(failed):
                            raise
                        pause = self._pause(tries, failed.after)
                        log.info("model call failed", provider=self.provider, tries=tries, why=str(failed),
                                 pause_s=round(pause.total_seconds(), 2))  # fmt: skip
                        await self.clock.sleep_until(self.clock.now() + pause)
        except TimeoutError as error:
            whole_s = round(self.patience.whole.total_seconds())
            raise ProviderFailed(f"{self.provider} did not answer within {whole_s} s ({tries} tries)") from error

    def _asks_too_much(self, failed: ProviderFailed) -> bool:
        return failed.after is not None and failed.after > self.patience.longest_ask

    def _pause(self, tries: int, asked: timedelta | None) -> timedelta:
        grown: timedelta = min(self.patience.first_pause * 3 ** (tries - 1), self.patience.longest_pause)
        return max(asked or timedelta(), grown) + grown * (self.random.random() / 2)


async def heartbeats(chunks: AsyncIterator[bytes], timer: asyncio.Timeout, silence: timedelta) -> AsyncIterator[bytes]:
    """The chunks; each puts the timer off to `silence` from now. Raises `ProviderFailed` over 32 MiB."""
    loop = asyncio.get_running_loop()
    silence_s = silence.total_seconds()
    size = 0
    async for chunk in chunks:
        timer.reschedule(loop.time() + silence_s)
        size += len(chunk)
        if size > LARGEST_REPLY_BYTES:
            raise ProviderFailed("the model's service sent a reply over 32 MiB")
        yield chunk


def asked_pause(retry_after: str | None, now: datetime) -> timedelta | None:
    """How long a `retry-after` header asks to wait: seconds or a date (RFC 9110); None when it is not readable."""
    if not retry_after:
        return None
    try:
        return timedelta(seconds=max(0.0, float(retry_after)))
    except (ValueError, OverflowError):
        pass
    try:
        return max(parsedate_to_datetime(retry_after) - now, timedelta())
    except (ValueError, TypeError):  # No date, or one without a zone.
        return None
