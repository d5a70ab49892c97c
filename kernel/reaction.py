"""What an inbound does to its conversation, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.changes import Changes
from kernel.messages import Message
from kernel.ports import Forgetting
from kernel.session import Session


@dataclass(frozen=True, slots=True)
class Reaction:
    """What an inbound does: the session after it, and everything that is committed with that."""

    session: Session
    changes: Changes = Changes()
    notes_used: int = 0
    new_history: bool = False
    rewritten: tuple[Message, ...] | None = None
    """What the history is from now on, when it does not only grow."""
    forgets: Forgetting | None = None
    """Everything else that is kept goes with it, and what was to be committed before it."""
    is_speech: bool = False
    """Words that went to the model."""
