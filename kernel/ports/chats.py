"""Chats that the bot knows: where somebody who may talk to it has been heard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kernel.chat import ConversationId

KEEP_CHATS = timedelta(days=400)
"""How long a platform in which nobody is heard any more is remembered."""
MAX_CHATS = 2_000
"""Of one platform; the one that has been silent for longest makes room."""
KEEP_ASKERS = timedelta(days=30)
MAX_ASKERS = 100
"""Of one thread; more have to mention the bot each time."""


@dataclass(frozen=True, slots=True)
class KnownChat:
    """One chat, its threads not told apart (`conversation.thread` is empty).

    `title` is what people call it: the group's name, in a private chat the person's; empty when nobody told us.
    `person` is who was heard there last, in a private chat its person; `team` what the platform says they belong to.
    """

    conversation: ConversationId
    title: str
    person: str
    team: str = ""


class Chats(Protocol):
    """The chats of every platform in which somebody let in has been heard."""

    async def see(self, chat: KnownChat, *, now: datetime) -> None:
        """Remember the chat as it is now; an empty title leaves the one that is known."""

    async def leave(self, conversation: ConversationId) -> None:
        """The bot can say nothing there any more: the chat is not known until somebody is heard there again."""

    async def known(self, platform: str) -> tuple[KnownChat, ...]:
        """The platform's chats, by id."""

    async def asked(self, thread: ConversationId, person: str, order: int) -> None:
        """The person asked the bot something in that thread, so what they say there next is meant for it too.

        `order` is the question's place in the platform's own order, at most 2**53; the earliest one counts.
        """

    async def has_asked(self, thread: ConversationId, person: str, *, before: int) -> bool:
        """Whether they did, ahead of that place, in the last `KEEP_ASKERS` in which anybody did."""
