"""What people see when processes die, updates come twice, the store goes away, and buttons are old or forged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.providers.scripted import Gate, Held, call
from kernel.tools import Approval
from tests.twins.tools import Deeds
from tests.twins.world import world

LAPSED = timedelta(seconds=16)


async def test_an_update_that_comes_again_before_and_after_a_restart_is_answered_once() -> None:
    """M1."""
    async with world() as here:
        here.platform.says("你好", event="update-7")
        here.platform.says("你好", event="update-7")
        await here.platform.sees("你好")

        await here.restart(after=timedelta(hours=23))
        here.platform.says("你好", event="update-7")
        here.platform.says("在吗", event="update-8")

        await here.platform.sees("在吗")
        assert len(here.platform.shown) == 2
        assert len(here.model.requests) == 2


async def test_a_reminder_sentence_that_comes_again_sets_one_reminder() -> None:
    """M9's relative: the same update cannot set a second one."""
    async with world() as here:
        for _ in range(3):
            here.platform.says("每天早上9点提醒我查房", event="update-7")
        here.platform.says("你好")
        await here.platform.sees("你好")
        here.platform.says("/status")

        await here.platform.sees("等着的提醒：1 个")


async def test_two_quick_messages_are_read_in_order_and_the_last_answer_knows_both() -> None:
    """M28."""
    gate = Gate()
    async with world() as here:
        here.model.when("我叫什么", lambda request: "小明" if "我叫小明" in str(request.messages) else "不知道")
        here.model.then(Held("你好", gate))
        here.platform.says("我叫小明")
        await gate.reached()
        here.platform.says("我叫什么")

        gate.open()

        await here.platform.sees("小明")


async def test_a_power_cut_in_the_model_call_costs_no_message() -> None:
    gate = Gate()
    async with world() as here:
        here.model.then(Held("nie", gate), "答好了")
        here.platform.says("你好")
        await gate.reached()

        await here.restart(after=LAPSED)

        await here.platform.sees("答好了")
        assert [each.text for each in here.platform.shown] == ["答好了"]


async def test_a_power_cut_in_a_tool_never_repeats_it_and_the_person_hears_of_it() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", held=True)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("may have taken effect", "可能已经发出，请看一下")
        here.platform.says("发推：你好")
        await deeds.begun.get()

        await here.restart(after=LAPSED)

        await here.platform.sees("可能已经发出")
        assert deeds.done == ["begin post 你好"]


async def test_a_card_survives_power_cuts_and_is_worth_exactly_one_run() -> None:
    """A4, A11."""
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")
        old = replace(card)
        await here.restart(after=timedelta(days=1))
        await here.restart(after=timedelta(days=1))

        here.platform.presses(old, "允许")
        here.platform.presses(old, "允许")
        await here.platform.sees("发好了")
        await here.restart()
        here.platform.presses(old, "允许")
        here.platform.presses(old, "拒绝")

        await here.platform.is_told("已经处理过")
        assert deeds.done == ["begin post 你好", "end post 你好"]
        assert "已允许" in card.text


async def test_a_press_after_expiry_changes_nothing_and_says_so() -> None:
    """A6."""
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("nobody decided", "没等到决定")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")
        old = replace(card)
        await here.passes(timedelta(hours=72))
        await here.platform.sees("没等到决定")

        here.platform.presses(old, "允许")

        await here.platform.is_told("已经过期")
        assert deeds.done == []
        assert "已过期" in card.text
        assert "✅" not in card.text


async def test_a_forged_or_foreign_token_does_nothing_and_tells_nothing() -> None:
    """T3, T19."""
    async with world() as here:
        here.platform.says("每天早上9点提醒我查房")
        card = await here.platform.sees("查房")
        foreign = replace(card, ref=replace(card.ref, conversation=replace(card.ref.conversation, chat="2")))
        forged = replace(card, token="forged")

        here.platform.presses(foreign, "撤销", person="1002", name="小李")
        here.platform.presses(forged, "撤销")

        await here.platform.is_told("已经失效")
        here.platform.says("/status")
        await here.platform.sees("等着的提醒：1 个")
        assert [notice.text for notice in here.platform.notices] == ["这个按钮已经失效了。"] * 2
        assert "查房" not in "".join(notice.text for notice in here.platform.notices)


async def test_a_choice_that_was_never_on_the_card_stops_nothing() -> None:
    async with world() as here:
        here.platform.says("每天早上9点提醒我查房")
        card = await here.platform.sees("查房")
        odd = replace(card, choices=(replace(card.choices[0], id="99; drop", label="odd"),))

        here.platform.presses(odd, "odd")
        await here.platform.is_told("已经失效")
        here.platform.says("你好")

        await here.platform.sees("你好")
        here.platform.presses(card, "撤销")
        await here.platform.sees("已撤销")


async def test_a_store_that_is_away_for_a_while_loses_nothing_that_was_said() -> None:
    async with world() as here:
        here.platform.says("第一")
        await here.platform.sees("第一")
        here.memory.is_away = True
        for text in ("第二", "1分钟后提醒我喝水"):
            here.platform.says(text)
        await here.clock.run_to(here.clock.now() + timedelta(seconds=20))

        here.memory.is_away = False
        await here.clock.run_to(here.clock.now() + timedelta(seconds=15))

        await here.platform.sees("第二")
        await here.platform.sees("喝水")
        assert len(here.model.requests) == 2


async def test_history_of_one_chat_is_never_seen_in_another_whatever_its_name() -> None:
    """T19."""
    async with world() as here:
        here.platform.says("暗号是芝麻", chat="1:x*?[")
        await here.platform.sees("saw 1 messages", chat="1:x*?[")

        here.platform.says("暗号是什么", chat="1", person="1002")

        await here.platform.sees("saw 1 messages", chat="1")
        assert "芝麻" not in str(here.model.requests[-1].messages)
