"""Both stores under one set of claims, and a clock that jumps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import redis

from kernel.stores.memory.stores import memory_stores
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture(params=["memory", "redis"])
async def stores(request: pytest.FixtureRequest, clock: JumpingClock) -> AsyncIterator[Stores]:
    if request.param == "memory":
        opened = memory_stores(clock, blob_total_bytes=60_000_000)
    else:
        opened = await open_stores(request.getfixturevalue("redis_url"), clock, blob_total_bytes=60_000_000)
    yield opened
    await opened.close()


@pytest.fixture
async def redis_stores(redis_url: str, clock: JumpingClock) -> AsyncIterator[Stores]:
    opened = await open_stores(redis_url, clock)
    yield opened
    await opened.close()


@pytest.fixture
def raw(redis_url: str) -> Iterator[redis.Redis]:
    """What lies in Redis itself, for claims about keys and their lifetimes."""
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        yield client
