"""Whose turn takes a person's words."""

from __future__ import annotations

from dataclasses import replace

from kernel.messages import Concurrency, Message, Role
from kernel.session import Frame, Gate, GateState, Open, Turn
from tests.twins.sessions import ANN, BEN, EMPTY, gate

APPROVAL = gate("a", GateState.ASKED)
QUESTION = replace(gate("q", GateState.ASKED, Concurrency.INTERACTIVE), is_question=True)


def waiting(turn: str, asked: Gate, person: str = ANN) -> Turn:
    """A turn of the person that waits at this one gate."""
    message = Message(Role.ASSISTANT, (asked.call,))
    return Turn(turn, person, (Frame((), open=Open(message, (asked,))),))


def test_words_go_to_the_turn_that_asked_for_words_before_an_older_one_that_asks_for_a_vote() -> None:
    session = replace(EMPTY, turns=(waiting("t1", APPROVAL), waiting("t2", QUESTION)))

    found = session.waiting_for(ANN)

    assert found is not None
    assert found.id == "t2"


def test_else_they_go_to_the_one_that_has_waited_for_longest() -> None:
    session = replace(EMPTY, turns=(waiting("t1", APPROVAL), waiting("t2", APPROVAL), waiting("t3", QUESTION, BEN)))

    found = session.waiting_for(ANN)

    assert found is not None
    assert found.id == "t1"


def test_only_a_question_that_still_stands_has_been_asked() -> None:
    assert waiting("t1", QUESTION).has_asked
    assert not waiting("t1", APPROVAL).has_asked
    assert not waiting("t1", replace(QUESTION, state=GateState.READY)).has_asked
