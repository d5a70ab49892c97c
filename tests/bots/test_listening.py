from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from structlog.testing import capture_logs

from bots import listening
from bots.adapter import HttpAnswer
from bots.counters import Counters
from bots.listening import BODY_LIMIT_BYTES, Listening
from kernel.errors import OperatorError
from kernel.settings import ListenAddress

ANYWHERE = ListenAddress("127.0.0.1", 0)
OK = HttpAnswer(200, "ok")


@dataclass(slots=True)
class Hook:
    """What a platform calls; `goes_on` is when its work may end."""

    webhook_path: str | None = "/telegram"
    answer: HttpAnswer = OK
    taken: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        self.taken.append((headers, body))
        self.began.set()
        await self.goes_on.wait()
        if self.error is not None:
            raise self.error
        return self.answer


def ready_hook(path: str | None = "/telegram", answer: HttpAnswer = OK) -> Hook:
    hook = Hook(path, answer)
    hook.goes_on.set()
    return hook


@dataclass(slots=True)
class Site:
    port: int
    http: aiohttp.ClientSession
    counters: Counters
    parts: dict[str, bool]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def post(self, path: str, body: bytes = b"{}", **headers: str) -> int:
        async with self.http.post(self.url(path), data=body, headers=headers) as answer:
            return answer.status

    async def says(self, raw: bytes) -> bytes:
        """What comes back on a connection of its own until it is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(raw)
        try:
            async with asyncio.timeout(10):
                return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def listens(*hooks: Hook, address: ListenAddress = ANYWHERE) -> AsyncIterator[Site]:
    counters, parts = Counters(), {"store": True, "telegram": True}

    async def health() -> Mapping[str, bool]:
        return parts

    async def metrics() -> str:
        return "zclaw_up 1\n"

    async with (
        Listening(address, hooks, health=health, metrics=metrics, counters=counters) as server,
        aiohttp.ClientSession() as http,
    ):
        assert server.port is not None
        yield Site(server.port, http, counters, parts)


async def test_an_adapter_gets_what_was_sent_and_its_answer_goes_back() -> None:
    hook = ready_hook("/slack/events", HttpAnswer(200, '{"challenge":"c"}', "application/json"))

    async with (
        listens(hook) as site,
        site.http.post(
            site.url("/slack/events?x=1"), data="正文".encode(), headers={"X-Slack-Signature": "v0=1"}
        ) as answer,
    ):
        body, kind = await answer.text(), answer.content_type

    headers, taken = hook.taken[0]
    assert (taken.decode(), headers["x-slack-signature"]) == ("正文", "v0=1")
    assert (body, kind) == ('{"challenge":"c"}', "application/json")


async def test_two_adapters_are_told_apart_by_their_paths() -> None:
    telegram, slack = ready_hook("/telegram"), ready_hook("/slack/events", HttpAnswer(401))

    async with listens(telegram, slack) as site:
        codes = [await site.post("/telegram"), await site.post("/slack/events")]

    assert codes == [200, 401]
    assert (len(telegram.taken), len(slack.taken)) == (1, 1)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/", 404),
        ("POST", "/slack/events", 404),
        ("POST", "/telegram/", 404),
        ("GET", "/telegram", 405),
        ("PUT", "/telegram", 405),
        ("POST", "/healthz", 405),
        ("POST", "/metrics", 405),
        ("GET", "/metrics/../telegram", 405),
        ("GET", "/none", 404),
    ],
)
async def test_nothing_else_is_there(method: str, path: str, code: int) -> None:
    hook, polling = ready_hook("/telegram"), ready_hook(None)

    async with listens(hook, polling) as site, site.http.request(method, site.url(path)) as answer:
        assert answer.status == code

    assert hook.taken == polling.taken == []


@pytest.mark.parametrize("above", [0, 1])
@pytest.mark.parametrize("says_its_length", [True, False])
async def test_a_body_has_a_limit_however_it_is_sent(above: int, says_its_length: bool) -> None:
    hook, body = ready_hook(), b"x" * (BODY_LIMIT_BYTES + above)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 100_000):
            yield body[start : start + 100_000]

    sent = io.BytesIO(body) if says_its_length else pieces()
    async with listens(hook) as site, site.http.post(site.url("/telegram"), data=sent) as answer:
        code = answer.status

    assert code == (413 if above else 200)
    assert [len(taken) for _, taken in hook.taken] == ([] if above else [BODY_LIMIT_BYTES])


async def test_a_length_that_is_too_much_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_REST_OF_BODY_S", 0.1)
    hook = ready_hook()

    async with listens(hook) as site:
        answer = await site.says(b"POST /telegram HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert hook.taken == []


async def test_what_is_packed_is_not_unpacked() -> None:
    hook = ready_hook()

    async with listens(hook) as site:
        await site.post("/telegram", b"\x1f\x8b not gzip at all", **{"Content-Encoding": "gzip"})

    assert hook.taken[0][1] == b"\x1f\x8b not gzip at all"


async def test_headers_that_do_not_end_are_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "HEADERS_WITHIN_S", 0.1)

    async with listens(ready_hook()) as site:
        assert await site.says(b"POST /telegram HTTP/1.1\r\nHost: x\r\n") == b""


async def test_a_body_that_does_not_come_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BODY_WITHIN_S", 0.1)
    monkeypatch.setattr(listening, "_REST_OF_BODY_S", 0.1)
    hook = ready_hook()

    async with listens(hook) as site:
        answer = await site.says(b"POST /telegram HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert hook.taken == []


async def test_an_adapter_that_does_not_come_back_counts_as_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "ANSWER_WITHIN_S", 0.1)

    async with listens(Hook()) as site:
        assert await site.post("/telegram") == 503


async def test_an_adapter_that_breaks_says_nothing_of_it_and_the_next_request_is_answered() -> None:
    hook = ready_hook()
    hook.error = ValueError("canary")

    async with listens(hook) as site:
        with capture_logs():
            async with site.http.post(site.url("/telegram"), data=b"{}") as answer:
                code, body = answer.status, await answer.text()
        hook.error = None
        again = await site.post("/telegram")

    assert (code, body, again) == (500, "", 200)


async def test_more_requests_than_can_be_worked_on_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MOST_IN_WORK", 1)
    hook = Hook()

    async with listens(hook) as site:
        first = asyncio.create_task(site.post("/telegram"))
        await hook.began.wait()
        second = await site.post("/telegram")
        hook.goes_on.set()
        codes = [await first, second, await site.post("/telegram")]

    assert codes == [200, 503, 200]


async def test_more_connections_than_can_be_held_are_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MOST_CONNECTIONS", 1)
    hook = Hook()

    async with listens(hook) as site:
        first = asyncio.create_task(site.post("/telegram"))
        await hook.began.wait()
        try:
            second = await site.says(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        except ConnectionError:
            second = b""
        hook.goes_on.set()

        assert (second, await first) == (b"", 200)


async def test_who_is_being_answered_when_the_server_ends_is_answered() -> None:
    hook = Hook()
    server = Listening(ANYWHERE, [hook], health=_well, metrics=_none, counters=Counters())

    async with aiohttp.ClientSession() as http:
        async with server:
            url = f"http://127.0.0.1:{server.port}/telegram"
            asked = asyncio.create_task(_status(http, url))
            await hook.began.wait()
            asyncio.get_running_loop().call_later(0.1, hook.goes_on.set)

        assert await asked == 200
        with pytest.raises(aiohttp.ClientConnectionError):
            await _status(http, url)


async def test_health_is_one_word_for_everything_that_must_work() -> None:
    async with listens(ready_hook()) as site:
        async with site.http.get(site.url("/healthz")) as well:
            good = well.status, await well.json()
        site.parts["store"] = False
        async with site.http.get(site.url("/healthz")) as ill:
            bad = ill.status, await ill.json()

    assert good == (200, {"ok": True, "store": True, "telegram": True})
    assert bad == (503, {"ok": False, "store": False, "telegram": True})


async def test_numbers_are_there_and_every_request_is_one() -> None:
    async with listens(ready_hook()) as site:
        await site.post("/telegram")
        await site.post("/a/path/that/somebody/made/up")
        async with site.http.get(site.url("/metrics")) as answer:
            body, kind = await answer.text(), answer.headers["Content-Type"]

    assert (body, kind) == ("zclaw_up 1\n", "text/plain; version=0.0.4; charset=utf-8")
    assert site.counters.of("http", path="/telegram", status="200") == 1
    assert site.counters.of("http", path="other", status="404") == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01 not http\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    ],
)
async def test_no_answer_and_no_log_of_a_library_tells_of_it(raw: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with listens(ready_hook()) as site:
        answer = await site.says(raw)

    assert answer.startswith(b"HTTP/1.")
    assert b"Server: zclaw\r\n" in answer
    assert b"aiohttp" not in answer
    assert b"Python" not in answer
    assert [record for record in caplog.records if record.name.startswith("aiohttp")] == []


def taken_address() -> tuple[socket.socket, ListenAddress]:
    other = socket.create_server(("127.0.0.1", 0))
    return other, ListenAddress("127.0.0.1", other.getsockname()[1])


async def test_an_address_that_is_taken_ends_the_start_when_a_platform_must_be_heard_there() -> None:
    other, address = taken_address()

    with other, pytest.raises(OperatorError, match=r"ZCLAW_LISTEN: 127.0.0.1:\d+ is taken .* /telegram must be heard"):
        async with listens(ready_hook(), address=address):
            pass


async def test_where_only_health_would_be_there_a_taken_address_is_one_warning() -> None:
    other, address = taken_address()
    server = Listening(address, [ready_hook(None)], health=_well, metrics=_none, counters=Counters())

    with other, capture_logs() as logs:
        async with server:
            assert server.port is None

    assert [line["log_level"] for line in logs] == ["warning"]


async def test_an_address_of_another_machine_is_said_to_be_one() -> None:
    with pytest.raises(OperatorError, match="is no address of this machine"):
        async with listens(ready_hook(), address=ListenAddress("192.0.2.1", 0)):
            pass


async def _well() -> Mapping[str, bool]:
    return {}


async def _none() -> str:
    return ""


async def _status(http: aiohttp.ClientSession, url: str) -> int:
    async with http.post(url, data=json.dumps({})) as answer:
        return answer.status


async def test_who_goes_away_in_the_middle_of_a_request_is_no_error_of_ours() -> None:
    """Anybody can do that as often as they like; each time cost a traceback in the log."""
    hook = ready_hook()
    with capture_logs() as logs:
        async with listens(hook) as site:
            _, writer = await asyncio.open_connection("127.0.0.1", site.port)
            writer.write(b"POST /telegram HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            await writer.drain()
            assert await site.post("/telegram") == 200

            writer.close()
            async with asyncio.timeout(10):
                while not site.counters.of("http", path="/telegram", status="400"):  # noqa: ASYNC110 — through a socket
                    await asyncio.sleep(0.01)

    assert [each for each in logs if each["log_level"] == "error"] == []
