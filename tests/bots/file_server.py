"""A server of files with every bad habit, one a path."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

LOGIN = "<!DOCTYPE html><html><title>Sign in | Slack</title></html>"


@dataclass
class FileServer:
    """Serves `content`; `asked` are paths and what was sent in `Authorization`."""

    url: str = ""
    content: bytes = b"the file"
    mime: str = "application/octet-stream"
    elsewhere: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    limits: int = 0
    """How many more answers are 429."""
    sent_bytes: int = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """By the last segment of the path."""
        self.asked.append((request.path, request.headers.get("Authorization", "")))
        if self.limits:
            self.limits -= 1
            return web.Response(status=429, headers={"Retry-After": "2"})
        match request.path.rpartition("/")[2]:
            case "gone":
                return web.Response(status=404)
            case "limited":
                return web.Response(status=429, headers={"Retry-After": "7"})
            case "broken":
                return web.Response(status=502, text="<html>", content_type="text/html")
            case "moved":
                raise web.HTTPFound(self.elsewhere)
            case "login":
                return web.Response(text=LOGIN, content_type="text/html")
            case "large":
                return web.Response(headers={"Content-Length": "30000000"})
            case "endless":
                return await self._endless(request)
            case "cut":
                return await self._cut(request)
            case "drips":
                return await self._drips(request)
            case "packed":
                return web.Response(body=gzip.compress(bytes(9_000_000)), headers={"Content-Encoding": "gzip"})
            case "silent":
                await asyncio.Event().wait()
        return web.Response(body=self.content, content_type=self.mime)

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        while True:
            await response.write(bytes(100_000))
            self.sent_bytes += 100_000

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.close()
        return response

    async def _drips(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        while True:
            await response.write(b".")
            await asyncio.sleep(0.01)


@asynccontextmanager
async def file_server() -> AsyncIterator[FileServer]:
    """A running one, on a free port."""
    server = FileServer()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
