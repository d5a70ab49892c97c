"""How fast a platform is called by all processes together: the same in memory and in Redis."""

from __future__ import annotations

from datetime import timedelta

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import RetryLater
from kernel.ports.floods import LONGEST_REST, Limit, Tally
from kernel.stores import keys
from kernel.stores.memory.floods import MemoryFloods
from kernel.stores.memory.state import Memory
from kernel.stores.stores import Stores
from tests.kernel.stores.words import SECOND
from tests.twins.clock import START, JumpingClock

STRANGE = "telegram/*:?[b\n"
CHAT = Limit(STRANGE, 3, 3 * SECOND)
OTHER = Limit("telegram/2", 3, 3 * SECOND)
WHOLE = Limit("telegram", 4, SECOND)
NOW = timedelta()


async def test_calls_go_until_the_window_is_full_and_then_wait_for_the_oldest_to_leave(
    stores: Stores, clock: JumpingClock
) -> None:
    waits = []
    for _ in range(4):
        waits.append(await stores.floods.take([CHAT], now=clock.now()))
        clock.jump(SECOND / 2)
    clock.jump(waits[-1] - SECOND / 2)

    then = await stores.floods.take([CHAT], now=clock.now())
    after = await stores.floods.take([CHAT], now=clock.now())

    assert waits == [NOW, NOW, NOW, 1.5 * SECOND]
    assert [then, after] == [NOW, SECOND / 2]


async def test_of_a_limit_that_refills_some_go_at_once_and_then_one_for_each_that_came_back(
    stores: Stores, clock: JumpingClock
) -> None:
    chat = Limit(STRANGE, 3, 3 * SECOND, refills=True)

    at_once = [await stores.floods.take([chat], now=clock.now()) for _ in range(4)]
    clock.jump(SECOND)
    next_ones = [await stores.floods.take([chat], now=clock.now()) for _ in range(2)]
    clock.jump(SECOND * 1.5)
    later = [await stores.floods.take([chat], now=clock.now()) for _ in range(2)]
    clock.jump(10 * SECOND)
    rested = [await stores.floods.take([chat], now=clock.now()) for _ in range(4)]

    assert at_once == [NOW, NOW, NOW, SECOND]
    assert next_ones == [NOW, SECOND]
    assert later == [NOW, SECOND / 2]
    assert rested == [NOW, NOW, NOW, SECOND]


async def test_what_has_another_name_does_not_wait(stores: Stores, clock: JumpingClock) -> None:
    for _ in range(3):
        await stores.floods.take([CHAT], now=clock.now())

    assert await stores.floods.take([OTHER], now=clock.now()) == NOW
    assert await stores.floods.take([CHAT], now=clock.now()) == 3 * SECOND


async def test_a_call_is_counted_against_all_its_limits_or_against_none(stores: Stores, clock: JumpingClock) -> None:
    for _ in range(3):
        await stores.floods.take([CHAT, WHOLE], now=clock.now())
    refused = [await stores.floods.take([CHAT, WHOLE], now=clock.now()) for _ in range(5)]

    last = await stores.floods.take([OTHER, WHOLE], now=clock.now())
    full = await stores.floods.take([OTHER, WHOLE], now=clock.now())
    clock.jump(SECOND)
    then = [await stores.floods.take([OTHER], now=clock.now()) for _ in range(3)]

    assert refused == [3 * SECOND] * 5
    assert [last, full] == [NOW, SECOND]
    assert then == [NOW, NOW, 2 * SECOND]


async def test_who_can_wait_leaves_what_is_kept_for_others(stores: Stores, clock: JumpingClock) -> None:
    draft = Limit(STRANGE, 3, 3 * SECOND, kept=2)

    drafts = [await stores.floods.take([draft], now=clock.now()) for _ in range(2)]
    answers = [await stores.floods.take([CHAT], now=clock.now()) for _ in range(3)]
    clock.jump(SECOND)
    late = await stores.floods.take([draft], now=clock.now())

    assert drafts == [NOW, 3 * SECOND]
    assert answers == [NOW, NOW, 3 * SECOND]
    assert late == 2 * SECOND


