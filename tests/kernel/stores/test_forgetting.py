"""What is forgotten of a conversation at once, whatever it is kept in; and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import redis

from kernel.chat import (
    Attachment,
    AttachmentKind,
    ConversationId,
    Draft,
    MessageRef,
    Prompt,
    Reply,
    Sender,
)
from kernel.errors import LeaseLost
from kernel.messages import Image, Message, Role, Text
from kernel.ports import (
    Alarm,
    ForgetAll,
    Forgetting,
    Holdings,
    Outcome,
    Remember,
    Shelf,
    Silence,
    Spending,
    Spent,
    Step,
    TriggerPut,
    Unanswered,
)
from kernel.session import Session
from kernel.stores import keys, rules
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from kernel.triggers import Firing
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
    said,
    taken,
    texts,
    trigger,
    turn,
    user,
)
from tests.twins.clock import JumpingClock

CANARY = "CANARY-7f3a"
MINE = Shelf("telegram", "42", is_private=True)
OTHERS = Shelf("telegram", "43", is_private=True)


def canary(what: str) -> str:
    """Words of the chat, which name the place where they are kept."""
    return f"{CANARY} {what}"


async def forget(stores: Stores, now: datetime, upto: str = "", **fields: object) -> Step:
    """One step that forgets HERE; what it takes with it are `fields`."""
    await stores.conversations.put(said("/forget", where=HERE), now=now)
    checkout = await taken(stores, now)
    assert checkout.lease.conversation == HERE
    step = Step(
        Session(HERE, revision=checkout.session.revision),
        Outcome.DONE,
        forgets=Forgetting(MINE, upto or (await stores.conversations.due(checkout.lease, now=now))[0].id),
        **fields,  # type: ignore[arg-type]  # fields of Step by name
    )
    await stores.conversations.commit(checkout.lease, step, now=now)
    await stores.conversations.release(checkout.lease, now=now, keep=False)
    return step


def picture_of(blob: str) -> Attachment:
    return Attachment(AttachmentKind.PICTURE, blob, "a.png", "image/png", 4)


def pictured(blob: str) -> Message:
    return Message(Role.USER, (Image(blob, "image/png"), Text(canary("history"))))


async def fill(stores: Stores, clock: JumpingClock) -> tuple[str, ...]:
    """Words of the chat in everything that is kept of it; the blobs among them."""
    now = clock.now()
    kinds = ("file", "shown", "shown before", "sent", "came")
    blobs = [await stores.blobs.put(canary(what).encode()) for what in kinds]
    file, shown, shown_before, sent, came = blobs
    await kept(stores, now, history=(pictured(shown_before),))
    await kept(stores, now, new_history=True, history=(pictured(shown),))
    await kept(
        stores,
        now,
        files={"notes/a.txt": file},
        notes=(canary("note"),),
        memories=(Remember(MINE, canary("memory")),),
        spendings=(Spending("42", now.date(), Spent(10, 5)),),
        triggers=(TriggerPut(trigger(text=canary("reminder")), now + MINUTE),),
        prompts=(replace(record("asks"), data=canary("asks")), replace(record("over"), data=canary("over"))),
        outbound=(
            Reply(HERE, canary("reply"), (picture_of(sent),)),
            Prompt(HERE, canary("card"), "asks", ()),
            closed("over"),
        ),
        alarms=(Alarm("asks", now + MINUTE),),
    )
    await stores.conversations.put(replace(said(canary("parked")), attachments=(picture_of(came),)), now=now)
    checkout = await taken(stores, now)
    due = await stores.conversations.due(checkout.lease, now=now)
    working = replace(turn(), frames=(replace(turn().frames[0], messages=(user(canary("turn")),)),))
    session = replace(checkout.session, turns=(working,), active=working.id)
    parks = Step(session, Outcome.RUN, parked=(due[0].id,))
    await stores.conversations.commit(checkout.lease, parks, now=now)
    await stores.conversations.release(checkout.lease, now=now, keep=False)
    await stores.outbox.draft(Draft(HERE, "turn1", 1, canary("draft")), fence=9)
    await stores.silences.note(HERE, Unanswered(now, Silence.NOT_ADDRESSED, canary("name")))
    await stores.conversations.put(said(canary("waits")), now=now)
    return tuple(blobs)


def everything(raw: redis.Redis) -> Iterator[tuple[str, str]]:
    """Every key of the store with all that lies in it."""
    for name in map(str, raw.scan_iter()):
        match str(raw.type(name)):
            case "string":
                yield name, str(raw.get(name))
            case "hash":
                yield name, str(raw.hgetall(name))
            case "list":
                yield name, str(raw.lrange(name, 0, -1))
            case "set":
                yield name, str(raw.smembers(name))
            case "zset":
                yield name, str(raw.zrange(name, 0, -1))
            case other:
                raise AssertionError(other)


async def test_no_word_of_the_chat_is_left_in_any_key(
    redis_stores: Stores, raw: redis.Redis, clock: JumpingClock
) -> None:
    blobs = await fill(redis_stores, clock)
    places = {name.split(":")[1] for name, content in everything(raw) if CANARY in content}
    holding = ("h", "old", "notes", "mem", "tr", "prompt", "dl", "draft", "unanswered", "parked", "it", "s", "b")
    assert places == set(holding)

    await forget(redis_stores, clock.now())

    assert [name for name, content in everything(raw) if CANARY in content] == []
    assert [await redis_stores.blobs.get(blob) for blob in blobs] == [None] * 5
    assert [name for name in raw.scan_iter() if keys.key_of(name) is None and not name.startswith(keys.RQ_NAMES)] == []


async def test_no_word_of_the_chat_is_left_in_the_twin(clock: JumpingClock) -> None:
    memory = Memory(clock)
    stores = memory_stores(clock, memory=memory)
    await fill(stores, clock)
    places = [name for name, content in vars(memory).items() if CANARY in str(content)]
    assert places == ["records", "lines", "triggers", "prompts", "memories", "unanswered", "blobs"]

    await forget(stores, clock.now())

    assert [name for name, content in vars(memory).items() if CANARY in str(content)] == []


async def test_nothing_of_it_comes_any_more(stores: Stores, clock: JumpingClock) -> None:
    await fill(stores, clock)

    await forget(stores, clock.now())

    assert await stores.triggers.list(HERE) == ()
    assert await stores.triggers.next_due() is None
    assert await stores.triggers.count("telegram") == 0
    assert await stores.outbox.pull("telegram", "bot", now=clock.now()) is None
    assert await stores.outbox.drafts("telegram") == ()
    assert await stores.conversations.next_ready(now=clock.now()) is None
    assert await stores.conversations.holdings(HERE, now=clock.now()) == Holdings()


async def test_how_much_is_kept_is_counted(stores: Stores, clock: JumpingClock) -> None:
    await fill(stores, clock)

    assert await stores.conversations.holdings(HERE, now=clock.now()) == Holdings(1, 1, 1, 1)
    assert await stores.conversations.holdings(THERE, now=clock.now()) == Holdings()
    later = clock.now() + rules.KEEP_OLD_HISTORY + SECOND
    assert (await stores.conversations.holdings(HERE, now=later)).old_histories == 0


async def test_usage_settings_and_what_others_keep_stay(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await fill(stores, clock)
    await stores.people.set_zone(HERE, "Europe/Berlin")
    shared = await stores.blobs.put(canary("file").encode())
    elsewhere = trigger("t2", where=THERE)
    await kept(
        stores,
        now,
        where=THERE,
        history=(user("theirs"),),
        files={"b.txt": shared},
        memories=(Remember(OTHERS, "theirs"),),
        triggers=(TriggerPut(elsewhere, now + MINUTE),),
        prompts=(record("theirs", where=THERE),),
    )

    await forget(stores, now)

    assert await stores.spendings.of_chat(HERE, [now.date()]) == (Spent(10, 5),)
    assert await stores.people.zone(HERE) == "Europe/Berlin"
    assert await stores.blobs.get(shared) == canary("file").encode()
    assert await stores.memories.on(OTHERS) == ("theirs",)
    assert await stores.triggers.list(THERE) == ((elsewhere, now + MINUTE),)
    assert await stores.prompts.get("theirs") is not None
    assert (await stores.conversations.holdings(THERE, now=now)).messages == 1


async def test_what_came_after_the_press_is_read_afterwards(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await stores.conversations.put(said("before", order=50), now=now)
    await stores.conversations.put(said("/forget"), now=now)
    checkout = await taken(stores, now)
    press = (await stores.conversations.due(checkout.lease, now=now))[0]
    await stores.conversations.put(said("after", order=40), now=now)

    step = Step(checkout.session, Outcome.DONE, taken=(press.id,), forgets=Forgetting(MINE, press.id))
    await stores.conversations.commit(checkout.lease, step, now=now)

    assert texts(await stores.conversations.due(checkout.lease, now=now)) == ["after"]


async def test_what_the_step_says_goes_out_and_a_card_is_closed_wherever_it_was_shown(
    stores: Stores, clock: JumpingClock
) -> None:
    now = clock.now()
    await kept(stores, now, prompts=(replace(record("card"), data=canary("card")),), outbound=(prompt("card"),))
    delivery = await stores.outbox.pull("telegram", "bot", now=now)
    assert delivery is not None
    shown = MessageRef(HERE, "77")
    delivery = await stores.outbox.split(delivery, ("Do it?",), now=now)
    await stores.outbox.done(await stores.outbox.sent(delivery, shown, now=now), now=now)
    await kept(stores, now, outbound=(reply(canary("late")),))

    await forget(stores, now, prompts=(replace(record("card"), data="{}"),), outbound=(closed("card"), reply("done")))

    closing = await stores.outbox.pull("telegram", "bot", now=now)
    assert closing is not None
    assert (closing.outbound, closing.places) == (closed("card"), (shown,))
    said_then = await stores.outbox.done(closing, now=now)
    assert said_then is not None
    assert said_then.outbound == reply("done")
    known = await stores.prompts.get("card")
    assert known is not None
    assert (known.data, known.is_open) == ("{}", False)


async def test_who_was_sending_one_of_its_deliveries_learns_that_it_is_gone(
    stores: Stores, clock: JumpingClock
) -> None:
    now = clock.now()
    await kept(stores, now, outbound=(reply(canary("reply")),))
    sending = await stores.outbox.pull("telegram", "bot", now=now)
    assert sending is not None

    await forget(stores, now, outbound=(reply("done"),))

    with pytest.raises(LeaseLost):
        await stores.outbox.sent(sending, MessageRef(HERE, "78"), now=now)
    with pytest.raises(LeaseLost):
        await stores.outbox.done(sending, now=now)
    following = await stores.outbox.pull("telegram", "bot", now=now)
    assert following is not None
    assert following.outbound == reply("done")


async def test_told_twice_it_is_done_once(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await kept(stores, now, history=(user(canary("history")),))
    await stores.conversations.put(said("/forget"), now=now)
    checkout = await taken(stores, now)
    step = Step(replace(Session(HERE), revision=checkout.session.revision), Outcome.DONE, forgets=Forgetting(MINE))

    first = await stores.conversations.commit(checkout.lease, step, now=now)
    await stores.people.set_zone(HERE, "Europe/Berlin")
    await stores.conversations.note(HERE, "came in between")
    again = await stores.conversations.commit(checkout.lease, step, now=now)

    assert first == again
    await stores.conversations.release(checkout.lease, now=now, keep=False)
    await stores.conversations.put(said(), now=now)
    assert (await taken(stores, now)).notes == ("came in between",)


async def test_who_has_lost_the_lease_forgets_nothing(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await kept(stores, now, history=(user("words"),))
    await stores.conversations.put(said(), now=now)
    checkout = await taken(stores, now)
    clock.jump(timedelta(seconds=16))
    await taken(stores, clock.now(), worker="w2")

    with pytest.raises(LeaseLost):
        await stores.conversations.commit(
            checkout.lease, Step(checkout.session, Outcome.DONE, forgets=Forgetting(MINE)), now=clock.now()
        )

    assert (await stores.conversations.holdings(HERE, now=clock.now())).messages == 1


async def test_all_notes_of_one_shelf_go_and_no_other(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), memories=(Remember(MINE, "a"), Remember(MINE, "b"), Remember(OTHERS, "c")))

    await kept(stores, clock.now(), memories=(ForgetAll(MINE), Remember(MINE, "d")))

    assert await stores.memories.on(MINE) == ("d",)
    assert await stores.memories.on(OTHERS) == ("c",)


async def test_a_person_is_unknown_until_they_are_seen_again(stores: Stores) -> None:
    ann = Sender("42", "Ann", "en", "Europe/Berlin")
    await stores.people.see("telegram", ann)

    await stores.people.forget("telegram", "42")
    await stores.people.forget("telegram", "42")

    assert await stores.people.get("telegram", "42") is None
    await stores.people.see("telegram", ann)
    assert await stores.people.get("telegram", "42") == ann


async def test_the_list_of_prompts_does_not_grow_with_those_that_are_gone(
    redis_stores: Stores, raw: redis.Redis, clock: JumpingClock
) -> None:
    lasting = record("lasting")
    await kept(redis_stores, clock.now(), prompts=(lasting,))

    for number in range(60):
        await kept(redis_stores, clock.now(), prompts=(record(f"p{number}"),))
        raw.delete(keys.PROMPT.of(f"p{number}"))

    listed = raw.zrange(keys.PROMPTS_OF.head + keys.conversation_piece(HERE), 0, -1)
    assert len(listed) < 10
    assert "lasting" in listed


async def test_a_chat_with_threads_keeps_what_belongs_to_its_other_threads(stores: Stores, clock: JumpingClock) -> None:
    thread = ConversationId("telegram", "42", "9")
    await kept(stores, clock.now(), where=thread, history=(user("theirs"),), files={})

    await forget(stores, clock.now())

    assert (await stores.conversations.holdings(thread, now=clock.now())).messages == 1


async def test_its_outbox_has_no_precedence_and_no_pause_left(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await kept(stores, now, outbound=(prompt("card"), prompt("other")))
    refused = await stores.outbox.pull("telegram", "bot", now=now)
    assert refused is not None
    await stores.outbox.later(refused, 10 * MINUTE, now=now)
    await kept(stores, now, where=THERE, outbound=(reply("theirs", where=THERE),))
    clock.jump(SECOND)

    await forget(stores, clock.now(), outbound=(reply("done"),))

    first = await stores.outbox.pull("telegram", "bot", now=clock.now())
    second = await stores.outbox.pull("telegram", "bot", now=clock.now())
    assert first is not None
    assert second is not None
    assert [first.outbound, second.outbound] == [reply("theirs", where=THERE), reply("done")]


async def test_what_became_of_its_reminders_and_who_asked_in_it_goes_too(stores: Stores, clock: JumpingClock) -> None:
    now = clock.now()
    await kept(stores, now, triggers=(TriggerPut(trigger(), now),))
    fired = Firing(trigger(), now)
    assert await stores.triggers.fire(fired, now + MINUTE, (reply("⏰"),), outcome="delivered", now=now)
    await stores.chats.asked(HERE, "42", 1)
    assert await stores.triggers.ledger("t1") != ()

    await forget(stores, now)

    assert await stores.triggers.ledger("t1") == ()
    assert not await stores.chats.has_asked(HERE, "42", before=2)
