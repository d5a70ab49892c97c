"""What people send is fetched while its message waits, by whichever process lives, and never holds up others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bots.adapter import AnswerLost, FileGone, FileTooLarge
from bots.attached import not_there, to_fetch
from bots.fetching import DOWNLOADS_OF_CHAT, MESSAGES
from kernel.chat import Attachment, AttachmentKind, ConversationId, Fetch, UserMessage
from kernel.errors import RetryLater, StoreUnfit
from kernel.ports import FETCH_LEASE, FETCH_WITHIN
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.wakeups import MemoryWakeups
from tests.bots.bench import D1, D2, U1, Bench, Broken, FakeAdapter, build, running
from tests.kernel.test_pictures import png

D3 = ConversationId("fake", "3")


@dataclass
class FilingAdapter(FakeAdapter):
    """A platform that keeps files: `files[source]` is the content, or is raised; errors in a list come before it."""

    files: Mapping[str, bytes | Exception | list[bytes | Exception]] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    held: dict[str, asyncio.Event] = field(default_factory=dict)

    async def fetch(self, attachment: Attachment) -> bytes:
        self.fetched.append(attachment.source)
        if attachment.source in self.held:
            await self.held[attachment.source].wait()
        found = self.files[attachment.source]
        answer = (found.pop(0) if len(found) > 1 else found[0]) if isinstance(found, list) else found
        if isinstance(answer, Exception):
            raise answer
        return answer


def with_files(
    bench: Bench, *sources: str, text: str = "look", where: ConversationId = D1, size: int = 3
) -> UserMessage:
    """A message with a file of each of these sources."""
    files = tuple(to_fetch(each, AttachmentKind.FILE, f"{each}.txt", "text/plain", size) for each in sources)
    return replace(bench.message(text, where=where), attachments=files)


async def read(bench: Bench, where: ConversationId = D1) -> list[UserMessage]:
    """What a worker may read of that chat now."""
    record = bench.memory.records.get(where)
    due = [each.item.inbound for each in record.inbox if each.ready_at <= bench.clock.now()] if record else []
    return [each for each in due if isinstance(each, UserMessage)]


async def outcome(bench: Bench) -> list[Fetch]:
    """What became of the files of the only message that may be read."""
    (message,) = await read(bench)
    return [each.fetch for each in message.attachments]


async def test_a_message_is_acknowledged_at_once_and_read_with_its_file() -> None:
    adapter = FilingAdapter(files={"f1": b"one"}, held={"f1": asyncio.Event()})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        before = await read(bench)
        acknowledged = list(adapter.acknowledged)
        wakeups = bench.stores.wakeups
        assert isinstance(wakeups, MemoryWakeups)
        await wakeups.hinted()
        await wakeups.unflag()
        adapter.held["f1"].set()
        await bench.passes()

        assert (before, acknowledged) == ([], ["e1"])
        (message,) = await read(bench)
        (file,) = message.attachments
        assert (file.fetch, file.source, file.size_bytes) == (Fetch.DONE, "", 3)
        assert await bench.stores.blobs.get(file.blob) == b"one"
        async with asyncio.timeout(1):
            await wakeups.hinted()


async def test_a_text_behind_it_waits_and_other_chats_do_not() -> None:
    adapter = FilingAdapter(files={"f1": b"one"}, held={"f1": asyncio.Event()})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"), bench.message("what is it?"), bench.message("hello", where=D2))

        assert await read(bench) == []
        assert [each.text for each in await read(bench, D2)] == ["hello"]

        adapter.held["f1"].set()
        await bench.passes()

        assert [each.text for each in await read(bench)] == ["look", "what is it?"]


async def test_after_half_a_minute_it_is_read_without() -> None:
    adapter = FilingAdapter(files={"f1": b"one", "f2": b"two"}, held={"f2": asyncio.Event()})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1", "f2"))
        await bench.passes(20)
        early = await read(bench)
        await bench.passes(10)

        assert early == []
        assert await outcome(bench) == [Fetch.DONE, Fetch.FAILED]
        assert adapter.fetched == ["f1", "f2"]


@pytest.mark.parametrize("failure", [RetryLater("limit", timedelta(seconds=3)), AnswerLost("cut")])
async def test_what_passes_is_tried_again(failure: Exception) -> None:
    adapter = FilingAdapter(files={"f1": [failure, failure, b"one"]})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        once = list(adapter.fetched)
        await bench.passes(8)

        assert once == ["f1"]
        assert await outcome(bench) == [Fetch.DONE]


async def test_tries_are_bounded() -> None:
    adapter = FilingAdapter(files={"f1": AnswerLost("cut")})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        await bench.passes(FETCH_WITHIN.total_seconds())
        tries = len(adapter.fetched)
        await bench.passes(60)

        assert 4 <= tries <= 10
        assert len(adapter.fetched) == tries
        assert await outcome(bench) == [Fetch.FAILED]


@pytest.mark.parametrize(
    ("answer", "becomes"),
    [
        (FileTooLarge("30 MB"), Fetch.LARGE),
        (FileGone("404"), Fetch.GONE),
        (RetryLater("limit", timedelta(minutes=2)), Fetch.FAILED),
        (Broken(), Fetch.FAILED),
        (bytes(20_000_001), Fetch.FAILED),
    ],
)
async def test_what_does_not_pass_is_not_waited_for(answer: bytes | Exception, becomes: Fetch) -> None:
    adapter = FilingAdapter(files={"f1": answer})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        await bench.passes(0.1)

        assert await outcome(bench) == [becomes]
        assert adapter.fetched == ["f1"]


async def test_what_is_known_to_be_too_large_is_never_asked_for() -> None:
    adapter = FilingAdapter()
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1", size=20_000_001))

        assert await outcome(bench) == [Fetch.LARGE]
        assert adapter.fetched == []


async def test_a_full_store_costs_the_file_and_not_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> str:
        raise StoreUnfit("full")

    monkeypatch.setattr(MemoryBlobs, "put", full)
    async with running(FilingAdapter(files={"f1": b"one"})) as bench:
        await bench.comes(with_files(bench, "f1"))

        assert await outcome(bench) == [Fetch.FAILED]


async def test_a_picture_is_what_its_bytes_say() -> None:
    adapter = FilingAdapter(files={"f1": png(), "f2": b"<svg/>"})
    async with running(adapter) as bench:
        named = to_fetch("f2", AttachmentKind.PICTURE, "a.png", "image/png", 6)
        message = with_files(bench, "f1")
        await bench.comes(replace(message, attachments=(*message.attachments, named)))

        (message,) = await read(bench)
        assert [(each.kind, each.mime) for each in message.attachments] == [
            (AttachmentKind.PICTURE, "image/png"),
            (AttachmentKind.FILE, "image/png"),
        ]


async def test_while_the_store_is_away_nothing_is_lost() -> None:
    adapter = FilingAdapter(files={"f1": b"one"}, held={"f1": asyncio.Event()})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        bench.memory.is_away = True
        adapter.held["f1"].set()
        await bench.passes(10)
        bench.memory.is_away = False
        await bench.passes(3)

        assert await outcome(bench) == [Fetch.DONE]


async def test_a_process_that_dies_in_the_middle_is_followed_by_another() -> None:
    dying = FilingAdapter(files={"f1": b"one"}, held={"f1": asyncio.Event()})
    async with running(dying) as bench:
        await bench.comes(with_files(bench, "f1"))
    other = FilingAdapter(files={"f1": b"one"})
    following = build(bench.clock, bench.memory, other)
    task = asyncio.create_task(following.driver.run())
    await following.passes(FETCH_LEASE.total_seconds() / 2)
    early = list(other.fetched)
    await following.passes(FETCH_LEASE.total_seconds())
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert (dying.fetched, early, other.fetched) == (["f1"], [], ["f1"])
    assert await outcome(following) == [Fetch.DONE]


async def test_work_that_goes_on_stays_with_who_does_it() -> None:
    adapter = FilingAdapter(files={"f1": b"one"}, held={"f1": asyncio.Event()})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, "f1"))
        for _ in range(20):
            await bench.passes(1)
        taken = await bench.stores.fetches.take("fake", now=bench.clock.now())

        assert taken is None
        assert adapter.fetched == ["f1"]


async def test_one_chat_with_many_slow_files_does_not_hold_up_another() -> None:
    many = [f"slow{number}" for number in range(10)]
    adapter = FilingAdapter(files=dict.fromkeys(["f", *many], b"x"), held={each: asyncio.Event() for each in many})
    async with running(adapter) as bench:
        await bench.comes(with_files(bench, *many[:5]), with_files(bench, *many[5:]), with_files(bench, "f", where=D3))
        await bench.passes(0.1)

        assert len(adapter.fetched) == DOWNLOADS_OF_CHAT + 1
        assert [each.fetch for message in await read(bench, D3) for each in message.attachments] == [Fetch.DONE]


async def test_more_messages_than_slots_are_all_fetched() -> None:
    async with running(FilingAdapter(files={"f": b"one"})) as bench:
        for number in range(MESSAGES + 10):
            await bench.stores.conversations.put(
                with_files(bench, "f", where=ConversationId("fake", str(number))), now=bench.clock.now()
            )
        await bench.passes(5)

        counts = [await read(bench, ConversationId("fake", str(number))) for number in range(MESSAGES + 10)]
        assert all(messages[0].attachments[0].fetch is Fetch.DONE for messages in counts)


async def test_links_are_left_alone() -> None:
    adapter = FilingAdapter()
    async with running(adapter) as bench:
        link = not_there(Fetch.LINK, "doc", "", source="https://docs.test/1")
        await bench.comes(replace(bench.message("", U1), attachments=(link,)))

        assert await outcome(bench) == [Fetch.LINK]
        assert bench.texts == []
