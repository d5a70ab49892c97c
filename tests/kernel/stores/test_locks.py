"""What only one process may do at a time: the same in memory and in Redis."""

from __future__ import annotations

import pytest
import redis

from kernel.errors import RetryLater
from kernel.ports.locks import HOLD
from kernel.stores import keys
from kernel.stores.memory.locks import MemoryLocks
from kernel.stores.memory.state import Memory
from kernel.stores.stores import Stores
from tests.kernel.stores.words import SECOND
from tests.twins.clock import JumpingClock

STRANGE = "poll:*?[b\n"


async def test_one_holder_has_a_name_and_others_have_other_names(stores: Stores, clock: JumpingClock) -> None:
    first = await stores.locks.take(STRANGE, "p1", now=clock.now())
    second = await stores.locks.take(STRANGE, "p2", now=clock.now())
    other = await stores.locks.take("poll:2", "p2", now=clock.now())

    assert [first, second, other] == [True, False, True]


async def test_who_takes_it_again_holds_it_that_long_again(stores: Stores, clock: JumpingClock) -> None:
    await stores.locks.take(STRANGE, "p1", now=clock.now())
    clock.jump(HOLD - SECOND)

    again = await stores.locks.take(STRANGE, "p1", now=clock.now())
    clock.jump(HOLD - SECOND)

    assert again
    assert not await stores.locks.take(STRANGE, "p2", now=clock.now())


async def test_who_says_nothing_for_so_long_has_lost_it(stores: Stores, clock: JumpingClock) -> None:
    await stores.locks.take(STRANGE, "p1", now=clock.now())
    clock.jump(HOLD)

    taken = await stores.locks.take(STRANGE, "p2", now=clock.now())

    assert taken
    assert not await stores.locks.take(STRANGE, "p1", now=clock.now())


async def test_what_was_left_can_be_taken_at_once(stores: Stores, clock: JumpingClock) -> None:
    await stores.locks.take(STRANGE, "p1", now=clock.now())

    await stores.locks.leave(STRANGE, "p1")

    assert await stores.locks.take(STRANGE, "p2", now=clock.now())


async def test_nobody_leaves_what_another_has(stores: Stores, clock: JumpingClock) -> None:
    await stores.locks.leave(STRANGE, "p2")
    await stores.locks.take(STRANGE, "p1", now=clock.now())

    await stores.locks.leave(STRANGE, "p2")

    assert not await stores.locks.take(STRANGE, "p2", now=clock.now())


async def test_the_server_forgets_it_though_nobody_comes(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await redis_stores.locks.take(STRANGE, "p1", now=clock.now())

    assert 0 < raw.ttl(keys.LOCK.of(STRANGE)) <= HOLD.total_seconds()


async def test_a_store_that_is_away_says_so() -> None:
    memory = Memory(JumpingClock())
    memory.is_away = True

    with pytest.raises(RetryLater):
        await MemoryLocks(memory).take(STRANGE, "p1", now=memory.clock.now())
