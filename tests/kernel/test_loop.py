"""Which effects a session comes to next, and how a reply becomes gates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from kernel.loop import (
    MAX_ARGUMENTS_CHARS,
    MAX_CALLS,
    CallModel,
    Effect,
    Limits,
    RunCall,
    advance,
    find_gate,
    read_reply,
)
from kernel.messages import Concurrency, Message, ModelReply, Part, Role, Stop, Text, ToolCall
from kernel.prompts import prefix_digest
from kernel.session import Ending, Gate, GateState, Mode, Reach, Session
from kernel.session_events import Broken, ModelReplied, Resumed, Returned, Voted
from kernel.tools import Approval, ToolRegistry
from kernel.transitions import CARRY_OUT
from tests.twins.sessions import (
    ANN,
    EMPTY,
    after,
    answered,
    called,
    calling,
    gate_of,
    result,
    spoken,
    texts_of,
    turn_of,
)
from tests.twins.tools import Deeds, opener

READ, EXCLUSIVE, ALONE = Concurrency.READ_ONLY, Concurrency.EXCLUSIVE, Concurrency.INTERACTIVE
FENCE = 7
REGISTRY = ToolRegistry(
    [
        Deeds().tool("look", READ),
        Deeds().tool("write"),
        Deeds().tool("post", approval=Approval.ASK),
        opener("task"),
    ]
)


def goes_on(session: Session, limits: Limits | None = None, fence: int = FENCE) -> tuple[Session, tuple[Effect, ...]]:
    moved = advance(session, REGISTRY, fence=fence, limits=limits or Limits())
    return moved.session, moved.effects


def open_with(*gates: Gate) -> Session:
    """A turn whose model asked for these calls."""
    return after(spoken("做"), calling(), called(*gates))


def ready(call_id: str, concurrency: Concurrency = EXCLUSIVE, tool: str = "write") -> Gate:
    call = ToolCall(call_id, tool, '{"text": "x"}')
    return Gate(call, concurrency, GateState.READY, digest="d")


def replied(*parts: Part, stop: Stop = Stop.TOOLS, tokens: Callable[[], str] | None = None) -> tuple[Gate, ...]:
    """The gates of a reply to a turn that waits for its first."""
    reply = ModelReply(Message(Role.ASSISTANT, parts), stop)
    numbers = count(1)
    turn = turn_of(after(spoken("做"), calling()))
    return read_reply(turn, 1, reply, REGISTRY, tokens or (lambda: f"token-{next(numbers)}")).gates


# --- effects -----------------------------------------------------------------------------------------------------


def test_words_are_answered_by_asking_the_model() -> None:
    session, effects = goes_on(after(spoken("你好")))

    assert effects == (CallModel("t1", 1),)
    assert turn_of(session).is_calling


def test_while_the_model_is_asked_the_same_effect_comes_out_and_the_session_stays() -> None:
    asked, first = goes_on(after(spoken("你好")))

    session, effects = goes_on(asked)

    assert session is asked
    assert effects == first


def test_nothing_to_do_is_no_effect() -> None:
    assert goes_on(EMPTY) == (EMPTY, ())


def test_an_exclusive_call_is_claimed_under_our_fence_before_it_runs() -> None:
    session, effects = goes_on(open_with(ready("a"), ready("b")))

    assert effects == (RunCall("t1", "a", 1),)
    claimed = gate_of(session, "a")
    assert (claimed.state, claimed.fence) == (GateState.CLAIMED, FENCE)
    assert gate_of(session, "b").state is GateState.READY


def test_read_only_calls_run_side_by_side_with_an_exclusive_one_and_are_not_claimed() -> None:
    session, effects = goes_on(open_with(ready("a", READ), ready("b"), ready("c", READ)))

    assert effects == (RunCall("t1", "a", 0), RunCall("t1", "b", 1), RunCall("t1", "c", 0))
    assert gate_of(session, "a").state is GateState.READY


def test_an_interactive_call_waits_for_all_before_it_and_holds_up_all_behind_it() -> None:
    session = open_with(ready("a", READ), ready("b", ALONE), ready("c", READ))

    _, effects = goes_on(session)
    assert effects == (RunCall("t1", "a", 0),)

    _, effects = goes_on(after(Returned("t1", "a", 0, result("a")), session=session))
    assert effects == (RunCall("t1", "b", 1),)


def test_an_asking_call_holds_up_only_the_exclusive_ones_behind_it() -> None:
    asking = replace(ready("a"), state=GateState.ASKED, token="token")

    session, effects = goes_on(open_with(asking, ready("b"), ready("c", READ)))

    assert effects == (RunCall("t1", "c", 0),)
    assert gate_of(session, "b").state is GateState.READY


def test_a_turn_that_waits_for_a_person_has_no_effect() -> None:
    asking = replace(ready("a"), state=GateState.ASKED, token="token")

    assert goes_on(open_with(asking))[1] == ()


def test_what_was_allowed_is_claimed() -> None:
    asking = replace(ready("a"), state=GateState.ASKED, token="token")
    session = after(Voted("t1", "a", "d", ANN), session=open_with(asking))

    assert goes_on(session)[1] == (RunCall("t1", "a", 1),)


def test_a_claim_of_a_holder_that_died_never_runs_again() -> None:
    claimed, _ = goes_on(open_with(ready("a")), fence=6)

    assert goes_on(claimed, fence=7)[1] == ()
    session, effects = goes_on(after(Resumed(7), session=claimed), fence=7)

    assert effects == (CallModel("t1", 2),)
    assert "may have taken effect" in texts_of(turn_of(session).top.messages[-1])[0]


def test_when_all_calls_are_answered_the_model_is_asked_again() -> None:
    session, _ = goes_on(open_with(ready("a")))

    _, effects = goes_on(after(Returned("t1", "a", 1, result("a")), session=session))

    assert effects == (CallModel("t1", 2),)


def test_a_call_that_opens_a_frame_is_not_run_but_its_frame_asks_the_model() -> None:
    session, effects = goes_on(open_with(ready("a", tool="task")))

    assert effects == (CallModel("t1", 2),)
    assert [frame.origin for frame in turn_of(session).frames] == ["", "a"]
    assert turn_of(session).top.messages == (Message(Role.USER, (Text("x"),)),)
    assert turn_of(session).top.prefix == turn_of(session).frames[0].prefix


def test_a_broken_turn_has_no_effect() -> None:
    asked, _ = goes_on(after(spoken("你好")))

    assert goes_on(after(Broken("t1", Ending.STOPPED), session=asked))[1] == ()


def worked_for_ten_rounds() -> Session:
    session = open_with(ready("a", READ))
    for round_ in range(2, 11):
        session, effects = goes_on(after(Returned("t1", "a", 0, result("a", f"{round_}")), session=session))
        assert effects == (CallModel("t1", round_),)
        assert turn_of(session).top.mode is Mode.WORK
        session = after(called(ready("a", READ), effect=round_), session=session)
    return after(Returned("t1", "a", 0, result("a")), session=session)


def test_after_ten_rounds_a_frame_has_last_words_without_tools() -> None:
    session, effects = goes_on(worked_for_ten_rounds())

    assert effects == (CallModel("t1", 11),)
    assert turn_of(session).top.mode is Mode.CLOSE
    assert "tools are closed" in texts_of(turn_of(session).top.messages[-1])[-1]
    session = after(answered("找到了一半", effect=11), session=session)
    assert turn_of(session).ending is Ending.ANSWERED


def test_a_model_that_asks_for_tools_in_its_last_words_has_had_them() -> None:
    session, _ = goes_on(worked_for_ten_rounds())

    silent = after(called(ready("a", READ), effect=11), session=session)
    words = Message(Role.ASSISTANT, (Text("一半"), ready("a", READ).call))
    speaking = after(ModelReplied("t1", 11, words, (ready("a", READ),)), session=session)

    assert turn_of(silent).ending is Ending.LIMIT
    assert turn_of(speaking).ending is Ending.ANSWERED
    assert turn_of(speaking).top.messages[-1] == Message(Role.ASSISTANT, (Text("一半"),))


def test_a_service_that_pauses_in_the_last_words_does_not_go_on_for_ever() -> None:
    session, _ = goes_on(worked_for_ten_rounds())

    for effect in range(11, 16):
        paused = replace(answered(f"{effect}", effect=effect), is_pause=True)
        session, effects = goes_on(after(paused, session=session))

    assert effects == ()
    assert turn_of(session).ending is Ending.LIMIT


def test_three_equal_results_close_the_tools() -> None:
    session = open_with(ready("a", READ))
    for round_ in (2, 3):
        session, _ = goes_on(after(Returned("t1", "a", 0, result("a")), session=session))
        assert turn_of(session).top.mode is Mode.WORK
        session = after(called(ready("a", READ), effect=round_), session=session)

    session, effects = goes_on(after(Returned("t1", "a", 0, result("a")), session=session))

    assert effects == (CallModel("t1", 4),)
    assert turn_of(session).top.mode is Mode.CLOSE
    assert "three times" in texts_of(turn_of(session).top.messages[-1])[-1]


def test_a_turn_that_has_worked_for_too_long_ends_and_waiting_is_no_work() -> None:
    limits = Limits(work=timedelta(seconds=10))
    first = replace(called(ready("a", READ)), took_ms=6_000)

    def after_a_run_of(took_ms: int) -> Session:
        session = after(first, session=goes_on(after(spoken("一")))[0])
        return goes_on(after(Returned("t1", "a", 0, result("a"), took_ms=took_ms), session=session), limits)[0]

    assert turn_of(after_a_run_of(3_999)).is_calling
    assert turn_of(after_a_run_of(4_000)).ending is Ending.DEADLINE


def test_a_chat_that_has_used_up_its_day_asks_the_model_no_more_and_its_calls_still_run() -> None:
    closed = Limits(may_ask=False)

    begun, effects = goes_on(after(spoken("一")), closed)
    assert effects == ()
    assert turn_of(begun).ending is Ending.ALLOWANCE

    running, effects = goes_on(open_with(ready("a", READ)), closed)
    assert effects == (RunCall("t1", "a", 0),)
    ended, effects = goes_on(after(Returned("t1", "a", 0, result("a")), session=running), closed)
    assert effects == ()
    assert turn_of(ended).ending is Ending.ALLOWANCE


def test_all_frames_together_have_a_limit_of_their_own() -> None:
    session, _ = goes_on(open_with(ready("a", tool="task")), Limits(iterations=10, model_calls=2))
    session = after(called(ready("b", READ), effect=2), session=session)

    session, effects = goes_on(
        after(Returned("t1", "b", 0, result("b")), session=session), Limits(iterations=10, model_calls=2)
    )

    assert effects == (CallModel("t1", 3),)
    assert turn_of(session).top.mode is Mode.CLOSE


# --- looking up a gate -------------------------------------------------------------------------------------------


def test_a_gate_is_found_by_turn_call_and_claim_until_it_is_answered() -> None:
    session, _ = goes_on(open_with(ready("a")))

    assert find_gate(session, RunCall("t1", "a", 1)) == gate_of(session, "a")
    for stale in (RunCall("t1", "a", 2), RunCall("t1", "a", 0), RunCall("t2", "a", 1), RunCall("t1", "b", 1)):
        assert find_gate(session, stale) is None
    answered_ = after(Returned("t1", "a", 1, result("a")), session=session)
    assert find_gate(answered_, RunCall("t1", "a", 1)) is None


# --- replies -----------------------------------------------------------------------------------------------------


def test_each_call_gets_the_gate_that_its_policy_wants() -> None:
    gates = replied(
        Text("我看看"),
        ToolCall("a", "look", '{"text": "x"}'),
        ToolCall("b", "write", '{"text": "x"}'),
        ToolCall("c", "post", '{"text": "x"}'),
    )

    assert [(each.state, each.concurrency) for each in gates] == [
        (GateState.READY, READ),
        (GateState.READY, EXCLUSIVE),
        (GateState.ASKED, EXCLUSIVE),
    ]
    assert [each.token for each in gates] == ["", "", "token-1"]
    assert all(each.digest for each in gates)


@pytest.mark.parametrize("call", [ToolCall("a", "nothing", "{}"), ToolCall("a", "post", '{"to": "al')])
def test_a_call_that_cannot_run_is_answered_with_why_and_asks_nobody(call: ToolCall) -> None:
    (found,) = replied(call)

    assert found.state is GateState.ANSWERED
    assert found.result is not None
    assert found.result.is_error
    assert found.token == ""


def test_a_model_that_asks_for_thousands_of_calls_gets_some_and_nobody_else_waits() -> None:
    calls = [ToolCall("same", "write", '{"text": "x"}') for _ in range(3_000)]

    gates = replied(*calls)

    assert [gate.is_answered for gate in gates] == [False] * MAX_CALLS + [True] * (3_000 - MAX_CALLS)
    assert len({gate.call.id for gate in gates}) == 3_000
    _, effects = goes_on(open_with(*gates))
    assert len(effects) == 1


def test_arguments_without_end_are_not_kept_and_the_model_is_told() -> None:
    turn = turn_of(after(spoken("做"), calling()))
    endless = ToolCall("a", "write", f'{{"text": "{"x" * MAX_ARGUMENTS_CHARS}"}}')

    event = read_reply(turn, 1, ModelReply(Message(Role.ASSISTANT, (endless,)), Stop.TOOLS), REGISTRY, lambda: "")

    assert event.message.calls == (ToolCall("a", "write", "{}", is_cut=True),)
    assert event.gates[0].result is not None
    assert "shorter" in event.gates[0].result.text


def test_a_call_for_a_tool_with_an_endless_name_is_answered_in_short() -> None:
    (gate,) = replied(ToolCall("a", "x" * 5_000_000, "{}"))

    assert gate.result is not None
    assert len(gate.result.text) < 25_000


def test_a_call_that_was_cut_never_runs_even_if_its_arguments_look_whole() -> None:
    (by_service,) = replied(ToolCall("a", "write", '{"text": "x"}', is_cut=True))
    whole, last = replied(
        ToolCall("a", "write", '{"text": "x"}'), ToolCall("b", "write", '{"text": "x"}'), stop=Stop.CUT
    )

    assert whole.state is GateState.READY
    for cut in (by_service, last):
        assert cut.result is not None
        assert cut.result.text.startswith("Not run: the reply ended inside the arguments")


def test_repeated_and_missing_call_ids_become_distinct_and_results_still_fit() -> None:
    gates = replied(
        ToolCall("a", "look", '{"text": "1"}'),
        ToolCall("a", "look", '{"text": "2"}'),
        ToolCall("", "look", '{"text": "3"}'),
        ToolCall("", "look", '{"text": "4"}'),
    )

    assert len({each.call.id for each in gates}) == 4
    assert all(each.call.id for each in gates)
    assert gates[0].call.id == "a"


def test_an_id_of_an_earlier_call_of_the_turn_is_not_used_again() -> None:
    session = after(Returned("t1", "a", 0, result("a")), calling(2), session=open_with(ready("a", READ)))
    reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("a", "look", '{"text": "x"}'),)), Stop.TOOLS)

    event = read_reply(turn_of(session), 2, reply, REGISTRY, lambda: "token")

    assert event.gates[0].call.id != "a"
    assert event.message.calls == (event.gates[0].call,)


# --- frames that may only look -----------------------------------------------------------------------------------

LOOKS = replace(opener("study"), reach=Reach.LOOK, concurrency=lambda _: READ)
STUDY = ToolRegistry([*(Deeds().tool(name, how) for name, how in (("look", READ), ("write", EXCLUSIVE))), LOOKS])


def studying() -> Session:
    """A turn whose sub-task may only look, and whose model is asked."""
    return advance(open_with(ready("a", READ, "study")), STUDY, fence=FENCE, limits=Limits()).session


def in_the_study(*calls: ToolCall) -> tuple[Gate, ...]:
    reply = ModelReply(Message(Role.ASSISTANT, calls), Stop.TOOLS)
    return read_reply(turn_of(studying()), 2, reply, STUDY, lambda: "token").gates


def test_a_frame_has_the_reach_that_its_tool_names_and_a_prefix_of_its_own_tools() -> None:
    root, study = turn_of(studying()).frames

    assert (root.reach, study.reach) == (Reach.ALL, Reach.LOOK)
    assert study.prefix == prefix_digest(root.prefix, STUDY.within(Reach.LOOK).words)
    assert study.prefix != root.prefix


def test_a_call_that_would_change_something_is_an_error_result_there() -> None:
    look, write, unknown = in_the_study(
        ToolCall("b", "look", '{"text": "x"}'),
        ToolCall("c", "write", '{"text": "x"}'),
        ToolCall("d", "nothing", "{}"),
    )

    assert look.state is GateState.READY
    for refused in (write, unknown):
        assert refused.state is GateState.ANSWERED
        assert refused.result is not None
        assert refused.result.is_error


def test_a_frame_inside_cannot_do_more() -> None:
    wide = replace(LOOKS, words=replace(LOOKS.words, name="wide"), reach=Reach.ALL)
    registry = ToolRegistry([LOOKS, wide])
    outer = advance(open_with(ready("a", READ, "study")), registry, fence=FENCE, limits=Limits()).session
    asked = after(called(ready("b", READ, "wide"), effect=2), session=outer)

    inner = turn_of(advance(asked, registry, fence=FENCE, limits=Limits()).session)

    assert [frame.reach for frame in inner.frames] == [Reach.ALL, Reach.LOOK, Reach.LOOK]
    assert inner.frames[2].prefix == inner.frames[1].prefix


# --- no arguments ------------------------------------------------------------------------------------------------

HEAD = "[2026-11-30 Mon 09:00 Asia/Shanghai; speaking: Ann]"


def heard(*texts: str, arguments: str = "{}") -> Gate:
    """The gate of a call of a tool whose text is obvious, after the person's message of these texts."""
    registry = ToolRegistry([replace(Deeds().tool("search"), obvious="text")])
    event = replace(spoken(""), parts=tuple(Text(text) for text in texts))
    reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("a", "search", arguments),)), Stop.TOOLS)
    (gate,) = read_reply(turn_of(after(event, calling())), 1, reply, registry, lambda: "token").gates
    return gate


