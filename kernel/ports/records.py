"""What is remembered beside conversations: cards with buttons, people, bytes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kernel.chat import ConversationId, MessageRef, Sender


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """What a token on a button stands for, and every place where it was shown.

    `kind` is the mind module that made it; `data` is that module's JSON. `is_open` until a PromptClosed for it without
    choices. `kept` is how long it is remembered although nobody closes it; None: until it is closed.
    """

    token: str
    conversation: ConversationId
    kind: str
    data: str
    places: tuple[MessageRef, ...] = ()
    is_open: bool = True
    kept: timedelta | None = None


class Prompts(Protocol):
    """What tokens on buttons stand for; kept 30 days after closing."""

    async def get(self, token: str) -> PromptRecord | None:
        """The record, open or closed; None for a token nobody knows."""


class People(Protocol):
    """What bots have seen of people and what people told us, by platform and id."""

    async def see(self, platform: str, sender: Sender) -> None:
        """Remember name, language and zone where the sender carries them."""

    async def get(self, platform: str, person: str) -> Sender | None:
        """What is known of the person."""

    async def forget(self, platform: str, person: str) -> None:
        """Know nothing of the person, until bots see them again."""

    async def refuse(self, platform: str, person: str, *, now: datetime) -> bool:
        """True the first time in 24 h that this stranger is refused: say it; False: be silent."""

    async def set_zone(self, conversation: ConversationId, zone: str) -> None:
        """This conversation reads and shows times in `zone` (IANA name)."""

    async def zone(self, conversation: ConversationId) -> str | None:
        """What `set_zone` stored."""

    async def set_language(self, conversation: ConversationId, language: str) -> None:
        """People write `language` (`zh`, `en`) in this conversation."""

    async def language(self, conversation: ConversationId) -> str | None:
        """What `set_language` stored."""


class Blobs(Protocol):
    """Bytes by reference; at most 20 MB each, kept 24 h or as long as something holds them."""

    async def put(self, content: bytes) -> str:
        """Store, and give the id. The same bytes have the same id.

        Raises `BadArguments` above 20 MB, and `StoreUnfit` when what is held leaves no room.
        """

    async def get(self, blob: str) -> bytes | None:
        """The bytes; None when they are gone."""
