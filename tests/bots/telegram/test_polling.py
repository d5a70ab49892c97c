"""Who polls: one process at a time; the others stand by, send, and take over when it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bots.adapter import WrongToken
from bots.telegram import TelegramAdapter
from bots.telegram.polling import LOOK_AGAIN, POLL_TIMEOUT_S
from kernel.chat import ChatChanged, Reply
from kernel.ports import Locks
from kernel.ports.locks import HOLD
from kernel.stores.memory.locks import MemoryLocks
from kernel.stores.memory.state import Memory
from tests.bots.telegram.fake_api import TOKEN, FakeApi, hangs_up, refuses
from tests.bots.telegram.test_adapter import D1, Hurrying, Inbox, numbered, polling
from tests.bots.telegram.test_groups import member
from tests.bots.telegram.test_updates import U1, message
from tests.twins.clock import JumpingClock


@asynccontextmanager
async def process(
    api: FakeApi, inbox: Inbox, clock: JumpingClock, locks: Locks, holder: str
) -> AsyncIterator[tuple[TelegramAdapter, asyncio.Task[None]]]:
    adapter = TelegramAdapter(TOKEN, clock=clock, api_url=api.url, locks=locks, holder=holder)
    task = asyncio.create_task(adapter.run(inbox.deliver))
    try:
        yield adapter, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_lost_poller_costs_fifteen_seconds_at_most_and_a_poll_ends_while_it_is_held() -> None:
    assert (HOLD + LOOK_AGAIN).total_seconds() <= 15
    assert HOLD.total_seconds() > POLL_TIMEOUT_S


async def test_one_of_two_processes_polls_and_both_send(api: FakeApi) -> None:
    clock = JumpingClock()
    locks, one, two = MemoryLocks(Memory(clock)), Inbox(), Inbox()
    async with process(api, one, clock, locks, "p1") as (first, _):
        await api.until(lambda: bool(api.of("getUpdates")))
        async with process(api, two, clock, locks, "p2") as (second, _):
            await clock.sleeper()
            await api.adds(numbered(message(text="a"), 5))
            await api.until(lambda: api.offset == 6)
            for adapter in (first, second):
                await adapter.send(Reply(D1, "b"), "b", key="k", is_doubtful=False, is_last=True)

    assert (len(one.got), len(two.got)) == (1, 0)
    assert len(api.of("sendMessage")) == 2


async def test_who_stands_by_takes_over_when_the_poller_says_nothing_any_more(api: FakeApi) -> None:
    """The poller was killed: nobody leaves the lock."""
    clock = JumpingClock()
    locks, inbox = MemoryLocks(Memory(clock)), Inbox()
    assert await locks.take("poll:4242", "killed", now=clock.now())
    async with process(api, inbox, clock, locks, "p2"):
        await clock.sleeper()
        assert api.of("getUpdates") == []
        await api.adds(numbered(message(text="a"), 5))

        await clock.run_to(clock.now() + HOLD + LOOK_AGAIN)
        await api.until(lambda: api.offset == 6)

    assert len(inbox.got) == 1


async def test_who_stops_lets_the_next_poll_at_its_next_look(api: FakeApi) -> None:
    clock = JumpingClock()
    locks, inbox = MemoryLocks(Memory(clock)), Inbox()
    async with process(api, Inbox(), clock, locks, "p1") as (_, first):
        await api.until(lambda: bool(api.of("getUpdates")))
        async with process(api, inbox, clock, locks, "p2"):
            await clock.sleeper()
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await api.adds(numbered(message(text="a"), 5))

            clock.jump(LOOK_AGAIN)
            await api.until(lambda: api.offset == 6)

    assert len(inbox.got) == 1


async def test_who_has_lost_the_lock_polls_no_more(api: FakeApi) -> None:
    clock = JumpingClock()
    locks = MemoryLocks(Memory(clock))
    async with process(api, Inbox(), clock, locks, "p1"):
        await api.until(lambda: bool(api.of("getUpdates")))
        clock.jump(HOLD)
        assert await locks.take("poll:4242", "p2", now=clock.now())

        await clock.sleeper()
        polls = len(api.of("getUpdates"))
        await api.adds(numbered(message(text="a"), 5))

    assert len(api.of("getUpdates")) == polls


async def test_nobody_polls_while_the_store_is_away(api: FakeApi) -> None:
    clock = JumpingClock()
    memory, inbox = Memory(clock), Inbox()
    memory.is_away = True
    async with process(api, inbox, clock, MemoryLocks(memory), "p1"):
        await clock.sleeper()
        assert api.of("getUpdates") == []

        memory.is_away = False
        await api.adds(numbered(message(text="a"), 5))
        clock.jump(LOOK_AGAIN)
        await api.until(lambda: api.offset == 6)

    assert len(inbox.got) == 1


async def test_nothing_is_polled_before_the_bot_knows_its_name(api: FakeApi) -> None:
    api.faults["getMe"] = [hangs_up, refuses(500, "Internal Server Error")]
    async with polling(api, Inbox()):
        await api.until(lambda: bool(api.of("getUpdates")))

    methods = [call.method for call in api.calls]
    assert methods[:3] == ["getMe"] * 3
    assert methods.index("getUpdates") > 2


@pytest.mark.parametrize("status", [401, 404])
async def test_a_token_without_a_bot_ends_the_adapter(api: FakeApi, status: int) -> None:
    api.faults["getMe"] = [refuses(status, "no")]
    async with polling(api, Inbox()) as task, asyncio.timeout(5):
        with pytest.raises(WrongToken, match="TELEGRAM_BOT_TOKEN"):
            await task


async def test_updates_without_numbers_make_no_hot_loop(api: FakeApi) -> None:
    """They cannot be confirmed, so they would come again at once."""
    paused = asyncio.Event()

    class Pausing(Hurrying):
        async def sleep_until(self, at: object) -> None:
            paused.set()
            await asyncio.sleep(0)

    api.raw_answers = [b'{"ok": true, "result": [{"message": 5}, 7]}']
    task = asyncio.create_task(TelegramAdapter(TOKEN, clock=Pausing(), api_url=api.url).run(Inbox().deliver))
    async with asyncio.timeout(5):
        await paused.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_that_the_bot_was_thrown_out_is_delivered(api: FakeApi) -> None:
    inbox = Inbox()
    body = {"chat": {"id": -5, "type": "group", "title": "G"}, "from": U1, "date": 1796000400}
    body |= {"old_chat_member": member("member"), "new_chat_member": member("kicked", until_date=0)}
    await api.adds({"update_id": 5, "my_chat_member": body})
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 6)

    assert [type(each) for each in inbox.got] == [ChatChanged]
