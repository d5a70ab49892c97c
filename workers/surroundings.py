"""What every actor of a process shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernel.context import MOST_PAST
from kernel.loop import Limits
from kernel.ports import Clock, Conversations, Outbox
from kernel.reception import Manners, Reception
from workers.compactor import Compactor
from workers.effects import Effects


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The same for all conversations that the process works for."""

    conversations: Conversations
    outbox: Outbox
    reception: Reception
    effects: Effects
    manners: Manners
    clock: Clock
    limits: Limits = field(default_factory=Limits)
    most_past: int = MOST_PAST
    """Messages of the past that a request shows."""
    compactor: Compactor | None = None
    """None: there is no model to write summaries."""
    fold: bool = True
    """Messages that come before a turn's first model call, or while it runs, are read by that turn."""
