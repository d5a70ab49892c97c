"""Workers that die and come back late, in any order: nothing is lost, nothing is read twice."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta

import pytest

from kernel.chat import ConversationId, UserMessage
from kernel.errors import LeaseLost
from kernel.ports import LEASE, Checkout, Outcome, Put, Step
from kernel.stores.stores import Stores
from tests.kernel.stores.words import SECOND, said, step
from tests.twins.clock import JumpingClock

CHATS = tuple(ConversationId("telegram", str(number)) for number in range(6))
MESSAGES = 120


class World:
    """Puts messages, lets workers take one commit at a time, kills them, and lets the dead come back."""

    def __init__(self, stores: Stores, clock: JumpingClock, chance: random.Random) -> None:
        self.stores, self.clock, self.chance = stores, clock, chance
        self.waiting = [said(str(number), where=chance.choice(CHATS)) for number in range(MESSAGES)]
        self.told: list[UserMessage] = []
        self.read: defaultdict[ConversationId, list[str]] = defaultdict(list)
        self.zombies: list[tuple[Checkout, Step]] = []
        self.revived = self.refused = 0

    async def put(self) -> None:
        message = self.waiting.pop(0)
        self.told.append(message)
        assert await self.stores.conversations.put(message, now=self.clock.now()) is not Put.DUPLICATE

    async def put_again(self) -> None:
        message = self.chance.choice(self.told)
        assert await self.stores.conversations.put(message, now=self.clock.now()) is Put.DUPLICATE

    async def work(self) -> None:
        checkout = await self.stores.conversations.checkout("w", now=self.clock.now(), last_try=True)
        if checkout is None:
            return
        due = await self.stores.conversations.due(checkout.lease, now=self.clock.now())
        made = step(checkout.session, Outcome.DONE, taken=tuple(item.id for item in due))
        texts = [item.inbound.text for item in due if isinstance(item.inbound, UserMessage)]
        fate = self.chance.random()
        if fate < 0.4:
            self.zombies.append((checkout, made))
        if fate < 0.3:
            return
        await self.stores.conversations.commit(checkout.lease, made, now=self.clock.now())
        self.read[checkout.lease.conversation] += texts
        if fate > 0.5:
            await self.stores.conversations.release(checkout.lease, now=self.clock.now(), keep=False)

    async def revive(self) -> None:
        """A zombie commits what it saw; only one whose lease nobody took may, and then it counts."""
        checkout, made = self.zombies.pop(self.chance.randrange(len(self.zombies)))
        due = await self.stores.conversations.due(checkout.lease, now=self.clock.now())
        texts = [item.inbound.text for item in due if item.id in made.taken and isinstance(item.inbound, UserMessage)]
        self.revived += 1
        try:
            await self.stores.conversations.commit(checkout.lease, made, now=self.clock.now())
        except LeaseLost:
            self.refused += 1
        else:
            self.read[checkout.lease.conversation] += texts


@pytest.mark.parametrize("seed", range(4))
async def test_every_message_is_read_once_and_in_order(stores: Stores, clock: JumpingClock, seed: int) -> None:
    world = World(stores, clock, random.Random(seed))

    while world.waiting:
        match world.chance.randrange(6):
            case 0 | 1:
                await world.put()
            case 2 if world.told:
                await world.put_again()
            case 3 if world.zombies:
                await world.revive()
            case 4:
                clock.jump(world.chance.choice((SECOND, LEASE / 2, LEASE)))
            case _:
                await world.work()
    rounds = 0
    while await stores.conversations.next_ready(now=clock.now()) is not None:
        clock.jump(timedelta(seconds=5))
        await world.work()
        rounds += 1
        assert rounds < 500

    for chat in CHATS:
        assert world.read[chat] == [message.text for message in world.told if message.conversation == chat]
    assert world.refused
    assert world.revived > world.refused
