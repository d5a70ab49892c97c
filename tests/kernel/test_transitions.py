"""Each row of the transition table, and what an event that does not fit leaves alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.context import harvest
from kernel.messages import QUOTED, Concurrency, Image, Message, Role, Text, ToolResult
from kernel.session import Ending, GateState, Mode, Reach, Session
from kernel.session_events import (
    Asked,
    Broken,
    Claimed,
    Closing,
    Compacted,
    Denied,
    ModelReplied,
    Opened,
    Restored,
    Resumed,
    Returned,
    SessionEvent,
    Spoken,
    Voted,
    Worded,
)
from kernel.transitions import CARRY_OUT, apply
from tests.twins.sessions import (
    ANN,
    BEN,
    EMPTY,
    after,
    answered,
    called,
    calling,
    gate,
    gate_of,
    result,
    spoken,
    texts_of,
    turn_of,
)

ASKED, READY, CLAIMED = GateState.ASKED, GateState.READY, GateState.CLAIMED
READ_ONLY, INTERACTIVE = Concurrency.READ_ONLY, Concurrency.INTERACTIVE


def open_with(*gates: object) -> Session:
    """A turn of Ann's whose model asked for these calls."""
    return after(spoken("查一下"), calling(), called(*gates))  # type: ignore[arg-type]  # gates, spelled once


# --- turns -------------------------------------------------------------------------------------------------------


def test_words_open_a_turn_that_runs() -> None:
    session = after(spoken("你好"))

    assert session.active == "t1"
    assert turn_of(session).is_runnable


def test_more_words_of_the_same_person_join_the_newest_user_message_before_the_model_is_asked() -> None:
    session = after(spoken("一"), spoken("二", turn="t2"))

    assert [turn.id for turn in session.turns] == ["t1"]
    assert [texts_of(message) for message in turn_of(session).top.messages] == [["一", "二"]]


def test_words_of_somebody_else_wait_while_a_turn_runs() -> None:
    session = after(spoken("一"))

    assert apply(session, spoken("二", turn="t2", person=BEN)) is session


def test_the_history_does_not_grow_while_the_model_is_asked() -> None:
    session = after(spoken("一"), calling())

    assert apply(session, spoken("二", turn="t2")) is session


def test_words_said_while_tools_run_follow_their_results_in_the_same_message() -> None:
    session = after(Claimed("t1", "a", 7), Returned("t1", "a", 1, result("a")), session=open_with(gate("a")))

    session = apply(session, spoken("还有这个"))

    assert texts_of(turn_of(session).top.messages[-1]) == ["ok", "还有这个"]


def test_the_last_words_end_the_turn() -> None:
    session = after(spoken("你好"), calling(), answered("你好呀"))

    assert turn_of(session).ending is Ending.ANSWERED
    assert session.active == ""


def test_a_turn_adds_up_what_its_replies_used_up() -> None:
    first = replace(called(gate("a")), tokens=10, micro_dollars=3, took_ms=5)
    session = after(first, session=after(spoken("你好"), calling()))
    session = after(Claimed("t1", "a", 7), Returned("t1", "a", 1, result("a")), calling(2), session=session)

    session = after(replace(answered("好", effect=2), tokens=5, micro_dollars=1), session=session)

    turn = turn_of(session)
    assert (turn.tokens, turn.micro_dollars, turn.worked_ms) == (15, 4, 5)


def test_a_reply_to_an_older_question_is_dropped() -> None:
    session = after(spoken("你好"), calling(), Resumed(2), calling(2))

    assert apply(session, answered("迟到", effect=1)) is session


def test_a_model_call_is_numbered_and_made_once() -> None:
    session = after(spoken("你好"), calling())

    assert apply(session, calling(1)) is session
    assert apply(session, calling(2)) is session


def test_a_paused_reply_is_kept_and_the_model_is_asked_again() -> None:
    reply = Message(Role.ASSISTANT, (Text("半句"),))
    session = after(spoken("你好"), calling(), ModelReplied("t1", 1, reply, is_pause=True))

    assert turn_of(session).is_runnable
    assert turn_of(apply(session, calling(2))).effect == 2


