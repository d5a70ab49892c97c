"""What people asked to be remembered: short notes of a person, and of a chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MAX_MEMORIES = 50
"""On one shelf."""
MAX_MEMORY_CHARS = 200


@dataclass(frozen=True, slots=True)
class Shelf:
    """Whose notes: of the person `owner`, or of the chat `owner` and all its threads. They never mix."""

    platform: str
    owner: str
    is_private: bool
    """True: a person's, said where nobody else reads."""


@dataclass(frozen=True, slots=True)
class Remember:
    """Put `text` on the shelf as its newest note; the same words are there once. Of too many the oldest goes."""

    shelf: Shelf
    text: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Take the note with exactly these words off the shelf."""

    shelf: Shelf
    text: str


@dataclass(frozen=True, slots=True)
class ForgetAll:
    """Take every note off the shelf."""

    shelf: Shelf


MemoryChange = Remember | Forget | ForgetAll


class Memories(Protocol):
    """Notes that people asked to be kept; commits change them."""

    async def on(self, shelf: Shelf) -> tuple[str, ...]:
        """The notes on the shelf, oldest first."""
