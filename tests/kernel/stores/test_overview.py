"""How much waits: what every store must tell."""

from __future__ import annotations

from datetime import timedelta

from kernel.chat import ConversationId
from kernel.ports import LATE_AFTER, Standing, TriggerPut
from kernel.stores.stores import Stores
from tests.kernel.stores.words import MINUTE, SECOND, THERE, kept, prompt, reply, said, taken, trigger
from tests.twins.clock import JumpingClock

SLACK = ConversationId("slack", "D1")


async def test_an_empty_store_has_nothing_waiting(stores: Stores, clock: JumpingClock) -> None:
    found = await stores.overview.look(["telegram", "slack"], now=clock.now())

    assert found == Standing(0, {"telegram": 0, "slack": 0}, 0, 0)


async def test_a_conversation_is_ready_from_its_time_until_a_worker_has_it(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await stores.conversations.put(said(where=THERE), now=clock.now(), settle=SECOND)

    settling = await stores.overview.look((), now=clock.now())
    clock.jump(SECOND)
    settled = await stores.overview.look((), now=clock.now())
    await taken(stores, clock.now())
    held = await stores.overview.look((), now=clock.now())

    assert [settling.ready, settled.ready, held.ready] == [1, 2, 1]


async def test_what_is_to_be_sent_is_counted_by_platform_and_conversation(stores: Stores, clock: JumpingClock) -> None:
    for outbound in (reply(), reply(), prompt(where=THERE), reply(where=SLACK)):
        await stores.outbox.add(outbound, now=clock.now())
    await stores.outbox.pull("slack", "a1", now=clock.now())

    found = await stores.overview.look(["telegram", "slack", "console"], now=clock.now())

    assert found.waiting == {"telegram": 2, "slack": 1, "console": 0}


async def test_a_due_time_is_late_once_nobody_kept_it(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), triggers=(TriggerPut(trigger(), clock.now() + MINUTE),))

    clock.jump(MINUTE + LATE_AFTER)
    in_time = await stores.overview.look((), now=clock.now())
    clock.jump(timedelta(milliseconds=1))
    late = await stores.overview.look((), now=clock.now())

    assert [(each.due, each.late) for each in (in_time, late)] == [(1, 0), (1, 1)]
