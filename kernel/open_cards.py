"""Cards that wait for a person, to decide (`kernel.approvals`) or to answer (`kernel.questions`)."""

from __future__ import annotations

from datetime import timedelta

from kernel.changes import Changes
from kernel.chat import PromptClosed
from kernel.ports import Alarm, PromptRecord
from kernel.session import Gate, GateState, Session, Turn

WAITS = timedelta(hours=72)
"""How long a card waits for a person."""


def open_cards(session: Session) -> dict[str, tuple[Turn, Gate]]:
    """What the cards that are open in the session ask about, by their tokens."""
    return {
        gate.token: (turn, gate)
        for turn in session.turns
        for gate in turn.gates
        if gate.state is GateState.ASKED and gate.token
    }


def ended(record: PromptRecord, text: str) -> Changes:
    """The card's end: `text` stands in its place, without buttons, and nothing waits for it any more."""
    end = PromptClosed(record.conversation, record.token, text)
    return Changes(outbound=(end,), alarms=(Alarm(record.token, None),))
