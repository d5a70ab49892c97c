"""People send pictures, papers and sounds, and the one that answers has read them (M22, M26)."""

from __future__ import annotations

from datetime import timedelta

from bots.adapter import FileGone
from bots.attached import to_fetch
from kernel.builtin.files import READ_FILE
from kernel.chat import Attachment, AttachmentKind
from kernel.messages import Image, Message, Text
from kernel.providers.scripted import call
from tests.kernel.test_pictures import png
from tests.twins.world import World, world

SECOND = timedelta(seconds=1)
PDF = b"%PDF-1.7 x"


def photo(name: str) -> Attachment:
    """A photo as a platform tells of it."""
    return to_fetch(name, AttachmentKind.PICTURE, f"{name}.jpg", "image/jpeg", 3)


def paper(source: str, name: str, mime: str = "text/plain") -> Attachment:
    """A document as a platform tells of it."""
    return to_fetch(source, AttachmentKind.FILE, name, mime, 3)


def read_last(here: World) -> list[str]:
    """What people sent with the newest request: their words, and pictures by the length of their bytes' names."""
    newest = [part for message in here.model.requests[-1].messages[-1:] for part in message.parts]
    return [
        "picture" if isinstance(part, Image) else part.text
        for part in newest
        if isinstance(part, Image | Text) and not (isinstance(part, Text) and part.text.startswith("[2026"))
    ]


async def test_an_album_is_one_turn_with_every_caption_and_every_picture_in_order() -> None:
    async with world() as here:
        names = ("早", "午", "晚")
        here.platform.files = {name: png(width=10 + number) for number, name in enumerate(names)}
        here.model.when("晚", "三餐都看到了")

        for name in names:
            here.platform.says(name, attachments=(photo(name),), album="g1")
        here.platform.files_there.set()
        await here.passes(2 * SECOND)

        await here.platform.sees("三餐都看到了")
        assert len(here.model.requests) == 1
        assert read_last(here) == ["picture", "早", "picture", "午", "picture", "晚"]
        blobs = [part.blob for part in _parts(here.model.requests[-1].messages) if isinstance(part, Image)]
        assert [await here.stores.blobs.get(blob) for blob in blobs] == list(here.platform.files.values())


async def test_a_question_right_behind_a_photo_is_answered_with_it_read() -> None:
    async with world() as here:
        here.platform.files = {"f": png()}
        here.model.when("这是什么", "一张图")

        here.platform.says("", attachments=(photo("f"),))
        here.platform.says("这是什么？")
        await here.passes(5 * SECOND)
        before = len(here.model.requests)
        here.platform.files_there.set()

        await here.platform.sees("一张图")
        assert before == 0
        assert len(here.model.requests) == 1
        assert read_last(here) == ["picture", "这是什么？"]


async def test_a_file_alone_is_no_longer_wordless_and_tools_read_it() -> None:
    async with world(tools=[READ_FILE]) as here:
        here.platform.files = {"f": "白细胞 12.3".encode()}
        here.platform.files_there.set()
        here.model.then(call("read_file", path="uploads/化验.txt"))
        here.model.when_result("12.3", "白细胞偏高")

        here.platform.says("", attachments=(paper("f", "../化验.txt"),))

        await here.platform.sees("白细胞偏高")
        (told,) = [
            part.text
            for part in _parts(here.model.requests[0].messages)
            if isinstance(part, Text) and "Came with the message" in part.text
        ]
        assert '> file "../化验.txt" (text/plain, 14 bytes): kept as uploads/化验.txt' in told


async def test_files_of_one_name_are_kept_apart() -> None:
    async with world() as here:
        here.platform.files = {"f1": b"one", "f2": b"two"}
        here.platform.files_there.set()
        here.model.when("kept as uploads/a.txt", "第一个")
        here.model.when("kept as uploads/a-2.txt", "第二个")

        here.platform.says("", attachments=(paper("f1", "a.txt"),))
        await here.platform.sees("第一个")
        here.platform.says("", attachments=(paper("f2", "a.txt"),))
        await here.platform.sees("第二个")

        files = next(iter(here.memory.records.values())).files
        assert {path: await here.stores.blobs.get(blob) for path, blob in files.items()} == {
            "uploads/a.txt": b"one",
            "uploads/a-2.txt": b"two",
        }


async def test_what_cannot_be_fetched_is_said_to_who_answers() -> None:
    async with world() as here:
        here.platform.files = {"f": FileGone("404")}
        here.platform.files_there.set()
        here.model.when("does not give it", "文件我没拿到，请再发一次")

        here.platform.says("看看", attachments=(paper("f", "a.pdf"),))

        await here.platform.sees("没拿到")


async def test_after_half_a_minute_it_goes_on_without_the_file() -> None:
    async with world() as here:
        here.model.when("not fetched in time", "没有及时收到")

        here.platform.says("看看", attachments=(paper("f", "a.pdf"),))
        await here.passes(10 * SECOND)
        before = len(here.model.requests)
        await here.passes(30 * SECOND)

        await here.platform.sees("没有及时收到")
        assert before == 0


async def test_a_bot_that_dies_in_the_middle_costs_nothing() -> None:
    async with world() as here:
        here.platform.files = {"f": png()}
        here.model.when("看看", "看到了")
        here.platform.says("看看", attachments=(photo("f"),))
        await here.passes(SECOND)

        await here.restart(after=3 * SECOND)
        here.platform.files_there.set()
        await here.passes(10 * SECOND)

        await here.platform.sees("看到了")
        assert read_last(here) == ["picture", "看看"]


async def test_a_sound_is_kept_and_said_not_to_be_heard() -> None:
    async with world() as here:
        here.platform.files = {"f": b"OggS"}
        here.platform.files_there.set()
        here.model.when("you cannot hear it", "语音我听不了，已存好")

        voice = to_fetch("f", AttachmentKind.VOICE, "voice-3.ogg", "audio/ogg", 4)
        here.platform.says("", attachments=(voice,))

        await here.platform.sees("听不了")
        assert list(next(iter(here.memory.records.values())).files) == ["uploads/voice-3.ogg"]


async def test_a_file_with_a_reminder_is_kept_and_told_of_later() -> None:
    async with world() as here:
        here.platform.files = {"f": PDF}
        here.platform.files_there.set()
        here.model.when("文件呢", "在")

        here.platform.says("明天9点提醒我看这个", attachments=(paper("f", "a.pdf"),))
        await here.platform.sees("看这个")
        here.platform.says("文件呢")
        await here.platform.sees("在")

        (request,) = here.model.requests
        assert "a file came: uploads/a.pdf" in str(request.messages[-1].parts)


async def test_a_sticker_still_gets_the_polite_note() -> None:
    async with world() as here:
        here.platform.says("")

        await here.platform.sees("贴纸")
        assert here.model.requests == []


def _parts(messages: tuple[Message, ...]) -> list[object]:
    return [part for message in messages for part in message.parts]
