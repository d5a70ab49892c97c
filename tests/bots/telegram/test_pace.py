"""Two processes of one bot keep to Telegram's pace together, and what it told one of them to wait is waited by both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import pytest
from aiohttp import web

from bots.flood import NotYet
from bots.telegram import TelegramAdapter
from bots.telegram.entities import render
from kernel.chat import Choice, ConversationId, Draft, Prompt, Reply
from kernel.stores.memory.floods import MemoryFloods
from kernel.stores.memory.state import Memory
from tests.bots.senders import Senders, senders
from tests.bots.telegram.fake_api import TOKEN, FakeApi, refuses, success
from tests.twins.clock import JumpingClock

WARD = ConversationId("telegram", "-1009")
D1, D2 = ConversationId("telegram", "1"), ConversationId("telegram", "2")
SECOND = timedelta(seconds=1)
LONG = "\n\n".join(letter * 4_000 for letter in "abc")


async def passes(_: web.Request) -> web.StreamResponse:
    return success({"message_id": 7, "date": 1, "chat": {"id": 1, "type": "private"}, "text": "x"})


@asynccontextmanager
async def adapters(
    api: FakeApi, clock: JumpingClock, memory: Memory, count: int
) -> AsyncIterator[list[TelegramAdapter]]:
    made = [TelegramAdapter(TOKEN, clock=clock, api_url=api.url, floods=MemoryFloods(memory)) for _ in range(count)]
    try:
        yield made
    finally:
        for each in made:
            await each._calls.close()


@pytest.fixture
async def two(api: FakeApi) -> AsyncIterator[Senders]:
    clock = JumpingClock()
    memory = Memory(clock)
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(adapters(api, clock, memory, 2))
        yield await stack.enter_async_context(senders(made, memory, clock))


def said(api: FakeApi, where: ConversationId) -> list[str]:
    return [str(each["text"]) for each in api.of("sendMessage") if str(each["chat_id"]) == where.chat]


async def test_a_limit_amid_a_long_answer_is_waited_out_and_other_chats_go_on(api: FakeApi, two: Senders) -> None:
    """M31: 429 with retry_after 4 on the second and on the third part."""
    limited = refuses(429, "Too Many Requests: retry after 4", retry_after=4)
    api.faults["sendMessage"] = [passes, limited]

    await two.says(Reply(D1, LONG), Reply(D1, "next"))
    await two.rest()
    await two.says(Reply(D2, "other"))
    await two.rest()
    early = [text[0] for text in said(api, D1)]
    api.faults["sendMessage"] = [passes, limited]
    await two.passes(3.9 * SECOND)
    await two.rest()
    waits = [text[0] for text in said(api, D1)]
    await two.passes(0.1 * SECOND)
    await two.rest()
    second = [text[0] for text in said(api, D1)]
    await two.passes(4 * SECOND)
    await two.rest()

    assert said(api, D2) == ["other"]
    assert early == waits == ["a", "b"]
    assert second == ["a", "b", "b", "c"]
    assert [text[:4] for text in said(api, D1)] == ["aaaa", "bbbb", "bbbb", "cccc", "cccc", "next"]
    assert two.waiting == 0


async def test_a_private_chat_gets_a_message_a_second_from_both_together(api: FakeApi, two: Senders) -> None:
    texts = [f"a{number}" for number in range(9)]
    await two.says(*(Reply(D1, text) for text in texts), Reply(D2, "other"))
    await two.rest()

    at_once = said(api, D1)
    for _ in range(8):
        await two.passes(SECOND)
        await two.rest()

    assert at_once == ["a0", "a1", "a2"]
    assert said(api, D1) == texts
    assert said(api, D2) == ["other"]
    assert two.counters.of("delivery", platform="telegram", outcome="retried") == 0


async def test_a_group_gets_twenty_a_minute_from_both_together_edits_included(api: FakeApi) -> None:
    clock = JumpingClock()
    async with adapters(api, clock, Memory(clock), 2) as (one, other):
        for number in range(10):
            await one.send(Reply(WARD, "a"), "a", key=f"k{number}", is_doubtful=False, is_last=True)
            ref = await other.send(Reply(WARD, "b"), "b", key=f"l{number}", is_doubtful=False, is_last=True)
        for adapter in (one, other):
            with pytest.raises(NotYet) as full:
                await adapter._messages.edit(WARD, int(ref.id), render("c"))
            assert full.value.after == 61 * SECOND
        clock.jump(61 * SECOND)
        await other._messages.edit(WARD, int(ref.id), render("c"))

    assert len(said(api, WARD)) == 20
    assert len(api.of("editMessageText")) == 1


async def test_cards_and_answers_do_not_wait_behind_drafts(api: FakeApi) -> None:
    clock = JumpingClock()
    card = Prompt(WARD, "吃药", "tok", (Choice("done", "完成"),))
    async with adapters(api, clock, Memory(clock), 2) as (one, other):
        one._posts.heard(WARD)
        shown = 0
        for number in range(30):
            try:
                await one.show_draft(Draft(WARD, "t", number, f"{number}" + "查房" * 50))
                shown += 1
            except NotYet:
                pass
            clock.jump(SECOND)
        for number in range(9):
            await other.send(Reply(WARD, "a"), "a", key=f"k{number}", is_doubtful=False, is_last=True)
        await other.send(card, "吃药", key="card", is_doubtful=False, is_last=True)

    assert shown == 10
    assert said(api, WARD)[-1] == "吃药"


async def test_all_chats_together_get_no_more_than_telegram_takes_in_a_second(api: FakeApi) -> None:
    clock = JumpingClock()
    async with adapters(api, clock, Memory(clock), 2) as both:
        went, drafted = 0, 0
        for number in range(40):
            chat = ConversationId("telegram", str(number + 1))
            try:
                await both[number % 2].show_draft(Draft(chat, "t", 1, "a"))
                drafted += 1
            except NotYet:
                pass
        for number in range(40):
            chat = ConversationId("telegram", str(number + 1))
            try:
                await both[number % 2].send(Reply(chat, "a"), "a", key="k", is_doubtful=False, is_last=True)
                went += 1
            except NotYet:
                pass

    assert [drafted, went] == [10, 15]


async def test_a_message_whose_looks_are_refused_does_not_wait_for_a_second_place(api: FakeApi) -> None:
    clock = JumpingClock()
    async with adapters(api, clock, Memory(clock), 1) as (one,):
        for number in range(2):
            await one.send(Reply(D1, "a"), "a", key=f"k{number}", is_doubtful=False, is_last=True)
        api.faults["sendMessage"] = [refuses(400, "Bad Request: can't parse entities")]
        await one.send(Reply(D1, "**a**"), "**a**", key="k2", is_doubtful=False, is_last=True)

    assert [each.get("entities") is None for each in api.of("sendMessage")] == [True, True, False, True]


async def test_a_limit_on_typing_keeps_no_message_back(api: FakeApi) -> None:
    clock = JumpingClock()
    api.faults["sendChatAction"] = [refuses(429, "Too Many Requests: retry after 30", retry_after=30)]
    async with adapters(api, clock, Memory(clock), 1) as (one,):
        for _ in range(3):
            await one.typing(D1)
        await one.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)

    assert len(api.of("sendChatAction")) == 1
    assert said(api, D1) == ["a"]
