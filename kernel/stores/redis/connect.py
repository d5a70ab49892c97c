"""The way to Redis: connections, scripts, channels, and what their failures become.

A call whose answer was lost is made again (twice at most), so every script is written to be told twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,  # noqa: A004  (the library's name; the built-in one is an OSError)
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from kernel.errors import BadSettings, RetryLater, StoreRefuses, StoreUnfit
from kernel.ports import MAX_MEMORIES
from kernel.stores import keys, rules
from kernel.stores.redis.batches import Batches

CONNECTIONS = 64
"""Of one process; further calls wait up to `WAIT_S` for a free one."""
CHANNELS = 16
"""Connections of one process that listen."""
WAIT_S = 5.0
ANSWER_WITHIN_S = 5.0
CONNECT_WITHIN_S = 3.0
_TRIES_MORE = 2
_LISTEN_AGAIN_S = 0.5

AWAY_FOR = timedelta(seconds=1)
"""What `RetryLater` asks for when Redis is away."""

_PASSES = ("OOM", "READONLY", "MISCONF", "LOADING", "BUSY", "NOREPLICAS", "MASTERDOWN")
"""First words of refusals that pass by themselves or when the operator has made room; nothing was written."""

_LUA_LIVES = {
    "closed_prompt": rules.KEEP_CLOSED_PROMPTS,
    "empty_line": rules.KEEP_OLD_HISTORY,
}
_LUA_LIMITS = {
    "most_notes": rules.MAX_NOTES,
    "most_parked": rules.MAX_PARKED,
    "most_memories": MAX_MEMORIES,
    "most_spenders": rules.MAX_SPENDERS,
    "most_ledger": rules.MAX_LEDGER,
    "history_slack": rules.HISTORY_SLACK,
}


class Server:
    """One Redis (or Valkey) as the ports of this package use it: text in and out, one error tree."""

    def __init__(self, url: str) -> None:
        """Raises `BadSettings` when `url` is no address; it is never quoted, as it may hold a password."""
        try:
            scheme = urlsplit(url).scheme
        except ValueError:
            scheme = ""
        if scheme not in ("redis", "rediss", "unix"):
            raise BadSettings("ZCLAW_REDIS_URL must begin with redis://, rediss:// or unix://")
        try:
            self.client = _client(url, CONNECTIONS, Retry(ExponentialBackoff(cap=0.5, base=0.05), _TRIES_MORE))
            self._ears = _client(url, CHANNELS, Retry(NoBackoff(), 0))
        except ValueError:
            raise BadSettings("ZCLAW_REDIS_URL cannot be read as an address (port, database number)") from None
        self._batches = Batches(self.client, within_s=ANSWER_WITHIN_S)
        self._scripts = {name: self.client.register_script(text) for name, text in _scripts().items()}

    async def run(self, script: str, *arguments: str | int) -> object:
        """What the script gives. Raises `RetryLater` when Redis is away, `StoreUnfit` when it refuses for good."""
        with failures():
            return await self._batches.run(self._scripts[script], arguments)

    async def ask(self, *command: str | int) -> object:
        """The answer to one command that may be told twice; raises as `run` does."""
        with failures():
            return await self._batches.ask(*command)

    async def heard(self, channel: str) -> AsyncGenerator[str | None, None]:
        """Messages on `channel` for ever; None whenever listening (again) begins, as some may have been missed."""
        while True:
            ear = self._ears.pubsub(ignore_subscribe_messages=True)
            try:
                async with asyncio.timeout(ANSWER_WITHIN_S):
                    await ear.subscribe(channel)
                yield None
                async for message in ear.listen():
                    yield str(message["data"])
            except (RedisError, OSError):
                # Redis is away: whoever waits has another way to learn of news, so there is nobody to tell.
                await asyncio.sleep(_LISTEN_AGAIN_S)
            finally:
                await ear.aclose()  # type: ignore[no-untyped-call]  # (so in redis-py 8.1)

    async def close(self) -> None:
        """Close all connections."""
        await self._batches.close()
        await self.client.aclose()
        await self._ears.aclose()


async def check(server: Server) -> None:
    """Raise `StoreUnfit` unless Redis keeps what it is given; `RetryLater` while it is away or still loading."""
    async with answering():
        known = await server.client.info("persistence")
        memory = await server.client.info("memory")
    if int(known.get("loading", 0)):
        raise RetryLater("Redis is still loading its data", AWAY_FOR)
    if not int(known.get("aof_enabled", 0)):
        raise StoreUnfit("Redis keeps no log and would lose messages: set `appendonly yes` in its configuration")
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreUnfit(f"Redis may evict what we promise to keep: set `maxmemory-policy noeviction` (it is {policy})")


@asynccontextmanager
async def answering() -> AsyncGenerator[None, None]:
    """Around one exchange with Redis: it is answered within `ANSWER_WITHIN_S`, or fails as `failures` says.

    The library's own `socket_timeout` is not used: it sends through `asyncio.wait_for`, which on Python 3.11 swallows
    a cancellation that comes while the bytes leave.
    """
    with failures():
        async with asyncio.timeout(ANSWER_WITHIN_S):
            yield


@contextmanager
def failures() -> Iterator[None]:
    """Turn the library's errors into ours; messages carry no address, as it may hold a password."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise _ours(error) from (None if isinstance(_root(error), _REFUSALS) else error)


