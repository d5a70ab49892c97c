"""A driver lasts as long as it can and ends as it should."""

from __future__ import annotations

import asyncio

import pytest

from bots.adapter import WrongToken
from kernel.chat import (
    Reply,
)
from kernel.stores.memory.state import Memory
from tests.bots.bench import D1, Broken, FakeAdapter, build, running
from tests.twins.clock import JumpingClock


async def test_a_wrong_token_ends_the_driver_with_its_own_error() -> None:
    clock = JumpingClock()
    bench = build(clock, Memory(clock), FakeAdapter(crashes=[WrongToken("FAKE_TOKEN is wrong")]))

    with pytest.raises(WrongToken, match="FAKE_TOKEN"):
        await bench.driver.run()


async def test_an_adapter_that_breaks_is_started_again() -> None:
    async with running(FakeAdapter(crashes=[Broken(), Broken()])) as bench:
        await bench.passes(2)
        await bench.comes(bench.message("still here"))

        assert bench.inbox() == ["still here"]


async def test_the_driver_ends_when_its_adapter_has_nothing_more_to_bring() -> None:
    clock = JumpingClock()
    bench = build(clock, Memory(clock), FakeAdapter())
    bench.adapter.updates.put_nowait(None)

    async with asyncio.timeout(5):
        await bench.driver.run()


async def test_told_to_stop_the_driver_finishes_the_part_in_flight_and_leaves_the_rest() -> None:
    clock = JumpingClock()
    bench = build(clock, Memory(clock), FakeAdapter(hold=asyncio.Event()))
    task = asyncio.create_task(bench.driver.run())
    await bench.goes(Reply(D1, "first"), Reply(D1, "second"))
    assert bench.adapter.asked == ["first"]

    task.cancel()
    await bench.passes()
    assert bench.adapter.hold is not None
    bench.adapter.hold.set()
    await asyncio.gather(task, return_exceptions=True)

    assert bench.texts == ["first"]
    assert bench.waiting() == 1
    again = build(clock, bench.memory, FakeAdapter())
    second = asyncio.create_task(again.driver.run())
    await again.passes(1)
    assert again.texts == ["second"]
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
