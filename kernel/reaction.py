"""What an inbound does to its conversation, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.changes import Changes
from kernel.session import Session


@dataclass(frozen=True, slots=True)
class Reaction:
    """What an inbound does: the session after it, and everything that is committed with that."""

    session: Session
    changes: Changes = Changes()
    notes_used: int = 0
    new_history: bool = False
    is_speech: bool = False
    """Words that went to the model."""
