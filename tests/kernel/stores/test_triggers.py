"""Due times, firings, alarms and the ledger: what every store of triggers must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from kernel.chat import Expired, MessageRef
from kernel.ports import LEASE, Alarm, LedgerLine, Put, TriggerGone, TriggerPut
from kernel.stores.stores import Stores
from kernel.triggers import Firing, Trigger
from tests.kernel.stores.words import (
    HERE,
    MINUTE,
    SECOND,
    THERE,
    closed,
    kept,
    prompt,
    record,
    reply,
    taken,
    trigger,
)
from tests.twins.clock import JumpingClock

SLOT = timedelta(hours=1)


async def stored(stores: Stores, clock: JumpingClock, due: datetime | None, made: Trigger | None = None) -> Trigger:
    made = made or trigger()
    await kept(stores, clock.now(), where=made.conversation, triggers=(TriggerPut(made, due),))
    return made


async def test_a_due_time_comes_back_exactly(stores: Stores, clock: JumpingClock) -> None:
    """A due time that lost its microseconds would be found again by `next_fire`, and fire twice."""
    due = clock.now() + timedelta(seconds=1, microseconds=123_457)
    made = await stored(stores, clock, due)

    assert await stores.triggers.due(now=due, limit=10) == (Firing(made, due),)
    assert await stores.triggers.due(now=due - timedelta(microseconds=1), limit=10) == ()
    assert await stores.triggers.next_due() == due


async def test_triggers_are_listed_by_their_next_time(stores: Stores, clock: JumpingClock) -> None:
    for name, due in (("rests", None), ("late", clock.now() + SLOT), ("soon", clock.now() + MINUTE)):
        await stored(stores, clock, due, trigger(name))
    await stored(stores, clock, clock.now(), trigger("other", where=THERE))

    listed = await stores.triggers.list(HERE)

    assert [(each.id, due) for each, due in listed] == [
        ("soon", clock.now() + MINUTE),
        ("late", clock.now() + SLOT),
        ("rests", None),
    ]
    assert [each.id for each, _ in await stores.triggers.all()] == ["other", "soon", "late", "rests"]
    assert await stores.triggers.get("rests") == trigger("rests")
    assert await stores.triggers.get("unknown") is None
    assert await stores.triggers.count("telegram") == 3
    assert await stores.triggers.count("slack") == 0


async def test_a_removed_trigger_is_gone(stores: Stores, clock: JumpingClock) -> None:
    await stored(stores, clock, clock.now())

    await kept(stores, clock.now(), triggers=(TriggerGone("t1"),))

    assert await stores.triggers.list(HERE) == ()
    assert await stores.triggers.due(now=clock.now(), limit=10) == ()
    assert await stores.triggers.count("telegram") == 0


async def test_a_trigger_moves_with_its_conversation(stores: Stores, clock: JumpingClock) -> None:
    await stored(stores, clock, clock.now())

    await kept(stores, clock.now(), triggers=(TriggerPut(trigger(where=THERE, revision=1), clock.now()),))

    assert await stores.triggers.list(HERE) == ()
    assert len(await stores.triggers.list(THERE)) == 1


async def test_firing_sends_and_sets_the_next_time(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)

    fired = await stores.triggers.fire(
        Firing(made, due), due + SLOT, (prompt(),), (record(),), outcome="claimed", note="fired: 查房", now=due
    )

    assert fired
    assert await stores.triggers.next_due() == due + SLOT
    delivery = await stores.outbox.pull("telegram", "a1", now=due)
    assert delivery is not None
    assert delivery.outbound == prompt()
    assert await stores.prompts.get("tok") == record()
    assert await stores.triggers.ledger("t1") == (LedgerLine("t1", due, "claimed"),)
    await kept(stores, due)
    assert (await _notes(stores, clock)) == ("fired: 查房",)


async def _notes(stores: Stores, clock: JumpingClock) -> tuple[str, ...]:
    await stores.triggers.ring(HERE, Alarm("none", clock.now()), now=clock.now())
    await kept(stores, clock.now(), taken=())
    return (await taken(stores, clock.now())).notes


async def test_a_due_time_fires_once(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)
    firing = Firing(made, due)
    first = await stores.triggers.fire(firing, due + SLOT, (reply("one"),), outcome="claimed", now=due)

    second = await stores.triggers.fire(firing, due + SLOT, (reply("two"),), outcome="claimed", now=due)

    assert (first, second) == (True, False)
    delivery = await stores.outbox.pull("telegram", "a1", now=due)
    assert delivery is not None
    assert await stores.outbox.done(delivery, now=due) is None


@pytest.mark.parametrize("change", ["changed", "moved", "gone", "paused"])
async def test_a_trigger_that_is_no_longer_as_it_was_read_does_not_fire(
    stores: Stores, clock: JumpingClock, change: str
) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)
    newer = replace(made, revision=1, text="别的")
    changes = {
        "changed": TriggerPut(newer, due),
        "moved": TriggerPut(made, due + MINUTE),
        "gone": TriggerGone(made.id),
        "paused": TriggerPut(made, None),
    }
    await kept(stores, due, triggers=(changes[change],))

    fired = await stores.triggers.fire(
        Firing(made, due), due + SLOT, (reply(),), (record(),), outcome="claimed", now=due
    )

    assert not fired
    assert await stores.outbox.pull("telegram", "a1", now=due) is None
    assert await stores.prompts.get("tok") is None
    assert await stores.triggers.ledger("t1") == ()


async def test_a_trigger_without_a_next_time_is_removed(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)

    await stores.triggers.fire(Firing(made, due), None, (reply(),), outcome="claimed", now=due)

    assert await stores.triggers.get("t1") is None
    assert await stores.triggers.next_due() is None
    assert len(await stores.triggers.ledger("t1")) == 1


# --- the ledger


@pytest.mark.parametrize(("outcome", "word"), [("claimed", "delivered"), ("late", "late")])
async def test_only_a_message_id_proves_a_delivery(
    stores: Stores, clock: JumpingClock, outcome: str, word: str
) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)
    await stores.triggers.fire(Firing(made, due), due + SLOT, (closed("old"), prompt()), outcome=outcome, now=due)
    closing = await stores.outbox.pull("telegram", "a1", now=due)
    assert closing is not None

    delivery = await stores.outbox.done(closing, now=due)
    before = await stores.triggers.ledger("t1")
    assert delivery is not None
    delivery = await stores.outbox.split(delivery, ("⏰",), now=due)
    delivery = await stores.outbox.sent(delivery, MessageRef(HERE, "77"), now=due)
    await stores.outbox.done(delivery, now=due)

    assert before == (LedgerLine("t1", due, "claimed"),)
    assert await stores.triggers.ledger("t1") == (LedgerLine("t1", due, word, "message 77"),)


async def test_whether_a_delivery_without_an_id_arrived_is_unknown(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)
    await stores.triggers.fire(Firing(made, due), due + SLOT, (prompt(),), outcome="claimed", now=due)
    delivery = await stores.outbox.pull("telegram", "a1", now=due)
    assert delivery is not None

    delivery = await stores.outbox.split(delivery, ("⏰",), now=due)
    await stores.outbox.done(await stores.outbox.sent(delivery, None, now=due), now=due)

    assert await stores.triggers.ledger("t1") == (LedgerLine("t1", due, "unknown", "sent, without a message id"),)


async def test_a_delivery_that_fails_is_in_the_ledger(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)
    await stores.triggers.fire(Firing(made, due), due + SLOT, (prompt(),), outcome="claimed", now=due)
    delivery = await stores.outbox.pull("telegram", "a1", now=due)
    assert delivery is not None

    await stores.outbox.fail(delivery, "the bot was blocked", now=due)

    assert await stores.triggers.ledger("t1") == (LedgerLine("t1", due, "failed", "the bot was blocked"),)


async def test_a_skipped_time_is_in_the_ledger_at_once(stores: Stores, clock: JumpingClock) -> None:
    due = clock.now()
    made = await stored(stores, clock, due)

    await stores.triggers.fire(Firing(made, due), due + SLOT, (reply("missed"),), outcome="skipped", now=due)

    assert await stores.triggers.ledger("t1") == (LedgerLine("t1", due, "skipped"),)


async def test_the_ledger_keeps_ninety_days(stores: Stores, clock: JumpingClock) -> None:
    made = await stored(stores, clock, clock.now())
    dues = [clock.now() + days * timedelta(days=1) for days in (0, 50, 91, 100)]
    for due, after in zip(dues, (*dues[1:], None), strict=True):
        await stores.triggers.fire(Firing(made, due), after, (), outcome="skipped", now=due)

    assert [line.due for line in await stores.triggers.ledger("t1")] == dues[1:]


# --- alarms


async def test_an_alarm_rings_in_its_conversation(stores: Stores, clock: JumpingClock) -> None:
    at = clock.now() + SECOND
    await kept(stores, clock.now(), alarms=(Alarm("to:k|n", at),))
    assert await stores.triggers.due(now=clock.now(), limit=10) == ()
    clock.jump(SECOND)
    assert await stores.triggers.due(now=clock.now(), limit=10) == ((HERE, Alarm("to:k|n", at)),)

    put = await stores.triggers.ring(HERE, Alarm("to:k|n", at), now=clock.now())

    assert put in (Put.HINTED, Put.STORED)
    assert await stores.triggers.next_due() is None
    checkout = await taken(stores, clock.now())
    (item,) = await stores.conversations.due(checkout.lease, now=clock.now())
    assert isinstance(item.inbound, Expired)
    assert (item.inbound.token, item.inbound.at, item.inbound.conversation) == ("to:k|n", at, HERE)


async def test_an_alarm_rings_once(stores: Stores, clock: JumpingClock) -> None:
    alarm = Alarm("tok", clock.now())
    await kept(stores, clock.now(), alarms=(alarm,))
    await stores.triggers.ring(HERE, alarm, now=clock.now())

    assert await stores.triggers.ring(HERE, alarm, now=clock.now()) is None


async def test_an_alarm_that_is_set_again_rings_again(stores: Stores, clock: JumpingClock) -> None:
    alarm = Alarm("tok", clock.now())
    for _ in range(2):
        await kept(stores, clock.now(), alarms=(alarm,))

        assert await stores.triggers.ring(HERE, alarm, now=clock.now()) is not None


@pytest.mark.parametrize("later", [MINUTE, None])
async def test_an_alarm_that_was_moved_or_removed_is_silent(
    stores: Stores, clock: JumpingClock, later: timedelta | None
) -> None:
    alarm = Alarm("tok", clock.now())
    await kept(stores, clock.now(), alarms=(alarm,))
    await kept(stores, clock.now(), alarms=(Alarm("tok", clock.now() + later if later else None),))

    assert await stores.triggers.ring(HERE, alarm, now=clock.now()) is None
    assert await stores.conversations.next_ready(now=clock.now()) is None


async def test_an_alarm_tells_the_holder(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), alarms=(Alarm("tok", clock.now()),), taken=())
    await taken(stores, clock.now())

    assert await stores.triggers.ring(HERE, Alarm("tok", clock.now()), now=clock.now()) is Put.HELD


async def test_what_is_due_comes_earliest_first_and_no_more_than_asked(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await stored(stores, clock, now + 2 * SECOND, trigger("second"))
    await kept(stores, now, alarms=(Alarm("first", now + SECOND),))
    await stored(stores, clock, now + 3 * SECOND, trigger("third"))

    due = await stores.triggers.due(now=now + LEASE, limit=2)

    assert due == ((HERE, Alarm("first", now + SECOND)), Firing(trigger("second"), now + 2 * SECOND))


# --- waiting


async def test_waiting_ends_at_its_time(stores: Stores, clock: JumpingClock) -> None:
    waits = asyncio.create_task(stores.triggers.wait(clock.now() + MINUTE))
    await clock.sleeper()
    assert not waits.done()

    clock.jump(MINUTE)

    await asyncio.wait_for(waits, 5)


async def test_waiting_ends_when_something_earlier_is_stored(stores: Stores, clock: JumpingClock) -> None:
    waits = asyncio.create_task(stores.triggers.wait(clock.now() + SLOT))
    await clock.sleeper()

    await stored(stores, clock, clock.now() + MINUTE)

    await asyncio.wait_for(waits, 5)


async def test_waiting_goes_on_when_something_later_is_stored(stores: Stores, clock: JumpingClock) -> None:
    waits = asyncio.create_task(stores.triggers.wait(clock.now() + MINUTE))
    await clock.sleeper()

    await stored(stores, clock, clock.now() + SLOT)
    await asyncio.wait({waits}, timeout=0.05)
    assert not waits.done()

    await stored(stores, clock, clock.now() + SECOND, trigger("sooner"))
    await asyncio.wait_for(waits, 5)


async def test_waiting_sees_what_was_stored_before_it_began(stores: Stores, clock: JumpingClock) -> None:
    await stored(stores, clock, clock.now() + SECOND)

    await asyncio.wait_for(stores.triggers.wait(clock.now() + SLOT), 5)
