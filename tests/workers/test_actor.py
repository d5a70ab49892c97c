"""One conversation under its lease: deaths, freezes, an absent store, fairness; and what people see of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from kernel.chat import UserMessage
from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import Concurrency, Message, ModelReply, Role, Stop
from kernel.ports import LEASE, Outcome
from kernel.providers.scripted import Gate, Held, call
from kernel.schedule.parse import parse
from kernel.schedule.values import ScheduleIntent
from kernel.session import Ending
from kernel.tools import Approval
from tests.twins.tools import Deeds
from tests.workers.shift import Shift, chat, people_said, results, shift, until
from workers.actor import MAX_STEPS

READ = Concurrency.READ_ONLY


# --- what a holder leaves when it dies ---------------------------------------------------------------------------


async def test_a_holder_killed_in_the_model_call_is_replaced_and_the_call_is_made_again() -> None:
    async with shift() as here:
        here.model.then(Held("太晚了", gate := Gate()), "答好了")
        await here.says("你好")
        first = here.worker()
        here.drain(first)
        await gate.reached()

        await here.kill(first)
        gate.open()
        await here.works()

        assert here.said() == ["答好了"]
        assert people_said(here.history()) == ["你好"]
        assert len(here.model.requests) == 2


async def test_a_holder_killed_in_a_tool_never_runs_it_twice_and_the_model_is_told() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("post", held=True)) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("may have taken effect", "不确定发了没有")
        await here.says("发")
        first = here.worker()
        here.drain(first)
        await deeds.begun.get()

        await here.kill(first)
        await here.works()

        assert here.said() == ["不确定发了没有"]
        assert deeds.done == ["begin post 你好"]


async def test_a_holder_killed_in_a_read_only_call_has_it_repeated() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("look", READ, held=True)) as here:
        here.model.then(call("look", text="x"))
        here.model.when_result("did x", "看到了")
        await here.says("看")
        first = here.worker()
        here.drain(first)
        await deeds.begun.get()

        await here.kill(first)
        deeds.gates["look"].set()
        await here.works()

        assert here.said() == ["看到了"]
        assert deeds.done == ["begin look x", "begin look x", "end look x"]
        assert len({context.call for context in deeds.contexts}) == 1


async def test_a_card_outlives_every_holder_and_runs_once_when_it_is_allowed() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("post", approval=Approval.ASK)) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        await here.says("发")
        await here.works()
        here.clock.jump(timedelta(days=2))

        await here.presses(here.card(), "allow")
        await here.presses(here.card(), "allow")
        await here.works()

        assert here.said()[-1] == "发好了"
        assert deeds.done == ["begin post 你好", "end post 你好"]


# --- three deaths ------------------------------------------------------------------------------------------------


async def die(here: Shift, gate: Gate, times: int) -> None:
    """So many holders die in the model call that comes to the gate."""
    for number in range(1, times + 1):
        worker = here.worker()
        here.drain(worker)
        await gate.reached(number)
        await here.kill(worker)


async def test_after_three_deaths_in_its_step_a_turn_is_put_aside_once_and_the_next_message_works() -> None:
    gate = Gate()
    async with shift() as here:
        here.model.when("毒", Held("x", gate))
        await here.says("毒")
        await die(here, gate, 3)

        await here.works()
        assert here.said() == ["有一条消息让我反复出错，我先把它放到一边了。其他的照常。"]

        await here.says("你好")
        await here.works()
        assert here.said()[1].startswith("saw ")
        assert people_said(here.model.requests[-1].messages)[-1] == "你好"
        assert here.model.refusals == []


async def test_two_deaths_put_nothing_aside() -> None:
    gate = Gate()
    async with shift() as here:
        here.model.then(Held("x", gate), Held("x", gate), "好了")
        await here.says("难")
        await die(here, gate, 2)

        await here.works()

        assert here.said() == ["好了"]
        assert here.tries() == 0


async def test_the_poison_is_put_aside_alone_while_all_other_chats_go_on() -> None:
    gate = Gate()
    async with shift() as here:
        here.model.when("毒", Held("x", gate))
        await here.says("毒", where="poison")
        for number in range(10):
            await here.says("你好", where=str(number))
        await die(here, gate, 3)

        await here.works()

        assert all(len(here.said(str(number))) == 1 for number in range(10))
        assert "放到一边" in here.said("poison")[0]
        assert [each.ending for each in here.session("poison").turns] == []


async def test_a_process_takes_only_one_conversation_that_is_on_its_last_try() -> None:
    gate = Gate()
    async with shift() as here:
        here.model.when("毒", Held("x", gate))
        await here.says("毒一", where="a")
        await here.says("毒二", where="b")
        for number in (2, 4):
            worker = here.worker()
            here.drain(worker)
            await gate.reached(number)
            await here.kill(worker)

        last = here.worker()
        here.drain(last)
        await gate.reached(5)

        assert last.in_flight == 1


async def test_on_its_last_try_an_input_is_taken_by_itself_so_that_no_other_is_put_aside_for_it() -> None:
    async with shift() as here:
        here.conversations.stuck = asyncio.Event()
        await here.says("毒")
        await here.says("你好")
        for number in range(1, 4):
            worker = here.worker()
            here.drain(worker)
            await here.conversations.reached(number)
            await here.kill(worker)
        assert [len(step.taken) for step in here.conversations.attempts] == [2, 2, 1]

        here.conversations.stuck = None
        await here.works()

        (parked,) = await here.stores.conversations.parked(chat())
        assert isinstance(parked.inbound, UserMessage)
        assert parked.inbound.text == "毒"
        assert people_said(here.history()) == ["你好"]


async def test_an_input_that_cannot_be_read_at_all_is_put_aside_and_the_rest_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def poisoned(text: str, *, now: datetime, zone: str) -> ScheduleIntent:
        if text == "毒":
            raise AssertionError("a bug of ours")
        return parse(text, now=now, zone=zone)

    monkeypatch.setattr("kernel.reminders.hearing.parse", poisoned)
    async with shift() as here:
        await here.says("毒")
        await here.says("你好")

        await here.works()

        assert "放到一边" in here.said()[0]
        assert "last: " in here.said()[1]
        parked = await here.stores.conversations.parked(chat())
        assert len(parked) == 1


# --- freezes -----------------------------------------------------------------------------------------------------


async def test_a_holder_that_was_frozen_and_still_holds_the_conversation_renews_before_it_runs_a_tool() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("post")) as here:
        here.model.then(Held(call("post", text="你好"), gate := Gate()))
        here.model.when_result("did 你好", "发好了")
        await here.says("发")
        draining = here.drain(here.worker())
        await gate.reached()

        here.clock.jump(LEASE - timedelta(seconds=1))
        gate.open()
        await draining

        assert here.said() == ["发好了"]
        assert deeds.done == ["begin post 你好", "end post 你好"]


async def test_a_holder_that_wakes_up_after_somebody_took_over_writes_nothing() -> None:
    async with shift() as here:
        here.model.then(Held("alt", gate := Gate()), "neu")
        await here.says("你好")
        frozen = here.worker()
        draining = here.drain(frozen)
        await gate.reached()
        here.clock.jump(LEASE + timedelta(seconds=1))
        await here.works()

        gate.open()
        await draining

        assert here.said() == ["neu"]
        assert [each.text for each in here.history()][-1] == "neu"


# --- the store is away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["due", "commit", "answer of commit", "release"])
async def test_a_store_that_is_away_for_a_moment_loses_and_doubles_nothing(method: str) -> None:
    async with shift() as here:
        here.conversations.away = {method: 1}
        await here.says("20分钟后提醒我喝水")
        await here.says("你好")

        await here.passes_until(here.drain(here.worker()))

        assert here.conversations.raised == [method]
        assert len(here.said()) == 2
        assert len(await here.stores.triggers.list(chat())) == 1
        assert people_said(here.history()) == ["你好"]
        assert (here.tries(), here.memory.record(chat()).until) == (0, None)


async def test_a_store_that_is_away_while_a_tool_ran_keeps_its_outcome() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("post", held=True)) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        await here.says("发")
        draining = here.drain(here.worker())
        await deeds.begun.get()

        here.conversations.away = {"commit": 2}
        deeds.gates["post"].set()
        await here.passes_until(draining)

        assert here.said() == ["发好了"]
        assert deeds.done == ["begin post 你好", "end post 你好"]


async def test_a_reminder_can_be_taken_back_in_the_same_breath() -> None:
    async with shift() as here:
        await here.says("20分钟后提醒我喝水")
        await here.says("取消提醒")

        await here.works()

        assert await here.stores.triggers.list(chat()) == ()
        assert here.said()[-1].startswith("已取消")


# --- fairness and order ------------------------------------------------------------------------------------------


async def test_a_busy_chat_goes_to_the_end_of_the_queue_after_twenty_steps() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("write")) as here:
        here.model.then(tuple(call("write", text=str(number)) for number in range(25)))
        here.model.when_result("did 24", "完")
        await here.says("多做", where="busy")
        worker = here.worker(slots=1)
        here.drain(worker)
        await deeds.begun.get()
        await here.says("你好", where="a")

        await here.finish(worker)

        assert here.said("busy") == ["完"]
        assert len([deed for deed in deeds.done if deed.startswith("begin")]) == 25
        # The twentieth step announced a call; its outcome is written before the conversation is given back.
        assert here.order().index("a") == MAX_STEPS + 1


async def test_a_chat_that_is_busy_for_sixty_seconds_too() -> None:
    async with shift() as here:
        here.model.then(Held("一答", gate := Gate()))
        await here.says("一", where="busy")
        worker = here.worker(slots=1, fold=False)
        here.drain(worker)
        await gate.reached()
        await here.says("二", where="busy")
        await here.says("你好", where="a")
        here.clock.jump(timedelta(seconds=61))
        gate.open()

        await here.finish(worker)

        assert [text.split("\n")[-1] for text in here.said("busy")] == ["一答", "二"]
        order = here.order()  # Of two that are ready at one instant the smaller name goes first.
        assert order.index("a") < len(order) - 1 - order[::-1].index("busy")


async def test_words_that_come_while_the_model_is_asked_follow_its_results() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("look", READ)) as here:
        here.model.then(Held(call("look", text="x"), gate := Gate()), "好")
        await here.says("看")
        draining = here.drain(here.worker())
        await gate.reached()
        await here.says("快点")

        gate.open()
        await draining

        newest = here.model.requests[-1].messages[-1]
        assert results([newest]) == ["did x"]
        assert people_said([newest]) == ["快点"]
        assert here.said() == ["好"]


async def test_without_folding_they_open_the_next_turn() -> None:
    async with shift() as here:
        here.model.then(Held("一答", gate := Gate()), "二答", "三答")
        await here.says("一")
        draining = here.drain(here.worker(fold=False))
        await gate.reached()
        await here.says("二")
        await here.says("三")

        gate.open()
        await draining

        assert here.said() == ["一答", "二答", "三答"]
        assert [people_said(each.messages) for each in here.model.requests] == [
            ["一"],
            ["一", "二"],
            ["一", "二", "三"],
        ]


@pytest.mark.parametrize(
    ("text", "answer"), [("/status", "正在处理"), ("1分钟后提醒我喝水", "喝水"), ("/stop", "已停止")]
)
async def test_what_needs_no_model_is_answered_while_it_thinks(text: str, answer: str) -> None:
    async with shift() as here:
        here.model.then(Held("想好了", gate := Gate()))
        await here.says("想一想")
        draining = here.drain(here.worker())
        await gate.reached()

        await here.says(text)

        await until(lambda: any(answer in said for said in here.said()))
        gate.open()
        await draining
        assert ("想好了" in here.said()) == (text != "/stop")


# --- endings -----------------------------------------------------------------------------------------------------


async def test_stop_in_a_tool_records_that_it_may_have_taken_effect() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("slow", held=True)) as here:
        here.model.then(call("slow", text="x"))
        await here.says("慢慢做")
        draining = here.drain(here.worker())
        await deeds.begun.get()

        await here.says("/stop")
        await draining

        assert here.said() == ["已停止。"]
        assert results(here.history()) == ["Stopped while it ran: it may have taken effect."]
        assert here.session().turns == ()


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.REFUSED], ids=lambda ending: str(ending.value))
async def test_a_model_that_fails_ends_the_turn_with_words_and_the_next_message_works(ending: Ending) -> None:
    error = ProviderFailed("overloaded") if ending is Ending.FAILED else ProviderRefused("bad key sk-canary")
    async with shift() as here:
        here.model.then(error)
        await here.says("你好")
        await here.works()
        await here.says("再来")
        await here.works()

        assert len(here.said()) == 2
        assert "模型" in here.said()[0]
        assert "canary" not in "".join(here.said())
        assert here.said()[1].startswith("saw ")
        assert here.model.refusals == []


async def test_the_model_that_says_nothing_is_said_to_say_nothing() -> None:
    async with shift() as here:
        here.model.then(ModelReply(Message(Role.ASSISTANT, ()), Stop.END))
        await here.says("你好")
        await here.works()
        await here.says("再来")
        await here.works()

        assert here.said()[0] == "（模型没有说话。）"
        assert here.said()[1].startswith("saw ")
        assert here.model.refusals == []


# --- the end of the process --------------------------------------------------------------------------------------


async def test_told_to_stop_a_worker_finishes_what_runs_and_takes_nothing_new() -> None:
    async with shift() as here:
        here.model.then(Held("答好了", gate := Gate()))
        await here.says("你好")
        worker = here.worker()
        here.drain(worker)
        await gate.reached()

        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)
        await here.says("新的", where="2")
        gate.open()
        await stopping

        assert here.said() == ["答好了"]
        assert here.said("2") == []
        assert worker.in_flight == 0
        await here.works()
        assert len(here.said("2")) == 1


async def hand_back(here: Shift, reached: Callable[[], bool]) -> None:
    """The worker is told to stop, and its grace is over at once."""
    worker = here.worker()
    here.drain(worker)
    await until(reached)
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    assert worker.in_flight == 0


async def test_a_model_call_is_handed_back_at_once_and_made_again_elsewhere() -> None:
    async with shift() as here:
        here.model.then(Held("nie", Gate()), "答好了")
        await here.says("你好")

        await hand_back(here, lambda: bool(here.model.requests))

        assert here.said() == []
        await here.works()
        assert here.said() == ["答好了"]
        assert here.tries() == 0


async def test_a_tool_that_is_broken_off_at_the_end_is_not_run_again() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("post", held=True)) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("may have taken effect", "不确定")
        await here.says("发")

        await hand_back(here, lambda: bool(deeds.done))

        await here.works()
        assert here.said() == ["不确定"]
        assert deeds.done == ["begin post 你好"]


async def test_a_read_only_call_that_is_broken_off_at_the_end_is_repeated_elsewhere() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("look", READ, held=True)) as here:
        here.model.then(call("look", text="x"))
        here.model.when_result("did x", "看到了")
        await here.says("看")

        await hand_back(here, lambda: bool(deeds.done))
        deeds.gates["look"].set()

        await here.works()
        assert here.said() == ["看到了"]


async def test_what_was_going_on_before_new_never_enters_the_new_history() -> None:
    deeds = Deeds()
    async with shift(deeds.tool("slow", held=True)) as here:
        here.model.then(call("slow", text="x"))
        await here.says("我叫小明")
        draining = here.drain(here.worker())
        await deeds.begun.get()
        await here.says("/new")
        await draining

        await here.says("我叫什么")
        await here.works()

        assert people_said(here.model.requests[-1].messages) == ["我叫什么"]


async def test_a_conversation_with_nothing_left_is_done() -> None:
    async with shift() as here:
        await here.says("你好")
        await here.works()

        assert here.conversations.steps[-1].outcome is Outcome.DONE
        assert here.memory.record(chat()).run_since is None
