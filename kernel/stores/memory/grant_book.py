"""What the in-memory grants remember, shared by all who use one memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from kernel.chat import ConversationId
from kernel.ports.grants import Grant, Right
from kernel.settings import PlatformId


@dataclass(slots=True)
class Offer:
    """The code that is good now; `wrong` are the events that were none, `used` says by whom it was."""

    code: str
    until: datetime
    wrong: set[str] = field(default_factory=set)
    used: PlatformId | None = None


@dataclass(slots=True)
class GrantBook:
    """Grants, the homes of owners, and ids of chats that moved."""

    grants: dict[tuple[Right, PlatformId], Grant] = field(default_factory=dict)
    homes: dict[PlatformId, ConversationId] = field(default_factory=dict)
    now: dict[PlatformId, str] = field(default_factory=dict)
    was: dict[PlatformId, str] = field(default_factory=dict)
    offer: Offer | None = None
