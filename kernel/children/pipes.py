"""The worker's ends of a child's pipes."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable

from kernel.ports import Output

INPUT, OUTPUT, ERRORS = 0, 1, 2


class Pipes:
    """The pipes of one child. Without `has_input` it reads nothing; merged, its errors go where its output goes."""

    def __init__(self, *, has_input: bool, is_merged: bool) -> None:
        self._ours: dict[int, int] = {}
        self._theirs: list[int] = []
        if has_input:
            reading, self._ours[INPUT] = os.pipe()
        else:
            reading = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._ours[OUTPUT], writing = os.pipe()
        self._theirs = [reading, writing, writing]
        if not is_merged:
            self._ours[ERRORS], self._theirs[ERRORS] = os.pipe()

    @property
    def theirs(self) -> tuple[int, ...]:
        """The child's input, output and errors, in this order."""
        return tuple(self._theirs)

    def take(self, which: int) -> int | None:
        """Our end of one of them, the caller's from now on; None when there is none."""
        return self._ours.pop(which, None)

    def close_theirs(self) -> None:
        """Close what the guard has now."""
        for fd in set(self._theirs):
            os.close(fd)
        self._theirs = []

    def close(self) -> None:
        """Close every end that nobody took."""
        self.close_theirs()
        for fd in self._ours.values():
            os.close(fd)
        self._ours = {}


class Sink(asyncio.Protocol):
    """Keeps the beginning and the end of what arrives, `limit` bytes together, and counts the rest.

    `on_flood` is called once when more than `flood` bytes have come.
    """

    def __init__(self, limit: int, *, flood: int | None = None, on_flood: Callable[[], None] = lambda: None) -> None:
        self._half = limit // 2
        self._limit = limit
        self._flood = flood
        self._on_flood = on_flood
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._total = 0
        self._transport: asyncio.BaseTransport | None = None
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when nothing more will come."""

    async def read(self, fd: int | None) -> None:
        """Read the pipe, which belongs to the sink from now on; None: there is nothing to read."""
        if fd is None:
            self.closed.set_result(None)
        else:
            await asyncio.get_running_loop().connect_read_pipe(lambda: self, os.fdopen(fd, "rb", buffering=0))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The pipe is read from now on."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Keep or count it."""
        before, self._total = self._total, self._total + len(data)
        room = self._limit - self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail and self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())
        if self._flood is not None and before <= self._flood < self._total:
            self._on_flood()

    def connection_lost(self, _error: Exception | None) -> None:
        """Nothing more will come."""
        if not self.closed.done():
            self.closed.set_result(None)

    def close(self) -> None:
        """Read no more."""
        if self._transport is not None:
            self._transport.close()

    def output(self) -> Output:
        """What has come so far."""
        tail = b"".join(self._tail)
        if len(self._head) + len(tail) == self._total and self._total <= self._limit:
            return Output(head=bytes(self._head) + tail)
        tail = tail[-self._half :] if self._half else b""
        return Output(bytes(self._head), tail, self._total - len(self._head) - len(tail))


class _Source(asyncio.BaseProtocol):
    """A reader that leaves early is no error."""


async def write_all(content: bytes, fd: int | None) -> None:
    """Begin to write the content into the pipe, which closes behind it."""
    if fd is not None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_write_pipe(_Source, os.fdopen(fd, "wb", buffering=0))
        transport.write(content)  # The transport keeps what the pipe does not take yet.
        transport.close()


async def line_reader(fd: int | None, longest: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Read the pipe line by line."""
    assert fd is not None
    reader = asyncio.StreamReader(limit=longest)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
    )
    return reader, transport


async def line_writer(fd: int | None) -> asyncio.StreamWriter:
    """Write into the pipe."""
    assert fd is not None
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(fd, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