async def test_what_rests_lets_nobody_through_until_then(stores: Stores, clock: JumpingClock) -> None:
    await stores.floods.rest(STRANGE, clock.now() + 9 * SECOND, now=clock.now())
    await stores.floods.rest(STRANGE, clock.now() + 4 * SECOND, now=clock.now())
    clock.jump(2 * SECOND)

    waits = [await stores.floods.take(limits, now=clock.now()) for limits in ([CHAT], [Limit(STRANGE)], [OTHER])]
    clock.jump(7 * SECOND)
    then = [await stores.floods.take([CHAT], now=clock.now()) for _ in range(4)]

    assert waits == [7 * SECOND, 7 * SECOND, NOW]
    assert then == [NOW, NOW, NOW, 3 * SECOND]


async def test_a_rest_without_end_ends(stores: Stores, clock: JumpingClock) -> None:
    await stores.floods.rest(STRANGE, clock.now() + timedelta(days=400), now=clock.now())

    assert await stores.floods.take([CHAT], now=clock.now()) == LONGEST_REST


async def test_a_clock_that_ran_ahead_costs_others_one_window(stores: Stores, clock: JumpingClock) -> None:
    for _ in range(3):
        await stores.floods.take([CHAT], now=clock.now() + timedelta(hours=1))

    assert await stores.floods.take([CHAT], now=clock.now()) == 3 * SECOND


async def test_calls_that_are_not_counted_only_look_whether_it_rests(stores: Stores, clock: JumpingClock) -> None:
    waits = [await stores.floods.take([Limit(STRANGE)], now=clock.now()) for _ in range(9)]

    assert waits == [NOW] * 9


async def test_the_server_keeps_no_more_than_it_needs_and_forgets_it(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for _ in range(5):
        await redis_stores.floods.take([CHAT], now=clock.now())
        clock.jump(3 * SECOND)
    await redis_stores.floods.rest(STRANGE, clock.now() + 9 * SECOND, now=clock.now())

    assert raw.llen(keys.FLOOD.of(STRANGE)) == 3
    assert 0 < raw.pttl(keys.FLOOD.of(STRANGE)) <= 3000
    assert 0 < raw.pttl(keys.REST.of(STRANGE)) <= 9000


@pytest.mark.parametrize(
    ("most", "window", "kept"),
    [(-1, SECOND, 0), (201, SECOND, 0), (3, timedelta(hours=1), 0), (3, SECOND, 3), (3, SECOND, -1)],
)
def test_a_limit_that_cannot_be_kept_is_no_limit(most: int, window: timedelta, kept: int) -> None:
    with pytest.raises(ValueError, match="a limit that"):
        Limit("a", most, window, kept)


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.sampled_from(["a", "b"]), st.booleans()), max_size=60),
    st.integers(1, 5),
)
def test_no_window_ever_holds_more_than_it_may_and_waits_are_exact(
    calls: list[tuple[int, str, bool]], most: int
) -> None:
    tally, now = Tally(), START
    went: dict[str, list[int]] = {"a": [], "b": [], "": []}
    for pause_ms, name, is_draft in calls:
        now += timedelta(milliseconds=pause_ms)
        kept = most - 1 if is_draft else 0
        limits = [Limit(name, most, 3 * SECOND, kept), Limit("", 2 * most, SECOND)]
        wait = tally.take(limits, now)
        if wait:
            assert tally.wait(limits, now + wait - timedelta(microseconds=1))
            assert not tally.wait(limits, now + wait)
        else:
            for key in (name, ""):
                went[key].append((now - START) // timedelta(milliseconds=1))

    for key, span, limit in (("a", 3000, most), ("b", 3000, most), ("", 1000, 2 * most)):
        assert all(later - at >= span for at, later in zip(went[key], went[key][limit:], strict=False))


async def test_a_store_that_is_away_says_so() -> None:
    memory = Memory(JumpingClock())
    memory.is_away = True

    with pytest.raises(RetryLater):
        await MemoryFloods(memory).take([CHAT], now=memory.clock.now())