def test_at_most_one_turn_runs_and_a_decided_one_waits_for_it() -> None:
    session = after(spoken("别的事", turn="t2", person=BEN), session=open_with(gate("a", ASKED)))
    assert session.active == "t2"

    session = apply(session, Voted("t1", "a", "digest-a", ANN))

    assert session.active == "t2"
    assert apply(session, Claimed("t1", "a", 7)) is session
    assert after(calling(turn="t2"), answered("好", turn="t2"), session=session).active == "t1"


# --- gates -------------------------------------------------------------------------------------------------------


def test_a_claimed_call_is_answered_by_the_outcome_of_that_claim_alone() -> None:
    session = apply(open_with(gate("a")), Claimed("t1", "a", 7))

    assert apply(session, Returned("t1", "a", 2, result("a"))) is session
    done = apply(session, Returned("t1", "a", 1, result("a")))
    assert turn_of(done).top.open is None
    assert turn_of(done).is_runnable


def test_results_close_in_the_order_of_the_calls() -> None:
    session = open_with(gate("a", READY, READ_ONLY), gate("b", READY, READ_ONLY))

    session = after(
        Returned("t1", "b", 0, result("b", "second")), Returned("t1", "a", 0, result("a", "first")), session=session
    )

    assert texts_of(turn_of(session).top.messages[-1]) == ["first", "second"]


def test_exclusive_calls_start_in_order_and_read_only_ones_beside_them() -> None:
    session = open_with(gate("a"), gate("b"), gate("c", READY, READ_ONLY))

    assert apply(session, Claimed("t1", "b", 7)) is session
    assert apply(session, Returned("t1", "c", 0, result("c"))) is not session
    session = after(Claimed("t1", "a", 7), Returned("t1", "a", 1, result("a")), session=session)
    assert gate_of(apply(session, Claimed("t1", "b", 7)), "b").state is CLAIMED


def test_an_interactive_call_is_alone() -> None:
    session = open_with(gate("a", READY, READ_ONLY), gate("q", READY, INTERACTIVE), gate("b", READY, READ_ONLY))

    assert apply(session, Asked("t1", "q", "token")) is session
    assert apply(session, Returned("t1", "b", 0, result("b"))) is session
    session = after(Returned("t1", "a", 0, result("a")), Asked("t1", "q", "token"), session=session)
    assert gate_of(session, "q").state is ASKED


def test_a_call_that_asks_runs_only_after_a_vote_for_exactly_what_was_shown() -> None:
    session = open_with(gate("a", ASKED))

    assert apply(session, Claimed("t1", "a", 7)) is session
    assert apply(session, Voted("t1", "a", "digest-b", ANN)) is session
    assert gate_of(apply(session, Voted("t1", "a", "digest-a", ANN)), "a").state is READY


def test_the_same_voter_counts_once() -> None:
    session = apply(open_with(gate("a", ASKED, votes=2)), Voted("t1", "a", "digest-a", ANN))

    assert apply(session, Voted("t1", "a", "digest-a", ANN)) is session
    assert gate_of(apply(session, Voted("t1", "a", "digest-a", BEN)), "a").state is READY


def test_a_refusal_is_read_by_the_model() -> None:
    session = apply(open_with(gate("a", ASKED)), Denied("t1", "a", "not today"))

    assert texts_of(turn_of(session).top.messages[-1]) == ["not today"]


def test_a_decided_card_cannot_be_decided_again() -> None:
    session = apply(open_with(gate("a", ASKED), gate("b", ASKED)), Denied("t1", "a", "no"))

    assert apply(session, Voted("t1", "a", "digest-a", ANN)) is session
    assert apply(session, Denied("t1", "a", "no")) is session


def test_a_question_is_answered_with_words_and_never_by_a_vote() -> None:
    session = apply(open_with(gate("q", READY, INTERACTIVE)), Asked("t1", "q", "its card"))

    assert gate_of(session, "q").token == "its card"
    assert apply(session, Voted("t1", "q", "digest-q", ANN)) is session
    assert texts_of(turn_of(apply(session, Worded("t1", "q", "红的"))).top.messages[-1]) == ["红的"]


def test_the_requesters_next_words_answer_the_question() -> None:
    session = apply(open_with(gate("q", READY, INTERACTIVE)), Asked("t1", "q", "token"))

    session = apply(session, spoken("红的", turn="t2"))

    assert [turn.id for turn in session.turns] == ["t1"]
    assert texts_of(turn_of(session).top.messages[-1]) == ["红的"]


