"""What is stored of a conversation beside its session."""

from __future__ import annotations

from kernel.messages import Message
from kernel.ports import Checkout, Step
from workers.pending import Pending


class Stock:
    """Its history, notes and files, as the last commit left them."""

    __slots__ = ("files", "history", "notes")

    def __init__(self, checkout: Checkout) -> None:
        self.history = list(checkout.history)
        self.notes = list(checkout.notes)
        self.files = dict(checkout.files)

    def with_pending(self, pending: Pending) -> tuple[Message, ...]:
        """The history as it will be after the next commit."""
        return (*self._before(pending), *pending.history)

    def _before(self, pending: Pending) -> tuple[Message, ...]:
        if pending.rewritten is not None:
            return pending.rewritten
        return () if pending.new_history else tuple(self.history)

    def take(self, step: Step) -> None:
        """The step has been committed."""
        if step.forgets is not None:
            self.history, self.notes, self.files = [], [], {}
        if step.new_history:
            self.history.clear()
        self.history.extend(step.history)
        self.notes = [*self.notes[step.notes_used :], *step.notes]
        for path, blob in (step.files or {}).items():
            if blob is None:
                self.files.pop(path, None)
            else:
                self.files[path] = blob
