"""Who may consent, when, and to what exactly: strangers, early and late presses, two adapters, a model of two minds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.driver import Driver
from kernel.builtin.task import task
from kernel.chat import MessageRef, Notice, Prompt, Reply
from kernel.messages import Concurrency
from kernel.providers.scripted import Gate, Held, call
from kernel.tools import Approval
from tests.twins.platform import Platform, Shown
from tests.twins.tools import Deeds
from tests.twins.world import LET_IN, World, world
from zclaw.wiring.bot_ports import bot_ports

ODD = 'A  "\\n" \t\u200b\u2028*x* &lt; 🎩\n '
"""What a careless round trip would change."""


async def told_after_pressing(here: World, card: Shown, label: str, *, person: str, name: str) -> Notice:
    """The next notice after the press."""
    here.platform.notices.clear()
    here.platform.presses(card, label, person=person, name=name)
    return await here.platform.is_told("")


# --- who ---------------------------------------------------------------------------------------------------------


async def test_in_a_group_whoever_did_not_ask_is_told_so_even_under_the_same_name_and_the_card_stays() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好", chat="g", is_private=False)
        await here.passes(timedelta(seconds=1))
        card = await here.platform.sees("需要你同意", chat="g")
        was = replace(card)

        for label in ("允许", "拒绝"):
            notice = await told_after_pressing(here, card, label, person="1002", name="小王")
            assert (notice.person, "由提出的人" in notice.text) == ("1002", True)
        assert deeds.done == []
        assert card == was

        here.platform.presses(card, "允许")
        await here.platform.sees("发好了", chat="g")
        assert deeds.done == ["begin post 你好", "end post 你好"]


async def test_whoever_is_not_let_in_decides_nothing() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")

        await told_after_pressing(here, card, "允许", person="9999", name="小王")
        assert (deeds.done, len(card.choices)) == ([], 2)

        here.platform.presses(card, "允许")
        await here.platform.sees("发好了")


# --- when --------------------------------------------------------------------------------------------------------


class Eager(Platform):
    """Somebody presses 允许 while the card is only just being shown: before its sender has noted that it was sent."""

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Show it, and press."""
        ref = await super().send(outbound, part, key=key, is_doubtful=is_doubtful, is_last=is_last)
        if isinstance(outbound, Prompt):
            self.presses(self.shown[-1], "允许")
            for _ in range(50):
                await asyncio.sleep(0)
        return ref


async def test_a_press_before_the_card_is_noted_as_sent_runs_the_tool_once() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.platform = Eager(here.clock)
        await here.restart()
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")

        here.platform.says("发推：你好")

        await here.platform.sees("发好了")
        card = await here.platform.sees("小王 已允许")
        assert card.choices == ()
        assert deeds.done == ["begin post 你好", "end post 你好"]


@pytest.mark.parametrize("later", [timedelta(milliseconds=50), timedelta(seconds=110), timedelta(hours=71)], ids=str)
async def test_whenever_it_is_pressed_while_it_is_open_the_tool_runs_once(later: timedelta) -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")

        await here.passes(later)
        here.platform.presses(card, "允许")

        await here.platform.sees("发好了")
        await here.passes(timedelta(hours=80))
        assert deeds.done == ["begin post 你好", "end post 你好"]
        assert len(here.model.requests) == 2


@asynccontextmanager
async def second_adapter(here: World) -> AsyncIterator[Platform]:
    """Another process that brings in updates of the same platform and shows its messages."""
    other = replace(here.platform, _inbound=asyncio.Queue())
    driver = Driver(
        other,
        access=LET_IN,
        ports=bot_ports(here.stores, here.clock),
        holder="bot-2",
        language="zh",
    )
    running = asyncio.create_task(driver.run())
    try:
        yield other
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize("then", ["允许", "拒绝"])
async def test_two_presses_through_two_adapters_decide_once_and_the_second_is_told(then: str) -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here, second_adapter(here) as other:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")
        old = replace(card)

        here.platform.presses(old, "允许")
        here.clock.jump(timedelta(milliseconds=5))
        other.presses(old, then)

        await here.platform.sees("发好了")
        await here.platform.is_told("已经处理过")
        assert sorted(notice.text for notice in here.platform.notices) == ["好的。", "已经处理过了。"]
        assert deeds.done == ["begin post 你好", "end post 你好"]
        assert "✅ 小王 已允许" in card.text


# --- to what -----------------------------------------------------------------------------------------------------


async def test_what_was_shown_runs_to_the_letter_although_the_model_would_say_something_else_by_now() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.when("发推", call("post", text=ODD), call("post", text="B"))
        here.model.when_result("did ", "发好了")
        here.platform.says("发推")
        card = await here.platform.sees("需要你同意")

        await here.restart(after=timedelta(hours=1))
        here.platform.presses(card, "允许")

        await here.platform.sees("发好了")
        assert deeds.done == [f"begin post {ODD}", f"end post {ODD}"]
        assert len(here.model.requests) == 2


async def test_inside_a_task_too_what_was_shown_is_what_runs() -> None:
    deeds = Deeds()
    async with world(tools=[task(), deeds.tool("spy", Concurrency.READ_ONLY, Approval.ASK)]) as here:
        here.model.when("看那一页", call("task", instruction="打开"))
        here.model.when("打开", call("spy", text=ODD), call("spy", text="B"))
        here.model.when_result("did ", "写着三个")
        here.model.when_result("写着三个", "是三个。")
        here.platform.says("看那一页")
        card = await here.platform.sees("需要你同意")

        await here.restart(after=timedelta(hours=1))
        here.platform.presses(card, "允许")

        await here.platform.sees("是三个。")
        assert deeds.done == [f"begin spy {ODD}", f"end spy {ODD}"]


async def test_what_was_asked_for_but_never_shown_does_not_run_when_the_model_changes_its_mind() -> None:
    deeds, gate = Deeds(), Gate()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.when("发推", Held(call("post", text="A"), gate), call("post", text="B"))
        here.model.when_result("did ", "发好了")
        here.platform.says("发推")
        await gate.reached()

        await here.restart(after=timedelta(seconds=16))
        gate.open()
        card = await here.platform.sees("需要你同意")
        assert card.text == "需要你同意：post：B"
        here.platform.presses(card, "允许")

        await here.platform.sees("发好了")
        assert deeds.done == ["begin post B", "end post B"]
        assert [shown.text for shown in here.platform.shown[1:]] == ["发好了"]


async def test_each_of_two_cards_is_for_its_own_call_in_whatever_order_they_are_pressed() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then((call("post", text="一"), call("post", text="二"), call("post", text="三")))
        here.model.when_result("did 三", "发了两条")
        here.platform.says("发三条")
        first, second, third = [await here.platform.sees(f"post：{text}") for text in "一二三"]

        here.platform.presses(third, "允许")
        here.platform.presses(second, "拒绝")
        await here.platform.sees("已拒绝")
        assert deeds.done == []
        here.platform.presses(first, "允许")

        await here.platform.sees("发了两条")
        assert deeds.done == ["begin post 一", "end post 一", "begin post 三", "end post 三"]
