from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from bots.counters import COUNTED, Counters
from bots.metrics import Lookout
from kernel.chat import ConversationId, Reply
from kernel.ports import Standing
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock

LINE = re.compile(r'zclaw_[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? [0-9.e-]+')


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def memory(clock: JumpingClock) -> Memory:
    return Memory(clock)


@pytest.fixture
def stores(clock: JumpingClock, memory: Memory) -> Stores:
    return memory_stores(clock, memory=memory)


def lookout(stores: Stores, clock: JumpingClock, counters: Counters | None = None, *, runs: bool = True) -> Lookout:
    return Lookout(
        stores.overview, stores.beats, counters or Counters(), ["telegram"], clock, lambda: {"telegram": runs}
    )


class Hanging:
    """An overview whose answer does not come."""

    async def look(self, platforms: Sequence[str], *, now: datetime) -> Standing:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


def values(text: str) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


async def test_the_numbers_tell_what_was_counted_and_what_waits(stores: Stores, clock: JumpingClock) -> None:
    counters = Counters()
    for _ in range(3):
        counters.count("inbound", platform="telegram", outcome="stored")
    counters.count("delivery", outcome="failed", platform="telegram")
    await stores.outbox.add(Reply(ConversationId("telegram", "1"), "hi"), now=clock.now())
    await stores.beats.beat("worker", "h-1", now=clock.now())
    await stores.beats.beat("worker", "h-2", now=clock.now())

    text = await lookout(stores, clock, counters).metrics()

    assert values(text) == {
        'zclaw_inbound_total{platform="telegram",outcome="stored"}': "3",
        'zclaw_delivery_total{platform="telegram",outcome="failed"}': "1",
        "zclaw_store_up": "1",
        "zclaw_store_answer_seconds": "0.0",
        'zclaw_processes{role="bots"}': "0",
        'zclaw_processes{role="scheduler"}': "0",
        'zclaw_processes{role="worker"}': "2",
        "zclaw_conversations_ready": "0",
        'zclaw_outbox_conversations{platform="telegram"}': "1",
        "zclaw_due_times": "0",
        "zclaw_due_times_late": "0",
    }


async def test_every_line_is_one_that_prometheus_reads(stores: Stores, clock: JumpingClock) -> None:
    counters = Counters()
    counters.count("http", path="/telegram", status="200")

    text = await lookout(stores, clock, counters).metrics()

    assert text.endswith("\n")
    for line in text.splitlines():
        assert LINE.fullmatch(line) or re.fullmatch(r"# (HELP|TYPE) zclaw_[a-z_]+ .+", line), line
    typed = re.findall(r"# TYPE (\S+) (\S+)", text)
    assert all((kind == "counter") == name.endswith("_total") for name, kind in typed)
    assert len({name for name, _ in typed}) == len(typed)


async def test_a_label_keeps_its_line_whatever_is_in_it(stores: Stores, clock: JumpingClock) -> None:
    counters = Counters()
    counters.count("http", path='a"b\\c\nd', status="404")

    text = await lookout(stores, clock, counters).metrics()

    assert r'zclaw_http_total{path="a\"b\\c\nd",status="404"} 1' in text.splitlines()


async def test_a_process_that_was_not_seen_lately_is_not_counted(stores: Stores, clock: JumpingClock) -> None:
    await stores.beats.beat("scheduler", "h-1", now=clock.now())
    clock.jump(timedelta(seconds=15))

    assert values(await lookout(stores, clock).metrics())['zclaw_processes{role="scheduler"}'] == "0"


async def test_while_the_store_is_away_what_is_counted_here_is_told_all_the_same(
    stores: Stores, clock: JumpingClock, memory: Memory
) -> None:
    counters = Counters()
    counters.count("http", path="/telegram", status="503")
    memory.is_away = True

    text = await lookout(stores, clock, counters).metrics()

    assert values(text) == {'zclaw_http_total{path="/telegram",status="503"}': "1", "zclaw_store_up": "0"}


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize("is_away", [True, False])
async def test_health_names_the_store_and_every_adapter(
    stores: Stores, clock: JumpingClock, memory: Memory, runs: bool, is_away: bool
) -> None:
    memory.is_away = is_away

    assert await lookout(stores, clock, runs=runs).health() == {"store": not is_away, "telegram": runs}


async def test_a_store_that_hangs_is_no_health(
    stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.metrics._ANSWER_WITHIN_S", 0.05)
    watch = Lookout(Hanging(), stores.beats, Counters(), [], clock, dict)

    assert await watch.health() == {"store": False}


def test_only_what_is_known_is_counted_and_with_its_own_labels() -> None:
    counters = Counters()

    with pytest.raises(KeyError):
        counters.count("person", id="1001")
    with pytest.raises(AssertionError):
        counters.count("inbound", platform="telegram", person="1001")
    assert not {"person", "chat", "id", "user"} & {name for _, names in COUNTED.values() for name in names}
