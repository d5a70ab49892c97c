"""Which question of the program a person's next words may answer, besides the buttons of its card.

It stands in the session, because it is true of the conversation and must change with the commit that asks or answers:
a person, a token and a time. What the question is about stands in the record of its card, which is read only when
such words come (`docs/decisions/0017`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kernel.session import Awaited, GateState, Session
from kernel.session_events import Awaits

MOST = 20
"""People who are asked at the same time in one conversation; of more, those asked longest ago have only the buttons."""


def awaiting(session: Session, event: Awaits) -> Session:
    """The session after `event`; the same object when nothing was asked before and nothing is now."""
    kept = tuple(each for each in session.awaited if each.person != event.person or each.order > event.order)
    if event.token and event.until is not None:
        waiting = _questions(session, event.person)
        kept = (*kept, Awaited(event.person, event.token, event.order, event.until, waiting))[-MOST:]
    return session if kept == session.awaited else replace(session, awaited=kept)


def awaited_of(session: Session, person: str, order: int, at: datetime) -> str:
    """The token of the question that the message `order` of `person`, written at `at`, may answer; empty for none.

    None while the model has put a newer one to them.
    """
    found = next((each for each in session.awaited if each.person == person and each.order < order), None)
    if found is None or at > found.until or set(_questions(session, person)) - set(found.beside):
        return ""
    return found.token


def _questions(session: Session, person: str) -> tuple[str, ...]:
    """What the model asks the person and waits for."""
    gates = (gate for turn in session.turns if turn.requester == person for gate in turn.gates)
    return tuple(gate.token for gate in gates if gate.is_question and gate.state is GateState.ASKED)
