"""What a chat uses up: counted once, shown to those who ask, and kindly ended when it is enough for a day."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.messages import Concurrency, Message, ModelReply, Role, Stop, Text, Usage
from kernel.providers.scripted import call
from kernel.settings import PlatformId
from kernel.tools import Approval
from kernel.usage import Allowance
from tests.twins.tools import Deeds
from tests.twins.world import LET_IN, World, world

OVER = "这个聊天今天的用量已经满了，明天 00:00 起我继续陪你聊。提醒和命令照常可用。"
"""A scripted call uses up 15 tokens."""


def costly(words: str) -> ModelReply:
    """An answer of a model whose price is known."""
    message = Message(Role.ASSISTANT, (Text(words),))
    return ModelReply(message, Stop.END, Usage(1_000_000, 100_000, 800_000), by="anthropic:claude-sonnet-4-6")


async def allowed(here: World, allowance: Allowance) -> None:
    here.rules = replace(here.rules, allowance=allowance)
    await here.restart()


async def test_usage_counts_every_call_of_the_chat_and_no_other() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY)]) as here:
        here.model.then(call("look", text="x"), "查到了")
        here.platform.says("查一下")
        await here.platform.sees("查到了")
        here.platform.says("你好", chat="2", person="1002")
        await here.platform.sees("saw 1 messages", chat="2")

        here.platform.says("/usage")

        shown = await here.platform.sees("这个聊天的用量")
        assert "今天：30 tokens（输入 20，其中缓存 0；输出 10）" in shown.text
        assert "最近 30 天：30 tokens" in shown.text
        assert "按人" not in shown.text


async def test_usage_goes_by_the_days_of_the_chat() -> None:
    async with world() as here:
        here.platform.says("/tz America/New_York")
        await here.platform.sees("New_York")
        here.platform.says("你好")
        await here.platform.sees("saw 1 messages")
        await here.passes(timedelta(hours=5))
        here.platform.says("在吗")
        await here.platform.sees("saw 3 messages")

        here.platform.says("/usage")

        shown = await here.platform.sees("这个聊天的用量")
        assert "今天：15 tokens" in shown.text
        assert "最近 7 天：30 tokens" in shown.text


async def test_money_is_shown_where_the_price_is_known() -> None:
    async with world() as here:
        here.model.then(costly("好"))
        here.platform.says("你好")
        await here.platform.sees("好")

        here.platform.says("/usage")

        shown = await here.platform.sees("这个聊天的用量")
        assert "今天：1,100,000 tokens，约 $2.34（输入 1,000,000，其中缓存 800,000；输出 100,000）" in shown.text


async def test_owners_see_people_in_private_and_in_a_group_nobody_does() -> None:
    async with world() as here:
        owners = replace(LET_IN, owners=frozenset({PlatformId("twin", "1001")}))
        here.rules = replace(here.rules, access=owners)
        await here.restart()
        here.platform.says("你好", chat="2", person="1002", name="小李")
        await here.platform.sees("saw 1 messages", chat="2")
        here.platform.says("/usage")
        mine = await here.platform.sees("这个聊天的用量")
        here.platform.says("/usage", chat="g", is_private=False)
        groups = await here.platform.sees("这个聊天的用量", chat="g")
        here.platform.says("/usage", chat="2", person="1002", name="小李")
        theirs = await here.platform.sees("这个聊天的用量", chat="2")

        assert mine.text.endswith("最近 30 天，所有聊天，按人：\n• 小李: 15 tokens")
        assert "今天：没有用量" in mine.text
        assert "小李" not in groups.text
        assert "按人" not in theirs.text


async def test_a_chat_that_has_used_up_its_day_is_told_when_it_opens_and_the_model_is_not_asked() -> None:
    async with world() as here:
        await allowed(here, Allowance(tokens=30))
        here.platform.says("一")
        await here.platform.sees("saw 1 messages")
        here.platform.says("二")
        await here.platform.sees("saw 3 messages")

        here.platform.says("三")
        await here.platform.sees(OVER)
        here.platform.says("1分钟后提醒我喝水")
        await here.platform.sees("提醒你：喝水")
        await here.passes(timedelta(minutes=1))
        await here.platform.sees("⏰ 喝水")
        here.platform.says("/status")
        await here.platform.sees("在线，空闲")
        here.platform.says("你好", chat="2", person="1002")
        await here.platform.sees("saw 1 messages", chat="2")

        assert len(here.model.requests) == 3
        assert sum(each.text == OVER for each in here.platform.shown) == 1


async def test_it_opens_again_at_midnight() -> None:
    async with world() as here:
        await allowed(here, Allowance(tokens=10))
        here.platform.says("一")
        await here.platform.sees("saw 1 messages")
        here.platform.says("二")
        await here.platform.sees(OVER)
        await here.passes(timedelta(hours=15))

        here.platform.says("三")

        await here.platform.sees("saw 3 messages")


async def test_money_ends_a_day_too() -> None:
    async with world() as here:
        await allowed(here, Allowance(micro_dollars=2_000_000))
        here.model.then(costly("好"))
        here.platform.says("一")
        await here.platform.sees("好")

        here.platform.says("二")

        await here.platform.sees(OVER)


async def test_in_the_middle_of_a_turn_what_was_done_stays_and_the_model_is_not_asked_again() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("write")]) as here:
        await allowed(here, Allowance(tokens=10))
        here.model.then(call("write", text="x"), "写好了")

        here.platform.says("写吧")

        await here.platform.sees(OVER)
        assert deeds.done == ["begin write x", "end write x"]
        assert len(here.model.requests) == 1
        await here.passes(timedelta(hours=15))
        here.platform.says("写好了吗")
        await here.platform.sees("写好了")


async def test_a_press_still_does_what_it_says_although_the_day_is_used_up() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        await allowed(here, Allowance(tokens=10))
        here.model.then(call("post", text="你好"))
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")

        here.platform.presses(card, "允许")

        await here.platform.sees(OVER)
        assert deeds.done == ["begin post 你好", "end post 你好"]


async def test_a_restart_opens_nothing() -> None:
    async with world() as here:
        await allowed(here, Allowance(tokens=10))
        here.platform.says("一")
        await here.platform.sees("saw 1 messages")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("二")

        await here.platform.sees(OVER)
