"""What changes a conversation as a whole and none of its turns.

    event      next
    ---------  ---------------------------------------------------------------------------------------------------
    Compacted  exchanges that are still there as they were move along; kept thinking is bound to what is gone
    Undone     the newest exchange goes; what is before it stays as it was, and so does the thinking kept there
    Forgotten  nothing is left but the settings; turns end where they are, and no outcome of theirs is recorded
    Chosen     that model is asked first from now on; kept thinking stays, and goes to nobody but who thought it

The first two fit only while there is no turn at all, as one that waits was begun on the history as it was, and the
history is as long as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from kernel.session import Session
from kernel.session_events import Chosen, Compacted, Forgotten, Undone

OfWhole = Compacted | Undone | Forgotten | Chosen


def change_whole(session: Session, event: OfWhole) -> Session:
    """The session after `event`; the same object when the event does not fit."""
    match event:
        case Compacted() | Undone():
            is_fit = not session.turns and session.history_length == event.of
            return _rewritten(session, event) if is_fit else session
        case Forgotten():
            return Session(session.conversation, revision=session.revision, model=session.model)
        case Chosen(model=model):
            return session if model == session.model else replace(session, model=model)
        case _:
            assert_never(event)


def _rewritten(session: Session, event: Compacted | Undone) -> Session:
    match event:
        case Compacted(of=of, length=length, kept=kept):
            moved = tuple(
                replace(each, start=each.start + length - of) for each in session.exchanges if each.start >= of - kept
            )
            return replace(session, history_length=length, thinking_from=length, exchanges=moved)
        case Undone(length=length):
            left = tuple(each for each in session.exchanges if each.start + each.length <= length)
            thinking_from = min(session.thinking_from, length)
            return replace(session, history_length=length, thinking_from=thinking_from, exchanges=left)
        case _:
            assert_never(event)
