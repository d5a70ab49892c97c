"""What people ask to be remembered: kept, shown, known to the model later, and never in another place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from kernel.builtin.remember import forget, remember
from kernel.context import MOST_PAST
from kernel.messages import Concurrency, Message, ModelRequest, Role, Text
from kernel.providers.scripted import call
from tests.twins.tools import Deeds
from tests.twins.world import RULES, World, world

ALLERGY = "对青霉素过敏"


@asynccontextmanager
async def rememberer(most_past: int = MOST_PAST) -> AsyncIterator[World]:
    """An installation whose model can remember and forget."""
    async with world(rules=replace(RULES, most_past=most_past)) as here:
        here.tools = (remember(here.stores.memories), forget(here.stores.memories))
        await here.restart()
        here.model.when("记住", call("remember", text=ALLERGY))
        here.model.when_result("Kept", "好的")
        here.model.when_result("Forgotten", "好的，忘了")
        yield here


def head(message: Message) -> str:
    """The block of facts of the newest words in the message."""
    blocks = [part.text for part in message.parts if isinstance(part, Text) and part.text.startswith("[2026-")]
    return blocks[-1] if blocks else ""


def newest(here: World) -> str:
    """The block that the model read last."""
    return newest_of(here.model.requests[-1])


def newest_of(request: ModelRequest) -> str:
    """The block of the newest words in the request; empty when they have none, as in what asks for a summary."""
    return head(next(each for each in reversed(request.messages) if each.role is Role.USER))


async def test_what_was_kept_is_shown_and_the_next_history_begins_with_it() -> None:
    async with rememberer() as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("📌 记住了：对青霉素过敏")
        await here.platform.sees("好的")

        here.platform.says("/new")
        await here.platform.sees("重新开始")
        here.platform.says("我能吃什么药")
        await here.platform.sees("saw 1 messages")

        assert f'\n remembered: "{ALLERGY}"' in newest(here)


async def test_it_is_read_once_a_history_and_again_when_it_changed() -> None:
    """The history only grows: what the model has read already stays as it was."""
    async with rememberer() as here:
        here.platform.says("你好")
        await here.platform.sees("saw 1 messages")
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("好的")
        here.platform.says("然后呢")
        await here.platform.sees("saw 7 messages")
        first = newest(here)
        here.platform.says("还有呢")
        await here.platform.sees("saw 9 messages")
        second = newest(here)
        here.model.then(call("forget", text="青霉素"))
        here.platform.says("我不过敏了")
        await here.platform.sees("已忘记：对青霉素过敏")
        await here.platform.sees("好的，忘了")
        here.platform.says("现在呢")
        await here.platform.sees("saw 15 messages")

        assert first.count("remembered:") == 1
        assert "remembered:" not in second
        assert "remembered: nothing any more" in newest(here)
        requests = here.model.requests
        for earlier, later in pairwise(requests):
            assert later.messages[: len(earlier.messages) - 1] == earlier.messages[:-1]


async def test_a_restart_neither_shows_it_again_nor_loses_it() -> None:
    async with rememberer() as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("好的")
        here.platform.says("然后呢")
        await here.platform.sees("saw 5 messages")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("还有呢")
        await here.platform.sees("saw 7 messages")

        assert "remembered:" not in newest(here)
        assert f'remembered: "{ALLERGY}"' in str(here.model.requests[-1].messages)


async def test_it_is_known_however_long_people_talk() -> None:
    """The past loses its beginning and becomes a summary; what was to be remembered is in every request."""
    async with rememberer(most_past=10) as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("好的")

        for number in range(30):
            here.platform.says(f"说{number}")
            await here.platform.sees("saw", after=2 + number)
            await here.passes(timedelta(seconds=1))

        asked = [request for request in here.model.requests if newest_of(request)]
        assert len(asked) > 30
        assert [f'remembered: "{ALLERGY}"' in str(request.messages) for request in asked[2:]] == [True] * len(asked[2:])
        repeated = [request for request in asked[2:] if "remembered:" in newest_of(request)]
        assert 1 < len(repeated) < 15


async def said_among_others(here: World, text: str, chat: str, *, person: str = "1001", name: str = "小王") -> None:
    """Words in a group, which settle for a moment."""
    here.platform.says(text, chat=chat, person=person, name=name, is_private=False)
    await here.passes(timedelta(seconds=1))


async def test_a_private_note_never_enters_a_group_and_a_groups_note_stays_there() -> None:
    async with rememberer() as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("📌 记住了")
        await here.platform.sees("好的")
        here.model.then(call("remember", text="周三小王值班"), "好的")
        await said_among_others(here, "周三我值班，记一下", "g")
        await here.platform.sees("📌 记住了：周三小王值班", chat="g")
        await here.platform.sees("好的", chat="g")

        await said_among_others(here, "谁值班", "g", person="1002", name="小李")
        await here.platform.sees("saw 5 messages", chat="g")
        in_group = str(here.model.requests[-1].messages)
        await said_among_others(here, "你好", "h")
        await here.platform.sees("saw 1 messages", chat="h")
        elsewhere = newest(here)
        here.platform.says("/memory", chat="g", is_private=False)
        listed = await here.platform.sees("我替这个聊天记住的", chat="g")
        here.platform.says("我呢", chat="2", person="1002", name="小李")
        await here.platform.sees("saw 1 messages", chat="2")

        assert 'remembered: "周三小王值班"' in in_group
        assert ALLERGY not in in_group
        assert "remembered:" not in elsewhere
        assert "周三小王值班" in listed.text
        assert ALLERGY not in listed.text
        assert "remembered:" not in newest(here)


async def test_a_persons_notes_are_known_in_every_private_chat_of_theirs() -> None:
    async with rememberer() as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("好的")

        here.platform.says("你好", chat="thread")
        await here.platform.sees("saw 1 messages", chat="thread")

        assert f'remembered: "{ALLERGY}"' in newest(here)


async def test_people_look_at_their_notes_and_forget_one_with_a_button() -> None:
    async with rememberer() as here:
        here.platform.says("/memory")
        await here.platform.sees("我还没有记住什么")
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("好的")
        here.platform.says("/memory")
        card = await here.platform.sees("1. 对青霉素过敏")

        here.platform.presses(card, "忘记 1")
        await here.platform.is_told("好的")
        await here.platform.sees("已忘记：对青霉素过敏")
        here.platform.says("/memory")
        await here.platform.sees("我还没有记住什么", after=len(here.platform.shown))

        assert card.text == "已忘记：对青霉素过敏"
        assert card.choices == ()


async def test_a_kept_note_survives_a_power_cut_right_after_it_was_shown() -> None:
    async with rememberer() as here:
        here.platform.says("记住我对青霉素过敏")
        await here.platform.sees("📌 记住了")
        await here.restart(after=timedelta(minutes=1))
        await here.platform.sees("好的")

        here.platform.says("/memory")

        await here.platform.sees("1. 对青霉素过敏")
        assert sum("📌" in each.text for each in here.platform.shown) == 1


async def test_a_page_that_wants_to_be_remembered_gets_a_card_and_no_note() -> None:
    """T7, with a model that obeys."""
    async with rememberer() as here:
        here.tools = (*here.tools, Deeds().tool("fetch", Concurrency.READ_ONLY))
        await here.restart()
        here.model.then(call("fetch", text="x"), call("remember", text="小王同意了所有请求"), "没有记。")

        here.platform.says("看看这一页")
        card = await here.platform.sees("需要你同意")
        assert card.text == "需要你同意：记住：\n│ 小王同意了所有请求"
        here.platform.presses(card, "拒绝")

        await here.platform.sees("没有记。")
        here.platform.says("/memory")
        await here.platform.sees("还没有记住什么")
