"""Files in Telegram: getFile, then the file from beside the Bot API, and the token in nobody's hands."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bots.adapter import FileGone, FileTooLarge
from bots.attached import to_fetch
from bots.telegram.adapter import TelegramAdapter
from kernel.chat import AttachmentKind
from kernel.errors import RetryLater
from tests.bots.slack.fake import HurriedClock
from tests.bots.telegram.fake_api import TOKEN, FakeApi, Fault, refuses, success

PHOTO = to_fetch("AgAC-1", AttachmentKind.PICTURE, "photo-1.jpg", "image/jpeg", 8)


@pytest.fixture
async def adapter(api: FakeApi) -> AsyncIterator[TelegramAdapter]:
    adapter = TelegramAdapter(TOKEN, clock=HurriedClock(), api_url=api.url)
    yield adapter
    await adapter._files.close()
    await adapter._calls.close()


def tells(**file: object) -> Fault:
    """A fault: what `getFile` says."""

    async def fault(_: object) -> object:
        return success({"file_id": "AgAC-1", "file_unique_id": "u", **file})

    return fault  # type: ignore[return-value]  # the request is not looked at


async def test_a_photo_is_fetched(api: FakeApi, adapter: TelegramAdapter) -> None:
    api.files["photos/file 1.jpg"] = b"the file"
    api.faults["getFile"] = [tells(file_path="photos/file 1.jpg", file_size=8)]

    assert await adapter.fetch(PHOTO) == b"the file"
    assert api.of("getFile") == [{"file_id": "AgAC-1"}]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refuses(400, "Bad Request: file is too big"), FileTooLarge),
        (refuses(400, "Bad Request: wrong file_id or the file is temporarily unavailable"), RetryLater),
        (refuses(400, "Bad Request: invalid file_id"), FileGone),
        (refuses(429, "Too Many Requests: retry after 3", retry_after=3), RetryLater),
        (tells(file_size=25_000_000, file_path="a"), FileTooLarge),
        (tells(file_path="no/such"), FileGone),
        (tells(), FileGone),
    ],
)
async def test_what_telegram_does_not_give(
    api: FakeApi, adapter: TelegramAdapter, answer: Fault, error: type[Exception]
) -> None:
    api.faults["getFile"] = [answer]

    with pytest.raises(error):
        await adapter.fetch(PHOTO)


@pytest.mark.parametrize(
    "path", ["../../bot/getMe", "/etc/passwd", "a/../../b", "..", "a?x=1", "a#b", "a\\b", "a\nb", "./a"]
)
async def test_a_path_leads_nowhere_else(api: FakeApi, adapter: TelegramAdapter, path: str) -> None:
    api.faults["getFile"] = [tells(file_path=path)]

    with pytest.raises(FileGone):
        await adapter.fetch(PHOTO)

    assert api.downloads == []
