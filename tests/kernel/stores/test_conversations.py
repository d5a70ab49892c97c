"""Inbox, ready set, leases and commits: what every store of conversations must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.chat import ConversationId
from kernel.errors import LeaseLost
from kernel.ports import LEASE, MAX_TRIES, Alarm, Lease, Outcome, Put, Release, TriggerPut
from kernel.stores import rules
from kernel.stores.stores import Stores
from tests.kernel.stores.words import (
    HERE,
    MINUTE,
    SECOND,
    THERE,
    kept,
    pressed,
    prompt,
    record,
    reply,
    said,
    step,
    taken,
    texts,
    trigger,
    turn,
    user,
)
from tests.twins.clock import JumpingClock

INSTANT = timedelta(microseconds=1)
GROUP = timedelta(milliseconds=300)
ALBUM = timedelta(milliseconds=1200)


# --- at the door


async def test_an_event_is_stored_once(stores: Stores, clock: JumpingClock) -> None:
    message = said("once")

    first = await stores.conversations.put(message, now=clock.now())
    copy = await stores.conversations.put(message, now=clock.now())

    assert first is Put.HINTED
    assert copy is Put.DUPLICATE
    checkout = await taken(stores, clock.now())
    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["once"]


async def test_a_copy_of_a_message_that_was_read_is_dropped(stores: Stores, clock: JumpingClock) -> None:
    message = said("once")
    await stores.conversations.put(message, now=clock.now())
    checkout = await taken(stores, clock.now())
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    await stores.conversations.commit(checkout.lease, step(checkout.session, taken=(due[0].id,)), now=clock.now())

    copy = await stores.conversations.put(message, now=clock.now())

    assert copy is Put.DUPLICATE
    assert await stores.conversations.due(checkout.lease, now=clock.now()) == ()


async def test_the_same_event_of_another_platform_is_another_event(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(event="7"), now=clock.now())

    put = await stores.conversations.put(said(event="7", where=ConversationId("slack", "C1")), now=clock.now())

    assert put is not Put.DUPLICATE


async def test_messages_are_read_in_the_order_of_the_platform(stores: Stores, clock: JumpingClock) -> None:
    for order in (30, 10, 20):
        await stores.conversations.put(said(str(order), order=order), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["10", "20", "30"]


async def test_messages_with_one_order_are_read_as_they_came(stores: Stores, clock: JumpingClock) -> None:
    for number in range(12):
        await stores.conversations.put(said(str(number), order=0), now=clock.now())

    checkout = await taken(stores, clock.now())

    due = await stores.conversations.due(checkout.lease, now=clock.now())
    assert texts(due) == [str(number) for number in range(12)]


async def test_presses_and_commands_come_before_messages(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("first", order=1), now=clock.now())
    await stores.conversations.put(pressed("press"), now=clock.now())
    await stores.conversations.put(said("/stop", order=9), now=clock.now())
    await stores.conversations.put(pressed("again"), now=clock.now())

    checkout = await taken(stores, clock.now())

    due = await stores.conversations.due(checkout.lease, now=clock.now())
    assert texts(due) == ["press", "/stop", "again", "first"]


@pytest.mark.parametrize("order", [-5, 0, 1_764_464_400_123_456, 2**70])
async def test_any_order_of_a_platform_is_kept(stores: Stores, clock: JumpingClock, order: int) -> None:
    await stores.conversations.put(said("message", order=order), now=clock.now())
    await stores.conversations.put(pressed("press"), now=clock.now())

    checkout = await taken(stores, clock.now())

    due = await stores.conversations.due(checkout.lease, now=clock.now())
    assert texts(due) == ["press", "message"]


async def test_a_message_waits_until_it_has_settled(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now(), settle=GROUP)

    assert await stores.conversations.checkout("w1", now=clock.now(), last_try=True) is None
    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + GROUP
    assert await stores.conversations.checkout("w1", now=clock.now() + GROUP, last_try=True) is not None


async def test_a_message_that_arrives_late_is_still_read_first(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("second", order=2), now=clock.now(), settle=GROUP)
    clock.jump(GROUP - INSTANT)
    await stores.conversations.put(said("first", order=1), now=clock.now(), settle=GROUP)
    clock.jump(INSTANT)

    early = await stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    clock.jump(GROUP)
    checkout = await taken(stores, clock.now())

    assert early is None
    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["first", "second"]


async def test_parts_of_an_album_wait_for_the_last_one(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("one", album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(SECOND)
    await stores.conversations.put(said("two", album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(SECOND)

    early = await stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    clock.jump(ALBUM)
    checkout = await taken(stores, clock.now())

    assert early is None
    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["one", "two"]


async def test_a_press_does_not_wait_for_an_album(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("one", album="a"), now=clock.now(), settle=ALBUM)
    await stores.conversations.put(pressed("press"), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["press"]


async def test_a_text_after_an_album_is_read_after_it(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("picture", album="a"), now=clock.now(), settle=ALBUM)
    await stores.conversations.put(said("what is this?"), now=clock.now())

    early = await stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    clock.jump(ALBUM)
    checkout = await taken(stores, clock.now())

    assert early is None
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    assert texts(due) == ["picture", "what is this?"]


async def test_a_text_between_the_parts_of_an_album_waits_with_them(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("one", order=1, album="a"), now=clock.now(), settle=ALBUM)
    await stores.conversations.put(said("text", order=2), now=clock.now())
    clock.jump(SECOND)
    await stores.conversations.put(said("two", order=3, album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(SECOND)

    early = await stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    clock.jump(SECOND)
    checkout = await taken(stores, clock.now())

    assert early is None
    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["one", "text", "two"]


async def test_nothing_overtakes_a_message_that_still_settles(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("one", order=1, album="a"), now=clock.now(), settle=ALBUM)
    await stores.conversations.put(said("slow", order=2), now=clock.now(), settle=MINUTE)
    await stores.conversations.put(said("two", order=3, album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(2 * SECOND)

    checkout = await taken(stores, clock.now())

    assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == ["one"]


async def test_a_press_puts_off_no_message(stores: Stores, clock: JumpingClock) -> None:
    put_at = clock.now()
    await stores.conversations.put(said(), now=put_at)
    clock.jump(SECOND)

    await stores.conversations.put(pressed(), now=clock.now())

    assert await stores.conversations.next_ready(now=clock.now()) == put_at


# --- hints


async def test_one_hint_is_enough_until_it_is_read(stores: Stores, clock: JumpingClock) -> None:
    first = await stores.conversations.put(said(), now=clock.now())
    second = await stores.conversations.put(said(where=THERE), now=clock.now())
    await stores.wakeups.unflag()
    third = await stores.conversations.put(said(), now=clock.now())

    assert [first, second, third] == [Put.HINTED, Put.STORED, Put.HINTED]


async def test_a_holder_is_told_instead(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await taken(stores, clock.now())

    put = await stores.conversations.put(said(), now=clock.now())

    assert put is Put.HELD


async def test_a_holder_whose_lease_has_lapsed_is_not_relied_on(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await taken(stores, clock.now())
    await stores.wakeups.unflag()
    clock.jump(LEASE)

    put = await stores.conversations.put(said(), now=clock.now())

    assert put is Put.HINTED


async def test_a_holder_hears_which_conversation_has_news(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(where=THERE), now=clock.now())
    await taken(stores, clock.now(), worker="w:1 *")
    wakes = stores.conversations.wakes("w:1 *")
    hears = asyncio.ensure_future(anext(wakes))

    while not hears.done():
        await stores.conversations.put(said(where=THERE), now=clock.now())
        await asyncio.wait({hears}, timeout=0.02)

    assert await hears == THERE


# --- leases


async def test_a_conversation_that_nobody_wrote_in_is_not_handed_out(stores: Stores, clock: JumpingClock) -> None:
    assert await stores.conversations.checkout("w1", now=clock.now(), last_try=True) is None
    assert await stores.conversations.next_ready(now=clock.now()) is None


async def test_a_conversation_has_one_holder(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await taken(stores, clock.now())

    second = await stores.conversations.checkout("w2", now=clock.now() + LEASE - INSTANT, last_try=True)

    assert second is None


async def test_the_one_that_waits_longest_goes_first(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(where=THERE), now=clock.now())
    clock.jump(SECOND)
    await stores.conversations.put(said(where=HERE), now=clock.now())
    clock.jump(SECOND)

    first = await taken(stores, clock.now())
    second = await taken(stores, clock.now())

    assert [first.lease.conversation, second.lease.conversation] == [THERE, HERE]


async def test_a_dead_holder_is_followed_by_another(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    dead = await taken(stores, clock.now(), worker="w1")
    clock.jump(LEASE)

    alive = await taken(stores, clock.now(), worker="w2")

    assert alive.lease.fence > dead.lease.fence
    assert alive.lease.tries == 2


async def test_a_renewed_lease_lasts(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    clock.jump(10 * SECOND)
    await stores.conversations.renew(checkout.lease, now=clock.now())
    clock.jump(10 * SECOND)

    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is None
    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + 5 * SECOND


async def test_a_lapsed_lease_that_nobody_took_is_still_its_holders(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    clock.jump(2 * LEASE)

    session = await stores.conversations.commit(checkout.lease, step(checkout.session, Outcome.RUN), now=clock.now())
    await stores.conversations.renew(checkout.lease, now=clock.now())

    assert session.revision == 1
    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is None


async def test_a_renewal_that_arrives_behind_the_release_holds_nothing(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    await stores.conversations.release(checkout.lease, now=clock.now(), keep=False)

    with pytest.raises(LeaseLost):
        await stores.conversations.renew(checkout.lease, now=clock.now())

    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is not None


async def test_a_release_that_is_told_again_keeps_nothing(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    await stores.conversations.release(checkout.lease, now=clock.now(), keep=False)

    released = await stores.conversations.release(checkout.lease, now=clock.now(), keep=True)

    assert released is Release.HINT
    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is not None


async def test_a_zombie_writes_nothing_after_a_takeover(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("hello"), now=clock.now())
    zombie = await taken(stores, clock.now(), worker="w1")
    due = await stores.conversations.due(zombie.lease, now=clock.now())
    clock.jump(LEASE)
    heir = await taken(stores, clock.now(), worker="w2")
    everything = step(
        replace(zombie.session, turns=(turn(),)),
        taken=(due[0].id,),
        history=(user(),),
        outbound=(reply(),),
        prompts=(record(),),
        triggers=(TriggerPut(trigger(), clock.now()),),
        alarms=(Alarm("tok", clock.now()),),
        notes=("a note",),
        files={"a.txt": "blob"},
    )

    with pytest.raises(LeaseLost):
        await stores.conversations.commit(zombie.lease, everything, now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.conversations.renew(zombie.lease, now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.conversations.release(zombie.lease, now=clock.now(), keep=False)

    clock.jump(LEASE)
    after = await taken(stores, clock.now())
    assert (after.session, after.history, after.notes, after.files) == (heir.session, (), (), {})
    assert after.lease.tries == 3
    assert texts(await stores.conversations.due(after.lease, now=clock.now())) == ["hello"]
    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None
    assert await stores.prompts.get("tok") is None
    assert await stores.triggers.next_due() is None


async def test_a_session_that_was_changed_meanwhile_is_not_overwritten(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    await stores.conversations.commit(checkout.lease, step(checkout.session, Outcome.RUN), now=clock.now())

    stale = step(checkout.session, Outcome.DONE, outbound=(reply(),))
    with pytest.raises(LeaseLost):
        await stores.conversations.commit(checkout.lease, stale, now=clock.now())

    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None


async def test_a_commit_whose_answer_was_lost_can_be_told_again(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    told = step(checkout.session, outbound=(reply(),), history=(user(),))
    first = await stores.conversations.commit(checkout.lease, told, now=clock.now())

    second = await stores.conversations.commit(checkout.lease, told, now=clock.now() + SECOND)

    assert second == first
    delivery = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    assert await stores.outbox.done(delivery, now=clock.now()) is None


# --- tries


async def _dies(stores: Stores, clock: JumpingClock, times: int) -> None:
    for _ in range(times):
        await taken(stores, clock.now())
        clock.jump(LEASE)


async def test_the_last_try_is_only_for_the_brave(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await _dies(stores, clock, MAX_TRIES - 1)

    shy = await stores.conversations.checkout("w1", now=clock.now(), last_try=False)
    brave = await taken(stores, clock.now(), last_try=True)

    assert shy is None
    assert brave.lease.tries == MAX_TRIES


async def test_others_go_ahead_of_one_on_its_last_try(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await _dies(stores, clock, MAX_TRIES - 1)
    await stores.conversations.put(said(where=THERE), now=clock.now())

    checkout = await taken(stores, clock.now(), last_try=False)

    assert checkout.lease.conversation == THERE


async def test_after_the_last_try_it_is_handed_out_to_be_parked(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await _dies(stores, clock, MAX_TRIES)

    checkout = await taken(stores, clock.now(), last_try=False)

    assert checkout.lease.tries == MAX_TRIES + 1


async def test_a_commit_that_only_announces_work_leaves_the_count_of_tries(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())

    announced = step(checkout.session, Outcome.RUN, clears_tries=False)
    await stores.conversations.commit(checkout.lease, announced, now=clock.now())
    clock.jump(LEASE)

    assert (await taken(stores, clock.now())).lease.tries == 2


async def test_a_commit_clears_the_count_of_tries(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await _dies(stores, clock, 1)
    checkout = await taken(stores, clock.now())
    await stores.conversations.commit(checkout.lease, step(checkout.session, Outcome.RUN), now=clock.now())
    clock.jump(LEASE)

    assert (await taken(stores, clock.now())).lease.tries == 1


@pytest.mark.parametrize("keep", [True, False])
async def test_a_release_clears_the_count_of_tries(stores: Stores, clock: JumpingClock, keep: bool) -> None:
    await stores.conversations.put(said(), now=clock.now())
    await _dies(stores, clock, 1)
    checkout = await taken(stores, clock.now())
    await stores.conversations.release(checkout.lease, now=clock.now(), keep=keep)
    clock.jump(LEASE)

    assert (await taken(stores, clock.now())).lease.tries == 1


async def test_parked_items_leave_the_inbox_for_the_operator(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("poison pill"), now=clock.now())
    await stores.conversations.put(said("fine"), now=clock.now())
    checkout = await taken(stores, clock.now())
    poison, fine = await stores.conversations.due(checkout.lease, now=clock.now())

    await stores.conversations.commit(checkout.lease, step(checkout.session, parked=(poison.id,)), now=clock.now())

    assert await stores.conversations.due(checkout.lease, now=clock.now()) == (fine,)
    assert await stores.conversations.parked(HERE) == (poison,)
    assert await stores.conversations.parked(THERE) == ()


# --- ready or not


async def test_a_conversation_with_everything_read_rests(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now())

    assert await stores.conversations.next_ready(now=clock.now()) is None
    assert await stores.conversations.checkout("w1", now=clock.now() + LEASE, last_try=True) is None


@pytest.mark.parametrize("outcome", [Outcome.DONE, Outcome.WAITING])
async def test_what_was_not_taken_keeps_it_ready(stores: Stores, clock: JumpingClock, outcome: Outcome) -> None:
    await kept(stores, clock.now(), outcome, taken=())

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now()


async def test_a_turn_with_work_left_keeps_it_ready(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), Outcome.RUN)

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now()


async def test_work_left_is_not_put_off_by_a_message_that_settles(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), Outcome.RUN)
    await stores.conversations.put(said(), now=clock.now(), settle=ALBUM)

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now()


async def test_after_a_crash_the_work_is_ready_when_the_lease_has_lapsed(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    await stores.conversations.commit(
        checkout.lease,
        step(
            checkout.session,
            Outcome.RUN,
            taken=tuple(i.id for i in await stores.conversations.due(checkout.lease, now=clock.now())),
        ),
        now=clock.now(),
    )

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + LEASE


async def test_release_goes_on_when_something_is_due(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())

    released = await stores.conversations.release(checkout.lease, now=clock.now(), keep=True)

    assert released is Release.AGAIN
    await stores.conversations.renew(checkout.lease, now=clock.now())
    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is None


async def test_release_without_keeping_leaves_it_to_others(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())

    released = await stores.conversations.release(checkout.lease, now=clock.now(), keep=False)

    assert released is Release.HINT
    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is not None


async def test_release_with_something_that_settles_asks_for_a_hint(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    await stores.conversations.put(said(), now=clock.now(), settle=GROUP)
    await stores.conversations.commit(checkout.lease, step(checkout.session, taken=(due[0].id,)), now=clock.now())

    released = await stores.conversations.release(checkout.lease, now=clock.now(), keep=True)

    assert released is Release.HINT
    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + GROUP


async def test_release_of_a_finished_conversation_is_idle(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    await stores.conversations.commit(checkout.lease, step(checkout.session, taken=(due[0].id,)), now=clock.now())

    assert await stores.conversations.release(checkout.lease, now=clock.now(), keep=True) is Release.IDLE


async def test_a_turn_that_ends_leaves_the_ready_set_with_its_commit(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    session = await stores.conversations.commit(
        checkout.lease, step(checkout.session, Outcome.RUN, taken=(due[0].id,)), now=clock.now()
    )

    await stores.conversations.commit(checkout.lease, step(session, Outcome.DONE), now=clock.now())

    assert await stores.conversations.next_ready(now=clock.now()) is None


# --- what a commit keeps


async def test_the_session_comes_back_as_it_was_committed(stores: Stores, clock: JumpingClock) -> None:
    session = await kept(stores, clock.now(), Outcome.WAITING)
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert checkout.session == session
    assert checkout.session.revision == 1


async def test_history_grows_by_what_is_new(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), history=(user("one"),))
    await kept(stores, clock.now(), history=(user("two"), user("three")))
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert [message.text for message in checkout.history] == ["one", "two", "three"]


async def test_a_new_history_begins_empty(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), history=(user("old"),))
    await kept(stores, clock.now(), new_history=True, history=(user("new"),))
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert [message.text for message in checkout.history] == ["new"]
    assert checkout.session.history_length == 1


async def test_histories_of_chats_are_their_own(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), history=(user("here"),))
    await kept(stores, clock.now(), where=THERE, history=(user("there"),))
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert [message.text for message in checkout.history] == ["here"]


async def test_notes_are_used_oldest_first(stores: Stores, clock: JumpingClock) -> None:
    for text in ("one", "two", "three"):
        await stores.conversations.note(HERE, text)
    await kept(stores, clock.now(), notes_used=2, notes=("four",))
    await stores.conversations.put(said(), now=clock.now())

    assert (await taken(stores, clock.now())).notes == ("three", "four")


async def test_the_newest_twenty_notes_are_kept_short(stores: Stores, clock: JumpingClock) -> None:
    for number in range(rules.MAX_NOTES + 5):
        await stores.conversations.note(HERE, f"{number} " + "x" * 300)
    await stores.conversations.put(said(), now=clock.now())

    notes = (await taken(stores, clock.now())).notes

    assert [note.split()[0] for note in notes] == [str(number) for number in range(5, 25)]
    assert {len(note) for note in notes} == {rules.MAX_NOTE_CHARS}


async def test_a_note_told_twice_is_one_note(stores: Stores, clock: JumpingClock) -> None:
    for text in ("one", "two", "two", "one"):
        await stores.conversations.note(HERE, text)
    await stores.conversations.put(said(), now=clock.now())

    assert (await taken(stores, clock.now())).notes == ("one", "two", "one")


async def test_a_note_alone_makes_nothing_ready(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.note(HERE, "fired")

    assert await stores.conversations.next_ready(now=clock.now()) is None


async def test_the_workspace_is_a_manifest(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), files={"a.txt": "b1", "报告 *?.md": "b2"})
    await kept(stores, clock.now(), files={"a.txt": None, "c": "b3"})
    await stores.conversations.put(said(), now=clock.now())

    assert dict((await taken(stores, clock.now())).files) == {"报告 *?.md": "b2", "c": "b3"}


async def test_everything_in_a_commit_takes_effect(stores: Stores, clock: JumpingClock) -> None:
    await kept(
        stores,
        clock.now(),
        outbound=(reply("answer", where=THERE), prompt()),
        prompts=(record(),),
        triggers=(TriggerPut(trigger(), clock.now() + MINUTE),),
        alarms=(Alarm("tok", clock.now() + SECOND),),
    )

    first = await stores.outbox.pull("telegram", "a1", now=clock.now())
    second = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert {each.outbound for each in (first, second) if each} == {reply("answer", where=THERE), prompt()}
    assert await stores.prompts.get("tok") == record()
    assert await stores.triggers.list(HERE) == ((trigger(), clock.now() + MINUTE),)
    assert await stores.triggers.next_due() == clock.now() + SECOND


@pytest.mark.parametrize(
    "name", ["D1:x", "*", "?", "[a-z]", "a\nb", "z:ready", "%3A", "", "\ud800", "名字 with blanks", "x" * 3000]
)
async def test_strange_ids_name_one_conversation_and_no_other(stores: Stores, clock: JumpingClock, name: str) -> None:
    """T19: keys are encoded, so nothing in an id reaches another chat's data."""
    plain, strange = ConversationId("telegram", "D1", "x"), ConversationId("telegram", "D1", name)
    crossed = ConversationId("telegram", name, "D1")
    await kept(stores, clock.now(), where=plain, history=(user("secret"),), notes=("secret",))

    for where in (strange, crossed):
        await stores.conversations.put(said(name, where=where, event=name + where.chat), now=clock.now())
        checkout = await taken(stores, clock.now(), worker=name)
        assert checkout.lease == Lease(where, name, 1, 1)
        assert (checkout.history, checkout.notes) == ((), ())
        assert texts(await stores.conversations.due(checkout.lease, now=clock.now())) == [name]
