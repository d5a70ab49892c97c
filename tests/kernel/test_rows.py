"""What interleavings and mutants found missing in the claims about the transition table and the loop."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.context import harvest
from kernel.guards import is_circling
from kernel.loop import MAX_ARGUMENTS_CHARS, Effect, Limits, RunCall, advance, find_gate, read_reply
from kernel.loop import gate_of as make_gate
from kernel.messages import Concurrency, Image, Message, ModelReply, Role, Stop, Text, ToolCall, ToolWords
from kernel.session import FORGOTTEN, Ending, Frame, Gate, GateState, Mode, Session, Turn
from kernel.session_events import Asked, Broken, Claimed, Denied, ModelReplied, Opened, Returned, Spoken, Voted, Worded
from kernel.tools import Approval, Question, Tool, ToolOutcome, ToolRegistry
from kernel.transitions import apply
from tests.twins.sessions import (
    ANN,
    BEN,
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

READY, ASKED = GateState.READY, GateState.ASKED
READ_ONLY, EXCLUSIVE, INTERACTIVE = Concurrency.READ_ONLY, Concurrency.EXCLUSIVE, Concurrency.INTERACTIVE
GO = (Text("go"),)


async def nothing(*_: object) -> ToolOutcome:
    return ToolOutcome("")


def registry(**tools: Concurrency) -> ToolRegistry:
    """Tools of these names; those that begin with `task` open a frame."""
    return ToolRegistry(
        Tool(
            ToolWords(name, name, '{"type":"object"}'),
            concurrency=lambda _, concurrency=concurrency: concurrency,  # type: ignore[misc]  # bound by default
            approval=lambda _: Approval.NEVER,
            timeout=timedelta(seconds=1),
            describe=lambda *_: "",
            run=None if name.startswith("task") else nothing,
            opens=(lambda _: "go") if name.startswith("task") else None,
        )
        for name, concurrency in tools.items()
    )


def effects_of(session: Session, tools: ToolRegistry) -> tuple[Effect, ...]:
    return advance(session, tools, fence=1, limits=Limits()).effects


def test_a_call_that_opens_a_frame_is_never_run_even_when_it_may_be_repeated() -> None:
    tools = registry(write=EXCLUSIVE, task=READ_ONLY)
    session = after(spoken("x"), calling(), called(gate("write"), gate("task", READY, READ_ONLY)))

    assert effects_of(session, tools) == (RunCall("t1", "write", 1),)


def test_a_look_goes_on_beside_the_model_call_of_the_frame_that_its_message_opened() -> None:
    tools = registry(look=READ_ONLY, task=EXCLUSIVE)
    session = after(spoken("x"), calling(), called(gate("look", READY, READ_ONLY), gate("task")))

    assert RunCall("t1", "look", 0) in effects_of(session, tools)
    assert len(effects_of(session, tools)) == 2


def test_a_call_never_gets_the_id_of_one_whose_frame_is_gone() -> None:
    tools = registry(write=EXCLUSIVE)
    opened = after(Opened("t1", "task", GO), session=after(spoken("x"), calling(), called(gate("task"))))
    done = after(calling(2), called(gate("write", ASKED), effect=2), session=opened)
    given_up = apply(done, spoken("算了", turn="t2"))
    again = ModelReply(Message(Role.ASSISTANT, (ToolCall("write", "write", "{}"),)), Stop.TOOLS)

    told = read_reply(turn_of(apply(given_up, calling(3))), 3, again, tools, lambda: "token")

    assert [each.call.id for each in told.gates] == ["write-2"]


def test_thinking_under_another_prefix_ends_with_the_turn_that_thought_it() -> None:
    asks = after(spoken("一", prefix="old"), calling(), called(gate("a", ASKED)))
    session = after(spoken("二", turn="t2", person=BEN, prefix="new"), session=asks)
    session = after(calling(turn="t2"), called(gate("b", ASKED), turn="t2"), session=session)

    session = after(spoken("算了", turn="t3"), calling(2), answered("好", effect=2), session=session)

    assert harvest(session).session.thinking_from == harvest(session).session.history_length > 0


# --- what does not run


def set_aside(*gates: Gate) -> Session:
    """Ann's turn with these calls, decided while Ben's turn runs and his model is asked."""
    asks = after(spoken("一"), calling(), called(*gates, gate("card", ASKED)))
    return after(spoken("二", turn="t2", person=BEN), calling(turn="t2"), session=asks)


def test_a_turn_that_does_not_run_asks_nobody_and_starts_nothing() -> None:
    session = apply(set_aside(gate("q", ASKED, INTERACTIVE)), Voted("t1", "q", "digest-q", ANN))
    decided = apply(set_aside(), Denied("t1", "card", "no"))

    assert gate_of(session, "q").state is READY
    assert apply(session, Asked("t1", "q", "token")) is session
    assert apply(session, Opened("t1", "q", GO)) is session
    assert apply(session, Claimed("t1", "q", 1)) is session
    assert apply(decided, calling(2)) is decided


@pytest.mark.parametrize(("concurrency", "claim"), [(READ_ONLY, 0), (EXCLUSIVE, 1)])
def test_a_result_answers_the_call_that_ran_whatever_id_it_brings(concurrency: Concurrency, claim: int) -> None:
    session = after(spoken("x"), calling(), called(gate("a", READY, concurrency)), Claimed("t1", "a", 7))

    session = apply(session, Returned("t1", "a", claim, result("another")))

    assert turn_of(session).top.messages[-1].parts == (result("a"),)


def test_a_turn_ends_once() -> None:
    stopped = after(spoken("x"), calling(), called(gate("a")), Claimed("t1", "a", 7), Broken("t1", Ending.STOPPED))
    done = after(spoken("x"), calling(), answered("y"))

    for session in (stopped, done):
        assert apply(session, Broken("t1", Ending.FAILED)) is session


def test_a_turn_is_opened_once() -> None:
    session = after(spoken("一"), calling(), called(gate("card", ASKED)))

    assert apply(session, spoken("二", turn="t1", person=BEN)) is session


# --- words


def test_words_wait_while_a_sub_task_thinks() -> None:
    session = after(spoken("一"), calling(), called(gate("task")), Opened("t1", "task", GO))

    assert apply(session, spoken("二", turn="t2")) is session


def test_words_wait_while_a_claimed_call_beside_the_sub_task_has_no_outcome() -> None:
    opened = after(spoken("一"), calling(), called(gate("task", READY, READ_ONLY), gate("write")))
    opened = after(Opened("t1", "task", GO), Claimed("t1", "write", 1), session=opened)
    session = after(calling(2), called(gate("card", ASKED), effect=2), session=opened)
    assert turn_of(session).is_waiting

    assert apply(session, spoken("算了", turn="t2")) is session


def test_words_after_an_answered_question_supersede_the_card_beside_it() -> None:
    asked = after(spoken("一"), calling(), called(gate("q", READY, INTERACTIVE), gate("card", ASKED)))
    session = after(Asked("t1", "q", "token"), Worded("t1", "q", "红的"), session=asked)

    session = apply(session, spoken("算了", turn="t2"))

    assert texts_of(turn_of(session).top.messages[-1])[0] == "红的"
    assert texts_of(turn_of(session).top.messages[-1])[-1] == "算了"


def test_a_question_may_be_answered_with_words_and_a_picture() -> None:
    session = after(spoken("一"), calling(), called(gate("q", READY, INTERACTIVE)), Asked("t1", "q", "token"))

    session = apply(session, Spoken("t2", ANN, (Image("blob", "image/png"), Text("这个"))))

    assert texts_of(turn_of(session).top.messages[-1]) == ["这个"]


def test_a_sub_task_without_words_is_still_an_answer() -> None:
    session = after(spoken("一"), calling(), called(gate("task")), Opened("t1", "task", GO), calling(2))

    session = apply(session, ModelReplied("t1", 2, Message(Role.ASSISTANT, ())))

    assert texts_of(turn_of(session).top.messages[-1]) == ["(no words)"]


# --- limits


def went_on(limits: Limits, *, rounds: int) -> Turn:
    """A turn whose model asks for a look again and again."""
    tools = registry(look=READ_ONLY)
    session = after(spoken("x"))
    for number in range(1, rounds + 1):
        session = advance(session, tools, fence=1, limits=limits).session
        name = f"look-{number}"
        session = after(
            called(gate(name, READY, READ_ONLY), effect=number), Returned("t1", name, 0, result(name)), session=session
        )
    return turn_of(advance(session, tools, fence=1, limits=limits).session)


def test_a_frame_closes_after_as_many_rounds_as_it_may_have() -> None:
    limits = Limits(iterations=3)

    assert went_on(limits, rounds=2).top.mode is Mode.WORK
    assert went_on(limits, rounds=3).top.mode is Mode.CLOSE


def test_a_frame_closes_after_as_many_model_calls_as_its_turn_may_make() -> None:
    limits = Limits(model_calls=2)

    assert went_on(limits, rounds=1).top.mode is Mode.WORK
    assert went_on(limits, rounds=2).top.mode is Mode.CLOSE


def test_the_last_model_call_that_is_allowed_is_waited_for() -> None:
    limits = Limits(iterations=1)
    session = advance(after(spoken("x")), registry(), fence=1, limits=limits).session

    assert advance(session, registry(), fence=1, limits=limits).session is session


# --- effects and replies


def test_a_claim_of_another_holder_is_not_run() -> None:
    session = after(spoken("x"), calling(), called(gate("write")), Claimed("t1", "write", 1))

    assert advance(session, registry(write=EXCLUSIVE), fence=2, limits=Limits()).effects == ()


def test_an_effect_finds_the_call_as_it_was_claimed_and_no_other() -> None:
    claimed = after(spoken("x"), calling(), called(gate("a"), gate("b")), Claimed("t1", "a", 1))
    done = apply(claimed, Returned("t1", "a", 1, result("a")))

    assert find_gate(claimed, RunCall("t1", "a", 1)) == gate_of(claimed, "a")
    assert find_gate(claimed, RunCall("t1", "a", 0)) is None
    assert find_gate(claimed, RunCall("t9", "a", 1)) is None
    assert find_gate(done, RunCall("t1", "a", 1)) is None


def replied(stop: Stop, *calls: ToolCall) -> tuple[Gate, ...]:
    turn = turn_of(after(spoken("x"), calling()))
    tools = registry(write=EXCLUSIVE)
    return read_reply(turn, 1, ModelReply(Message(Role.ASSISTANT, calls), stop), tools, lambda: "token").gates


def test_only_the_last_call_of_a_reply_that_was_cut_is_not_run() -> None:
    first, last = replied(Stop.CUT, ToolCall("a", "write", "{}"), ToolCall("b", "write", "{}"))

    assert first.state is READY
    assert last.is_answered


def test_a_call_that_was_cut_is_not_run_however_the_reply_ended() -> None:
    (cut,) = replied(Stop.TOOLS, ToolCall("a", "write", "{}", is_cut=True))

    assert cut.is_answered


def test_calls_without_ids_get_some() -> None:
    gates = replied(Stop.TOOLS, ToolCall("", "write", "{}"), ToolCall("", "write", "{}"))

    assert [each.call.id for each in gates] == ["call", "call-2"]


def test_a_turn_of_a_forgotten_history_leaves_nothing() -> None:
    session = after(spoken("x"), calling(), answered("y"))
    forgotten = replace(session, turns=(replace(turn_of(session), base=FORGOTTEN),))

    assert harvest(forgotten).history == ()
    assert harvest(forgotten).session.history_length == 0


# --- questions, wary calls, endings


def asker() -> ToolRegistry:
    """One tool that asks the person, one that is wary."""
    asks = Tool(
        ToolWords("ask", "ask", '{"type":"object"}'),
        concurrency=lambda _: INTERACTIVE,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=1),
        describe=lambda *_: "",
        asks=lambda _: Question("which?"),
    )
    wary = replace(registry(wary=EXCLUSIVE).tool("wary"), approval=lambda _: Approval.WARY)
    return ToolRegistry([asks, wary])


def test_a_question_has_a_token_from_the_start_and_is_put_when_its_turn_has_come() -> None:
    turn = turn_of(after(spoken("x"), calling()))
    reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("a", "ask", "{}"), ToolCall("b", "wary", "{}"))), Stop.TOOLS)
    event = read_reply(turn, 1, reply, asker(), lambda: "token")
    session = after(spoken("x"), calling(), event)

    moved = advance(session, asker(), fence=1, limits=Limits())

    assert [(each.state, each.token) for each in event.gates] == [(READY, "token"), (READY, "")]
    assert gate_of(moved.session, "a").state is ASKED
    assert moved.effects == ()


def test_a_question_without_a_token_is_claimed_like_any_call_and_told_that_it_cannot_run() -> None:
    session = after(spoken("x"), calling(), called(gate("ask", READY, INTERACTIVE)))

    assert effects_of(session, asker()) == (RunCall("t1", "ask", 1),)


def test_a_wary_call_asks_once_others_were_read_and_not_before() -> None:
    call = ToolCall("a", "wary", "{}")

    calm = make_gate(call, asker(), lambda: "token", is_wary=False)
    wary = make_gate(call, asker(), lambda: "token", is_wary=True)

    assert (calm.state, calm.token) == (READY, "")
    assert (wary.state, wary.token) == (ASKED, "token")


@pytest.mark.parametrize(
    ("stop", "words", "ending"),
    [
        (Stop.END, "好", Ending.ANSWERED),
        (Stop.TOOLS, "好", Ending.ANSWERED),
        (Stop.CUT, "好", Ending.CUT),
        (Stop.REFUSAL, "", Ending.DECLINED),
        (Stop.WINDOW, "一半", Ending.CUT),
        (Stop.WINDOW, "", Ending.WINDOW),
    ],
)
def test_how_the_last_reply_stopped_is_how_the_turn_ends(stop: Stop, words: str, ending: Ending) -> None:
    asked = after(spoken("x"), calling())
    message = Message(Role.ASSISTANT, (Text(words),) if words else ())

    event = read_reply(turn_of(asked), 1, ModelReply(message, stop), registry(), lambda: "")

    assert turn_of(after(event, session=asked)).ending is ending


@pytest.mark.parametrize("limits", [Limits(work=timedelta()), Limits(may_ask=False)])
def test_a_model_call_that_is_under_way_is_waited_for_whatever_has_run_out(limits: Limits) -> None:
    session = after(spoken("x"), calling())

    assert advance(session, registry(), fence=1, limits=limits).session is session


def test_only_what_the_person_said_is_taken_for_an_obvious_argument() -> None:
    tools = ToolRegistry([replace(registry(find=EXCLUSIVE).tool("find"), obvious="text")])

    def taken(*messages: Message) -> str:
        turn = replace(turn_of(after(spoken("x"), calling())), frames=(Frame(messages),))
        reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("a", "find", "{}"),)), Stop.TOOLS)
        return read_reply(turn, 1, reply, tools, lambda: "").gates[0].call.arguments

    said = Message(Role.USER, (Text("腾讯"), Image("b", "image/png")))
    answer = Message(Role.ASSISTANT, (Text("我看看"),))
    assert taken(said, answer) == '{"text": "腾讯"}'
    assert taken(Message(Role.USER, (Image("b", "image/png"),))) == "{}"


def test_a_result_without_its_call_is_nothing_that_could_go_round() -> None:
    strays = tuple(Message(Role.USER, (result("gone"),)) for _ in range(3))

    assert not is_circling(Frame(strays))


def test_what_the_model_had_said_when_it_was_stopped_stays_and_of_a_sub_task_nothing() -> None:
    asked = after(spoken("x"), calling())
    opened = after(called(gate("task")), Opened("t1", "task", GO), calling(2), session=asked)

    stopped = turn_of(after(Broken("t1", Ending.STOPPED, said="到一半"), session=asked))
    silent = turn_of(after(Broken("t1", Ending.STOPPED), session=asked))
    inner = turn_of(after(Broken("t1", Ending.STOPPED, said="inner"), session=opened))

    assert [texts_of(message) for message in stopped.top.messages] == [["x"], ["到一半"]]
    assert [texts_of(message) for message in silent.top.messages] == [["x"]]
    assert all("inner" not in texts_of(message) for frame in inner.frames for message in frame.messages)


@pytest.mark.parametrize(("size", "is_whole"), [(MAX_ARGUMENTS_CHARS, True), (MAX_ARGUMENTS_CHARS + 1, False)])
def test_arguments_are_kept_up_to_their_limit_and_not_a_character_more(size: int, is_whole: bool) -> None:
    turn = turn_of(after(spoken("x"), calling()))
    arguments = '"' + "x" * (size - 2) + '"'
    reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("a", "write", arguments),)), Stop.TOOLS)

    event = read_reply(turn, 1, reply, registry(write=EXCLUSIVE), lambda: "token")

    assert (event.message.calls[0].arguments == arguments) == is_whole
