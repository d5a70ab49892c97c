"""Tools that fail, hang, flood and meet each other: the chat goes on, in order, and people hear what happened."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import cycle

import pytest

from kernel.errors import ModelError, ProviderFailed
from kernel.messages import Concurrency, Json, Message, ModelReply, ModelRequest, Role, Stop, ToolResult, ToolWords
from kernel.providers.scripted import Answer, Gate, Held, call
from kernel.tools import MAX_RESULT_CHARS, Approval, Requester, Run, Tool, ToolContext, ToolOutcome
from tests.twins.tools import SCHEMA, Deeds, opener
from tests.twins.world import RULES, World, world
from workers.compactor import REST

READ = Concurrency.READ_ONLY


def tool_of(name: str, run: Run, concurrency: Concurrency = Concurrency.EXCLUSIVE) -> Tool:
    return Tool(
        words=ToolWords(name, f"does {name}", SCHEMA),
        concurrency=lambda _: concurrency,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=30),
        describe=lambda arguments, _: f"{name}：{arguments['text']}",
        run=run,
    )


def results(request: ModelRequest) -> list[ToolResult]:
    """All results that the model saw."""
    return [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]


def answers(here: World, answer: Callable[[ModelRequest], Answer]) -> None:
    """The model answers words and results alike."""
    here.model.when(".", answer)
    here.model.when_result(".", answer)


# --- stopped in the middle ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [Concurrency.EXCLUSIVE, READ], ids=["effect", "look"])
@pytest.mark.parametrize("is_inside", [False, True], ids=["turn", "task"])
async def test_after_a_stop_in_a_tool_the_next_words_are_answered_at_once_and_the_model_reads_what_was_stopped(
    concurrency: Concurrency, is_inside: bool
) -> None:
    deeds = Deeds()
    tools = [opener("task"), deeds.tool("slow", concurrency, held=True), deeds.tool("look", READ)]
    async with world(tools=tools) as here:
        if is_inside:
            here.model.then(call("task", text="慢慢做"))
        here.model.then((call("look", text="1"), call("slow", text="2"), call("look", text="3")))
        here.platform.says("慢慢做")
        while await deeds.begun.get() != "slow":
            pass

        here.platform.says("/stop")
        here.platform.says("你好")
        await here.platform.sees("已停止")
        await here.platform.sees("你好")
        here.platform.says("再见")
        await here.platform.sees("再见")

        assert here.model.refusals == []
        assert "end slow 2" not in deeds.done
        asked = here.model.requests[-1]
        calls = [each.id for message in asked.messages for each in message.calls]
        assert [result.call for result in results(asked)] == calls
        assert len(calls) == (1 if is_inside else 3)
        assert any("stopped" in result.text.lower() for result in results(asked))


async def test_a_tool_that_does_not_heed_the_stop_holds_up_neither_the_stop_nor_the_next_message() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def stubborn(_arguments: Json, _context: ToolContext) -> ToolOutcome:
        begun.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolOutcome("too late")

    async with world(tools=[tool_of("slow", stubborn)]) as here:
        here.model.then(call("slow", text="x"))
        here.platform.says("慢慢做")
        await begun.wait()

        here.platform.says("/stop")
        here.platform.says("你好")
        try:
            await here.platform.sees("已停止")
            await here.platform.sees("你好")
        finally:
            release.set()
        assert here.model.refusals == []


# --- failing -----------------------------------------------------------------------------------------------------


def failing(ran: list[str], error: Exception) -> Tool:
    async def run(arguments: Json, _context: ToolContext) -> ToolOutcome:
        ran.append(str(arguments["text"]))
        raise error

    return tool_of("look_up", run, READ)


@pytest.mark.parametrize("error", [ModelError("服务没有开"), RuntimeError("a bug")], ids=["said", "bug"])
async def test_a_tool_that_keeps_failing_is_tried_three_times_and_the_person_hears_that_it_fails(
    error: Exception,
) -> None:
    ran: list[str] = []
    async with world(tools=[failing(ran, error)]) as here:
        answers(
            here, lambda asked: call("look_up", text=f"第 {len(ran)} 次") if asked.may_call else "查了三次都没有查成。"
        )

        here.platform.says("查一下")

        await here.platform.sees("查了三次都没有查成。")
        assert ran == ["第 0 次", "第 1 次", "第 2 次"]
        assert [request.may_call for request in here.model.requests] == [True] * 3 + [False]
        assert all(result.is_error for result in results(here.model.requests[-1]))
        assert len(here.platform.shown) == 1


async def test_a_model_that_would_go_on_with_a_failing_tool_for_ever_is_ended_with_words() -> None:
    ran: list[str] = []
    async with world(tools=[failing(ran, ModelError("服务没有开"))]) as here:
        answers(here, lambda _: call("look_up", text="再来"))

        here.platform.says("查一下")

        await here.platform.sees(lambda shown: bool(shown.text))
        assert len(ran) == 3
        here.model.then("在的。")
        here.platform.says("在吗")
        await here.platform.sees("在的。")


async def test_whoever_waits_for_a_slow_tool_sees_within_ten_seconds_and_all_the_time_that_work_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Leases are renewed by the time of the event loop, which no test moves; so they are renewed all the time.
    monkeypatch.setattr("workers.tenure.RENEW_EVERY", timedelta())
    deeds = Deeds()
    async with world(tools=[deeds.tool("slow", held=True, timeout=timedelta(minutes=5))]) as here:
        here.model.then(call("slow", text="x"), "好了")
        here.platform.says("慢慢做")
        await deeds.begun.get()

        for _ in range(6):
            here.platform.typed.clear()
            await here.clock.run_to(here.clock.now() + timedelta(seconds=10))
            assert here.platform.typed
        deeds.gates["slow"].set()

        await here.platform.sees("好了")


# --- flooding ----------------------------------------------------------------------------------------------------

MB = 1_000_000
FLOODS = {
    "lines": "行的内容\n" * (3 * MB // 5),
    "one line": "x" * 3 * MB,
    "base64": b64encode(bytes(range(256)) * (3 * MB // 340)).decode(),
}


def flooding(flood: str, how: str) -> Tool:
    """It comes as a result, as an error, or when the call is looked at before anybody is asked."""

    async def run(_arguments: Json, _context: ToolContext) -> ToolOutcome:
        if how == "error":
            raise ModelError(flood)
        return ToolOutcome(flood)

    async def resolve(arguments: Json, _requester: Requester) -> Json:
        if how == "look-up":
            raise ModelError(flood)
        return arguments

    return replace(tool_of("fetch", run), resolve=resolve)


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
@pytest.mark.parametrize("how", ["result", "error", "look-up"])
async def test_three_megabytes_of_a_tool_are_capped_before_they_are_kept_and_the_next_turn_works(
    flood: str, how: str
) -> None:
    async with world(tools=[flooding(flood, how)]) as here:
        here.model.then(call("fetch", text="x"), "很长。", "在的。")
        here.platform.says("取来")
        await here.platform.sees("很长。")

        here.platform.says("在吗")

        await here.platform.sees("在的。")
        [kept] = results(here.model.requests[-1])
        assert "left out" in kept.text
        assert len(kept.text) < MAX_RESULT_CHARS + 100
        assert kept.is_error == (how != "result")


async def test_more_results_than_the_model_reads_do_not_make_the_chat_useless() -> None:
    async def run(_arguments: Json, _context: ToolContext) -> ToolOutcome:
        return ToolOutcome(FLOODS["one line"])

    def reads_little(request: ModelRequest) -> Answer:
        size = sum(len(result.text) for result in results(request))
        if size > 5 * MAX_RESULT_CHARS:
            return ModelReply(Message(Role.ASSISTANT, ()), Stop.WINDOW)
        return "在的。" if "在吗" in request.messages[-1].text else "看过了。"

    async with world(tools=[tool_of("fetch", run, READ)]) as here:
        here.model.then(tuple(call("fetch", text=str(number)) for number in range(20)))
        answers(here, reads_little)
        here.platform.says("都取来")
        await here.platform.sees(lambda shown: bool(shown.text))

        here.platform.says("在吗")

        await here.platform.sees("在的。")
        assert here.model.refusals == []


# --- side by side ------------------------------------------------------------------------------------------------


async def test_the_second_of_two_effects_begins_after_the_first_has_ended_while_a_look_overtakes_both() -> None:
    deeds = Deeds()
    tools = [deeds.tool("write", held=True), deeds.tool("look", READ)]
    async with world(tools=tools) as here:
        here.model.then((call("write", text="1"), call("write", text="2"), call("look", text="3")))
        here.model.when_result("did", "好了")
        here.platform.says("做吧")
        while await deeds.begun.get() != "look":
            pass
        await here.clock.run_to(here.clock.now() + timedelta(seconds=3))

        assert deeds.done == ["begin write 1", "begin look 3", "end look 3"]
        deeds.gates["write"].set()

        await here.platform.sees("好了")
        assert deeds.done[3:] == ["end write 1", "begin write 2", "end write 2"]
        assert [result.text for result in results(here.model.requests[-1])] == ["did 1", "did 2", "did 3"]


async def test_of_two_writes_of_one_file_in_one_message_the_later_stays() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.file_tool("write"), deeds.tool("look", READ)]) as here:
        here.model.then((call("write", text="先"), call("write", text="后"), call("look", text="x")), "写好了")
        here.platform.says("写两次")
        await here.platform.sees("写好了")
        here.model.then(call("look", text="x"), "读到了")
        here.platform.says("读")
        await here.platform.sees("读到了")

        assert await deeds.contexts[-1].workspace.read("notes/a.txt") == "后".encode()


# --- a long talk of tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [21, 22, 23, 24])
async def test_whatever_befalls_a_summary_in_a_talk_full_of_tool_calls_every_message_is_answered(most: int) -> None:
    """`most` moves the limit over every place of a turn: words, call, result, answer."""
    deeds, never = Deeds(), Gate()
    fates: Iterator[Answer] = cycle(
        [ProviderFailed("timed out"), Held("太晚了", never), "", ProviderFailed("overloaded"), "总结"]
    )
    written: list[Answer] = []

    def answer(request: ModelRequest) -> Answer:
        if request.system.startswith("You write the summary"):
            written.append(next(fates))
            return written[-1]
        if results(request)[-1:] and request.messages[-1].parts[-1] == results(request)[-1]:
            return "答"
        return (call("look", text="1"), call("write", text="2"))

    rules = replace(RULES, most_past=most)
    async with world(tools=[deeds.tool("look", READ), deeds.tool("write")], rules=rules) as here:
        answers(here, answer)
        for number in range(16):
            here.platform.says(f"第 {number} 句")
            await here.platform.sees("答", after=len(here.platform.shown))
            if number % 5 == 4:
                await here.restart(after=timedelta(seconds=16))
            await here.clock.run_to(here.clock.now() + REST)

        assert here.model.refusals == []
        assert [shown.text for shown in here.platform.shown] == ["答"] * 16
        assert len(written) >= 5
        assert any("总结" in message.text for message in here.model.requests[-1].messages)
