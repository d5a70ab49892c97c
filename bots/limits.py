"""How much one person, one chat and one bot may say: what is more is not read, and said once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from kernel.access import Standing
from kernel.chat import ButtonPress, UserMessage
from kernel.patience import patiently
from kernel.ports import Clock, Rates

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
BOT_AN_HOUR: Final = 10
"""Messages of another bot in one chat that are read, where bots are let in: two of them answer each other for ever."""


@dataclass(frozen=True, slots=True)
class SpeechLimits:
    """Messages and presses a minute: of one who was let in, and of one whom only an open chat lets talk.

    Owners have no limit, and do not count.
    """

    allowed: int = 300
    member: int = 30

    @property
    def chat(self) -> int:
        """Of everybody in it together."""
        return 2 * self.allowed


class Room(Enum):
    """Whether there is room for one more."""

    FREE = "free"
    FULL_NOW = "full-now"
    """There was until now: say so."""
    FULL = "full"


class Meter:
    """Counts what comes in, for all processes together, copies of one event once.

    Whoever a platform serves late is counted by its time.
    """

    def __init__(self, rates: Rates, clock: Clock, limits: SpeechLimits) -> None:
        self._rates = rates
        self._clock = clock
        self._limits = limits

    async def room(self, inbound: UserMessage | ButtonPress, standing: Standing) -> Room:
        """Count it; whether it may come in. Waits for the store."""
        if standing is Standing.OWNER:
            return Room.FREE
        sender, where = inbound.sender, inbound.conversation
        if sender.is_bot:
            return await self._room(f"bot {where.platform} {where.chat} {sender.id}", HOUR, BOT_AN_HOUR, inbound)
        mine = self._limits.allowed if standing >= Standing.ALLOWED else self._limits.member
        room = await self._room(f"person {where.platform} {sender.id}", MINUTE, mine, inbound)
        if inbound.is_private or room is not Room.FREE:
            return room
        return await self._room(f"chat {where.platform} {where.chat}", MINUTE, self._limits.chat, inbound)

    async def _room(self, what: str, window: timedelta, most: int, inbound: UserMessage | ButtonPress) -> Room:
        at, event = inbound.at, inbound.event
        counted = await patiently(self._clock, lambda: self._rates.count(what, window, event, now=at))
        if counted.number <= most:
            return Room.FREE
        return Room.FULL_NOW if counted.number == most + 1 and not counted.is_again else Room.FULL
