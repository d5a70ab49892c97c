"""Commands of one moment go together; each asker hears only what concerns it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis.asyncio
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import ResponseError

from kernel.stores.redis.batches import MOST_TOGETHER, Batches


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    pool = redis.asyncio.BlockingConnectionPool.from_url(redis_url, max_connections=16, decode_responses=True)
    opened = redis.asyncio.Redis.from_pool(pool)
    yield opened
    await opened.flushall()
    await opened.aclose()


@pytest.fixture
async def batches(client: redis.asyncio.Redis) -> AsyncIterator[Batches]:
    opened = Batches(client, within_s=5)
    yield opened
    await opened.close()


async def test_many_askers_of_one_moment_get_their_own_answers_over_few_connections(
    client: redis.asyncio.Redis, batches: Batches
) -> None:
    many = 5 * MOST_TOGETHER + 1

    answers = await asyncio.gather(*(batches.ask("ECHO", number) for number in range(many)))

    assert answers == [str(number) for number in range(many)]
    assert len(await client.client_list()) <= 7


async def test_a_command_that_is_refused_fails_alone(batches: Batches) -> None:
    good, bad, after = await asyncio.gather(
        batches.ask("SET", "words", "a"), batches.ask("INCR", "words"), batches.ask("GET", "words"),
        return_exceptions=True,
    )  # fmt: skip

    assert (good, after) == (True, "a")
    assert isinstance(bad, ResponseError)


async def test_an_asker_that_is_cancelled_takes_nothing_from_the_others(batches: Batches) -> None:
    hasty = asyncio.create_task(batches.ask("ECHO", "hasty"))
    patient = asyncio.create_task(batches.ask("ECHO", "patient"))
    await asyncio.sleep(0)

    hasty.cancel()

    assert await patient == "patient"
    assert hasty.cancelled()


async def test_a_script_that_redis_has_forgotten_is_loaded_again(client: redis.asyncio.Redis, batches: Batches) -> None:
    script = client.register_script("return ARGV[1]")

    first = await batches.run(script, ("a",))
    await client.script_flush()
    second = await batches.run(script, ("b",))

    assert (first, second) == ("a", "b")


async def test_every_asker_hears_that_redis_is_away() -> None:
    nobody = redis.asyncio.Redis(unix_socket_path="/nowhere/socket")
    batches = Batches(nobody, within_s=5)

    heard = await asyncio.gather(*(batches.ask("PING") for _ in range(3)), return_exceptions=True)

    assert all(isinstance(each, RedisAway) for each in heard)
    await nobody.aclose()
