"""What every actor of a process shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernel.loop import Limits
from kernel.ports import Clock, Conversations, Outbox
from kernel.reception import Manners, Reception
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
    fold: bool = True
    """Messages that come before a turn's first model call, or while it runs, are read by that turn."""
