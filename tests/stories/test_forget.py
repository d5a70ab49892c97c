"""A chat, or a person, is forgotten: after one more question, at once, and with everything that was kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from kernel.access import Access
from kernel.builtin.remember import remember
from kernel.messages import ModelRequest, Text
from kernel.ports import Shelf
from kernel.providers.scripted import Gate, Held, call
from kernel.settings import PlatformId
from kernel.tools import Approval
from tests.twins.platform import Shown
from tests.twins.tools import Deeds
from tests.twins.world import LET_IN, RULES, World, world

SECRET = "柠檬紫"
OWNER, OTHER = "1001", "1002"
OWNED = replace(RULES, access=Access(allow=LET_IN.allow, owners=frozenset({PlatformId("twin", OWNER)})))


@asynccontextmanager
async def keeper() -> AsyncIterator[World]:
    """An installation that 1001 owns, whose model remembers, writes files, and posts after a press."""
    deeds = Deeds()
    async with world(rules=OWNED) as here:
        post = deeds.tool("post", approval=Approval.ASK)
        here.tools = (remember(here.stores.memories), deeds.file_tool("write"), post)
        await here.restart()
        here.model.when("记住", call("remember", text=f"颜色{SECRET}"))
        here.model.when("写下", call("write", text=SECRET))
        here.model.when("发布", call("post", text=SECRET))
        here.model.when_result(".", "好了")
        yield here


async def in_group(here: World, text: str, *, person: str = OWNER, name: str = "小王") -> None:
    here.platform.says(text, chat="g", person=person, name=name, is_private=False)
    await here.passes(timedelta(seconds=1))


async def filled(here: World) -> None:
    """A private chat in which everything was done that leaves something behind."""
    here.platform.says(f"口令是{SECRET}")
    await here.platform.sees("saw 1")
    here.platform.says("/new")
    await here.platform.sees("重新开始")
    for words, answer in (
        ("记住颜色", "📌 记住了"),
        ("写下颜色", "好了"),
        (f"每天早上9点提醒我买{SECRET}", "提醒你"),
        ("发布吧", "需要你同意"),
    ):
        before = len(here.platform.shown)
        here.platform.says(words)
        await here.platform.sees(answer, after=before)


async def card_of(here: World, chat: str = "1") -> Shown:
    return await here.platform.sees(lambda shown: "全部忘掉" in labels(shown), chat=chat)


def labels(shown: Shown) -> list[str]:
    return [choice.label for choice in shown.choices]


def kept(here: World) -> list[str]:
    """What of the store still holds the secret."""
    return [name for name, content in vars(here.memory).items() if SECRET in str(content)]


def words(request: ModelRequest) -> str:
    parts = [part for message in request.messages for part in message.parts]
    return "\n".join(part.text for part in parts if isinstance(part, Text))


async def test_everything_of_a_private_chat_goes_with_one_press() -> None:
    async with keeper() as here:
        await filled(here)

        here.platform.says("/forget")
        card = await card_of(here)
        assert card.text == (
            "忘掉这个聊天吗？会马上删除：\n"
            "• 我们说过的话：8 条\n"
            "• 以前的对话：1 段\n"
            "• 还在做、或等人决定的事：1 件\n"
            "• 我替你记住的：1 条\n"
            "• 文件：1 个\n"
            "• 提醒：1 个，不会再来\n"
            "用量只有数字，会留下；时区等设置也留下。聊天软件里的消息我删不掉。"
        )
        here.platform.presses(card, "全部忘掉")
        await here.platform.is_told("好的")
        await here.platform.sees("已经全部忘掉了")

        assert kept(here) == []
        assert (card.text, card.choices) == ("已经全部忘掉了。", ())


async def test_afterwards_nothing_is_known_and_nothing_comes() -> None:
    async with keeper() as here:
        await filled(here)
        asks = await here.platform.sees("需要你同意")
        here.platform.says("/forget")
        here.platform.presses(await card_of(here), "全部忘掉")
        await here.platform.sees("已经全部忘掉了")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("口令是什么")
        await here.platform.sees("saw 1", after=2)
        await here.passes(timedelta(days=2))

        assert SECRET not in words(here.model.requests[-1])
        assert "remembered" not in words(here.model.requests[-1])
        assert not any("⏰" in shown.text for shown in here.platform.shown)
        assert (asks.text, asks.choices) == ("（已忘掉）", ())


async def test_buttons_from_before_say_that_they_no_longer_work() -> None:
    async with keeper() as here:
        await filled(here)
        set_card = replace(await here.platform.sees("提醒你"))
        asks = replace(await here.platform.sees("需要你同意"))
        here.platform.says("/forget")
        card = replace(await card_of(here))
        here.platform.presses(card, "全部忘掉")
        await here.platform.sees("已经全部忘掉了")

        for old, told in ((set_card, "已经失效"), (asks, "已经处理过"), (card, "已经处理过")):
            here.platform.notices.clear()
            here.platform.presses(old, labels(old)[0])
            await here.platform.is_told(told)

        assert kept(here) == []


async def test_who_keeps_the_chat_loses_nothing() -> None:
    async with keeper() as here:
        await filled(here)
        here.platform.says("/forget")

        here.platform.presses(await card_of(here), "保留")
        await here.platform.sees("什么也没有删除")

        assert "records" in kept(here)
        assert len(await here.stores.triggers.all()) == 1


async def test_what_is_under_way_is_broken_off_and_leaves_nothing_behind() -> None:
    async with keeper() as here:
        gate = Gate()
        here.model.then(Held("不会说完", gate, f"写到{SECRET}"))
        here.platform.says("讲个故事")
        await gate.reached()

        here.platform.says("/forget")
        here.platform.presses(await card_of(here), "全部忘掉")
        await here.platform.sees("已经全部忘掉了")
        gate.open()
        here.platform.says("你好")
        await here.platform.sees("saw 1")

        assert kept(here) == []
        assert not any("不会说完" in shown.text for shown in here.platform.shown)
        assert "讲个故事" not in words(here.model.requests[-1])


async def test_a_power_cut_right_after_the_press_forgets_all_the_same() -> None:
    async with keeper() as here:
        await filled(here)
        here.platform.says("/forget")
        here.platform.presses(await card_of(here), "全部忘掉")
        await here.restart(after=timedelta(minutes=1))

        await here.platform.sees("已经全部忘掉了")
        assert kept(here) == []


async def test_in_a_group_only_an_owner_forgets_the_chat_and_the_press_is_checked_too() -> None:
    async with keeper() as here:
        await in_group(here, f"口令是{SECRET}", person=OTHER, name="小李")
        await here.platform.sees("saw 1", chat="g")
        await in_group(here, "/forget", person=OTHER, name="小李")
        await here.platform.sees("这要由我的主人来决定", chat="g")
        await in_group(here, "/forget")
        card = await card_of(here, "g")

        here.platform.presses(card, "全部忘掉", person=OTHER, name="小李")
        await here.platform.is_told("这要由我的主人来决定")
        assert "records" in kept(here)
        here.platform.presses(card, "全部忘掉")
        await here.platform.sees("已经全部忘掉了", chat="g")

        assert kept(here) == []


async def test_a_groups_chat_takes_its_own_notes_along_and_nobodys_private_ones() -> None:
    async with keeper() as here:
        here.platform.says("记住颜色")
        await here.platform.sees("📌 记住了")
        await in_group(here, "记住这里的颜色")
        await here.platform.sees("📌 记住了", chat="g")
        await in_group(here, "/forget")

        here.platform.presses(await card_of(here, "g"), "全部忘掉")
        await here.platform.sees("已经全部忘掉了", chat="g")

        assert list(here.memory.memories) == [Shelf("twin", OWNER, is_private=True)]


async def test_anybody_in_a_group_has_themselves_forgotten_and_nobody_else() -> None:
    async with keeper() as here:
        for person, name in ((OWNER, "小王"), (OTHER, "小李")):
            here.platform.says("记住颜色", chat=f"p{person}", person=person, name=name)
            await here.platform.sees("📌 记住了", chat=f"p{person}")
        await in_group(here, f"大家好{SECRET}", person=OTHER, name="小李")
        await here.platform.sees("saw 1", chat="g")
        await in_group(here, "/forget me", person=OTHER, name="小李")
        card = await card_of(here, "g")
        assert card.text.startswith("忘掉你吗？会马上删除：我替你记住的 1 条")

        here.platform.presses(card, "全部忘掉")
        await here.platform.is_told("这要由提出的人来决定")
        here.platform.presses(card, "全部忘掉", person=OTHER, name="小李")
        await here.platform.sees("已经忘掉你了", chat="g")

        assert list(here.memory.memories) == [Shelf("twin", OWNER, is_private=True)]
        assert await here.stores.people.get("twin", OTHER) is None
        assert await here.stores.people.get("twin", OWNER) is not None
        assert here.memory.record(card.ref.conversation).history


async def test_an_unknown_wish_is_answered_with_what_there_is() -> None:
    async with keeper() as here:
        here.platform.says("/forget everything")

        await here.platform.sees("/forget me 只忘掉你")
