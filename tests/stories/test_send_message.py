"""The assistant writes to another chat: the card names it and shows every word; a press sends exactly that, once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from kernel.builtin.send_message import send_message
from kernel.chat import ConversationId
from kernel.messages import ToolResult
from kernel.ports.chats import KnownChat
from kernel.providers.scripted import call
from kernel.stores.memory.chats import MemoryChats
from tests.twins.rights import rights_of
from tests.twins.world import LET_IN, World, world

BENS = KnownChat(ConversationId("twin", "2"), "小李", "1002")
STRANGERS = KnownChat(ConversationId("twin", "3"), "老板", "777")


@asynccontextmanager
async def installation() -> AsyncIterator[tuple[World, MemoryChats]]:
    """A world that knows the chat of 小李, and one whose person is not let in any more."""
    async with world() as here:
        chats = MemoryChats(here.memory)
        for each in (BENS, STRANGERS):
            await chats.see(each, now=here.clock.now())
        here.tools = (send_message(chats, rights_of(LET_IN)),)
        await here.restart()
        yield here, chats


def results(here: World) -> list[tuple[str, bool]]:
    parts = here.model.requests[-1].messages[-1].parts
    return [(part.text, part.is_error) for part in parts if isinstance(part, ToolResult)]


async def test_a_press_sends_what_the_card_showed_to_whom_it_named_once() -> None:
    async with installation() as (here, _):
        here.model.then(call("send_message", chat="小李", text="明早八点半*查房*"))
        here.model.when_result("On its way", "已经转告小李。")
        here.platform.says("跟小李说明早八点半查房")
        card = await here.platform.sees("需要你同意")
        assert card.text == "需要你同意：发到「小李」：\n│ 明早八点半\\*查房\\*"
        assert [each for each in here.platform.shown if each.ref.conversation.chat == "2"] == []

        await here.restart(after=timedelta(hours=1))
        here.platform.presses(card, "允许")
        here.platform.presses(card, "允许")

        await here.platform.sees("已经转告小李。")
        await here.platform.sees("查房", chat="2")
        await here.platform.is_told("已经处理过")
        sent = [each.text for each in here.platform.shown if each.ref.conversation.chat == "2"]
        assert sent == ["明早八点半\\*查房\\*"]


async def test_refused_nothing_goes_anywhere() -> None:
    async with installation() as (here, _):
        here.model.then(call("send_message", chat="小李", text="停诊"))
        here.model.when_result("refused", "好，不发。")
        here.platform.says("跟小李说停诊")

        here.platform.presses(await here.platform.sees("需要你同意"), "拒绝")

        await here.platform.sees("好，不发。")
        assert [each for each in here.platform.shown if each.ref.conversation.chat == "2"] == []


async def test_a_stranger_and_an_unknown_name_get_no_card() -> None:
    async with installation() as (here, _):
        here.model.then((call("send_message", chat="老板", text="密码"), call("send_message", chat="3", text="密码")))
        here.model.when_result("No known chat", "我不认识这个聊天。")

        here.platform.says("发给老板")

        await here.platform.sees("我不认识这个聊天。")
        assert [is_error for _, is_error in results(here)] == [True, True]
        assert len(here.platform.shown) == 1


async def test_a_chat_that_took_the_name_after_the_card_gets_nothing() -> None:
    async with installation() as (here, chats):
        here.model.then(call("send_message", chat="小李", text="停诊"))
        here.model.when_result("Not sent", "没发成。")
        here.platform.says("跟小李说停诊")
        card = await here.platform.sees("小李")

        await chats.see(KnownChat(BENS.conversation, "小张", "1002"), now=here.clock.now())
        await chats.see(KnownChat(ConversationId("twin", "4"), "小李", "1001"), now=here.clock.now())
        here.platform.presses(card, "允许")

        await here.platform.sees("没发成。")
        assert {each.ref.conversation.chat for each in here.platform.shown} == {"1"}
