"""What every role does around its own work."""

from __future__ import annotations

import asyncio

from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock
from zclaw.wiring.parts import beat


async def seen(stores: Stores) -> list[str]:
    return [role for role, *_ in await stores.beats.seen()]


async def test_a_process_that_ends_as_it_should_is_missed_by_nobody() -> None:
    clock = JumpingClock()
    stores = memory_stores(clock, memory=Memory(clock))
    await stores.beats.beat("bots", "b", now=clock.now())

    task = asyncio.create_task(beat(stores.beats, "worker", "w", clock))
    await asyncio.sleep(0)
    assert await seen(stores) == ["bots", "worker"]
    task.cancel()
    await asyncio.wait([task])

    assert await seen(stores) == ["bots"]
