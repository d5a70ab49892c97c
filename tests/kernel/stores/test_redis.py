"""What only the real store can show: cost, keys, failures, fitness."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from kernel.chat import Attachment, AttachmentKind, ConversationId, Draft, Fetch, MessageRef, Reply, Sender
from kernel.errors import BadSettings, LeaseLost, RetryLater, StoreUnfit
from kernel.ports import (
    LEASE,
    Alarm,
    Grant,
    KnownChat,
    Outcome,
    Remember,
    Right,
    Shelf,
    Silence,
    Spending,
    Spent,
    TriggerPut,
    Unanswered,
)
from kernel.ports.floods import Limit
from kernel.settings import PlatformId
from kernel.stores import keys, rules
from kernel.stores.redis.connect import ANSWER_WITHIN_S, Server
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from kernel.triggers import Firing
from tests.kernel.stores.words import (
    HERE,
    MINUTE,
    SECOND,
    THERE,
    closed,
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
from zclaw.store import start_store

STRANGE = ConversationId("telegram", "a:*?[b\n\x00%", "名:字")


@contextmanager
def setting(raw: redis.Redis, name: str, value: str) -> Iterator[None]:
    before = raw.config_get(name)[name]
    raw.config_set(name, value)
    try:
        yield
    finally:
        raw.config_set(name, str(before))


# --- cost


async def test_a_commit_costs_what_is_new(redis_stores: Stores, clock: JumpingClock, raw: redis.Redis) -> None:
    """One message into a history of 2,000: as many bytes and commands as into a history of 20."""
    spent = []
    for where, length in ((HERE, 20), (THERE, 2000)):
        await redis_stores.conversations.put(said(where=where), now=clock.now())
        checkout = await taken(redis_stores, clock.now())
        waiting = replace(checkout.session, turns=(turn(base=0),))
        session = await redis_stores.conversations.commit(
            checkout.lease, step(waiting, Outcome.RUN, history=(user("x" * 200),) * length), now=clock.now()
        )
        assert raw.llen(keys.HISTORY.head + keys.conversation_piece(where)) == length
        made = step(session, history=(user("x" * 200),))
        before = _traffic(raw)
        await redis_stores.conversations.commit(checkout.lease, made, now=clock.now())
        spent.append(tuple(after - seen for after, seen in zip(_traffic(raw), before, strict=True)))

    (few_bytes, few_commands), (many_bytes, many_commands) = spent
    assert abs(many_bytes - few_bytes) < 100
    assert many_commands == few_commands < 40


def _traffic(raw: redis.Redis) -> tuple[int, int]:
    sent = int(raw.info("stats")["total_net_input_bytes"])
    calls = sum(int(each["calls"]) for each in raw.info("commandstats").values())
    return sent, calls


# --- keys


async def _everything(stores: Stores, clock: JumpingClock, where: ConversationId) -> None:
    """A conversation that uses every kind of key there is."""
    now = clock.now()
    blob = await stores.blobs.put(b"bytes")
    await stores.people.see("telegram", Sender(where.chat, "Ann"))
    await stores.people.refuse("telegram", where.chat, now=now)
    await stores.chats.see(KnownChat(replace(where, thread=""), "Ann", where.chat), now=now)
    await stores.people.set_zone(where, "Asia/Shanghai")
    await stores.conversations.note(where, "a note")
    await stores.beats.beat("worker", where.chat, now=now)
    await stores.locks.take(where.chat, "p1", now=now)
    await stores.wakeups.hint()
    await stores.conversations.put(said("part", where=where, album="a"), now=now)
    await stores.conversations.put(pressed(where=where), now=now)
    checkout = await taken(stores, now)
    first, _ = await stores.conversations.due(checkout.lease, now=now)
    await stores.outbox.working(where, turn="t1")
    await stores.outbox.draft(Draft(where, "t1", 1, "I think"), fence=1)
    picture = Attachment(AttachmentKind.PICTURE, blob, "a.png", "image/png", 5)
    card, made = prompt(where.chat, where=where), trigger(where.chat, where=where)
    session = await stores.conversations.commit(
        checkout.lease,
        step(
            checkout.session,
            Outcome.RUN,
            parked=(first.id,),
            history=(user(),),
            outbound=(Reply(where, "look", (picture,)), card),
            prompts=(record(where.chat, where=where),),
            triggers=(TriggerPut(made, now),),
            alarms=(Alarm(where.chat, now + MINUTE),),
            notes=("another",),
            files={where.chat: blob},
            memories=(Remember(Shelf("telegram", where.chat, is_private=True), "a fact"),),
            spendings=(Spending(where.chat, now.date(), Spent(1, 1)),),
        ),
        now=now,
    )
    await stores.conversations.commit(checkout.lease, step(session, new_history=True, history=(user(),)), now=now)
    await stores.conversations.release(checkout.lease, now=now, keep=False)
    await stores.triggers.fire(
        Firing(made, now), now + MINUTE, (closed(where.chat, where=where),), outcome="claimed", now=now
    )
    delivery = await stores.outbox.pull("telegram", "a1", now=now)
    assert delivery is not None
    delivery = await stores.outbox.split(delivery, ("look",), now=now)
    await stores.outbox.sent(delivery, MessageRef(where, "1"), now=now)
    await stores.outbox.later(delivery, MINUTE, now=now)
    await stores.outbox.working(where, turn="t2")
    await stores.outbox.draft(Draft(where, "t2", 1, "I think"), fence=2)
    await stores.outbox.add(reply(where=ConversationId("telegram", where.chat, "beside")), now=now)
    await stores.blobs.put(b"held by nothing")
    await stores.grants.give(Grant(Right.PERSON, PlatformId("telegram", where.chat), "Ann"))
    await stores.grants.settle(PlatformId("telegram", where.chat), where)
    await stores.grants.offer("ABCD2345", now=now)
    await stores.rates.count(f"person {where.chat}", MINUTE, "e1", now=now)
    await stores.silences.note(where, Unanswered(now, Silence.LIMITED, "Ann"))
    await stores.chats.asked(where, where.chat, 1)
    await stores.floods.take((Limit(f"chat {where.chat}", 3, MINUTE),), now=now)
    await stores.floods.rest(f"chat {where.chat}", now + MINUTE, now=now)
    unread = replace(picture, blob="", source="f1", fetch=Fetch.WAITING)
    await stores.conversations.put(replace(said("look", where=where), attachments=(unread,)), now=now)


@pytest.mark.parametrize("where", [HERE, STRANGE])
async def test_every_key_is_in_the_table(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis, where: ConversationId
) -> None:
    await _everything(redis_stores, clock, where)

    found = {}
    for name in raw.scan_iter(count=1000):
        if not name.startswith(keys.RQ_NAMES):
            key = keys.key_of(name)
            assert key is not None, name
            assert raw.type(name) == key.type, name
            found[key.word] = raw.ttl(name)
    assert set(found) | {"wake"} == {key.word for key in keys.KEYS}
    for key in keys.KEYS:
        if key.lifetime is not None and key is not keys.BLOB and key.word in found:
            assert 0 < found[key.word] <= key.lifetime.total_seconds(), key.word


async def test_many_turns_leave_no_more_keys_than_one(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    """Promise of design 12, in short: only dedupe keys (48 h) and tickets (20 s) grow with the number of turns."""
    counts = []
    for number in range(120):
        where = (HERE, THERE)[number % 2]
        shelf, spending = Shelf("telegram", "42", is_private=True), Spending("42", clock.now().date(), Spent(9, 1))
        await kept(
            redis_stores,
            clock.now(),
            where=where,
            history=(user(), user()),
            outbound=(reply(where=where),),
            memories=(Remember(shelf, f"fact {number}"),),
            spendings=(spending,),
        )
        delivery = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
        assert delivery is not None
        await redis_stores.outbox.done(delivery, now=clock.now())
        clock.jump(SECOND)
        if number in (9, 119):
            passing = (keys.SEEN.head, keys.TICKET.head)  # One each, that lapses by itself.
            names = [name for name in raw.scan_iter(count=1000) if not name.startswith(passing)]
            counts.append(len(names))

    assert counts[0] == counts[1]


async def test_a_prompt_that_nobody_closes_is_forgotten_when_its_maker_says_so(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    kept_for = replace(record(), kept=timedelta(days=37))

    await kept(redis_stores, clock.now(), outbound=(prompt(),), prompts=(kept_for,))

    limit = timedelta(days=37).total_seconds()
    assert limit - 60 < raw.ttl(keys.PROMPT.of("tok")) <= limit


async def test_a_closed_prompt_and_an_empty_outbox_are_forgotten(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await kept(redis_stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    assert raw.ttl(keys.PROMPT.of("tok")) == -1
    await kept(redis_stores, clock.now(), outbound=(closed(),))
    delivery = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    while delivery is not None:
        delivery = await redis_stores.outbox.done(delivery, now=clock.now())

    line, card = keys.LINE.head + keys.conversation_piece(HERE), keys.PROMPT.of("tok")
    month = timedelta(days=30).total_seconds()
    assert month - 60 < raw.ttl(card) <= month
    assert month - 60 < raw.ttl(line) <= month
    await kept(redis_stores, clock.now(), outbound=(prompt(),), prompts=(record(),))
    assert (raw.ttl(card), raw.ttl(line)) == (-1, -1)


async def test_what_was_read_and_what_is_unknown_leave_no_key(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for _ in range(2):
        await redis_stores.conversations.put(said(album="a"), now=clock.now())
    await kept(redis_stores, clock.now(), outbound=(closed("unknown"),))

    left = {key.word for name in raw.scan_iter() if (key := keys.key_of(name))}
    assert left == {"seen", "s", "o", "ox", "dl", "oxready", "wake", "ticket"}


async def test_an_old_history_goes_after_thirty_days(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await kept(redis_stores, clock.now(), history=(user(),))
    await kept(redis_stores, clock.now(), new_history=True)

    (old,) = raw.scan_iter(match=keys.OLD_HISTORY.head + "*")
    month = timedelta(days=30).total_seconds()
    assert month - 60 < raw.ttl(old) <= month


async def test_a_blob_lives_a_day_or_as_long_as_it_is_held(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    blob = await redis_stores.blobs.put(b"bytes")
    fresh = raw.ttl(keys.BLOB.of(blob))
    await kept(redis_stores, clock.now(), files={"a": blob, "b": blob})
    held = raw.ttl(keys.BLOB.of(blob))
    await kept(redis_stores, clock.now(), files={"a": None})
    still_held = raw.ttl(keys.BLOB.of(blob))
    await redis_stores.blobs.put(b"bytes")
    held_when_put_again = raw.ttl(keys.BLOB.of(blob))
    await kept(redis_stores, clock.now(), files={"b": "another"})
    let_go = raw.ttl(keys.BLOB.of(blob))

    day = 24 * 3600
    assert (held, still_held, held_when_put_again) == (-1, -1, -1)
    assert day - 60 < fresh <= day
    assert day - 60 < let_go <= day


async def test_the_ledger_of_a_busy_trigger_is_bounded(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    ledger, now = keys.LEDGER.of("t1"), rules.stamp(clock.now())
    raw.zadd(ledger, {f"{now - number}|skipped|": now - number for number in range(1, rules.MAX_LEDGER + 50)})
    await kept(redis_stores, clock.now(), triggers=(TriggerPut(trigger(), clock.now()),))

    await redis_stores.triggers.fire(Firing(trigger(), clock.now()), None, (), outcome="skipped", now=clock.now())

    lines = await redis_stores.triggers.ledger("t1")
    assert len(lines) == rules.MAX_LEDGER
    assert lines[-1].due == clock.now()


# --- lost answers


async def test_an_addition_whose_answer_was_lost_goes_out_once(
    redis_stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library tells a call again when its answer is lost; both carry the same name."""
    monkeypatch.setattr("kernel.stores.redis.outbox.token_hex", lambda _: "the same call")

    for _ in range(2):
        await redis_stores.outbox.add(reply(), now=clock.now())

    delivery = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None
    assert await redis_stores.outbox.done(delivery, now=clock.now()) is None


