"""Claims about stores that a breakage of a script got past before they were here."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import redis

from kernel.chat import Draft, MessageRef
from kernel.errors import LeaseLost
from kernel.ports import LEASE, Lease, Outcome, Release, Step, TriggerGone, TriggerPut
from kernel.stores import keys, rules
from kernel.stores.redis.conversations import LEASE_US, RedisConversations
from kernel.stores.redis.stores import open_stores
from kernel.stores.rules import stamp
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, SECOND, THERE, kept, prompt, record, reply, said, taken, trigger, user
from tests.twins.clock import JumpingClock

DAY_S = rules.KEEP_BLOBS.total_seconds()


async def test_who_goes_on_after_a_release_holds_it_for_a_whole_lease(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    clock.jump(10 * SECOND)

    assert await stores.conversations.release(checkout.lease, now=clock.now(), keep=True) is Release.AGAIN

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + LEASE
    clock.jump(10 * SECOND)
    assert await stores.conversations.checkout("w2", now=clock.now(), last_try=True) is None


async def test_a_ticket_is_worth_nothing_after_the_release(redis_stores: Stores, clock: JumpingClock) -> None:
    conversations = redis_stores.conversations
    assert isinstance(conversations, RedisConversations)
    await conversations.put(said(), now=clock.now())

    async def asked_again() -> object:
        return await conversations._server.run("checkout", "w1", stamp(clock.now()), LEASE_US, 3, 1, "ticket")

    first = await asked_again()
    await conversations.release(Lease(HERE, "w1", 1, 1), now=clock.now(), keep=False)
    second = await asked_again()

    assert isinstance(first, list)
    assert isinstance(second, list)
    assert (first[1], second[1]) == ("1", "2")


async def test_a_ticket_is_worth_nothing_once_the_same_worker_has_checked_out_anew(
    redis_stores: Stores, clock: JumpingClock
) -> None:
    conversations = redis_stores.conversations
    assert isinstance(conversations, RedisConversations)
    await conversations.put(said(), now=clock.now())

    async def asked(ticket: str) -> object:
        return await conversations._server.run("checkout", "w1", stamp(clock.now()), LEASE_US, 3, 1, ticket)

    await asked("slow")
    clock.jump(LEASE)
    await asked("next")

    assert await asked("slow") is None


async def test_a_new_history_may_begin_where_there_was_none(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), new_history=True, history=(user("first"),))
    await stores.conversations.put(said(), now=clock.now())

    assert [message.text for message in (await taken(stores, clock.now())).history] == ["first"]


async def test_nothing_is_cut_from_a_history_that_is_longer_than_the_session_knows(
    stores: Stores, clock: JumpingClock
) -> None:
    many = tuple(user(str(number)) for number in range(rules.HISTORY_SLACK + 50))
    await kept(stores, clock.now(), history=many)
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())

    unknowing = Step(replace(checkout.session, history_length=20), Outcome.DONE)
    await stores.conversations.commit(checkout.lease, unknowing, now=clock.now())
    await stores.conversations.release(checkout.lease, now=clock.now(), keep=False)

    assert len((await taken(stores, clock.now())).history) == len(many)


async def test_a_file_that_is_written_again_as_it_was_stays_held(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    blob = await redis_stores.blobs.put(b"report")
    for _ in range(2):
        await kept(redis_stores, clock.now(), files={"a.txt": blob})

    assert raw.ttl(keys.BLOB.of(blob)) == -1


async def test_a_file_whose_bytes_are_gone_is_held_by_nobody(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await kept(redis_stores, clock.now(), files={"a.txt": "gone"})

    assert not raw.exists(keys.BLOB_HOLDERS.of("gone"))


async def test_an_empty_file_that_nothing_holds_lives_a_day(redis_stores: Stores, raw: redis.Redis) -> None:
    blob = await redis_stores.blobs.put(b"")

    assert DAY_S - 60 < raw.ttl(keys.BLOB.of(blob)) <= DAY_S


async def test_a_file_that_is_put_again_lives_another_day(redis_stores: Stores, raw: redis.Redis) -> None:
    blob = await redis_stores.blobs.put(b"report")
    raw.expire(keys.BLOB.of(blob), 60)
    raw.zadd(keys.BLOB_SPARE.head, {blob: (time.time() + 60) * 1_000_000})

    await redis_stores.blobs.put(b"report")

    assert raw.ttl(keys.BLOB.of(blob)) > DAY_S - 60
    goes = raw.zscore(keys.BLOB_SPARE.head, blob)
    assert isinstance(goes, float)
    assert goes > (time.time() + DAY_S - 60) * 1_000_000


async def test_nothing_is_left_of_a_file_that_made_room(redis_url: str, clock: JumpingClock, raw: redis.Redis) -> None:
    stores = await open_stores(redis_url, clock, blob_total_bytes=10)
    first = await stores.blobs.put(b"a" * 10)

    second = await stores.blobs.put(b"b" * 10)

    assert not raw.exists(keys.BLOB.of(first))
    assert raw.hgetall(keys.BLOB_SIZES.head) == {second: "10"}
    assert raw.zrange(keys.BLOB_SPARE.head, 0, -1) == [second]
    assert raw.get(keys.BLOB_TOTAL.head) == "10"
    await stores.close()


async def test_a_trigger_that_moves_to_another_chat_leaves_the_first(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), triggers=(TriggerPut(trigger(), clock.now()),))
    await kept(stores, clock.now(), triggers=(TriggerPut(trigger(where=THERE, revision=1), clock.now()),))

    assert await stores.triggers.list(HERE) == ()
    assert [each.id for each, _ in await stores.triggers.list(THERE)] == ["t1"]


# --- outbox


async def test_who_is_done_holds_the_next_delivery_for_a_whole_lease(stores: Stores, clock: JumpingClock) -> None:
    for text in ("one", "two"):
        await stores.outbox.add(reply(text), now=clock.now())
    delivery = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    clock.jump(10 * SECOND)

    await stores.outbox.done(delivery, now=clock.now())

    assert await stores.outbox.next_due("telegram", now=clock.now()) == clock.now() + LEASE


async def test_a_part_of_a_delivery_that_is_done_cannot_be_sent_again(stores: Stores, clock: JumpingClock) -> None:
    for text in ("one", "two"):
        await stores.outbox.add(reply(text), now=clock.now())
    first = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert first is not None
    await stores.outbox.done(first, now=clock.now())

    with pytest.raises(LeaseLost):
        await stores.outbox.sending(first, now=clock.now())


async def test_a_prompt_that_nobody_stored_has_no_place(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await redis_stores.outbox.add(prompt("tok"), now=clock.now())
    delivery = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    delivery = await redis_stores.outbox.split(delivery, ("card",), now=clock.now())

    await redis_stores.outbox.sent(delivery, MessageRef(HERE, "1"), now=clock.now())

    assert not raw.exists(keys.PROMPT.of("tok"))


async def test_an_outbox_whose_last_prompt_is_out_is_empty(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.add(prompt("tok"), now=clock.now())
    delivery = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    await stores.outbox.done(delivery, now=clock.now())
    clock.jump(LEASE)

    assert await stores.outbox.pull("telegram", "a1", now=clock.now()) is None


async def test_nothing_is_left_of_a_delivery_that_is_done(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await redis_stores.outbox.add(reply(), now=clock.now())
    delivery = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    await redis_stores.outbox.done(delivery, now=clock.now())

    assert not raw.exists(keys.DELIVERIES.head + keys.conversation_piece(HERE))


async def test_places_that_come_with_a_prompt_are_kept(stores: Stores, clock: JumpingClock) -> None:
    shown = replace(record(), places=(MessageRef(HERE, "7"),))
    await kept(stores, clock.now(), prompts=(shown,))

    assert await stores.prompts.get("tok") == shown


async def test_a_new_holder_of_the_same_turn_begins_its_drafts_anew(stores: Stores, clock: JumpingClock) -> None:
    await stores.outbox.draft(Draft(HERE, "t1", 5, "old"), fence=1)

    await stores.outbox.draft(Draft(HERE, "t1", 1, "new"), fence=2)

    assert await stores.outbox.drafts("telegram") == (Draft(HERE, "t1", 1, "new"),)


@pytest.mark.parametrize("at_work", [False, True])
async def test_the_list_of_drafts_goes_with_the_last_of_them(
    redis_stores: Stores, raw: redis.Redis, at_work: bool
) -> None:
    if at_work:
        await redis_stores.outbox.working(HERE, turn="t1")
    else:
        await redis_stores.outbox.draft(Draft(HERE, "t1", 1, "I think"), fence=1)

    assert 0 < raw.ttl(keys.LIVE.of("telegram")) <= rules.DRAFT_LIVES.total_seconds()


async def test_a_sign_of_work_does_not_cut_the_life_of_a_draft(redis_stores: Stores, raw: redis.Redis) -> None:
    await redis_stores.outbox.draft(Draft(HERE, "t1", 1, "I think"), fence=1)

    await redis_stores.outbox.working(HERE, turn="t1")

    goes = raw.zscore(keys.LIVE.of("telegram"), keys.conversation_piece(HERE))
    assert isinstance(goes, float)
    assert goes > (time.time() + rules.DRAFT_LIVES.total_seconds() / 2) * 1_000_000


async def test_drafts_that_are_over_leave_the_list(redis_stores: Stores, raw: redis.Redis) -> None:
    await redis_stores.outbox.draft(Draft(HERE, "t1", 1, "I think"), fence=1)
    live = keys.LIVE.of("telegram")
    raw.zadd(live, {keys.conversation_piece(THERE): (time.time() - 1) * 1_000_000})

    await redis_stores.outbox.drafts("telegram")

    assert raw.zrange(live, 0, -1) == [keys.conversation_piece(HERE)]


# --- inbox and triggers


async def test_an_inbox_of_nothing_but_what_cannot_be_read_leaves_nothing_to_do(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await redis_stores.conversations.put(said(), now=clock.now())
    checkout = await taken(redis_stores, clock.now())
    items = keys.ITEMS.head + keys.conversation_piece(HERE)
    raw.hset(items, mapping=dict.fromkeys(raw.hkeys(items), "no record"))

    assert await redis_stores.conversations.due(checkout.lease, now=clock.now()) == ()

    assert await redis_stores.conversations.next_ready(now=clock.now()) is None


async def test_a_late_part_of_an_album_does_not_hurry_the_others(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("one", album="a"), now=clock.now(), settle=SECOND)
    await stores.conversations.put(said("two", album="a"), now=clock.now())

    assert await stores.conversations.next_ready(now=clock.now()) == clock.now() + SECOND


async def test_the_newest_parked_inputs_are_kept(stores: Stores, clock: JumpingClock) -> None:
    for number in range(rules.MAX_PARKED + 3):
        await stores.conversations.put(said(str(number)), now=clock.now())
    checkout = await taken(stores, clock.now())
    due = await stores.conversations.due(checkout.lease, now=clock.now())
    ids = (*(item.id for item in due), "0000009999")

    await stores.conversations.commit(checkout.lease, Step(checkout.session, Outcome.DONE, parked=ids), now=clock.now())

    assert await stores.conversations.parked(HERE) == due[3:]
    assert await stores.conversations.release(checkout.lease, now=clock.now(), keep=True) is Release.IDLE


async def test_a_trigger_that_nobody_stored_can_be_removed(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), triggers=(TriggerGone("nobody"),))

    assert await stores.triggers.next_due() is None
