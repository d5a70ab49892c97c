"""Who asks for something about reminders, and what is stored already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kernel.access import Standing
from kernel.changes import Changes
from kernel.chat import ConversationId, Reply
from kernel.triggers import Trigger

Stored = Sequence[tuple[Trigger, datetime | None]]
"""A conversation's triggers with their next due time (None: it rests), soonest first."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Who asks, where, when and in which words; and where new ids come from."""

    conversation: ConversationId
    person: str
    name: str
    zone: str
    language: str
    asked: datetime
    """When the person said it: what "in 10 seconds" counts from."""
    now: datetime
    new_id: Callable[[], str]
    standing: Standing = Standing.ALLOWED
    is_private: bool = True

    def reply(self, text: str) -> Changes:
        """`text` is said in the conversation."""
        return Changes(outbound=(Reply(self.conversation, text),))
