"""What the bot heard and did not answer, and why: so that it can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from kernel.chat import ConversationId

KEEP_UNANSWERED = timedelta(days=7)
"""Since the newest of a chat."""
MAX_UNANSWERED = 20
"""Of one chat; the oldest go."""


class Silence(Enum):
    """Why something was not answered."""

    NOT_ADDRESSED = "not-addressed"
    """In a group, and not meant for the bot."""
    NOT_ALLOWED = "not-allowed"
    """Its writer may not talk there."""
    LIMITED = "limited"
    """Too many in a short time."""
    MODEL_FAILED = "model-failed"
    """The model could not be reached, or refused."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """One thing that was not answered: when, why, and the name of who said it; never what."""

    at: datetime
    why: Silence
    name: str


class Silences(Protocol):
    """What was not answered lately, by chat; threads are not told apart."""

    async def note(self, conversation: ConversationId, unanswered: Unanswered) -> None:
        """Remember it; the newest `MAX_UNANSWERED` of a chat are kept."""

    async def of(self, conversation: ConversationId) -> tuple[Unanswered, ...]:
        """What is remembered of the chat, oldest first."""
