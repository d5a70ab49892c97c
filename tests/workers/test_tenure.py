"""The permit that goes with a lease."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kernel.chat import ConversationId, Sender, UserMessage
from kernel.errors import LeaseLost
from kernel.ports import LEASE, Lease
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock
from workers.tenure import SAFETY_S, Tenure

HERE = ConversationId("twin", "1")


async def taken(stores: Stores, clock: JumpingClock, worker: str = "w1") -> Lease:
    checkout = await stores.conversations.checkout(worker, now=clock.now(), last_try=True)
    assert checkout is not None
    return checkout.lease


async def open_tenure() -> tuple[Tenure, Stores, JumpingClock]:
    clock = JumpingClock()
    stores = memory_stores(clock)
    await stores.conversations.put(UserMessage("e1", HERE, Sender("1"), 1, clock.now(), "x"), now=clock.now())
    asked_at = clock.boottime()
    lease = await taken(stores, clock)
    return Tenure(lease, stores.conversations, clock, asked_at=asked_at), stores, clock


async def test_a_permit_is_void_two_seconds_before_the_lease_ends() -> None:
    tenure, _, clock = await open_tenure()

    clock.jump(LEASE - timedelta(seconds=SAFETY_S + 0.1))
    assert tenure.has_permit()
    clock.jump(timedelta(seconds=0.1))
    assert not tenure.has_permit()


async def test_a_freeze_before_the_lease_was_seen_counts_against_the_permit() -> None:
    _, stores, clock = await open_tenure()
    asked_at = clock.boottime()
    clock.jump(LEASE + LEASE)
    lease = await taken(stores, clock, "w2")

    late = Tenure(lease, stores.conversations, clock, asked_at=asked_at)

    assert not late.has_permit()


async def test_a_lapsed_lease_that_nobody_took_is_renewed_and_gives_a_permit_again() -> None:
    tenure, _, clock = await open_tenure()
    clock.jump(LEASE)

    await tenure.refresh()

    assert tenure.has_permit()


async def test_once_somebody_else_holds_the_conversation_there_is_no_permit_any_more() -> None:
    tenure, stores, clock = await open_tenure()
    clock.jump(LEASE)
    await taken(stores, clock, "w2")

    with pytest.raises(LeaseLost):
        await tenure.refresh()
    assert not tenure.has_permit()
