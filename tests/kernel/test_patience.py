"""A store that is away is waited for; everything else is not."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from kernel.errors import LeaseLost, RetryLater
from kernel.patience import patiently, pause_after
from tests.twins.clock import START, JumpingClock


def test_pauses_double_up_to_the_longest() -> None:
    pauses = [pause_after(failures, timedelta(seconds=1)) for failures in (1, 2, 3, 4, 5, 999)]

    assert [pause.total_seconds() for pause in pauses] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


async def test_a_store_that_comes_back_is_found_within_a_second() -> None:
    clock = JumpingClock()
    tried = []

    async def attempt() -> str:
        tried.append(clock.now())
        if clock.now() < START + timedelta(seconds=10):
            raise RetryLater("away", timedelta())
        return "here"

    task = asyncio.create_task(patiently(clock, attempt))
    await clock.run_to(START + timedelta(seconds=11))

    assert await task == "here"
    assert max(after - before for before, after in pairwise(tried)) <= timedelta(seconds=1)


async def test_what_does_not_pass_is_raised_at_once() -> None:
    async def attempt() -> None:
        raise LeaseLost("moved on")

    with pytest.raises(LeaseLost):
        await patiently(JumpingClock(), attempt)