_REFUSALS = (AuthenticationError, AuthorizationError, NoPermissionError)


def _ours(error: Exception) -> RetryLater | StoreUnfit:
    """What `error` is to us: who must act."""
    root = _root(error)
    word = str(root).split(" ", 1)[0]
    if isinstance(root, _REFUSALS):
        return StoreRefuses("Redis refuses our name or password: check ZCLAW_REDIS_URL")
    if isinstance(root, BusyLoadingError):
        return RetryLater("Redis is still loading its data", AWAY_FOR)
    if isinstance(root, OutOfMemoryError | ReadOnlyError) or word in _PASSES:
        return RetryLater("Redis cannot take it now: it is full, read-only or busy", AWAY_FOR)
    if isinstance(root, ResponseError):
        return StoreUnfit(f"Redis refuses a command: {str(root)[:200]}")
    return RetryLater("Redis is away", AWAY_FOR)


def _root(error: Exception) -> Exception:
    """The library wraps what went wrong while it connected in one more ConnectionError."""
    cause = error.__cause__
    return cause if type(error) is ConnectionError and isinstance(cause, RedisError) else error


def _client(url: str, connections: int, retry: Retry) -> redis.asyncio.Redis:
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=WAIT_S,
        socket_timeout=None,
        socket_connect_timeout=CONNECT_WITHIN_S,
        retry=retry,
        decode_responses=True,
        # Platforms let lone surrogates through; they come back as they went in.
        encoding_errors="surrogatepass",
    )
    return redis.asyncio.Redis.from_pool(pool)


@cache
def _scripts() -> dict[str, str]:
    """Every script by its name, each with the names of keys and the shared functions in front."""
    folder = files("kernel.stores").joinpath("lua")
    texts = {
        each.name.removesuffix(".lua"): each.read_text("utf-8")
        for each in folder.iterdir()
        if each.name.endswith(".lua")
    }
    shared = "".join(texts[name] for name in sorted(texts) if name.startswith("_"))
    lives = {key.word: key.lifetime for key in keys.KEYS if key.lifetime is not None} | _LUA_LIVES
    numbers = {word: int(life.total_seconds()) for word, life in lives.items()} | _LUA_LIMITS
    limits = "local L = {" + ",".join(f'["{word}"]={number}' for word, number in numbers.items()) + "}\n"
    head = keys.lua_names() + limits + shared
    return {name: head + text for name, text in texts.items() if not name.startswith("_")}
