"""Files in Slack: the token goes to Slack's own hosts, and a page to sign in is no file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots.adapter import FileGone
from bots.attached import to_fetch
from bots.downloads import Downloaded
from bots.slack.attached import attachments_of
from bots.slack.files import Files
from kernel.chat import Attachment, AttachmentKind, Fetch
from tests.bots.file_server import FileServer, file_server

TOKEN = "xoxb-canary-bot"


@pytest.fixture
async def server() -> AsyncIterator[FileServer]:
    async with file_server() as running:
        yield running


def file(address: str, mime: str = "application/pdf", size: int = 8) -> Attachment:
    return to_fetch(address, AttachmentKind.FILE, "a.pdf", mime, size)


async def fetched(server: FileServer, attachment: Attachment) -> bytes:
    files = Files(TOKEN, f"{server.url}/api/")
    try:
        return await files.fetch(attachment)
    finally:
        await files.close()


async def test_a_file_is_fetched_with_our_token(server: FileServer) -> None:
    assert await fetched(server, file(f"{server.url}/files-pri/T1-F1/a.pdf")) == b"the file"
    assert server.asked == [("/files-pri/T1-F1/a.pdf", f"Bearer {TOKEN}")]


async def test_a_redirect_is_not_followed_with_the_token(server: FileServer) -> None:
    async with file_server() as other:
        server.elsewhere = f"{other.url}/collect"

        with pytest.raises(FileGone):
            await fetched(server, file(f"{server.url}/moved"))

        assert other.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "{other}/a.pdf",
        "http://files.slack.com/a.pdf",
        "https://slack.com.evil.test/a.pdf",
        "https://evilslack.com/a.pdf",
        "https://files.slack.com:8443/a.pdf",
        "https://files.slack.com@evil.test/a.pdf",
        "https://user@files.slack.com/a.pdf",
        "https://evil.test\\.slack.com/a.pdf",
        "https://[::1",
        "//files.slack.com/a",
        "file:///etc/passwd",
        "",
    ],
)
async def test_the_token_goes_to_nobody_else(server: FileServer, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object, **__: object) -> Downloaded:
        raise AssertionError("asked for")

    monkeypatch.setattr("bots.slack.files.download", nothing)
    with pytest.raises(FileGone):
        await fetched(server, file(address.format(other=server.url.replace("127.0.0.1", "127.0.0.2"))))


@pytest.mark.parametrize("host", ["files.slack.com", "FILES.slack.com", "slack-files.com", "acme.slack.com"])
async def test_slacks_own_hosts_are_asked(host: str, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mapping[str, str]] = []

    async def download(_: object, address: str, *, headers: Mapping[str, str], proxy: str | None) -> Downloaded:
        asked.append(headers)
        return Downloaded(b"x", "application/pdf")

    monkeypatch.setattr("bots.slack.files.download", download)

    assert await fetched(server, file(f"https://{host}/files-pri/T1-F1/a.pdf")) == b"x"
    assert asked == [{"Authorization": f"Bearer {TOKEN}"}]


async def test_a_page_to_sign_in_is_no_file_and_the_operator_is_told(server: FileServer) -> None:
    with capture_logs() as logs, pytest.raises(FileGone):
        await fetched(server, file(f"{server.url}/login"))

    assert [each["log_level"] for each in logs] == ["warning"]
    assert "files:read" in logs[0]["event"]


async def test_a_page_that_somebody_sent_is_one(server: FileServer) -> None:
    page = file(f"{server.url}/a.html", "text/html")
    server.mime = "text/html"

    assert await fetched(server, page) == b"the file"
    with pytest.raises(FileGone):
        await fetched(server, replace(page, source=f"{server.url}/login"))


HOSTED: dict[str, Any] = {
    "id": "F1",
    "name": "报告.pdf",
    "mimetype": "application/pdf",
    "size": 1234,
    "mode": "hosted",
    "url_private": "https://files.slack.com/files-pri/T1-F1/a.pdf",
    "url_private_download": "https://files.slack.com/files-pri/T1-F1/download/a.pdf",
}


def test_what_slack_tells_of_files() -> None:
    link = HOSTED | {"mode": "external", "is_external": True, "external_url": "https://docs.test/d/1", "title": "Plan"}
    read = attachments_of(
        [
            HOSTED,
            HOSTED | {"mimetype": "image/png"},
            HOSTED | {"mimetype": "video/mp4", "subtype": "slack_audio"},
            HOSTED | {"size": 30_000_000},
            HOSTED | {"mode": "tombstone"},
            {"id": "F2", "file_access": "check_file_info"},
            link,
        ]
    )

    assert [(each.kind, each.fetch) for each in read] == [
        (AttachmentKind.FILE, Fetch.WAITING),
        (AttachmentKind.PICTURE, Fetch.WAITING),
        (AttachmentKind.VOICE, Fetch.WAITING),
        (AttachmentKind.FILE, Fetch.LARGE),
        (AttachmentKind.FILE, Fetch.GONE),
        (AttachmentKind.FILE, Fetch.GONE),
        (AttachmentKind.FILE, Fetch.LINK),
    ]
    assert (read[0].name, read[0].size_bytes, read[0].source) == ("报告.pdf", 1234, HOSTED["url_private_download"])
    assert read[6].source == "https://docs.test/d/1"


def test_ten_files_are_fetched_and_the_rest_is_named() -> None:
    read = attachments_of([HOSTED | {"url_private_download": f"https://files.slack.com/{n}"} for n in range(13)])

    assert [each.fetch for each in read] == [Fetch.WAITING] * 10 + [Fetch.FAILED] * 3


@pytest.mark.parametrize("files", [None, 5, "x", {}, [None, 5, "x", []], [{"size": "x", "name": 5, "mode": {}}]])
def test_no_json_breaks_it(files: object) -> None:
    assert all(each.fetch is Fetch.GONE for each in attachments_of(files))