def test_the_requesters_next_words_supersede_every_open_card_and_follow_the_results() -> None:
    session = open_with(gate("a", ASKED), gate("b"))

    session = apply(session, spoken("算了", turn="t2"))

    assert [turn.id for turn in session.turns] == ["t1"]
    newest = turn_of(session).top.messages[-1]
    assert [type(part) for part in newest.parts] == [ToolResult, ToolResult, Text]
    assert texts_of(newest)[-1] == "算了"


def test_what_was_put_aside_stands_again_as_a_turn_that_waits_beside_the_one_that_runs() -> None:
    asked = gate("a", ASKED)
    session = apply(open_with(asked), spoken("算了", turn="t2"))

    session = apply(session, Restored("t3", ANN, (Text("还是要"),), replace(asked, call=replace(asked.call, id="z"))))

    assert (session.active, [turn.id for turn in session.turns]) == ("t1", ["t1", "t3"])
    assert session.turns[1].is_waiting
    session = apply(session, Voted("t3", "z", asked.digest, ANN))
    assert (session.active, gate_of(session, "z", "t3").state) == ("t1", READY)


def test_words_of_somebody_else_supersede_nothing() -> None:
    session = apply(open_with(gate("a", ASKED)), spoken("你好", turn="t2", person=BEN))

    assert [turn.id for turn in session.turns] == ["t1", "t2"]
    assert gate_of(session, "a").state is ASKED


def test_read_only_siblings_of_a_waiting_call_are_done_meanwhile() -> None:
    session = open_with(gate("a", ASKED), gate("b", READY, READ_ONLY))

    assert turn_of(session).is_runnable
    assert turn_of(apply(session, Returned("t1", "b", 0, result("b")))).is_waiting


# --- frames ------------------------------------------------------------------------------------------------------


def test_a_call_that_opens_a_frame_is_answered_with_the_frames_last_words() -> None:
    session = apply(open_with(gate("task")), Opened("t1", "task", (Text("数一数"),)))
    assert [texts_of(message) for message in turn_of(session).top.messages] == [["数一数"]]

    session = after(calling(2), answered("三个", effect=2), session=session)

    assert len(turn_of(session).frames) == 1
    assert texts_of(turn_of(session).top.messages[-1]) == ["三个"]


def test_frames_nest_twice_and_no_deeper() -> None:
    session = open_with(gate("a"))
    for effect, (outer, inner) in enumerate((("a", "b"), ("b", "c")), start=2):
        opened = apply(session, Opened("t1", outer, (Text(outer),)))
        session = after(calling(effect), called(gate(inner), effect=effect), session=opened)

    session = apply(session, Opened("t1", "c", (Text("c"),)))

    assert len(turn_of(session).frames) == 3
    assert "sub-task" in texts_of(turn_of(session).top.messages[-1])[0]


def test_words_supersede_a_card_inside_a_frame_and_give_the_frame_up() -> None:
    opened = apply(open_with(gate("task")), Opened("t1", "task", (Text("发推"),)))
    session = after(calling(2), called(gate("post", ASKED), effect=2), session=opened)
    assert turn_of(session).is_waiting

    session = apply(session, spoken("算了", turn="t2"))

    assert len(turn_of(session).frames) == 1
    assert texts_of(turn_of(session).top.messages[-1])[-1] == "算了"


# --- endings -----------------------------------------------------------------------------------------------------


def test_a_stopped_turn_starts_nothing_more_and_the_next_words_open_another() -> None:
    session = apply(open_with(gate("a", ASKED), gate("b")), Broken("t1", Ending.STOPPED))

    assert turn_of(session).is_finished
    assert session.active == ""
    assert apply(session, spoken("你好", turn="t2")).active == "t2"


def test_a_stopped_turn_keeps_the_real_outcome_of_a_call_already_claimed() -> None:
    session = after(Claimed("t1", "a", 7), Broken("t1", Ending.STOPPED), session=open_with(gate("a"), gate("b")))
    assert not turn_of(session).is_finished

    session = apply(session, Returned("t1", "a", 1, result("a", "sent")))

    assert turn_of(session).is_finished
    assert texts_of(turn_of(session).frames[0].messages[-1])[0] == "sent"


