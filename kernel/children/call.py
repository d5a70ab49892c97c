"""One child as the worker sees it: the socket to its keeper, from the order to the end of everything."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import Any

from kernel.errors import CannotStart, ChildLost
from kernel.ports import Exit

_GONE_WITHIN_S = 2.0
"""A keeper needs milliseconds; one that does not end is killed by the guard, some seconds after we close."""


class Call:
    """Talks to one keeper. After `end` nothing that the child started is left, and its folder is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._over: asyncio.Task[None] | None = None

    async def order(self, content: dict[str, Any]) -> int | None:
        """Start the child; its user, None for our own. Raises CannotStart and ChildLost."""
        self._writer.write(json.dumps(content).encode() + b"\n")
        answer = await self._answer()
        if "failed" in answer:
            raise CannotStart(f"{content['argv'][0]} cannot be started ({answer['failed']})")
        uid: int | None = answer["uid"]
        return uid

    async def ended(self) -> tuple[Exit, bool]:
        """How the child ended, and whether its time was over. Raises ChildLost."""
        answer = await self._answer()
        code = answer["ended"]
        if code is None:
            raise ChildLost("a command was told to end and did not")
        return (Exit(signal=-code) if code < 0 else Exit(code=code)), answer["is_timed_out"]

    def stop(self) -> None:
        """Let the keeper end the child now; `ended` tells how that went."""
        self._writer.write(b"stop\n")

    async def end(self) -> None:
        """Let the keeper end everything and itself; a second call waits with the first. Cancelling does not undo it."""
        if self._over is None:
            self._over = asyncio.create_task(self._end())
        await asyncio.shield(self._over)

    async def _end(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.write_eof()
        try:
            async with asyncio.timeout(_GONE_WITHIN_S):
                while await self._reader.read(4096):
                    pass
        except (TimeoutError, OSError):
            pass  # The guard sees to it when we close.
        finally:
            self._writer.transport.abort()

    async def _answer(self) -> dict[str, Any]:
        try:
            line = await self._reader.readline()
        except OSError as error:
            raise ChildLost("the command was broken off") from error
        if not line.endswith(b"\n"):
            raise ChildLost("the command was broken off: its keeper ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


async def open_call(end: socket.socket) -> Call:
    """Our end of a keeper's socket as a call."""
    reader, writer = await asyncio.open_unix_connection(sock=end)
    return Call(reader, writer)