async def test_a_checkout_whose_answer_was_lost_costs_no_try(
    redis_stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await redis_stores.conversations.put(said(), now=clock.now())
    run = Server.run

    async def loses(self: Server, script: str, *arguments: str | int) -> object:
        await run(self, script, *arguments)
        raise RetryLater("the answer was lost", SECOND)

    monkeypatch.setattr(Server, "run", loses)
    with pytest.raises(RetryLater):
        await redis_stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    monkeypatch.undo()

    again = await taken(redis_stores, clock.now(), worker="w1")

    assert (again.lease.fence, again.lease.tries) == (1, 1)
    assert await redis_stores.conversations.checkout("w1", now=clock.now(), last_try=True) is None


async def test_a_lost_checkout_that_another_took_over_is_not_handed_out_twice(
    redis_stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await redis_stores.conversations.put(said(), now=clock.now())
    run = Server.run

    async def loses(self: Server, script: str, *arguments: str | int) -> object:
        await run(self, script, *arguments)
        raise RetryLater("the answer was lost", SECOND)

    monkeypatch.setattr(Server, "run", loses)
    with pytest.raises(RetryLater):
        await redis_stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    monkeypatch.undo()
    clock.jump(LEASE)
    monkeypatch.setattr(redis_stores.conversations, "_unanswered", [])
    await taken(redis_stores, clock.now(), worker="w2")

    assert await redis_stores.conversations.checkout("w1", now=clock.now(), last_try=True) is None


async def test_a_pull_whose_answer_was_lost_gives_the_same_line_at_once(
    redis_stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await redis_stores.outbox.add(reply(), now=clock.now())
    await lost_pull(redis_stores, clock, monkeypatch)
    clock.jump(LEASE / 2)

    again = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    clock.jump(LEASE / 2)

    assert again is not None
    assert again.fence == 1
    assert await redis_stores.outbox.pull("telegram", "a2", now=clock.now()) is None
    assert await redis_stores.outbox.pull("telegram", "a1", now=clock.now()) is None


async def test_a_lost_pull_that_another_took_over_is_not_handed_out_twice(
    redis_stores: Stores, clock: JumpingClock, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = await open_stores(redis_url, clock)
    await redis_stores.outbox.add(reply(), now=clock.now())
    await lost_pull(redis_stores, clock, monkeypatch)
    clock.jump(LEASE)
    assert await another.outbox.pull("telegram", "a2", now=clock.now()) is not None

    assert await redis_stores.outbox.pull("telegram", "a1", now=clock.now()) is None
    await another.close()


async def lost_pull(stores: Stores, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """`a1` takes a line and never hears of it."""
    run = Server.run

    async def loses(self: Server, script: str, *arguments: str | int) -> object:
        await run(self, script, *arguments)
        raise RetryLater("the answer was lost", SECOND)

    with monkeypatch.context() as patch:
        patch.setattr(Server, "run", loses)
        with pytest.raises(RetryLater):
            await stores.outbox.pull("telegram", "a1", now=clock.now())


# --- failures


async def test_while_the_server_is_down_callers_are_told_to_try_later(tmp_path: Path, clock: JumpingClock) -> None:
    with start_store(tmp_path / "store") as store:
        stores = await open_stores(store.url, clock)
        await stores.conversations.put(said(), now=clock.now())
        checkout = await taken(stores, clock.now())
        wakes = stores.conversations.wakes("w1")
        hears = asyncio.ensure_future(anext(wakes))
        made = step(checkout.session, Outcome.RUN)
        store.stop()

        for call in (
            stores.conversations.put(said(), now=clock.now()),
            stores.conversations.commit(checkout.lease, made, now=clock.now()),
            stores.conversations.next_ready(now=clock.now()),
            stores.outbox.pull("telegram", "a1", now=clock.now()),
            stores.triggers.next_due(),
            stores.prompts.get("tok"),
            stores.people.see("telegram", Sender("42", "Ann")),
            stores.blobs.put(b"bytes"),
            stores.beats.seen(),
            stores.wakeups.hint(),
            stores.wakeups.unflag(),
            stores.triggers.count("telegram"),
        ):
            with pytest.raises(RetryLater):
                await call
        with pytest.raises(RetryLater):
            await open_stores(store.url, clock)

        with start_store(tmp_path / "store"):
            session = await stores.conversations.commit(checkout.lease, made, now=clock.now())
            assert session.revision == 1
            while not hears.done():
                await stores.conversations.put(said(), now=clock.now())
                await asyncio.wait({hears}, timeout=0.05)
            assert await hears == HERE
            await stores.close()


async def test_a_full_store_is_tried_again_and_nothing_was_written(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    await redis_stores.conversations.put(said(), now=clock.now())
    checkout = await taken(redis_stores, clock.now())
    due = await redis_stores.conversations.due(checkout.lease, now=clock.now())
    made = step(checkout.session, taken=(due[0].id,), history=(user(),), outbound=(reply(),))
    with setting(raw, "maxmemory", "1"):
        with pytest.raises(RetryLater):
            await redis_stores.conversations.commit(checkout.lease, made, now=clock.now())
        with pytest.raises(RetryLater):
            await redis_stores.conversations.put(said(), now=clock.now())

    assert await redis_stores.conversations.due(checkout.lease, now=clock.now()) == due
    assert await redis_stores.outbox.pull("telegram", "a1", now=clock.now()) is None
    assert (await redis_stores.conversations.commit(checkout.lease, made, now=clock.now())).revision == 1


async def test_a_call_that_is_cancelled_does_not_harm_the_next(redis_stores: Stores, clock: JumpingClock) -> None:
    for rounds in range(40):
        call = asyncio.create_task(redis_stores.conversations.next_ready(now=clock.now()))
        for _ in range(rounds % 8):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
        await redis_stores.people.set_zone(HERE, f"Zone/{rounds}")

        assert await redis_stores.people.zone(HERE) == f"Zone/{rounds}"


async def test_many_calls_at_once_share_the_connections(redis_stores: Stores, clock: JumpingClock) -> None:
    where = [ConversationId("telegram", str(number)) for number in range(300)]

    await asyncio.gather(*(redis_stores.conversations.put(said(where=each), now=clock.now()) for each in where))
    found = await asyncio.gather(*(taken(redis_stores, clock.now()) for _ in where))

    assert {each.lease.conversation for each in found} == set(where)


async def test_a_lost_lease_is_told_as_such(redis_stores: Stores, clock: JumpingClock) -> None:
    await redis_stores.conversations.put(said(), now=clock.now())
    checkout = await taken(redis_stores, clock.now())
    clock.jump(LEASE)
    await taken(redis_stores, clock.now())

    with pytest.raises(LeaseLost):
        await redis_stores.conversations.commit(
            checkout.lease, step(checkout.session, history=(user(),)), now=clock.now()
        )


# --- records that cannot be read


async def test_an_input_that_cannot_be_read_is_parked_alone(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for text in ("one", "two", "three"):
        await redis_stores.conversations.put(said(text), now=clock.now())
    checkout = await taken(redis_stores, clock.now())
    second = (await redis_stores.conversations.due(checkout.lease, now=clock.now()))[1]
    raw.hset(keys.ITEMS.head + keys.conversation_piece(HERE), second.id, '{"v":9,"k":"said","d":{}}')

    due = await redis_stores.conversations.due(checkout.lease, now=clock.now())

    assert texts(due) == ["one", "three"]
    assert raw.llen(keys.PARKED.head + keys.conversation_piece(HERE)) == 1
    assert await redis_stores.conversations.parked(HERE) == ()
    assert await redis_stores.conversations.due(checkout.lease, now=clock.now()) == due


async def test_a_delivery_that_cannot_be_read_fails_alone(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for text in ("one", "two", "three", "four"):
        await redis_stores.outbox.add(reply(text), now=clock.now())
    for number in (1, 3):
        raw.hset(keys.DELIVERIES.head + keys.conversation_piece(HERE), f"{number}:body", "no record")

    second = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())
    assert second is not None
    nothing = await redis_stores.outbox.done(second, now=clock.now())
    fourth = await redis_stores.outbox.pull("telegram", "a1", now=clock.now())

    assert second.outbound == reply("two")
    assert nothing is None
    assert fourth is not None
    assert fourth.outbound == reply("four")


async def test_a_trigger_that_cannot_be_read_keeps_no_other_from_firing(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for name in ("bad", "good"):
        await kept(redis_stores, clock.now(), triggers=(TriggerPut(trigger(name), clock.now()),))
    raw.hset(keys.TRIGGER.of("bad"), "record", "no record")

    due = await redis_stores.triggers.due(now=clock.now(), limit=10)
    await redis_stores.triggers.fire(Firing(trigger("good"), clock.now()), None, (), outcome="skipped", now=clock.now())

    assert due == (Firing(trigger("good"), clock.now()),)
    assert await redis_stores.triggers.next_due() == clock.now() + timedelta(hours=1)


async def test_a_trigger_that_cannot_be_read_hides_no_other(
    redis_stores: Stores, clock: JumpingClock, raw: redis.Redis
) -> None:
    for name in ("bad", "good"):
        await kept(redis_stores, clock.now(), triggers=(TriggerPut(trigger(name), clock.now()),))
    raw.hset(keys.TRIGGER.of("bad"), "record", "no record")

    assert await redis_stores.triggers.list(HERE) == ((trigger("good"), clock.now()),)
    assert await redis_stores.triggers.all() == ((trigger("good"), clock.now()),)


# --- fitness


async def test_a_store_without_a_log_is_unfit(redis_url: str, clock: JumpingClock, raw: redis.Redis) -> None:
    with setting(raw, "appendonly", "no"), pytest.raises(StoreUnfit, match="appendonly yes"):
        await open_stores(redis_url, clock)


async def test_a_store_that_evicts_is_unfit(redis_url: str, clock: JumpingClock, raw: redis.Redis) -> None:
    with setting(raw, "maxmemory-policy", "allkeys-lru"), pytest.raises(StoreUnfit, match="noeviction"):
        await open_stores(redis_url, clock)


@pytest.mark.parametrize("url", ["http://secret@host", "redis://:secret@[", "secret", "redis://h:secret/0"])
async def test_an_address_that_is_none_is_a_bad_setting(clock: JumpingClock, url: str) -> None:
    with pytest.raises(BadSettings) as caught:
        await open_stores(url, clock)

    assert "ZCLAW_REDIS_URL" in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_wrong_password_is_not_echoed(redis_url: str, clock: JumpingClock) -> None:
    url = redis_url.replace("unix://", "unix://nobody:secret@", 1)

    with pytest.raises(StoreUnfit) as caught:
        await open_stores(url, clock)

    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_unreachable_store_is_tried_later_without_its_address(clock: JumpingClock) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()

    with pytest.raises(RetryLater) as caught:
        await open_stores("redis://:secret@127.0.0.1:1/0", clock)

    assert "secret" not in str(caught.value)
    assert loop.time() - began < ANSWER_WITHIN_S + 1


class Killed(Exception):
    """The process ends here."""


@pytest.mark.parametrize("does", ["count", "note", "see", "ask"])
async def test_who_is_killed_between_two_commands_leaves_no_key_for_ever(
    redis_stores: Stores, raw: redis.Redis, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    here, now, whole = ConversationId("telegram", "1"), clock.now(), Server.ask
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "count": lambda: redis_stores.rates.count("a", MINUTE, "e1", now=now),
        "note": lambda: redis_stores.silences.note(here, Unanswered(now, Silence.LIMITED, "Ann")),
        "see": lambda: redis_stores.chats.see(KnownChat(here, "Ann", "1"), now=now),
        "ask": lambda: redis_stores.chats.asked(here, "1", 5),
    }
    writes = ("INCR", "RPUSH", "HSET", "ZADD")

    async def dies(server: Server, *command: str | int) -> object:
        answer = await whole(server, *command)
        if command[0] in writes:
            raise Killed
        return answer

    monkeypatch.setattr(Server, "ask", dies)
    with suppress(Killed):
        await calls[does]()

    written = list(raw.scan_iter("z:*"))
    assert len(written) == 1
    assert [key for key in written if raw.ttl(key) == -1] == []
