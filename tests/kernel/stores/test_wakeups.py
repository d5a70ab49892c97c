"""Hints, as RQ's workers will find them."""

from __future__ import annotations

import json

from kernel.ports import Put
from kernel.stores.memory.state import Memory
from kernel.stores.memory.wakeups import MemoryWakeups
from kernel.stores.stores import Stores
from kernel.stores.wakeups import JOB, MOST_UNREAD, hint_client, hint_queue
from tests.kernel.stores.words import said
from tests.twins.clock import JumpingClock


async def test_a_hint_is_a_job_that_names_nothing(redis_stores: Stores, redis_url: str) -> None:
    await redis_stores.wakeups.hint()

    with hint_client(redis_url) as client:
        (job,) = hint_queue(client).jobs
        assert job.func_name == JOB
        assert (list(job.args), job.kwargs) == ([], {})
        assert 30 <= (job.result_ttl or 0) <= 60
        assert job.failure_ttl == 24 * 3600
        assert json.loads(job.data) == [JOB, None, [], {}]


async def test_hints_that_nobody_reads_do_not_pile_up(redis_stores: Stores, redis_url: str) -> None:
    for _ in range(MOST_UNREAD + 5):
        await redis_stores.wakeups.hint()

    with hint_client(redis_url) as client:
        assert hint_queue(client).count == MOST_UNREAD


async def test_a_read_hint_lets_the_next_put_push_another(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    before = await stores.conversations.put(said(), now=clock.now())

    await stores.wakeups.unflag()

    assert before is Put.STORED
    assert await stores.conversations.put(said(), now=clock.now()) is Put.HINTED


async def test_the_twin_hands_each_hint_to_one_waiter(clock: JumpingClock) -> None:
    wakeups = MemoryWakeups(Memory(clock))

    await wakeups.hint()

    await wakeups.hinted()
