"""Where an effect happens and for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel.chat import ConversationId


@dataclass(frozen=True, slots=True)
class Place:
    """The conversation as it is when an effect starts."""

    conversation: ConversationId
    language: str
    files: Mapping[str, str]
    fence: int = 0
    """Of the lease under which it happens."""
    zone: str = "UTC"
    """Where its days begin and end."""
    model: str = ""
    """The one that is asked first there; empty: the usual order."""
