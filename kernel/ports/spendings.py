"""What model calls used up, by chat, person and day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from kernel.chat import ConversationId


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens as providers count them, `cached` of `input` among them; estimated money in millionths of a US dollar."""

    input: int = 0
    output: int = 0
    cached: int = 0
    micro_dollars: int = 0

    @property
    def tokens(self) -> int:
        """All that went in and came out."""
        return self.input + self.output

    def __add__(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.micro_dollars + other.micro_dollars,
        )


@dataclass(frozen=True, slots=True)
class Spending:
    """What one model call used up, in the conversation that commits it: for whom, and on which day there."""

    person: str
    day: date
    spent: Spent


class Spendings(Protocol):
    """Sums of what commits recorded, kept 400 days."""

    async def of_chat(self, conversation: ConversationId, days: Sequence[date]) -> tuple[Spent, ...]:
        """What the whole chat used up on each of the days, threads included."""

    async def of_people(self, platform: str, days: Sequence[date]) -> Mapping[str, Spent]:
        """What each person of the platform used up in these days, in all chats; under "" those who were too many."""
