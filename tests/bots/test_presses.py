"""A press is answered once, whichever process it came to."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from bots.presses import ANSWER_WITHIN, Presses
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.bots.bench import FakeAdapter, build
from tests.bots.words import ANN, WARD, presses
from tests.twins.clock import JumpingClock


async def test_a_press_whose_answer_another_process_shows_gets_no_neutral_one() -> None:
    clock, here, there = JumpingClock(), FakeAdapter(), FakeAdapter()
    memory = Memory(clock)
    locks = memory_stores(clock, memory=memory).locks
    first, second = Presses(here, clock, "zh", locks, "a"), Presses(there, clock, "zh", locks, "b")
    answered, silent = (presses(build(clock, memory, here), ANN, WARD) for _ in range(2))
    for press in (answered, silent):
        first.arrived(press)
    running = asyncio.create_task(first.run())

    await second.answered(answered.press)
    await clock.run_to(clock.now() + ANSWER_WITHIN + timedelta(seconds=1))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert [(notice.press, notice.text) for notice in here.notices] == [(silent.press, "收到，稍后告诉你结果。")]
