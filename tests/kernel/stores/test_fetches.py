"""Messages that wait for their files: what every store must do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import redis

from kernel.chat import Attachment, AttachmentKind, Fetch, UserMessage
from kernel.ports import FETCH_LEASE, FETCH_WITHIN, Fetching, Put
from kernel.stores import keys
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, MINUTE, SECOND, THERE, pressed, said, step, taken, texts
from tests.twins.clock import JumpingClock

PHOTO = Attachment(AttachmentKind.PICTURE, "", "photo.jpg", "image/jpeg", 5, "file-1", Fetch.WAITING)
ALBUM = timedelta(seconds=1.2)


def shown(text: str = "look", **more: object) -> UserMessage:
    """A message with a photo that is not fetched yet."""
    return replace(said(text, **more), attachments=(PHOTO,))  # type: ignore[arg-type]


async def fetched(stores: Stores, clock: JumpingClock) -> tuple[Fetching, UserMessage, str]:
    """The message whose turn it is, and as it is once its photo has come."""
    fetching = await stores.fetches.take("telegram", now=clock.now())
    assert fetching is not None
    blob = await stores.blobs.put(b"jpeg!")
    return fetching, replace(fetching.message, attachments=(replace(PHOTO, blob=blob, fetch=Fetch.DONE),)), blob


async def due(stores: Stores, clock: JumpingClock) -> list[str]:
    """What a worker reads now."""
    checkout = await stores.conversations.checkout("w1", now=clock.now(), last_try=True)
    return texts(await stores.conversations.due(checkout.lease, now=clock.now())) if checkout else []


async def test_a_message_waits_for_its_files_and_is_read_with_them(stores: Stores, clock: JumpingClock) -> None:
    message = shown()
    await stores.conversations.put(message, now=clock.now())
    clock.jump(SECOND)
    early = await due(stores, clock)

    fetching, complete, _ = await fetched(stores, clock)
    put = await stores.fetches.complete(fetching, complete, now=clock.now())

    assert early == []
    assert fetching.message == message
    assert put is Put.STORED
    checkout = await taken(stores, clock.now())
    items = await stores.conversations.due(checkout.lease, now=clock.now())
    assert [item.inbound for item in items] == [complete]
    assert await stores.fetches.next_due("telegram") is None


async def test_nobody_waits_longer_than_half_a_minute(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    await stores.fetches.take("telegram", now=clock.now())
    clock.jump(FETCH_WITHIN)

    assert await due(stores, clock) == ["look"]
    assert await stores.fetches.take("telegram", now=clock.now()) is None


async def test_what_is_said_after_it_is_read_after_it_and_not_later(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown("photo"), now=clock.now())
    await stores.conversations.put(said("what is it?"), now=clock.now())
    before = await due(stores, clock)

    fetching, complete, _ = await fetched(stores, clock)
    await stores.fetches.complete(fetching, complete, now=clock.now())

    assert before == []
    assert await due(stores, clock) == ["photo", "what is it?"]


async def test_what_was_said_before_it_does_not_wait(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown("photo", order=2), now=clock.now())
    await stores.conversations.put(said("first", order=1), now=clock.now())

    assert await due(stores, clock) == ["first"]


async def test_commands_and_other_chats_do_not_wait(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown("photo"), now=clock.now())
    await stores.conversations.put(pressed("press"), now=clock.now())
    await stores.conversations.put(replace(said("/new"), attachments=(PHOTO,)), now=clock.now())
    clock.jump(SECOND)
    await stores.conversations.put(said("elsewhere", where=THERE), now=clock.now())

    assert await due(stores, clock) == ["press", "/new"]
    assert await due(stores, clock) == ["elsewhere"]


async def test_an_album_settles_although_its_first_part_is_there(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown("早", album="a"), now=clock.now(), settle=ALBUM)
    fetching, complete, _ = await fetched(stores, clock)
    await stores.fetches.complete(fetching, complete, now=clock.now())
    clock.jump(SECOND)
    await stores.conversations.put(shown("午", album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(SECOND)
    early = await due(stores, clock)

    fetching, complete, _ = await fetched(stores, clock)
    await stores.fetches.complete(fetching, complete, now=clock.now())
    still = await due(stores, clock)
    clock.jump(SECOND)

    assert [early, still] == [[], []]
    assert await due(stores, clock) == ["早", "午"]


async def test_an_album_settles_although_its_parts_are_there(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown("早", album="a"), now=clock.now(), settle=ALBUM)
    clock.jump(SECOND)
    await stores.conversations.put(shown("午", album="a"), now=clock.now(), settle=ALBUM)
    for _ in range(2):
        fetching, complete, _ = await fetched(stores, clock)
        await stores.fetches.complete(fetching, complete, now=clock.now())
    clock.jump(SECOND)
    early = await due(stores, clock)
    clock.jump(SECOND)

    assert early == []
    assert await due(stores, clock) == ["早", "午"]


async def test_work_of_a_process_that_died_is_taken_over(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    first = await stores.fetches.take("telegram", now=clock.now())
    assert first is not None
    second = await stores.fetches.take("telegram", now=clock.now())
    clock.jump(FETCH_LEASE / 2)
    await stores.fetches.hold(first, now=clock.now())
    assert await stores.fetches.next_due("telegram") == clock.now() + FETCH_LEASE
    clock.jump(FETCH_LEASE / 2)
    held = await stores.fetches.take("telegram", now=clock.now())
    clock.jump(FETCH_LEASE / 2)

    assert [second, held] == [None, None]
    assert await stores.fetches.take("telegram", now=clock.now()) == first
    assert await stores.fetches.take("slack", now=clock.now()) is None


async def test_the_first_one_that_completes_it_counts(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    fetching, complete, _ = await fetched(stores, clock)

    await stores.fetches.complete(fetching, complete, now=clock.now())
    again = await stores.fetches.complete(fetching, fetching.message, now=clock.now())

    assert again is Put.DUPLICATE
    checkout = await taken(stores, clock.now())
    assert [item.inbound for item in await stores.conversations.due(checkout.lease, now=clock.now())] == [complete]


async def test_what_was_taken_without_its_files_stays_taken(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    fetching, complete, _ = await fetched(stores, clock)
    clock.jump(FETCH_WITHIN)
    checkout = await taken(stores, clock.now())
    items = await stores.conversations.due(checkout.lease, now=clock.now())
    await stores.conversations.commit(
        checkout.lease, step(checkout.session, taken=tuple(item.id for item in items)), now=clock.now()
    )

    late = await stores.fetches.complete(fetching, complete, now=clock.now())

    assert late is Put.DUPLICATE
    assert await stores.conversations.due(checkout.lease, now=clock.now()) == ()


async def test_a_holder_is_told_that_the_files_are_there(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said("first"), now=clock.now())
    await taken(stores, clock.now())
    await stores.conversations.put(shown(), now=clock.now())
    fetching, complete, _ = await fetched(stores, clock)

    assert await stores.fetches.complete(fetching, complete, now=clock.now()) is Put.HELD


async def test_the_inbox_holds_what_was_fetched_until_it_is_taken(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    fetching, complete, blob = await fetched(stores, clock)
    await stores.fetches.complete(fetching, complete, now=clock.now())
    for filling in (b"a", b"b", b"c"):
        await stores.blobs.put(filling * 19_000_000)
        clock.jump(MINUTE)
    await stores.blobs.put(b"d" * 19_000_000)
    while_held = await stores.blobs.get(blob)

    checkout = await taken(stores, clock.now())
    items = await stores.conversations.due(checkout.lease, now=clock.now())
    await stores.conversations.commit(
        checkout.lease, step(checkout.session, taken=tuple(item.id for item in items)), now=clock.now()
    )
    clock.jump(timedelta(days=2))
    for filling in (b"e", b"f", b"g"):
        await stores.blobs.put(filling * 19_999_999)

    assert while_held == b"jpeg!"
    assert await stores.blobs.get(blob) is None


@pytest.mark.parametrize("is_fetched", [True, False])
async def test_nothing_of_it_is_left_once_it_is_taken(
    redis_stores: Stores, raw: redis.Redis, clock: JumpingClock, is_fetched: bool
) -> None:
    await redis_stores.conversations.put(shown(album="a"), now=clock.now())
    await redis_stores.conversations.put(said("after"), now=clock.now())
    if is_fetched:
        fetching, complete, _ = await fetched(redis_stores, clock)
        await redis_stores.fetches.complete(fetching, complete, now=clock.now())
    clock.jump(FETCH_WITHIN)

    checkout = await taken(redis_stores, clock.now())
    items = await redis_stores.conversations.due(checkout.lease, now=clock.now())
    await redis_stores.conversations.commit(
        checkout.lease, step(checkout.session, taken=tuple(item.id for item in items)), now=clock.now()
    )

    assert texts(items) == ["look", "after"]
    here = keys.conversation_piece(HERE)
    left = [key.head + here for key in (keys.WAITS, keys.ITEMS, keys.INBOX, keys.READY_TIMES, keys.ALBUMS)]
    assert raw.exists(*left, keys.FETCHES.of("telegram")) == 0
    assert list(raw.scan_iter(keys.BLOB_HOLDERS.head + "*")) == []


async def test_what_is_read_without_its_files_is_no_work_any_more(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(shown(), now=clock.now())
    clock.jump(FETCH_WITHIN)

    assert await stores.fetches.take("telegram", now=clock.now()) is None
    assert await stores.fetches.next_due("telegram") is None
