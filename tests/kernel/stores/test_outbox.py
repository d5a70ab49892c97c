"""Deliveries leased per conversation: what every outbox must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.chat import Choice, ConversationId, Draft, MessageRef, Notice, Outbound
from kernel.errors import LeaseLost
from kernel.ports import LEASE, Delivery
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, MINUTE, SECOND, THERE, closed, kept, prompt, record, reply
from tests.twins.clock import JumpingClock

ELSEWHERE = ConversationId("telegram", "77")
SLACK = ConversationId("slack", "C1", "1764464400.000100")


async def pulled(stores: Stores, clock: JumpingClock, *, holder: str = "a1", platform: str = "telegram") -> Delivery:
    delivery = await stores.outbox.pull(platform, holder, now=clock.now())
    assert delivery is not None
    return delivery


async def add(stores: Stores, clock: JumpingClock, *outbound: Outbound) -> None:
    for each in outbound:
        await stores.outbox.add(each, now=clock.now())


def ref(number: int, where: ConversationId = HERE) -> MessageRef:
    return MessageRef(where, str(number))


async def test_a_conversations_deliveries_go_in_order(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(reply("one"), reply("two")))
    await add(stores, clock, reply("three"))

    said = []
    delivery: Delivery | None = await pulled(stores, clock)
    while delivery is not None:
        said.append(delivery.outbound)
        delivery = await stores.outbox.done(delivery, now=clock.now())

    assert said == [reply("one"), reply("two"), reply("three")]
    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None


async def test_one_adapter_at_a_time_sends_a_conversations_deliveries(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply("one"), reply("two"))
    await pulled(stores, clock, holder="a1")

    assert await stores.outbox.pull("telegram", "a2", now=clock.now()) is None


async def test_conversations_are_sent_side_by_side(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply(), reply(where=THERE))

    first, second = await pulled(stores, clock, holder="a1"), await pulled(stores, clock, holder="a2")

    assert {first.outbound.conversation, second.outbound.conversation} == {HERE, THERE}


async def test_platforms_have_outboxes_of_their_own(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply(where=SLACK))

    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None
    assert (await pulled(stores, clock, platform="slack")).outbound == reply(where=SLACK)


async def test_who_may_send_to_some_conversations_pulls_no_others(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, prompt())
    clock.jump(SECOND)
    await add(stores, clock, reply(where=THERE))
    outbox, now = stores.outbox, clock.now()

    assert await outbox.next_due("telegram", now=now) == now - SECOND
    assert await outbox.next_due("telegram", now=now, only=[THERE]) == now
    assert await outbox.next_due("telegram", now=now, only=[ELSEWHERE]) is None
    assert await outbox.pull("telegram", "a1", now=now, only=[ELSEWHERE]) is None
    theirs = await outbox.pull("telegram", "a1", now=now, only=[ELSEWHERE, THERE])
    assert theirs is not None
    assert theirs.outbound == reply(where=THERE)
    assert await outbox.pull("telegram", "a2", now=now, only=[THERE]) is None
    prior = await outbox.pull("telegram", "a2", now=now, only=[HERE, THERE])
    assert prior is not None
    assert prior.outbound == prompt()


async def test_a_prompt_goes_before_older_replies_of_other_chats(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply(where=THERE))
    clock.jump(SECOND)
    await add(stores, clock, prompt())

    assert (await pulled(stores, clock)).outbound == prompt()


async def test_a_prompt_waits_for_earlier_replies_of_its_own_chat(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply("before"))
    await add(stores, clock, prompt(), reply(where=THERE))

    assert (await pulled(stores, clock)).outbound == reply("before")


async def test_a_chat_whose_prompt_is_out_waits_its_turn_again(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply(where=THERE))
    clock.jump(SECOND)
    await add(stores, clock, prompt(), reply("after"))
    delivery = await stores.outbox.done(await pulled(stores, clock), now=clock.now())
    assert delivery is not None
    await stores.outbox.later(delivery, timedelta(), now=clock.now())
    clock.jump(LEASE)

    assert (await pulled(stores, clock)).outbound == reply(where=THERE)


async def test_parts_and_ids_are_known_to_the_next_holder(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply("long"))
    delivery = await stores.outbox.split(await pulled(stores, clock), ("lo", "ng"), now=clock.now())
    delivery = await stores.outbox.sending(delivery, now=clock.now())
    delivery = await stores.outbox.sent(delivery, ref(1), now=clock.now())
    clock.jump(LEASE)

    heir = await pulled(stores, clock, holder="a2")

    assert (heir.parts, heir.refs, heir.is_doubtful) == (("lo", "ng"), (ref(1),), False)
    assert heir.holder == "a2"


async def test_a_part_in_flight_when_its_sender_died_is_doubtful(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await stores.outbox.split(await pulled(stores, clock), ("hi",), now=clock.now())
    await stores.outbox.sending(delivery, now=clock.now())
    clock.jump(LEASE)

    heir = await pulled(stores, clock)

    assert heir.is_doubtful
    assert not (await stores.outbox.sending(heir, now=clock.now())).is_doubtful


async def test_a_part_that_was_refused_is_not_doubtful(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await stores.outbox.split(await pulled(stores, clock), ("hi",), now=clock.now())
    delivery = await stores.outbox.sending(delivery, now=clock.now())
    await stores.outbox.later(delivery, SECOND, now=clock.now())
    clock.jump(SECOND)

    assert not (await pulled(stores, clock)).is_doubtful


async def test_a_part_whose_answer_was_lost_stays_doubtful(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await stores.outbox.split(await pulled(stores, clock), ("hi",), now=clock.now())
    delivery = await stores.outbox.sending(delivery, now=clock.now())
    await stores.outbox.later(replace(delivery, is_doubtful=True), SECOND, now=clock.now())
    clock.jump(SECOND)

    assert (await pulled(stores, clock)).is_doubtful


async def test_what_was_not_tried_counts_as_no_attempt(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    for tried in (False, True, False):
        await stores.outbox.later(await pulled(stores, clock), SECOND, now=clock.now(), tried=tried)
        clock.jump(SECOND)

    assert (await pulled(stores, clock)).attempts == 1


async def test_a_part_that_went_out_under_an_unknown_id_counts_as_out(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await stores.outbox.split(await pulled(stores, clock), ("a", "b"), now=clock.now())
    await stores.outbox.sent(delivery, None, now=clock.now())
    clock.jump(LEASE)

    assert (await pulled(stores, clock)).refs == (MessageRef(HERE, ""),)


async def test_later_is_not_sooner(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    await stores.outbox.later(await pulled(stores, clock), 30 * SECOND, now=clock.now())
    await add(stores, clock, prompt())

    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None
    assert await stores.outbox.next_due("telegram", now=clock.now()) == clock.now() + 30 * SECOND
    clock.jump(30 * SECOND)
    delivery = await pulled(stores, clock)
    assert (delivery.outbound, delivery.attempts) == (reply(), 1)


async def test_a_failed_delivery_makes_room_for_the_next(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply("one"), reply("two"))
    await stores.outbox.fail(await pulled(stores, clock), "blocked", now=clock.now())

    assert (await pulled(stores, clock, holder="a2")).outbound == reply("two")


async def test_a_zombie_sender_is_stopped_before_the_next_part(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    zombie = await stores.outbox.split(await pulled(stores, clock, holder="a1"), ("hi",), now=clock.now())
    clock.jump(LEASE)
    heir = await pulled(stores, clock, holder="a2")

    with pytest.raises(LeaseLost):
        await stores.outbox.sending(zombie, now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.outbox.split(zombie, ("other",), now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.outbox.sent(zombie, ref(1), now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.outbox.done(zombie, now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.outbox.later(zombie, SECOND, now=clock.now())
    with pytest.raises(LeaseLost):
        await stores.outbox.fail(zombie, "why", now=clock.now())

    assert (await stores.outbox.sending(heir, now=clock.now())).parts == ("hi",)


async def test_sending_renews_the_lease(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await pulled(stores, clock)
    clock.jump(10 * SECOND)
    await stores.outbox.sending(delivery, now=clock.now())
    clock.jump(10 * SECOND)

    assert await stores.outbox.pull("telegram", "a2", now=clock.now()) is None
    assert await stores.outbox.next_due("telegram", now=clock.now()) == clock.now() + 5 * SECOND


async def test_a_delivery_that_was_given_back_is_not_sent(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    delivery = await pulled(stores, clock)
    await stores.outbox.later(delivery, MINUTE, now=clock.now())

    with pytest.raises(LeaseLost):
        await stores.outbox.sending(delivery, now=clock.now())


async def test_done_told_twice_takes_one_delivery(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply("one"), reply("two"))
    delivery = await pulled(stores, clock)

    first = await stores.outbox.done(delivery, now=clock.now())
    again = await stores.outbox.done(delivery, now=clock.now())

    assert first == again
    assert first is not None
    assert first.outbound == reply("two")


async def test_next_due_of_an_empty_outbox_is_none(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply())
    await stores.outbox.done(await pulled(stores, clock), now=clock.now())

    assert await stores.outbox.next_due("telegram", now=clock.now()) is None


# --- prompts


async def test_a_prompt_remembers_where_its_buttons_stand(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    delivery = await stores.outbox.split(await pulled(stores, clock), ("long", "card"), now=clock.now())
    delivery = await stores.outbox.sent(delivery, ref(1), now=clock.now())
    delivery = await stores.outbox.sent(delivery, ref(2), now=clock.now())
    await stores.outbox.done(delivery, now=clock.now())

    assert await stores.prompts.get("tok") == replace(record(), places=(ref(2),))


async def test_a_place_that_is_told_twice_is_one_place(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    delivery = await stores.outbox.split(await pulled(stores, clock), ("card",), now=clock.now())

    first = await stores.outbox.sent(delivery, ref(1), now=clock.now())
    again = await stores.outbox.sent(delivery, ref(1), now=clock.now())

    assert first == again
    assert await stores.prompts.get("tok") == replace(record(), places=(ref(1),))


async def test_a_closed_prompt_is_closed_wherever_it_was_shown(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(prompt(), prompt(where=THERE)), prompts=(record(),))
    for _ in range(2):
        delivery = await stores.outbox.split(await pulled(stores, clock), ("card",), now=clock.now())
        where = delivery.outbound.conversation
        delivery = await stores.outbox.sent(delivery, ref(1, where), now=clock.now())
        await stores.outbox.done(delivery, now=clock.now())

    await kept(stores, clock.now(), outbound=(closed(),))

    stored = await stores.prompts.get("tok")
    assert stored is not None
    assert not stored.is_open
    delivery = await pulled(stores, clock)
    assert delivery.outbound == closed()
    assert set(delivery.places) == {ref(1), ref(1, THERE)}


async def test_a_prompt_that_is_left_with_other_buttons_is_changed_where_it_was_shown_and_stays_open(
    stores: Stores, clock: JumpingClock
) -> None:
    await kept(stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    delivery = await stores.outbox.split(await pulled(stores, clock), ("card",), now=clock.now())
    delivery = await stores.outbox.sent(delivery, ref(1), now=clock.now())
    await stores.outbox.done(delivery, now=clock.now())
    changed = replace(closed(), choices=(Choice("again", "Again"),))
    known = replace(record(), data='{"call":"c2"}')

    await kept(stores, clock.now(), outbound=(changed,), prompts=(known,))

    stored = await stores.prompts.get("tok")
    assert stored is not None
    assert (stored.is_open, stored.data) == (True, known.data)
    delivery = await pulled(stores, clock)
    assert (delivery.outbound, delivery.places) == (changed, (ref(1),))


async def test_a_prompt_that_is_stored_again_keeps_its_places(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    delivery = await stores.outbox.split(await pulled(stores, clock), ("card",), now=clock.now())
    await stores.outbox.done(await stores.outbox.sent(delivery, ref(1), now=clock.now()), now=clock.now())

    changed = replace(record(), data='{"call":"c2"}')
    await kept(stores, clock.now(), prompts=(changed,))

    assert await stores.prompts.get("tok") == replace(changed, places=(ref(1),))


async def test_a_prompt_is_told_by_its_token_alone(stores: Stores, clock: JumpingClock) -> None:
    assert await stores.prompts.get("nobody:knows*") is None


async def test_closing_a_prompt_that_nobody_stored_leaves_nothing(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), outbound=(closed("unknown"),))

    assert await stores.prompts.get("unknown") is None
    assert (await pulled(stores, clock)).places == ()


async def test_a_notice_goes_before_older_replies(stores: Stores, clock: JumpingClock) -> None:
    await add(stores, clock, reply(where=THERE))
    clock.jump(SECOND)
    notice = Notice(HERE, "cb1", "42", "Noted")
    await add(stores, clock, notice)

    assert (await pulled(stores, clock)).outbound == notice


# --- drafts


async def test_the_last_draft_is_shown(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.draft(Draft(HERE, "t1", 1, "I"), fence=1)
    await stores.outbox.draft(Draft(HERE, "t1", 2, "I think"), fence=1)

    assert await stores.outbox.drafts("telegram") == (Draft(HERE, "t1", 2, "I think"),)
    assert await stores.outbox.drafts("slack") == ()


@pytest.mark.parametrize(
    ("draft", "fence"),
    [(Draft(HERE, "t1", 1, "old"), 2), (Draft(HERE, "t1", 2, "same"), 2), (Draft(HERE, "t0", 9, "zombie"), 1)],
)
async def test_an_older_draft_is_ignored(stores: Stores, clock: JumpingClock, draft: Draft, fence: int) -> None:
    newest = Draft(HERE, "t1", 2, "newest")
    await stores.outbox.draft(newest, fence=2)

    await stores.outbox.draft(draft, fence=fence)

    assert await stores.outbox.drafts("telegram") == (newest,)


async def test_another_turns_draft_begins_anew(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.draft(Draft(HERE, "t1", 5, "first turn"), fence=2)

    await stores.outbox.draft(Draft(HERE, "t2", 1, "second turn"), fence=2)

    assert await stores.outbox.drafts("telegram") == (Draft(HERE, "t2", 1, "second turn"),)


async def test_working_is_a_draft_without_words(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.working(HERE, turn="t1")

    assert await stores.outbox.drafts("telegram") == (Draft(HERE, "t1", 0),)


async def test_a_pulled_reply_ends_the_draft(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.draft(Draft(HERE, "t1", 1, "I think"), fence=1)
    await stores.outbox.working(HERE, turn="t1")
    await add(stores, clock, reply())

    await pulled(stores, clock)

    assert await stores.outbox.drafts("telegram") == ()


@pytest.mark.parametrize("at_work", [False, True])
async def test_adapters_hear_of_drafts_and_of_work(stores: Stores, at_work: bool) -> None:
    wakes = stores.outbox.wakes("telegram")
    await asyncio.wait_for(anext(wakes), 5)
    hears = asyncio.ensure_future(anext(wakes))

    if at_work:
        await stores.outbox.working(HERE, turn="t1")
    else:
        await stores.outbox.draft(Draft(HERE, "t1", 1, "I think"), fence=1)

    await asyncio.wait_for(hears, 5)


async def test_adapters_hear_of_new_deliveries(stores: Stores, clock: JumpingClock) -> None:
    wakes = stores.outbox.wakes("telegram")
    await asyncio.wait_for(anext(wakes), 5)
    hears = asyncio.ensure_future(anext(wakes))

    await add(stores, clock, reply())

    await asyncio.wait_for(hears, 5)
