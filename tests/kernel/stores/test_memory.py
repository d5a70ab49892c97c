"""What the twin can do beyond its port: be away, and be shared like a server."""

from __future__ import annotations

import pytest

from kernel.chat import Sender
from kernel.errors import RetryLater
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.kernel.stores.words import said, taken
from tests.twins.clock import JumpingClock


async def test_while_it_is_away_callers_are_told_to_try_later(clock: JumpingClock) -> None:
    memory = Memory(clock)
    stores = memory_stores(clock, memory=memory)
    memory.is_away = True

    for call in (
        stores.conversations.put(said(), now=clock.now()),
        stores.conversations.checkout("w1", now=clock.now(), last_try=True),
        stores.outbox.pull("telegram", "a1", now=clock.now()),
        stores.triggers.next_due(),
        stores.prompts.get("tok"),
        stores.people.see("telegram", Sender("42")),
        stores.blobs.put(b"bytes"),
        stores.beats.seen(),
        stores.wakeups.hint(),
    ):
        with pytest.raises(RetryLater):
            await call


async def test_two_processes_share_one_memory(clock: JumpingClock) -> None:
    memory = Memory(clock)
    one, other = memory_stores(clock, memory=memory), memory_stores(clock, memory=memory)

    await one.conversations.put(said(), now=clock.now())

    assert (await taken(other, clock.now())).lease.fence == 1
    assert await one.conversations.checkout("w2", now=clock.now(), last_try=True) is None