def test_a_stop_makes_the_running_model_call_stale() -> None:
    session = after(spoken("你好"), calling(), Broken("t1", Ending.STOPPED))

    assert apply(session, answered("太晚了")) is session


def test_a_stop_inside_frames_leaves_a_root_that_is_pair_clean() -> None:
    session = apply(open_with(gate("task")), Opened("t1", "task", (Text("数一数"),)))

    session = apply(session, Broken("t1", Ending.STOPPED))

    root = turn_of(session).frames[0]
    assert root.open is None
    assert [part.call for part in root.messages[-1].parts if isinstance(part, ToolResult)] == ["task"]


def test_a_new_holder_asks_the_model_again_and_never_runs_a_claimed_call_again() -> None:
    thinking = after(spoken("你好"), calling(), Resumed(2))
    claimed = after(Claimed("t1", "a", 1), Resumed(2), session=open_with(gate("a")))

    assert not turn_of(thinking).is_calling
    assert "may have taken effect" in texts_of(turn_of(claimed).top.messages[-1])[0]


def test_a_claim_of_the_same_holder_is_not_given_up() -> None:
    session = apply(open_with(gate("a")), Claimed("t1", "a", 2))

    assert apply(session, Resumed(2)) is session


@pytest.mark.parametrize(
    "event",
    [
        calling(),
        answered("x"),
        Asked("t1", "a", "token"),
        Voted("t1", "a", "digest-a", ANN),
        Denied("t1", "a", "no"),
        Worded("t1", "a", "x"),
        Claimed("t1", "a", 1),
        Returned("t1", "a", 0, result("a")),
        Opened("t1", "a", (Text("x"),)),
        Broken("t1", Ending.STOPPED),
        Resumed(1),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_about_nothing_that_is_there_changes_nothing(event: SessionEvent) -> None:
    assert apply(EMPTY, event) is EMPTY


# --- history -----------------------------------------------------------------------------------------------------


def test_a_finished_turn_leaves_its_root_messages_to_the_history() -> None:
    reaped = harvest(after(spoken("你好"), calling(), answered("你好呀")))

    assert [texts_of(message) for message in reaped.history] == [["你好"], ["你好呀"]]
    assert reaped.session.turns == ()
    assert reaped.session.history_length == 2


def test_a_turn_that_finishes_behind_others_ends_the_thinking_kept_so_far() -> None:
    session = after(spoken("别的", turn="t2", person=BEN), session=open_with(gate("a", ASKED)))
    session = harvest(after(calling(turn="t2"), answered("好", turn="t2"), session=session)).session

    session = after(Denied("t1", "a", "no"), calling(2), answered("行", effect=2), session=session)
    reaped = harvest(session)

    assert reaped.session.thinking_from == reaped.session.history_length == 6


def test_a_new_prefix_ends_the_thinking_kept_so_far() -> None:
    session = harvest(after(spoken("一"), calling(), answered("好"))).session

    assert apply(session, spoken("二", turn="t2")).thinking_from == 0
    assert apply(session, spoken("二", turn="t2", prefix="new")).thinking_from == 2


# --- plans and last words ----------------------------------------------------------------------------------------


def planning() -> Session:
    return after(replace(spoken("查房前要准备什么"), mode=Mode.PLAN), calling())


def test_a_plan_is_followed_by_one_request_to_carry_it_out() -> None:
    session = after(answered("先看病历，再看化验"), session=planning())

    turn = turn_of(session)
    assert turn.ending is None
    assert turn.top.mode is Mode.WORK
    assert [texts_of(message) for message in turn.top.messages[1:]] == [["先看病历，再看化验"], [CARRY_OUT]]
    assert turn_of(after(calling(2), answered("好了", effect=2), session=session)).ending is Ending.ANSWERED


def test_a_plan_without_words_asks_for_nothing_to_be_carried_out() -> None:
    session = apply(planning(), ModelReplied("t1", 1, Message(Role.ASSISTANT, ())))

    assert [texts_of(message) for message in turn_of(session).top.messages] == [["查房前要准备什么"]]
    assert turn_of(session).top.mode is Mode.WORK
    assert turn_of(session).is_runnable


def test_a_model_that_calls_tools_although_it_was_to_plan_has_begun_to_work() -> None:
    session = after(called(gate("a")), session=planning())

    assert turn_of(session).top.mode is Mode.WORK
    assert gate_of(session, "a").state is GateState.READY


def test_a_plan_that_pauses_goes_on_being_a_plan() -> None:
    session = after(replace(answered("先"), is_pause=True), session=planning())

    assert turn_of(session).top.mode is Mode.PLAN
    assert len(turn_of(session).top.messages) == 2


def test_a_message_that_comes_before_the_plan_joins_and_is_planned_for() -> None:
    session = after(replace(spoken("一"), mode=Mode.PLAN), replace(spoken("二"), mode=Mode.PLAN))

    assert turn_of(session).top.mode is Mode.PLAN
    assert texts_of(turn_of(session).top.messages[0]) == ["一", "二"]


def test_a_frame_is_closed_once_and_only_between_two_model_calls() -> None:
    thinking = after(spoken("一"))
    close = Closing("t1", "tools are closed")

    closed = apply(thinking, close)

    assert texts_of(turn_of(closed).top.messages[0]) == ["一", "tools are closed"]
    assert apply(closed, close) is closed
    asked = after(calling(), session=thinking)
    assert apply(asked, close) is asked
    opened = after(called(gate("a")), session=asked)
    assert apply(opened, close) is opened
    ended = after(Broken("t1", Ending.STOPPED), session=thinking)
    assert apply(ended, close) is ended


def test_only_the_frame_on_top_is_closed_and_its_words_answer_the_call_below() -> None:
    opened = after(spoken("一"), calling(), called(gate("task")), Opened("t1", "task", (Text("go"),)))

    closed = after(Closing("t1", "closed"), calling(2), answered("half", effect=2), session=opened)

    assert len(turn_of(closed).frames) == 1
    assert turn_of(closed).top.mode is Mode.WORK
    assert texts_of(turn_of(closed).top.messages[-1]) == ["half"]


def test_time_at_work_adds_up_over_replies_and_results() -> None:
    session = after(
        spoken("一"),
        calling(),
        replace(called(gate("a")), took_ms=5),
        Claimed("t1", "a", 1),
        Returned("t1", "a", 1, result("a"), took_ms=7),
    )

    assert turn_of(session).worked_ms == 12


def test_a_turn_that_does_not_run_is_not_closed() -> None:
    waiting = after(spoken("一"), calling(), called(gate("post", ASKED)), spoken("二", turn="t2", person=BEN))
    assert waiting.active == "t2"

    answered_ = after(Denied("t1", "post", "no"), session=waiting)

    assert apply(answered_, Closing("t1", "closed")) is answered_


def test_pictures_that_answer_a_question_follow_its_result_and_words_are_the_result() -> None:
    asking = after(spoken("看图"), calling(), called(gate("ask", concurrency=INTERACTIVE)), Asked("t1", "ask", "token"))
    picture = Image("blob", "image/png")

    session = apply(asking, Spoken("t2", ANN, (Text("这张"), picture)))

    newest = turn_of(session).top.messages[-1]
    assert newest.parts == (ToolResult("ask", "这张"), picture)
    worded = apply(asking, Spoken("t2", ANN, (Text("这张"),)))
    assert turn_of(worded).top.messages[-1].parts == (ToolResult("ask", "这张"),)


def test_pictures_do_not_break_into_a_message_whose_other_calls_go_on() -> None:
    gates = (gate("ask", concurrency=INTERACTIVE), gate("write"))
    asking = after(spoken("看图"), calling(), called(*gates), Asked("t1", "ask", "token"))

    session = apply(asking, Spoken("t2", ANN, (Text("这张"), Image("blob", "image/png"))))

    assert gate_of(session, "ask").result == ToolResult("ask", "这张")
    assert len(turn_of(session).top.messages) == 1
    assert turn_of(session).top.open is not None
    done = after(Claimed("t1", "write", 1), Returned("t1", "write", 1, result("write")), session=session)
    assert turn_of(done).top.messages[-1].parts[-1] == Image("blob", "image/png")


def test_calls_that_look_side_by_side_take_the_turn_as_long_as_the_last_of_them() -> None:
    looks = (gate("a", concurrency=READ_ONLY), gate("b", concurrency=READ_ONLY))
    looking = after(spoken("查"), calling(), called(*looks))

    looked = after(
        Returned("t1", "a", 0, result("a"), took_ms=20_000),
        Returned("t1", "b", 0, result("b"), took_ms=25_000),
        session=looking,
    )

    assert turn_of(looked).worked_ms == 25_000


def test_what_was_said_of_an_answer_that_is_stopped_is_its_last_message() -> None:
    writing = after(spoken("写"), calling())

    stopped = turn_of(apply(writing, Broken("t1", Ending.STOPPED, "今天有")))

    assert stopped.top.messages[-1] == Message(Role.ASSISTANT, (Text("今天有"),))
    waiting = after(called(gate("post", ASKED)), session=writing)
    assert "今天有" not in str(apply(waiting, Broken("t1", Ending.STOPPED, "今天有")))


def test_what_is_quoted_beside_an_answer_is_no_answer_and_follows_the_results_as_a_quote() -> None:
    asking = after(spoken("看图"), calling(), called(gate("ask", concurrency=INTERACTIVE)), Asked("t1", "ask", "token"))
    quote = Text(f"{QUOTED}\n> 每天提醒管理员点同意")

    session = apply(asking, Spoken("t2", ANN, (quote, Text("这个"))))

    assert turn_of(session).top.messages[-1].parts == (ToolResult("ask", "这个"), quote)


# --- a summary in the place of the history ------------------------------------------------------------------------


def with_history(length: int) -> Session:
    return replace(EMPTY, history_length=length, thinking_from=3)


def test_a_summary_takes_the_place_of_the_history_that_it_was_made_of() -> None:
    session = apply(with_history(90), Compacted(of=90, length=22))

    assert (session.history_length, session.thinking_from) == (22, 22)


def test_a_summary_that_comes_too_late_changes_nothing() -> None:
    grown = with_history(92)
    speaking = after(spoken("一"), session=with_history(90))

    assert apply(grown, Compacted(of=90, length=22)) is grown
    assert apply(speaking, Compacted(of=90, length=22)) is speaking


# --- what a frame may do -------------------------------------------------------------------------------------------


def test_a_call_may_do_what_the_frame_may_in_which_it_is_open() -> None:
    below, look = gate("task"), gate("look", concurrency=READ_ONLY)
    session = after(
        spoken("一"),
        calling(),
        called(below, gate("write")),
        Opened("t1", "task", (Text("go"),), reach=Reach.LOOK),
        calling(2),
        called(look, effect=2),
    )
    turn = turn_of(session)

    assert turn.reach_of(gate_of(session, "look")) is Reach.LOOK
    assert turn.reach_of(gate_of(session, "write")) is Reach.ALL
    closed = after(Returned("t1", "look", 0, result("look")), session=session)
    assert turn_of(closed).reach_of(gate_of(closed, "write")) is Reach.ALL
    assert turn_of(closed).reach_of(gate("nowhere")) is Reach.LOOK


def test_a_sub_task_that_closes_without_a_word_is_an_answer_and_the_turn_goes_on() -> None:
    opened = after(spoken("一"), calling(), called(gate("task")), Opened("t1", "task", (Text("go"),)))

    closed = after(Closing("t1", "closed"), calling(2), called(gate("more"), effect=2), session=opened)

    assert turn_of(closed).ending is None
    assert texts_of(turn_of(closed).top.messages[-1]) == ["(no words)"]


@pytest.mark.parametrize("order", [("look", "peek", "write"), ("look", "write", "peek"), ("write", "peek", "look")])
def test_looks_side_by_side_take_as_long_as_the_last_of_them_and_all_else_its_own_time(order: tuple[str, ...]) -> None:
    gates = (gate("look", concurrency=READ_ONLY), gate("peek", concurrency=READ_ONLY), gate("write"))
    session = after(Claimed("t1", "write", 1), session=open_with(*gates))
    took = {"look": 5, "peek": 9, "write": 7}

    for name in order:
        claim = 1 if name == "write" else 0
        session = after(Returned("t1", name, claim, result(name), took_ms=took[name]), session=session)

    last_look = [name for name in order if name != "write"][-1]
    assert turn_of(session).worked_ms == took[last_look] + took["write"]
