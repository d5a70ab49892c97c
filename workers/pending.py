"""What the next commit of a conversation carries beside its session."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernel.changes import Changes
from kernel.messages import Message
from kernel.ports import Item, Outcome, Step
from kernel.reaction import Reaction
from kernel.session import Session


@dataclass(slots=True)
class Pending:
    """Grows between two commits; `has_result` says that the outcome of an effect is in it."""

    taken: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    changes: Changes = field(default_factory=Changes)
    notes_used: int = 0
    new_history: bool = False
    history: tuple[Message, ...] = ()
    has_result: bool = False

    def holds(self, item: Item) -> bool:
        """Whether the item has been dealt with already and waits for its commit."""
        return item.id in self.taken or item.id in self.parked

    def accept(self, item: Item, reaction: Reaction) -> None:
        """The item was taken, with what it does."""
        self.taken += (item.id,)
        self.changes += reaction.changes
        self.notes_used += reaction.notes_used
        self.new_history = self.new_history or reaction.new_history

    def step(self, session: Session) -> Step:
        """All of it as one commit that leaves `session`.

        While a turn runs, only an outcome clears the count of dead holders: a commit before an effect announces it.
        """
        changes = self.changes
        return Step(
            session=session,
            outcome=_outcome(session),
            taken=self.taken,
            parked=self.parked,
            history=self.history,
            new_history=self.new_history,
            outbound=changes.outbound,
            prompts=changes.prompts,
            triggers=changes.triggers,
            alarms=changes.alarms,
            notes_used=self.notes_used,
            notes=changes.notes,
            files=changes.files or None,
            memories=changes.memories,
            spendings=changes.spendings,
            clears_tries=self.has_result or session.running is None,
        )


def _outcome(session: Session) -> Outcome:
    if any(turn.is_runnable or turn.ending is not None for turn in session.turns):
        return Outcome.RUN
    return Outcome.WAITING if session.turns else Outcome.DONE
