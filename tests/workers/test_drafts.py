"""What the model writes is shown while it writes: now and then, newest last, and nothing of its doings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from kernel.chat import ConversationId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock
from workers.drafts import SHOW_EVERY, DraftWriter

HERE = ConversationId("twin", "1")


class Desk:
    """A writer over an empty store, and what people see of it."""

    def __init__(self) -> None:
        self.clock = JumpingClock()
        self.stores: Stores = memory_stores(self.clock, memory=Memory(self.clock))

    @asynccontextmanager
    async def call(
        self, effect: int = 1, fence: int = 1, shown: Callable[[str], str] = str
    ) -> AsyncIterator[tuple[DraftWriter, Callable[[str], None]]]:
        writer = DraftWriter(self.stores.outbox, self.clock, HERE, turn="t1", effect=effect, fence=fence, shown=shown)
        try:
            yield writer, writer.hear
        finally:
            await writer.rest()

    async def passes(self, by: timedelta = SHOW_EVERY) -> None:
        await self.clock.run_to(self.clock.now() + by)

    async def seen(self) -> list[str]:
        return [draft.text for draft in await self.stores.outbox.drafts("twin")]


async def test_what_was_heard_is_shown_after_a_moment_and_grows() -> None:
    desk = Desk()
    async with desk.call() as (_, hear):
        hear("你")
        hear("好")
        assert await desk.seen() == []

        await desk.passes()
        assert await desk.seen() == ["你好"]

        hear("，小王")
        await desk.passes()
        assert await desk.seen() == ["你好，小王"]


async def test_an_answer_that_is_whole_at_once_leaves_no_draft() -> None:
    desk = Desk()

    async with desk.call() as (_, hear):
        hear("好")
        await asyncio.sleep(0)

    await desk.passes()
    assert await desk.seen() == []


async def test_words_that_lead_to_tool_calls_are_taken_back() -> None:
    desk = Desk()
    async with desk.call() as (writer, hear):
        hear("我看看")
        await desk.passes()
    await writer.clear()
    assert await desk.seen() == [""]

    async with desk.call(effect=2) as (_, hear):
        hear("结果")
        await desk.passes()

    assert await desk.seen() == ["结果"]


async def test_only_what_is_meant_for_people_is_shown() -> None:
    desk = Desk()
    async with desk.call(shown=lambda text: text.replace("secret", "")) as (_, hear):
        hear("sec")
        hear("ret 早")
        await desk.passes()

    assert await desk.seen() == [" 早"]


async def test_a_holder_that_is_gone_overwrites_nothing() -> None:
    desk = Desk()
    async with desk.call(fence=2) as (_, hear):
        hear("new")
        await desk.passes()

    async with desk.call(fence=1, effect=9) as (_, hear):
        hear("old")
        await desk.passes()

    assert await desk.seen() == ["new"]
