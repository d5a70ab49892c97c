"""One file over HTTP, from servers of every kind: bytes and time are bounded, and nothing leads elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import aiohttp
import pytest

from bots.adapter import AnswerLost, FileGone, FileTooLarge
from bots.downloads import download
from kernel.errors import RetryLater
from tests.bots.file_server import FileServer, file_server


@pytest.fixture
async def server() -> AsyncIterator[FileServer]:
    async with file_server() as running:
        yield running


async def got(server: FileServer, path: str, most_bytes: int = 20_000_000) -> bytes:
    """What a download gives."""
    async with aiohttp.ClientSession() as http:
        return (await download(http, f"{server.url}/secret/{path}", most_bytes=most_bytes)).content


async def test_a_file_comes_whole(server: FileServer) -> None:
    server.content = bytes(range(256)) * 4000

    assert await got(server, "a.bin") == server.content


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("gone", FileGone),
        ("moved", FileGone),
        ("packed", FileGone),
        ("large", FileTooLarge),
        ("broken", RetryLater),
        ("limited", RetryLater),
        ("cut", AnswerLost),
    ],
)
async def test_what_goes_wrong_is_sorted_and_names_no_address(
    server: FileServer, path: str, error: type[Exception]
) -> None:
    server.elsewhere = f"{server.url}/other"

    with pytest.raises(error) as caught:
        await got(server, path)

    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert len(server.asked) == 1


async def test_a_server_that_limits_us_says_for_how_long(server: FileServer) -> None:
    with pytest.raises(RetryLater) as caught:
        await got(server, "limited")

    assert caught.value.after == timedelta(seconds=7)


async def test_an_endless_file_is_left_after_the_cap(server: FileServer) -> None:
    with pytest.raises(FileTooLarge):
        await got(server, "endless", most_bytes=1_000_000)

    assert server.sent_bytes < 20_000_000


@pytest.mark.parametrize("path", ["drips", "silent"])
async def test_a_slow_server_has_an_end(server: FileServer, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.downloads.WITHIN_S", 0.3)

    with pytest.raises(AnswerLost):
        async with asyncio.timeout(5):
            await got(server, path)


async def test_a_host_that_is_not_there_is_tried_again() -> None:
    with pytest.raises(AnswerLost):
        await got(FileServer(url="http://no.such.host.invalid"), "a")
