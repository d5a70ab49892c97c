"""Cards that wait for a person: which are open, and how one ends."""

from __future__ import annotations

from kernel.chat import ConversationId, PromptClosed
from kernel.messages import Concurrency, Message, Role, ToolCall
from kernel.open_cards import ended, open_cards
from kernel.ports import Alarm, PromptRecord
from kernel.session import Frame, Gate, GateState, Open, Session, Turn

HERE = ConversationId("telegram", "7")


def gate(state: GateState, token: str, *, is_question: bool = False) -> Gate:
    return Gate(ToolCall(token, "post", "{}"), Concurrency.EXCLUSIVE, state, token=token, is_question=is_question)


def test_open_are_the_cards_of_calls_that_wait_for_a_decision_or_an_answer() -> None:
    gates = (
        gate(GateState.ASKED, "decision"),
        gate(GateState.ASKED, "question", is_question=True),
        gate(GateState.READY, "question that is not put yet"),
        gate(GateState.DENIED, "refused"),
    )
    frame = Frame((), open=Open(Message(Role.ASSISTANT, ()), gates))

    session = Session(HERE, (Turn("t1", "ann", (frame,)), Turn("t2", "bob", (Frame(()),))))

    assert [(token, turn.id) for token, (turn, _) in open_cards(session).items()] == [
        ("decision", "t1"),
        ("question", "t1"),
    ]


def test_a_card_that_ends_keeps_its_words_and_loses_its_alarm() -> None:
    changes = ended(PromptRecord("token", HERE, "approval", "{}"), "发推\n✅ 安 已允许")

    assert changes.outbound == (PromptClosed(HERE, "token", "发推\n✅ 安 已允许"),)
    assert changes.alarms == (Alarm("token", None),)
