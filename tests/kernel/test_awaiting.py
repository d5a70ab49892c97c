"""Which question a person's next words may answer: their own newest, for a while, unless the model asked since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.awaiting import MOST, awaited_of
from kernel.codec import decode, encode
from kernel.messages import Concurrency, Message, Role, ToolCall
from kernel.session import Frame, Gate, GateState, Open, Session, Turn
from kernel.session_events import Awaits
from kernel.transitions import apply
from tests.twins.clock import START
from tests.twins.sessions import ANN, BEN, EMPTY

UNTIL = START + timedelta(minutes=10)


def asked(session: Session = EMPTY, token: str = "q", *, order: int = 1, person: str = ANN) -> Session:
    return apply(session, Awaits(person, order, token, UNTIL))


def asked_by_the_model(session: Session, token: str) -> Session:
    """A turn of Ann's waits for her answer to the model's question."""
    call = ToolCall(f"c-{token}", "ask_clarification", "{}")
    gate = Gate(call, Concurrency.INTERACTIVE, GateState.ASKED, token=token, is_question=True)
    turn = Turn(f"t-{token}", ANN, (Frame((), open=Open(Message(Role.ASSISTANT, (call,)), (gate,))),))
    return replace(session, turns=(*session.turns, turn))


def test_later_words_of_the_same_person_find_it_until_it_is_too_late() -> None:
    session = asked()

    assert awaited_of(session, ANN, 2, UNTIL) == "q"
    assert awaited_of(session, ANN, 2, UNTIL + timedelta(seconds=1)) == ""
    assert awaited_of(session, ANN, 1, START) == ""
    assert awaited_of(session, BEN, 2, START) == ""


def test_the_newest_takes_the_place_of_the_one_before_and_leaves_those_of_others() -> None:
    session = asked(asked(asked(), "b", order=2, person=BEN), "newer", order=3)

    assert [(each.person, each.token) for each in session.awaited] == [(BEN, "b"), (ANN, "newer")]


def test_any_other_answer_ends_it_unless_it_was_to_an_earlier_message() -> None:
    session = asked(order=5)

    assert apply(session, Awaits(ANN, 4)) is session
    assert apply(session, Awaits(BEN, 6)) is session
    assert apply(session, Awaits(ANN, 6)).awaited == ()
    assert apply(EMPTY, Awaits(ANN, 6)) is EMPTY


def test_a_question_of_the_model_that_came_since_is_newer_and_one_that_waited_before_is_not() -> None:
    before = asked(asked_by_the_model(EMPTY, "old"))
    since = asked_by_the_model(asked(), "new")

    assert awaited_of(before, ANN, 2, START) == "q"
    assert awaited_of(since, ANN, 2, START) == ""


def test_it_is_bounded_and_stored_with_the_session() -> None:
    session = EMPTY
    for number in range(MOST + 5):
        session = asked(session, f"q{number}", order=number, person=f"p{number}")

    assert session.awaited[0].token == "q5"
    assert len(session.awaited) == MOST
    assert decode(Session, encode(session)) == session
