"""Which exchange is whose, and what is left of the history when one is taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.context import harvest
from kernel.exchanges import ANEW, MOST, said_last, same_end, taken_back
from kernel.messages import Concurrency, Image, Message, Opaque, Part, Role, Text, ToolCall, ToolResult
from kernel.session import Ending, Exchange, Session
from kernel.session_events import Broken, Claimed, Compacted, Opened, Returned, Spoken, Undone
from kernel.transitions import apply
from tests.twins.sessions import ANN, BEN, EMPTY, after, answered, called, calling, gate, result, spoken

FACTS = Text("[2026-12-01 Tue 09:00 Asia/Shanghai; speaking: 小王]")
TALKED = replace(EMPTY, history_length=6, exchanges=(Exchange(BEN, 0, 2), Exchange(ANN, 2, 2), Exchange(BEN, 4, 2)))


def says(*parts: Part) -> Message:
    return Message(Role.USER, (FACTS, *parts))


def answers(words: str = "好") -> Message:
    return Message(Role.ASSISTANT, (Text(words),))


def finished(session: Session) -> Session:
    return harvest(session).session


def test_a_finished_turn_is_an_exchange_of_who_asked() -> None:
    first = finished(after(spoken("一"), calling(), answered("1")))
    second = finished(
        after(spoken("二", turn="t2", person=BEN), calling(turn="t2"), answered("2", turn="t2"), session=first)
    )

    assert second.exchanges == (Exchange(ANN, 0, 2), Exchange(BEN, 2, 2))


def test_a_turn_that_was_broken_off_is_one_too() -> None:
    assert finished(after(spoken("一"), Broken("t1", Ending.FAILED))).exchanges == (Exchange(ANN, 0, 1),)


def test_an_exchange_has_acted_once_a_call_with_effects_began_in_it_or_in_a_task_of_it() -> None:
    look = gate("look", concurrency=Concurrency.READ_ONLY)
    looked = after(spoken("看"), calling(), called(look), Returned("t1", "look", 0, result("look")))
    posted = after(spoken("发"), calling(), called(gate("post")), Claimed("t1", "post", 7))
    task = (spoken("查"), calling(), called(gate("task")), Opened("t1", "task", (Text("查"),)))
    inside = after(*task, calling(2), called(gate("post"), effect=2), Claimed("t1", "post", 7))

    assert [each.turns[0].has_acted for each in (looked, posted, inside)] == [False, True, True]


def test_of_many_exchanges_the_newest_are_known() -> None:
    session = EMPTY
    for number in range(MOST + 3):
        said = spoken(f"说{number}", turn=f"t{number}")
        session = finished(after(said, calling(turn=said.turn), answered("好", turn=said.turn), session=session))

    assert [each.start for each in session.exchanges] == [2 * number for number in range(3, MOST + 3)]


def test_the_last_words_of_a_person_are_theirs_and_not_those_of_others() -> None:
    past = [says(Text("甲")), answers(), says(Text("乙")), answers(), says(Text("丙")), answers()]

    assert said_last(TALKED, ANN, past) == (Text("乙"),)
    assert said_last(TALKED, BEN, past) == (Text("丙"),)
    assert said_last(TALKED, "1003", past) == ()


def test_everything_that_the_person_said_in_the_turn_counts_and_nothing_of_the_program_does() -> None:
    picture = Image("b" * 40, "image/png")
    past = [
        says(picture, Text("看这张")),
        Message(Role.ASSISTANT, (ToolCall("c1", "look", "{}"),)),
        Message(Role.USER, (ToolResult("c1", "一只猫"), FACTS, Text("快点"))),
        Message(Role.USER, (Text(ANEW),)),
        answers(),
    ]
    session = replace(EMPTY, history_length=5, exchanges=(Exchange(ANN, 0, 5),))

    assert said_last(session, ANN, past) == (picture, Text("看这张"), Text("快点"))


def test_words_that_look_like_our_facts_are_still_the_persons() -> None:
    session = replace(EMPTY, history_length=2, exchanges=(Exchange(ANN, 0, 2),))

    assert said_last(session, ANN, [says(Text("[2026-12-01 会议] 总结一下")), answers()]) == (
        Text("[2026-12-01 会议] 总结一下"),
    )


def test_words_that_the_store_has_cut_off_are_not_known() -> None:
    assert said_last(TALKED, ANN, [answers(), says(Text("丙")), answers()]) == ()


def test_only_the_newest_exchange_can_be_taken_back_and_only_by_its_person() -> None:
    past = [says(Text("说")), answers()] * 3

    assert taken_back(TALKED, BEN, past) == Exchange(BEN, 4, 2)
    assert taken_back(TALKED, ANN, past) is None
    assert taken_back(EMPTY, ANN, ()) is None
    assert taken_back(replace(TALKED, history_length=7), BEN, [*past, answers()]) is None


def test_what_is_taken_back_leaves_the_thinking_before_it_alone() -> None:
    session = apply(replace(TALKED, thinking_from=2), Undone(6, 4))

    assert (session.history_length, session.thinking_from) == (4, 2)
    assert session.exchanges == TALKED.exchanges[:2]
    assert apply(replace(TALKED, thinking_from=6), Undone(6, 4)).thinking_from == 4


@pytest.mark.parametrize("event", [Undone(6, 4), Compacted(6, 3, 2)])
def test_the_history_is_not_rewritten_under_a_turn_or_when_it_has_grown(event: Undone | Compacted) -> None:
    speaking = apply(TALKED, Spoken("t9", ANN, (Text("说"),)))
    grown = replace(TALKED, history_length=8)

    assert apply(speaking, event) is speaking
    assert apply(grown, event) is grown


def test_exchanges_move_along_with_the_end_that_a_summary_keeps() -> None:
    kept = apply(TALKED, Compacted(of=6, length=6, kept=4))

    assert kept.exchanges == (Exchange(ANN, 2, 2), Exchange(BEN, 4, 2))
    assert apply(TALKED, Compacted(of=6, length=4, kept=2)).exchanges == (Exchange(BEN, 2, 2),)
    assert apply(TALKED, Compacted(of=6, length=2)).exchanges == ()


def test_the_same_end_is_counted_without_kept_thinking() -> None:
    thinking = Message(Role.ASSISTANT, (Opaque("p", "m", "{}"), Text("好")))
    before = [says(Text("甲")), thinking, says(Text("乙")), answers()]

    assert same_end(before, [answers("摘要"), answers(), says(Text("乙")), answers()]) == 3
    assert same_end(before, []) == 0