def test_an_empty_call_is_made_with_the_persons_newest_words() -> None:
    gate = heard(HEAD, "腾讯财报")

    assert gate.state is GateState.READY
    assert json.loads(gate.call.arguments) == {"text": "腾讯财报"}


@pytest.mark.parametrize("ours", [CARRY_OUT, "[Written by the program: tools are closed now.]"])
def test_what_the_program_wrote_behind_them_is_not_what_the_person_said(ours: str) -> None:
    assert json.loads(heard(HEAD, "腾讯财报", ours).call.arguments) == {"text": "腾讯财报"}


@pytest.mark.parametrize(
    "texts", [(HEAD,), (HEAD, "腾讯", HEAD), (HEAD, "[quoted, not said by the person]\n> 每天提醒管理员点同意")]
)
def test_a_picture_or_a_quote_says_nothing_that_could_be_taken(texts: tuple[str, ...]) -> None:
    gate = heard(*texts)

    assert gate.result is not None
    assert gate.result.is_error
    assert gate.call.arguments == "{}"


@pytest.mark.parametrize(
    "arguments",
    ["null", "[]", '```json\n{"text": "x"}\n```', '"{\\"text\\": \\"x\\"}"', '{"text": "x"} so', '{"text": 5}', "{"],
)
def test_arguments_that_are_not_one_json_object_are_an_answer_for_the_model(arguments: str) -> None:
    gate = heard(HEAD, "腾讯财报", arguments=arguments)

    assert gate.state is GateState.ANSWERED
    assert gate.result is not None
    assert gate.result.text.startswith("The arguments")
    assert gate.token == ""


def test_a_pause_is_passed_on() -> None:
    turn = turn_of(after(spoken("做"), calling()))
    reply = ModelReply(Message(Role.ASSISTANT, (Text("等等"),)), Stop.PAUSE)

    assert read_reply(turn, 1, reply, REGISTRY, lambda: "").is_pause


def test_a_turn_that_answered_is_over() -> None:
    session = after(spoken("你好"), calling(), answered("你好！"))

    assert goes_on(session) == (session, ())
