"""The scheduler over the memory store and a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs

from kernel.chat import ConversationId
from kernel.errors import BadRecord, RetryLater
from kernel.ports import Alarm, TriggerPut
from kernel.schedule.values import Once
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.triggers import Action, Firing, Trigger
from tests.twins.clock import START, JumpingClock
from workers.scheduler import Fire, run_scheduler

WARD = ConversationId("telegram", "7")
SECOND = timedelta(seconds=1)


def trigger(name: str, at: datetime, conversation: ConversationId = WARD) -> Trigger:
    return Trigger(
        id=name,
        conversation=conversation,
        owner="1",
        schedule=Once((at,)),
        zone="Asia/Shanghai",
        text="查房",
        language="zh",
        action=Action.SAY,
        lateness=timedelta(hours=12),
        created=START,
    )


class House:
    """A store, a clock, and what was fired when."""

    def __init__(self) -> None:
        self.clock = JumpingClock()
        self.memory = Memory(self.clock)
        self.stores = memory_stores(self.clock, memory=self.memory)
        self.fired: list[tuple[str, timedelta]] = []
        self.rung: list[str] = []
        self.asked = 0

    def plan(self, name: str, after: timedelta, conversation: ConversationId = WARD) -> None:
        at = self.clock.now() + after
        self.memory.change_trigger(TriggerPut(trigger(name, at, conversation), at))

    async def fire(self, firing: Firing) -> None:
        """Claim as reminders do; only who claimed says so."""
        now = self.clock.now()
        if await self.stores.triggers.fire(firing, None, (), outcome="skipped", now=now):
            self.fired.append((firing.trigger.id, now - START))

    async def ring(self, conversation: ConversationId, alarm: Alarm) -> None:
        if await self.stores.triggers.ring(conversation, alarm, now=self.clock.now()):
            self.rung.append(alarm.token)

    @asynccontextmanager
    async def scheduler(self, fire: Fire | None = None, process: str = "s1") -> AsyncIterator[None]:
        """One scheduler running."""
        running = asyncio.create_task(
            run_scheduler(
                Counted(self.stores.triggers, self),
                fire or self.fire,
                self.ring,
                clock=self.clock,
                beats=Counted(self.stores.beats, self),
                process=process,
            )
        )
        try:
            yield
            assert not running.done(), running.exception()
        finally:
            running.cancel()
            await asyncio.wait({running})

    async def pass_(self, time: timedelta) -> None:
        await self.clock.run_to(self.clock.now() + time)


class Counted:
    """A port whose calls are counted."""

    def __init__(self, port: object, house: House) -> None:
        self._port = port
        self._house = house

    def __getattr__(self, name: str) -> Any:
        self._house.asked += 1
        return getattr(self._port, name)


def failing(error: Exception, house: House, names: Callable[[str], bool]) -> tuple[Fire, list[timedelta]]:
    """A `fire` that raises for some triggers, and when it was asked to."""
    tries: list[timedelta] = []

    async def fire(firing: Firing) -> None:
        if names(firing.trigger.id):
            tries.append(house.clock.now() - START)
            raise error
        await house.fire(firing)

    return fire, tries


Lines = list[MutableMapping[str, Any]]


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(autouse=True)
def lines() -> Iterator[Lines]:
    """What is logged."""
    with capture_logs() as lines:
        yield lines


async def test_a_trigger_fires_when_it_is_due_and_once(house: House) -> None:
    house.plan("rounds", timedelta(minutes=10))

    async with house.scheduler():
        await house.pass_(timedelta(minutes=20))

    assert house.fired == [("rounds", timedelta(minutes=10))]


async def test_a_new_trigger_wakes_the_sleeper(house: House) -> None:
    house.plan("later", timedelta(hours=1))

    async with house.scheduler():
        await house.pass_(timedelta(minutes=1))
        house.plan("soon", 2 * SECOND)
        await house.pass_(3 * SECOND)

    assert house.fired == [("soon", timedelta(minutes=1, seconds=2))]


async def test_an_alarm_is_rung(house: House) -> None:
    house.memory.set_due((WARD, "token"), START + 30 * SECOND)

    async with house.scheduler():
        await house.pass_(timedelta(minutes=1))

    assert house.rung == ["token"]
    assert house.fired == []


async def test_what_fell_due_while_nobody_ran_is_fired_in_order(house: House) -> None:
    for minute in (3, 1, 2):
        house.plan(f"m{minute}", timedelta(minutes=minute))
    house.clock.jump(timedelta(hours=1))

    async def slow_at_first(firing: Firing) -> None:
        for _ in range(int(5 / int(firing.trigger.id[1:]))):
            await asyncio.sleep(0)
        await house.fire(firing)

    async with house.scheduler(slow_at_first):
        await house.pass_(SECOND)

    assert [name for name, _ in house.fired] == ["m1", "m2", "m3"]


async def test_three_schedulers_fire_each_due_time_once(house: House) -> None:
    for number in range(300):
        chat = ConversationId("telegram", str(number))
        house.plan(f"t{number}", timedelta(seconds=number % 7), chat)

    async with house.scheduler(), house.scheduler(process="s2"), house.scheduler(process="s3"):
        await house.pass_(timedelta(minutes=1))

    assert sorted(name for name, _ in house.fired) == sorted(f"t{number}" for number in range(300))
    assert [process for _, process, _ in await house.stores.beats.seen()] == ["s1", "s2", "s3"]


async def test_a_trigger_that_raises_is_tried_again_ever_more_rarely(house: House, lines: Lines) -> None:
    house.plan("broken", SECOND)
    fire, tries = failing(BadRecord("no such zone"), house, lambda name: name == "broken")

    async with house.scheduler(fire):
        await house.pass_(timedelta(hours=2))

    assert [try_.total_seconds() for try_ in tries[:6]] == [1, 2, 4, 8, 16, 32]
    assert len(tries) < 40
    pauses = {later - earlier for earlier, later in pairwise(tries[10:])}
    assert pauses == {timedelta(minutes=5)}
    failed = [line for line in lines if line["event"] == "due failed"]
    assert len(failed) == len(tries)
    assert failed[0]["trigger"] == "broken"


async def test_triggers_that_raise_do_not_hold_up_the_others(house: House) -> None:
    for number in range(250):
        chat = ConversationId("telegram", str(number))
        house.plan(f"broken{number}", SECOND, chat)
    house.plan("behind", 2 * SECOND)
    house.plan("much later", timedelta(minutes=5))
    fire, tries = failing(ValueError("x"), house, lambda name: name.startswith("broken"))

    async with house.scheduler(fire):
        await house.pass_(timedelta(minutes=6))

    assert [name for name, _ in house.fired] == ["behind", "much later"]
    assert house.fired[0][1] <= 4 * SECOND
    assert house.fired[1][1] <= timedelta(minutes=5) + 2 * SECOND
    assert len(set(tries)) < 200


async def test_a_failure_of_one_in_a_chat_keeps_the_order_of_the_rest(house: House) -> None:
    for number in range(4):
        house.plan(f"t{number}", SECOND * number)
    house.clock.jump(timedelta(minutes=1))
    fire, _ = failing(ValueError("x"), house, lambda name: name == "t1")

    async with house.scheduler(fire):
        await house.pass_(SECOND / 2)

    assert [name for name, _ in house.fired] == ["t0", "t2", "t3"]


async def test_retry_later_is_obeyed(house: House) -> None:
    house.plan("busy", SECOND)
    error = RetryLater("too many", timedelta(seconds=40))
    fire, tries = failing(error, house, lambda _: True)

    async with house.scheduler(fire):
        await house.pass_(timedelta(seconds=90))

    assert [try_.total_seconds() for try_ in tries] == [1, 41, 81]


async def test_while_the_store_is_away_nothing_is_lost(house: House) -> None:
    house.plan("rounds", 10 * SECOND)

    async with house.scheduler():
        await house.pass_(5 * SECOND)
        house.memory.is_away = True
        await house.pass_(20 * SECOND)
        house.memory.is_away = False
        await house.pass_(5 * SECOND)

    ((name, at),) = house.fired
    assert name == "rounds"
    assert at <= 30 * SECOND


async def test_a_fire_that_leaves_its_trigger_due_is_no_loop_without_sleep(house: House) -> None:
    house.plan("stuck", SECOND)
    calls = 0

    async def fire(_: Firing) -> None:
        nonlocal calls
        calls += 1

    async with house.scheduler(fire):
        await house.pass_(SECOND)
        for _ in range(1000):
            await asyncio.sleep(0)

        assert calls == 1
        await house.pass_(SECOND)
        assert calls == 2


async def test_conversations_do_not_wait_for_each_other_but_not_all_run_at_once(house: House) -> None:
    for number in range(100):
        house.plan(f"t{number}", SECOND, ConversationId("telegram", str(number)))
    running = most = 0
    go = asyncio.Event()

    async def fire(firing: Firing) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go.wait()
        running -= 1
        await house.fire(firing)

    async with house.scheduler(fire):
        await house.pass_(2 * SECOND)
        assert most == running == 32
        go.set()
        await house.pass_(SECOND)

    assert len(house.fired) == 100
    assert most == 32


async def test_idle_it_asks_less_than_once_a_second_and_shows_that_it_lives(house: House) -> None:
    house.plan("tomorrow", timedelta(days=1))

    async with house.scheduler():
        await house.pass_(timedelta(minutes=10))

        ((role, process, beaten),) = await house.stores.beats.seen()

    assert (role, process) == ("scheduler", "s1")
    assert house.clock.now() - beaten <= 5 * SECOND
    assert house.asked <= 600
