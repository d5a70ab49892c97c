"""The real clock, and its twin."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from kernel.clock import SystemClock
from tests.twins.clock import START, JumpingClock

SECOND = timedelta(seconds=1)


def test_the_clock_tells_aware_utc() -> None:
    before = datetime.now(UTC)

    assert before <= SystemClock().now() <= datetime.now(UTC)


def test_boot_time_never_falls() -> None:
    clock = SystemClock()

    assert 0 < clock.boottime() <= clock.boottime()


async def test_sleep_ends_when_its_time_has_come() -> None:
    clock = SystemClock()
    at = clock.now() + timedelta(milliseconds=20)

    await asyncio.wait_for(clock.sleep_until(at), 2)

    assert clock.now() >= at


async def test_a_time_that_has_passed_needs_no_sleep() -> None:
    clock = SystemClock()

    await asyncio.wait_for(clock.sleep_until(clock.now() - timedelta(days=1)), 0.5)


async def test_the_twin_wakes_who_is_due_and_no_other() -> None:
    clock = JumpingClock()
    soon, late = (asyncio.create_task(clock.sleep_until(START + wait * SECOND)) for wait in (1, 3))
    await asyncio.sleep(0)

    clock.jump(2 * SECOND)
    await asyncio.sleep(0)

    assert (soon.done(), late.done()) == (True, False)
    assert clock.now() == START + 2 * SECOND
    assert await clock.sleeper() == START + 3 * SECOND
    late.cancel()


async def test_the_twin_runs_through_every_sleep() -> None:
    clock = JumpingClock()
    ticks: list[datetime] = []

    async def ticking() -> None:
        while True:
            await clock.sleep_until(clock.now() + SECOND)
            ticks.append(clock.now())

    task = asyncio.create_task(ticking())
    await clock.run_to(START + 5 * SECOND)
    task.cancel()

    assert ticks == [START + number * SECOND for number in range(1, 6)]


async def test_the_wall_may_go_back_but_boot_time_does_not() -> None:
    clock = JumpingClock()
    booted = clock.boottime()

    clock.set(START - timedelta(hours=1))
    clock.jump(SECOND)

    assert clock.now() == START - timedelta(hours=1) + SECOND
    assert clock.boottime() == booted + 1
