"""A service that is overloaded for two minutes: nobody's reply is lost, nobody reads anything twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from kernel.errors import ProviderFailed
from kernel.messages import Message, ModelReply, ModelRequest, Role, Stop, Text
from kernel.providers.failover import OF_ONE, Failover
from kernel.providers.tries import PATIENCE, Ear, Patience, Persistence
from tests.twins.clock import JumpingClock
from tests.twins.conversation import HELLO

STORM = timedelta(seconds=120)
WORDS = ("今天", "查房", "九点")
DEADLINE = PATIENCE.whole


class Stormy:
    """A `Provider` with our tries over a service that fails until the storm is over, in each way that services do."""

    def __init__(
        self, clock: JumpingClock, chance: random.Random, ends: datetime, patience: Patience, name: str
    ) -> None:
        self.requests = 0
        self.most_tries = 0
        self._clock = clock
        self._chance = chance
        self._ends = ends
        self._persistence = Persistence(name, patience, clock, chance)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        ear = Ear(delta)
        tries = 0

        async def once() -> ModelReply:
            nonlocal tries
            tries += 1
            self.requests += 1
            self.most_tries = max(self.most_tries, tries)
            return self._once(ear)

        return await self._persistence.keep_trying(once, ear)

    def _once(self, ear: Ear) -> ModelReply:
        if self._clock.now() < self._ends:
            match self._chance.choice(["429", "429 with a wish", "529", "before text", "inside text"]):
                case "429 with a wish":
                    raise ProviderFailed("429", timedelta(seconds=self._chance.choice([1, 5, 20])))
                case "inside text":
                    ear.hear(WORDS[0])
                case _:
                    pass
            raise ProviderFailed("overloaded")
        for word in WORDS:
            ear.hear(word)
        return ModelReply(Message(Role.ASSISTANT, (Text("".join(WORDS)),)), Stop.END, by=self._name)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("models", [1, 2])
async def test_no_reply_is_lost_in_a_storm_and_no_text_doubled(models: int) -> None:
    """With two models, both are in it."""
    clock, chance = JumpingClock(), random.Random(7)
    began = clock.now()
    stormy = [
        Stormy(clock, chance, began + STORM, PATIENCE if models == 1 else OF_ONE, f"openai:{n}") for n in range(models)
    ]
    model = stormy[0] if models == 1 else Failover(stormy, clock=clock, random=chance)
    heard: list[list[str]] = [[] for _ in range(200)]
    took: list[timedelta] = []

    async def chat(own: list[str], after: timedelta) -> str:
        await clock.sleep_until(began + after)
        reply = await model.reply(HELLO, own.append)
        took.append(clock.now() - began - after)
        return reply.message.text

    async with asyncio.TaskGroup() as group:
        chats = [group.create_task(chat(own, STORM * chance.random())) for own in heard]
        await clock.run_to(began + DEADLINE + STORM, turns=30)
        replies = [await each for each in chats]

    assert replies == ["".join(WORDS)] * len(heard)
    assert max(took) <= DEADLINE
    assert all(own in ([], [WORDS[0]], list(WORDS)) for own in heard)
    assert {len(own) for own in heard} == {1, 3}
    assert max(each.most_tries for each in stormy) <= 6


async def test_one_model_in_a_storm_is_hardly_noticed_beside_another() -> None:
    clock, chance = JumpingClock(), random.Random(7)
    away = Stormy(clock, chance, clock.now() + STORM, OF_ONE, "openai:a")
    there = Stormy(clock, chance, clock.now(), OF_ONE, "openai:b")
    model = Failover([away, there], clock=clock, random=chance)
    by: list[str] = []
    waits: list[timedelta] = []

    async def talk() -> None:
        for _ in range(100):
            asked = clock.now()
            by.append((await model.reply(HELLO)).by)
            waits.append(clock.now() - asked)
            await clock.sleep_until(clock.now() + timedelta(seconds=3))

    talking = asyncio.create_task(talk())
    await clock.run_to(clock.now() + timedelta(seconds=600), turns=30)
    await talking

    assert max(waits) <= timedelta(seconds=22)
    assert sum(wait > timedelta() for wait in waits) <= 4
    assert by[-1] == "openai:a"
    assert away.requests - by.count("openai:a") <= 8
