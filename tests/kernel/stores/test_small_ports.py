"""People, blobs, beats: what every store must do."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kernel.chat import Attachment, AttachmentKind, ConversationId, Reply, Sender
from kernel.errors import BadArguments, StoreUnfit
from kernel.stores import rules
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, MINUTE, THERE, kept
from tests.twins.clock import JumpingClock

STRANGE = "a:*?[b\n"


async def test_people_are_remembered_as_they_were_last_seen(stores: Stores) -> None:
    await stores.people.see("telegram", Sender("42", "Ann", "zh"))
    await stores.people.see("telegram", Sender("42", "Anna", None, "Asia/Shanghai"))

    assert await stores.people.get("telegram", "42") == Sender("42", "Anna", "zh", "Asia/Shanghai")
    assert await stores.people.get("slack", "42") is None
    assert await stores.people.get("telegram", "43") is None


async def test_a_person_without_a_name_keeps_the_one_we_know(stores: Stores) -> None:
    await stores.people.see("telegram", Sender("42", "Ann"))
    await stores.people.see("telegram", Sender("42"))

    assert await stores.people.get("telegram", "42") == Sender("42", "Ann")


async def test_a_bot_stays_a_bot(stores: Stores) -> None:
    """Otherwise its turns had a person's rights."""
    await stores.people.see("telegram", Sender("77", "B9", is_bot=True))
    await stores.people.see("telegram", Sender("77", "B10"))

    assert await stores.people.get("telegram", "77") == Sender("77", "B10", is_bot=True)


async def test_a_stranger_is_refused_once_a_day(stores: Stores, clock: JumpingClock) -> None:
    first = await stores.people.refuse("telegram", STRANGE, now=clock.now())
    clock.jump(timedelta(hours=24) - MINUTE)
    again = await stores.people.refuse("telegram", STRANGE, now=clock.now())
    other = await stores.people.refuse("telegram", "a", now=clock.now())
    clock.jump(MINUTE)
    tomorrow = await stores.people.refuse("telegram", STRANGE, now=clock.now())

    assert [first, again, other, tomorrow] == [True, False, True, True]


async def test_a_conversation_has_its_zone(stores: Stores, clock: JumpingClock) -> None:
    await stores.people.set_zone(HERE, "Europe/Berlin")
    await kept(stores, clock.now())

    assert await stores.people.zone(HERE) == "Europe/Berlin"
    assert await stores.people.zone(THERE) is None
    assert await stores.people.zone(ConversationId("slack", STRANGE)) is None


async def test_a_conversation_has_its_language(stores: Stores, clock: JumpingClock) -> None:
    await stores.people.set_language(HERE, "en")
    await kept(stores, clock.now())

    assert await stores.people.language(HERE) == "en"
    assert await stores.people.language(THERE) is None
    assert await stores.people.zone(HERE) is None


@pytest.mark.parametrize("size", [0, 1, rules.BLOB_PIECE_BYTES, 2_500_000])
async def test_bytes_come_back(stores: Stores, size: int) -> None:
    content = (bytes(range(256)) * (size // 256 + 1))[:size]

    blob = await stores.blobs.put(content)

    assert await stores.blobs.get(blob) == content


async def test_the_same_bytes_have_the_same_id(stores: Stores) -> None:
    assert await stores.blobs.put(b"same") == await stores.blobs.put(b"same")
    assert await stores.blobs.put(b"same") != await stores.blobs.put(b"other")


async def test_an_unknown_blob_is_gone(stores: Stores) -> None:
    assert await stores.blobs.get(STRANGE) is None


async def test_a_blob_over_20_mb_is_refused(stores: Stores) -> None:
    with pytest.raises(BadArguments):
        await stores.blobs.put(bytes(rules.MAX_BLOB_BYTES + 1))


async def test_the_oldest_blob_that_nothing_holds_makes_room(stores: Stores, clock: JumpingClock) -> None:
    held = await stores.blobs.put(b"a" * 20_000_000)
    await kept(stores, clock.now(), files={"a.txt": held})
    clock.jump(MINUTE)
    oldest = await stores.blobs.put(b"b" * 20_000_000)
    clock.jump(MINUTE)
    newer = await stores.blobs.put(b"c" * 15_000_000)
    clock.jump(MINUTE)

    newest = await stores.blobs.put(b"d" * 15_000_000)

    assert await stores.blobs.get(oldest) is None
    for blob in (held, newer, newest):
        assert await stores.blobs.get(blob) is not None


async def test_a_blob_that_is_put_again_makes_room_last(stores: Stores, clock: JumpingClock) -> None:
    blobs = []
    for name in (b"a", b"b", b"c", b"a"):
        blobs.append(await stores.blobs.put(name * 20_000_000))
        clock.jump(MINUTE)

    await stores.blobs.put(b"d" * 20_000_000)

    assert await stores.blobs.get(blobs[0]) is not None
    assert await stores.blobs.get(blobs[1]) is None


async def test_a_blob_that_made_room_takes_room_when_it_comes_back(stores: Stores, clock: JumpingClock) -> None:
    blobs = []
    for name in (b"a", b"b", b"c", b"d", b"a"):
        blobs.append(await stores.blobs.put(name * 20_000_000))
        clock.jump(MINUTE)

    there = [await stores.blobs.get(blob) is not None for blob in blobs]

    assert blobs[0] == blobs[-1]
    assert there == [True, False, True, True, True]


async def test_held_blobs_do_not_make_room(stores: Stores, clock: JumpingClock) -> None:
    for name in "abc":
        blob = await stores.blobs.put(name.encode() * 20_000_000)
        await kept(stores, clock.now(), files={name: blob})

    with pytest.raises(StoreUnfit):
        await stores.blobs.put(b"one more")


async def test_a_blob_of_a_delivery_is_held_until_it_is_out(stores: Stores, clock: JumpingClock) -> None:
    blob = await stores.blobs.put(b"a" * 20_000_000)
    picture = Attachment(AttachmentKind.PICTURE, blob, "a.png", "image/png", 20_000_000)
    await stores.outbox.add(Reply(HERE, "look", (picture,)), now=clock.now())
    for name in b"bcd":
        await stores.blobs.put(bytes([name]) * 20_000_000)
    while_waiting = await stores.blobs.get(blob)
    delivery = await stores.outbox.pull("telegram", "a1", now=clock.now())
    assert delivery is not None

    await stores.outbox.done(delivery, now=clock.now())
    for name in b"efg":
        clock.jump(MINUTE)
        await stores.blobs.put(bytes([name]) * 20_000_000)

    assert while_waiting is not None
    assert await stores.blobs.get(blob) is None


async def test_processes_that_live_are_seen(stores: Stores, clock: JumpingClock) -> None:
    await stores.beats.beat("worker", "host:1", now=clock.now())
    clock.jump(MINUTE / 2)
    await stores.beats.beat("bots", "host:2", now=clock.now())

    assert await stores.beats.seen() == (
        ("bots", "host:2", clock.now()),
        ("worker", "host:1", clock.now() - MINUTE / 2),
    )
    clock.jump(MINUTE / 2)
    await stores.beats.beat("bots", "host:2", now=clock.now())
    assert await stores.beats.seen() == (("bots", "host:2", clock.now()),)

    await stores.beats.end("bots", "host:2")
    await stores.beats.end("bots", "never there")
    assert await stores.beats.seen() == ()
