"""One process takes ready conversations into its slots: by hints, by itself, and not at all once it is told to stop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from kernel.ports import Checkout, Lease, Put, Step
from kernel.providers.scripted import Gate, Held
from kernel.session import Session
from kernel.stores.memory.wakeups import MemoryWakeups
from tests.workers.shift import Shift, chat, shift, until
from workers.turns import LOOK_EVERY, Actors


async def many(here: Shift, count: int) -> None:
    for number in range(count):
        await here.says("你好", where=str(number))


async def hint_comes(here: Shift) -> None:
    assert isinstance(here.stores.wakeups, MemoryWakeups)
    async with asyncio.timeout(1):
        await here.stores.wakeups.hinted()


async def serving(actors: Actors) -> asyncio.Task[None]:
    task = asyncio.create_task(actors.serve())
    await asyncio.sleep(0)
    return task


async def test_one_hint_is_enough_for_all_that_is_ready() -> None:
    async with shift() as here:
        await many(here, 50)

        await here.works()

        assert all(here.said(str(number)) for number in range(50))


async def test_all_slots_work_at_once_and_no_more() -> None:
    async with shift() as here:
        here.model.when(".", Held("好", gate := Gate()))
        await many(here, 5)
        worker = here.worker(slots=3)
        here.drain(worker)

        await gate.reached(3)

        assert worker.in_flight == 3
        assert len(here.model.requests) == 3
        gate.open()
        await here.finish(worker)
        assert all(here.said(str(number)) == ["好"] for number in range(5))


async def test_what_does_not_fit_is_passed_on_by_a_hint() -> None:
    async with shift() as here:
        here.model.when(".", Held("好", gate := Gate()))
        await many(here, 2)
        here.drain(here.worker(slots=1))
        await gate.reached()

        await hint_comes(here)

        second = here.worker()
        here.drain(second)
        await gate.reached(2)
        gate.open()


async def test_what_is_being_taken_when_the_end_comes_is_worked_for_and_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with shift() as here:
        inner, asked, answered = here.conversations.checkout, asyncio.Event(), asyncio.Event()

        async def checkout(worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
            asked.set()
            await answered.wait()
            return await inner(worker, now=now, last_try=last_try)

        monkeypatch.setattr(here.conversations, "checkout", checkout)
        await here.says("你好")
        worker = here.worker()
        here.drain(worker)
        await asked.wait()
        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)

        answered.set()
        await stopping

        assert here.said() != []
        assert here.memory.record(chat()).until is None


async def test_a_hint_for_nothing_costs_nothing() -> None:
    async with shift() as here:
        await here.works()

        assert here.conversations.steps == []


async def test_without_any_hint_work_is_found_by_looking() -> None:
    async with shift() as here:
        task = await serving(here.worker())
        await here.clock.sleeper()
        await here.says("你好")

        here.clock.jump(LOOK_EVERY)

        await until(lambda: bool(here.said()))
        task.cancel()


async def test_a_message_for_a_held_conversation_reaches_its_actor_by_the_channel() -> None:
    async with shift() as here:
        here.model.then(Held("想好了", gate := Gate()))
        message = await here.says("想一想")
        task = await serving(here.worker())
        await gate.reached()
        status = replace(message, event="later", text="/status")

        put = await here.stores.conversations.put(status, now=here.clock.now())

        assert put is Put.HELD
        await until(lambda: any("正在处理" in said for said in here.said()))
        task.cancel()
        gate.open()


async def test_what_becomes_ready_later_is_taken_then() -> None:
    async with shift() as here:
        message = await here.says("x", where="first")
        await here.works()
        album = replace(message, event="album", conversation=chat("album"))
        later = timedelta(seconds=1.2)
        await here.stores.conversations.put(album, now=here.clock.now(), settle=later)
        task = await serving(here.worker())
        assert await here.clock.sleeper() == here.clock.now() + later
        assert here.said("album") == []

        here.clock.jump(later)

        await until(lambda: bool(here.said("album")))
        task.cancel()


async def test_what_a_hint_tells_of_and_becomes_ready_later_is_taken_then_and_not_at_the_next_look() -> None:
    async with shift() as here:
        message = await here.says("x", where="first")
        await here.works()
        worker = here.worker()
        task = await serving(worker)
        assert await here.clock.sleeper() == here.clock.now() + LOOK_EVERY
        later = timedelta(seconds=0.3)
        in_group = replace(message, event="group", conversation=chat("group"))
        await here.stores.conversations.put(in_group, now=here.clock.now(), settle=later)

        await worker.drain()
        await here.clock.run_to(here.clock.now() + later)

        await until(lambda: bool(here.said("group")))
        task.cancel()


async def test_one_conversation_that_breaks_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shift() as here:
        inner = here.conversations.commit

        async def commit(lease: Lease, step: Step, *, now: datetime) -> Session:
            if lease.conversation == chat("bad"):
                raise AssertionError("a bug of ours")
            return await inner(lease, step, now=now)

        monkeypatch.setattr(here.conversations, "commit", commit)
        await here.says("你好", where="bad")
        await here.says("你好", where="good")

        here.drain(here.worker())

        await until(lambda: bool(here.said("good")))
        assert here.said("bad") == []
        assert here.tries("bad") == 1


async def test_a_store_that_is_away_when_slots_are_filled_is_asked_again() -> None:
    async with shift() as here:
        await here.says("你好")
        here.memory.is_away = True
        worker = here.worker()
        task = await serving(worker)
        await here.clock.sleeper()

        here.memory.is_away = False
        here.clock.jump(LOOK_EVERY)

        await until(lambda: bool(here.said()))
        assert not task.done()
        task.cancel()


async def test_once_told_to_stop_nothing_is_taken_any_more() -> None:
    async with shift() as here:
        worker = here.worker()
        await worker.stop()
        await here.says("你好")

        await worker.drain()

        assert here.said() == []


async def test_what_is_handed_back_is_hinted_to_others() -> None:
    async with shift() as here:
        here.model.then(Held("nie", gate := Gate()))
        await here.says("你好")
        worker = here.worker()
        here.drain(worker)
        await gate.reached()
        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)

        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)

        await hint_comes(here)
        assert here.memory.record(chat()).until is None


async def test_a_job_ends_with_its_last_conversation_also_when_the_store_takes_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with shift() as here:
        inner = here.conversations.checkout

        async def checkout(worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
            for _ in range(5):
                await asyncio.sleep(0)
            return await inner(worker, now=now, last_try=last_try)

        monkeypatch.setattr(here.conversations, "checkout", checkout)
        await here.says("你好")

        async with asyncio.timeout(1):
            await here.worker().drain()

        assert here.said()
