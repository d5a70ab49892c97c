"""A web server with any manners: it says whatever bytes it is told to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Speak = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


@dataclass
class WebServer:
    """What a running server says, by path, and what it was asked; `connections` counts them all."""

    port: int = 0
    pages: dict[str, Speak] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)
    talks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def says(self, path: str, status: str = "200 OK", body: bytes = b"", **headers: str) -> None:
        """A proper answer at `path`; `_` in the names of headers stands for `-`."""
        self.pages[path] = answer(status, body, **headers)

    def leads(self, path: str, to: str, status: str = "302 Found") -> None:
        """A redirect at `path`."""
        self.says(path, status, b"", location=to)

    def holds(self, path: str, *pieces: bytes) -> None:
        """These bytes, then silence until the test is over."""

        async def speak(_: Asked, writer: asyncio.StreamWriter) -> None:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            await self.released.wait()

        self.pages[path] = speak

    def drips(self, path: str, head: bytes, piece: bytes, every_s: float) -> None:
        """The head, then the piece at intervals, for ever."""

        async def speak(_: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(head)
            while not self.released.is_set():
                writer.write(piece)
                await writer.drain()
                with suppress(TimeoutError):  # A pause between two pieces is what this is about.
                    await asyncio.wait_for(self.released.wait(), every_s)

        self.pages[path] = speak

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talk = asyncio.create_task(self._talk(reader, writer))
        self.talks.add(talk)
        await talk

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *rest = head.strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            asked = Asked(line, headers, body)
            self.asked.append(asked)
            await self.pages.get(asked.path.partition("?")[0], answer("404 Not Found", b""))(asked, writer)
        writer.close()


def answer(status: str, body: bytes, **headers: str) -> Speak:
    """A proper answer with its length."""
    said = {"content_length": str(len(body))} | headers

    async def speak(_: Asked, writer: asyncio.StreamWriter) -> None:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in said.items())
        writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body)
        await writer.drain()

    return speak


def raw(*pieces: bytes) -> Speak:
    """Exactly these bytes, then the end of the connection."""

    async def speak(_: Asked, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return speak


def endless(head: bytes, piece: bytes) -> Speak:
    """The head, then the piece again and again until nobody listens any more."""

    async def speak(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return speak


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
    """A server on a free port of 127.0.0.1."""
    server = WebServer()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.released.set()
        listening.close()
        await asyncio.gather(*server.talks)
        await listening.wait_closed()
