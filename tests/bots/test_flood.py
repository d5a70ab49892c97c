"""A platform is called at its pace by all processes together, and by each alone while the store is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bots.flood import NotYet, Pace
from kernel.ports import Limit
from kernel.stores.memory.floods import MemoryFloods
from kernel.stores.memory.state import Memory
from tests.twins.clock import JumpingClock

SECOND = timedelta(seconds=1)
CHAT = Limit("chat", 3, 3 * SECOND)


class Counting(MemoryFloods):
    """Counts what it is asked; while `stuck` it never answers."""

    def __init__(self, memory: Memory) -> None:
        MemoryFloods.__init__(self, memory)
        self.asked = 0
        self.stuck = False

    async def take(self, limits: Sequence[Limit], *, now: datetime) -> timedelta:
        """See `Floods.take`."""
        self.asked += 1
        if self.stuck:
            await asyncio.Event().wait()
        return await MemoryFloods.take(self, limits, now=now)


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def memory(clock: JumpingClock) -> Memory:
    return Memory(clock)


async def went(pace: Pace, calls: int, limit: Limit = CHAT) -> int:
    """How many of so many calls may go now."""
    count = 0
    for _ in range(calls):
        try:
            await pace.take([limit])
        except NotYet:
            continue
        count += 1
    return count


async def test_two_processes_together_are_no_faster_than_one(clock: JumpingClock, memory: Memory) -> None:
    one, other = Pace(clock, MemoryFloods(memory)), Pace(clock, MemoryFloods(memory))

    first = await went(one, 2) + await went(other, 2)
    clock.jump(3 * SECOND)
    then = await went(other, 9)

    assert [first, then] == [3, 3]


async def test_a_call_costs_one_question_and_one_that_we_know_must_wait_costs_none(
    clock: JumpingClock, memory: Memory
) -> None:
    floods = Counting(memory)
    pace = Pace(clock, floods)

    await went(pace, 9)

    assert floods.asked == 3


async def test_a_pause_that_one_process_was_told_is_kept_by_all(clock: JumpingClock, memory: Memory) -> None:
    one, other = Pace(clock, MemoryFloods(memory)), Pace(clock, MemoryFloods(memory))

    await one.rest("chat", 9 * SECOND)
    clock.jump(SECOND)

    for pace in (one, other):
        with pytest.raises(NotYet) as wait:
            await pace.take([CHAT])
        assert wait.value.after == 8 * SECOND
    with pytest.raises(NotYet):
        one.check("chat")
    one.check("another")
    clock.jump(8 * SECOND)
    one.check("chat")
    assert await went(other, 9) == 3


async def test_while_the_store_is_away_each_process_keeps_the_pace_alone_and_says_so_once(
    clock: JumpingClock, memory: Memory
) -> None:
    one, other = Pace(clock, MemoryFloods(memory)), Pace(clock, MemoryFloods(memory))
    before = await went(one, 1)
    memory.is_away = True

    with capture_logs() as logs:
        alone = [await went(one, 9), await went(other, 9)]
        await one.rest("another", SECOND)
        clock.jump(3 * SECOND)
        again = await went(one, 9)
        memory.is_away = False
        clock.jump(3 * SECOND)
        together = await went(one, 2) + await went(other, 9)

    assert [before, alone, again, together] == [1, [2, 3], 3, 3]
    assert [entry["event"] for entry in logs] == [
        *("pace kept by this process alone", "pace kept by this process alone"),
        *("pace kept with all processes again", "pace kept with all processes again"),
    ]


async def test_a_store_that_does_not_answer_holds_up_one_call_and_not_every_one(
    clock: JumpingClock, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.flood._ASK_WITHIN_S", 0.01)
    floods = Counting(memory)
    floods.stuck = True
    pace = Pace(clock, floods)

    count = await went(pace, 3)

    assert [count, floods.asked] == [3, 1]


async def test_without_a_store_a_process_keeps_the_pace_alone(clock: JumpingClock) -> None:
    assert await went(Pace(clock), 9) == 3
