"""Whatever happens in whatever order, a conversation keeps its promises, and every store comes to the same sessions.

Each play is judged by invariants that know nothing of `apply` (tests/twins/judge.py). A play that fails is made
as short as it can be and printed with its seed; `replay` plays it again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
import redis

from kernel.chat import ConversationId
from kernel.session import Session
from kernel.stores.memory.stores import memory_stores
from kernel.stores.redis.stores import open_stores
from tests.twins.clock import JumpingClock
from tests.twins.interleaving import Move, Scene, plan
from tests.twins.plain_store import PlainStore, RealStore, Store

PLAYS = 10_000
MEMORY_PLAYS = 400
REDIS_PLAYS = 250

SEEN_OFTEN = (
    "asked, Voted: asked",
    "asked, Voted: ready",
    "asked, Denied: answered",
    "asked, Worded: answered",
    "asked, Spoken: answered",
    "asked, Broken: answered",
    "ready, Asked: asked",
    "ready, Went: claimed",
    "ready, Went: opened",
    "ready, Returned: answered",
    "ready, Spoken: answered",
    "ready, Broken: answered",
    "claimed, Returned: answered",
    "claimed, Resumed: answered",
    "opened, ModelReplied: answered",
    "opened, Spoken: answered",
    "opened, Broken: answered",
    "crash",
    "zombie",
    "expiry",
    "parked",
    "stop",
    "Restored",
    "misfit",
)
"""What every large number of plays comes to; a row that is never reached is not tested."""

Attempt = Callable[[Sequence[Move], str], Awaitable[str]]
"""Play the moves in the chat of that name: what was broken, empty when nothing was."""


def plain(chat: str) -> PlainStore:
    """An empty store for one conversation."""
    return PlainStore(Session(ConversationId("twin", chat)))


async def replay(seed: int) -> None:
    """Play the play of `seed` on `apply` alone, once."""
    await Scene(plain(str(seed)), str(seed)).play(plan(seed))


async def judged(scene: Scene, moves: Sequence[Move]) -> str:
    """What the play broke."""
    try:
        await scene.play(moves)
    except Exception as error:  # A play that breaks in any way is a finding.
        return f"{type(error).__name__}: {error}"
    return ""


def on_apply(tally: Counter[str]) -> Attempt:
    """Play on `apply`, `advance` and `harvest` alone."""

    async def attempt(moves: Sequence[Move], chat: str) -> str:
        return await judged(Scene(plain(chat), chat, tally), moves)

    return attempt


def on_both(open_store: Callable[[], Awaitable[Store]], tally: Counter[str]) -> Attempt:
    """Play on `apply` and on a store: both keep their promises and come to the same."""

    async def attempt(moves: Sequence[Move], chat: str) -> str:
        expected = Scene(plain(chat), chat)
        if broken := await judged(expected, moves):
            return broken
        scene = Scene(await open_store(), chat, tally)
        if broken := await judged(scene, moves):
            return f"on the store alone: {broken}"
        for number, (mine, its) in enumerate(zip(expected.trace, scene.trace, strict=False)):
            if mine != its:
                return f"step {number}: expected {mine}, the store gave {its}"
        return "" if len(expected.trace) == len(scene.trace) else "one went on longer than the other"

    return attempt


async def play_all(seeds: range, attempt: Attempt, before_again: Callable[[], Awaitable[None]] | None = None) -> float:
    """Play the plays of all seeds, one after the other; fails with the first that breaks something, made short."""
    began = time.monotonic()
    for seed in seeds:
        moves = plan(seed)
        broken = await attempt(moves, str(seed))
        if broken:
            moves, broken = await _shortened(moves, broken, attempt, before_again)
            pytest.fail(f"seed {seed}: {broken}\nshortest play: {moves}")
    return time.monotonic() - began


async def _shortened(
    moves: list[Move], broken: str, attempt: Attempt, before_again: Callable[[], Awaitable[None]] | None
) -> tuple[list[Move], str]:
    """Leave out moves as long as anything still breaks."""
    position = 0
    while position < len(moves):
        if before_again is not None:
            await before_again()
        fewer = moves[:position] + moves[position + 1 :]
        still = await attempt(fewer, f"again-{len(moves)}-{position}")
        if still:
            moves, broken = fewer, still
        else:
            position += 1
    return moves, broken


def told(plays: int, tally: Counter[str], took_s: float) -> None:
    """Print what was played, and see that nothing was left out."""
    print(f"\n{plays} plays in {took_s:.1f} s: " + ", ".join(f"{what} {n}" for what, n in sorted(tally.items())))
    assert not [what for what in SEEN_OFTEN if tally[what] < plays / 1000]


@pytest.mark.timeout(400)
def test_ten_thousand_interleavings_keep_every_promise() -> None:
    tally: Counter[str] = Counter()

    took_s = asyncio.run(play_all(range(PLAYS), on_apply(tally)))

    told(PLAYS, tally, took_s)


async def test_the_memory_store_comes_to_the_same_sessions() -> None:
    tally: Counter[str] = Counter()

    async def fresh() -> Store:
        return RealStore(memory_stores(JumpingClock()))

    took_s = await play_all(range(MEMORY_PLAYS), on_both(fresh, tally))

    told(MEMORY_PLAYS, tally, took_s)


@asynccontextmanager
async def redis_attempt(url: str, tally: Counter[str]) -> AsyncIterator[tuple[Attempt, Callable[[], Awaitable[None]]]]:
    """Plays over one Redis, and how to empty it after one that failed."""
    stores = await open_stores(url, JumpingClock())

    async def the_same() -> Store:
        return RealStore(stores)

    async def emptied() -> None:
        with redis.Redis.from_url(url) as client:
            client.flushall()

    try:
        yield on_both(the_same, tally), emptied
    finally:
        await stores.close()


async def test_redis_comes_to_the_same_sessions(redis_url: str) -> None:
    tally: Counter[str] = Counter()

    async with redis_attempt(redis_url, tally) as (attempt, emptied):
        took_s = await play_all(range(REDIS_PLAYS), attempt, emptied)

    told(REDIS_PLAYS, tally, took_s)


@pytest.mark.chaos
async def test_redis_comes_to_the_same_sessions_ten_thousand_times(redis_url: str) -> None:
    tally: Counter[str] = Counter()

    async with redis_attempt(redis_url, tally) as (attempt, emptied):
        took_s = await play_all(range(PLAYS), attempt, emptied)

    told(PLAYS, tally, took_s)
