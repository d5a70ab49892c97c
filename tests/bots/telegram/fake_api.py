"""A small Bot API server for these tests: keeps a queue of updates, records calls, and fails when told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

TOKEN = "4242:AA-test_token-0123456789abcdefghijkl"
BOT = {"id": 4242, "is_bot": True, "first_name": "zclaw", "username": "zclawbot"}

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Call:
    """One call as it came, with parameters read."""

    method: str
    params: dict[str, object]


@dataclass
class FakeApi:
    """What the server knows; `faults[method]` answer that many calls instead of it."""

    url: str = ""
    updates: list[dict[str, object]] = field(default_factory=list)
    raw_answers: list[bytes] = field(default_factory=list)
    """Answers to `getUpdates` that are no JSON of ours."""
    offset: int = 0
    calls: list[Call] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    numbers: int = 100
    files: dict[str, bytes] = field(default_factory=dict)
    """What lies beside the API, by path."""
    downloads: list[str] = field(default_factory=list)

    async def adds(self, *updates: dict[str, object]) -> None:
        """Updates for the bot."""
        async with self.changed:
            self.updates.extend(updates)
            self.changed.notify_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition on the server's state holds."""
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(holds)

    def of(self, method: str) -> list[dict[str, object]]:
        """Parameters of the calls of `method`."""
        return [call.params for call in self.calls if call.method == method]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Serve one call."""
        if request.match_info["token"] != TOKEN:
            return refusal(401, "Unauthorized")
        method = request.match_info["method"]
        if request.content_type == "application/json":
            params = json.loads(await request.read() or b"{}")
        else:
            params = {name: _value(str(value)) for name, value in (await request.post()).items()}
        async with self.changed:
            self.calls.append(Call(method, params))
            self.changed.notify_all()
        if self.faults.get(method):
            return await self.faults[method].pop(0)(request)
        if method == "getMe":
            return success(BOT)
        if method == "getUpdates":
            return await self._updates(int(str(params.get("offset", 0))))
        if method in ("sendMessage", "editMessageText"):
            self.numbers += method == "sendMessage"
            number = params.get("message_id", self.numbers)
            kind = "supergroup" if int(str(params["chat_id"])) < 0 else "private"
            chat = {"id": params["chat_id"], "type": kind, "first_name": "A"}
            return success({"message_id": number, "date": 1, "chat": chat, "text": params["text"]})
        if method == "getFile":
            return success(
                {"file_id": params["file_id"], "file_unique_id": "u", "file_path": f"files/{params['file_id']}"}
            )
        return success(True)

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Serve one file."""
        path = request.match_info["path"]
        async with self.changed:
            self.downloads.append(path)
            self.changed.notify_all()
        if self.faults.get("download"):
            return await self.faults["download"].pop(0)(request)
        if request.match_info["token"] != TOKEN or path not in self.files:
            return refusal(404, "Not Found")
        return web.Response(body=self.files[path])

    async def _updates(self, offset: int) -> web.Response:
        async with self.changed:
            self.offset = max(self.offset, offset)
            self.changed.notify_all()
            if self.raw_answers:
                return web.Response(body=self.raw_answers.pop(0), content_type="application/json")
            self.updates = [each for each in self.updates if _number(each) >= self.offset]
            try:
                async with asyncio.timeout(0.2):
                    await self.changed.wait_for(lambda: bool(self.updates))
            except TimeoutError:
                pass
            return success(self.updates[:100])


def _number(update: dict[str, object]) -> int:
    number = update["update_id"]
    assert isinstance(number, int)
    return number


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def success(result: object) -> web.Response:
    """As Telegram says yes."""
    return web.json_response({"ok": True, "result": result})


def refusal(status: int, description: str, **parameters: object) -> web.Response:
    """As Telegram says no."""
    body = {"ok": False, "error_code": status, "description": description, "parameters": parameters}
    return web.json_response(body, status=status)


def refuses(status: int, description: str, **parameters: object) -> Fault:
    """A fault: Telegram says no."""

    async def fault(_: web.Request) -> web.StreamResponse:
        return refusal(status, description, **parameters)

    return fault


def says(body: str, status: int = 200) -> Fault:
    """A fault: a gateway's page."""

    async def fault(_: web.Request) -> web.StreamResponse:
        return web.Response(text=body, status=status, content_type="text/html")

    return fault


async def hangs_up(request: web.Request) -> web.StreamResponse:
    """A fault: the connection is cut without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def serving() -> AsyncIterator[FakeApi]:
    """A running server."""
    api = FakeApi()
    app = web.Application()
    app.router.add_post("/bot{token}/{method}", api.answer)
    app.router.add_get("/file/bot{token}/{path:.+}", api.download)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1)
    await site.start()
    host, port = runner.addresses[0][:2]
    api.url = f"http://{host}:{port}"
    try:
        yield api
    finally:
        await runner.cleanup()
