"""What the next commit of a conversation carries beside its session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kernel.changes import Changes
from kernel.messages import Message
from kernel.ports import Forgetting, Item, Outcome, Step
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
    rewritten: tuple[Message, ...] | None = None
    """What takes the place of the history so far; `history` comes behind it."""
    history: tuple[Message, ...] = ()
    has_result: bool = False
    forgets: Forgetting | None = None

    def holds(self, item: Item) -> bool:
        """Whether the item has been dealt with already and waits for its commit."""
        return item.id in self.taken or item.id in self.parked

    def accept(self, item: Item, reaction: Reaction) -> None:
        """The item was taken, with what it does."""
        if reaction.forgets is not None:
            self._forget(replace(reaction.forgets, upto=item.id))
        self.taken += (item.id,)
        self.changes += reaction.changes
        self.notes_used += reaction.notes_used
        if reaction.new_history:
            self.new_history, self.rewritten, self.history = True, None, ()
        if reaction.rewritten is not None:
            self.rewritten, self.history = reaction.rewritten, ()

    def _forget(self, forgets: Forgetting) -> None:
        """Of what waits for the commit nothing is left but what was used up, and that the inputs were dealt with."""
        self.taken += self.parked
        self.parked, self.history, self.rewritten, self.new_history, self.notes_used = (), (), None, False, 0
        self.changes = Changes(spendings=self.changes.spendings)
        self.forgets = forgets

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
            history=(*(self.rewritten or ()), *self.history),
            new_history=self.new_history or self.rewritten is not None,
            outbound=changes.outbound,
            prompts=changes.prompts,
            triggers=changes.triggers,
            alarms=changes.alarms,
            notes_used=self.notes_used,
            notes=changes.notes,
            files=changes.files or None,
            memories=changes.memories,
            spendings=changes.spendings,
            forgets=self.forgets,
            clears_tries=self.has_result or session.running is None,
        )


def _outcome(session: Session) -> Outcome:
    if any(turn.is_runnable or turn.ending is not None for turn in session.turns):
        return Outcome.RUN
    return Outcome.WAITING if session.turns else Outcome.DONE
