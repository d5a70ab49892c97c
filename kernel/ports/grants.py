"""What owners granted in chats, and the code that makes an owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from kernel.chat import ConversationId
from kernel.settings import PlatformId

CODE_LIVES = timedelta(minutes=10)
"""How long a pairing code is good."""
CODE_TRIES = 5
"""How many wrong ones may be sent meanwhile, by everybody together."""


class Right(Enum):
    """What a grant gives."""

    OWNER = "owner"
    """A person owns the bot."""
    PERSON = "person"
    """A person may talk wherever the bot is."""
    CHAT = "chat"
    """Whoever reads the chat may talk there."""
    REFUSED = "refused"
    """A person was refused, and is not asked about again."""

    @property
    def ends(self) -> Right | None:
        """The right that goes when this one is given."""
        match self:
            case Right.OWNER | Right.PERSON:
                return Right.REFUSED
            case Right.REFUSED:
                return Right.PERSON
            case Right.CHAT:
                return None


@dataclass(frozen=True, slots=True)
class Grant:
    """One right of one person or chat; `name` is for showing."""

    right: Right
    whose: PlatformId
    name: str = ""


@dataclass(frozen=True, slots=True)
class Granted:
    """What the grants say of one person in one chat."""

    is_owner: bool = False
    is_allowed: bool = False
    is_refused: bool = False
    is_open: bool = False
    """The chat is."""
    also_known_as: tuple[str, ...] = ()
    """Other ids that the chat has or had on its platform."""


class Redeemed(Enum):
    """What became of a code that somebody sent."""

    OWNER = "owner"
    """It was right: they own the bot now."""
    WRONG = "wrong"
    """It was not, or too late."""
    NONE = "none"
    """No code is out: what they sent was none."""


class Grants(Protocol):
    """Rights by the ids of a platform. They last until they are taken back."""

    async def granted(self, person: str, conversation: ConversationId) -> Granted:
        """What counts for the person in that chat, whatever its thread."""

    async def give(self, grant: Grant) -> None:
        """Grant it; who is let in is not refused any more, and the other way round."""

    async def take_back(self, grant: Grant) -> None:
        """It counts no longer."""

    async def given(self, platform: str) -> tuple[Grant, ...]:
        """Every grant of the platform, by right and id."""

    async def owners(self, platform: str) -> tuple[str, ...]:
        """The persons who own the bot there, by id."""

    async def settle(self, owner: PlatformId, home: ConversationId) -> None:
        """The owner reads `home` alone: what only they decide is asked there."""

    async def home(self, owner: PlatformId) -> ConversationId | None:
        """What `settle` stored."""

    async def move(self, platform: str, chat: str, to: str) -> None:
        """The chat has the id `to` on its platform from now on; here it keeps the one that it is known by."""

    async def known_as(self, platform: str, chat: str) -> str:
        """The id by which we know the chat that its platform calls `chat` now."""

    async def called(self, platform: str, chat: str) -> str:
        """What the platform calls the chat that we know as `chat` now."""

    async def offer(self, code: str, *, now: datetime) -> None:
        """Make `code` the one that is good, for `CODE_LIVES` and `CODE_TRIES` wrong tries; no other is any more."""

    async def redeem(self, code: str, grant: Grant, event: str, *, now: datetime) -> Redeemed:
        """Somebody sent `code`; when it is the one on offer, it is used up and `grant` counts, as `give` says.

        A copy of the `event` is no further try.
        """
