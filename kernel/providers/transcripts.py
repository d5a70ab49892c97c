"""What was said to a model and what came back, in files for whoever has to find out why (`ZCLAW_TRANSCRIPTS`).

One file a conversation and day, one JSON object a line:

    {"at": …, "call": 7, "kind": "request", "provider": …, "after": 12, "messages": […], …}
    {"at": …, "call": 7, "kind": "reply", "provider": …, "stop": "end", "usage": {…}, "message": {…}, "took_ms": …}
    {"at": …, "call": 8, "kind": "error", …}

`after` counts the messages that the file's last request had too; prompt and tools stand where they differ from its own.
Files are readable by their owner only, hold no secret by value, and are bounded in size and number.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, assert_never

import structlog

from kernel.messages import Image, Message, ModelReply, ModelRequest, Opaque, Part, Text, ToolCall, ToolResult
from kernel.ports import Clock, Provider, SeveralModels

log = structlog.get_logger(__name__)

MOST_WAITING = 200
"""Lines not yet written; what comes beyond them is left out: a slow disk must not fill the memory."""

MOST_REMEMBERED = 200
"""Conversations whose last request is remembered, to write only what is new; others are written whole again."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much room transcripts may take."""

    text_chars: int = 100_000
    file_bytes: int = 20 * 1024 * 1024
    folder_bytes: int = 500 * 1024 * 1024
    """The oldest files go first."""


BOUNDS = Bounds()


class Transcribed:
    """A `Provider` that writes down what goes through it. Writing never delays a call, nor fails one."""

    def __init__(
        self, inner: Provider, folder: Path, *, clock: Clock, mask: Callable[[str], str], bounds: Bounds = BOUNDS
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._files = _Files(folder, mask, bounds)
        self._writer = ThreadPoolExecutor(1, "transcripts")
        self._waiting = 0
        self._calls = count(1)

    @property
    def name(self) -> str:
        """Of the inner one."""
        return self._inner.name

    @property
    def models(self) -> tuple[str, ...]:
        """Of the inner one."""
        return self._inner.models if isinstance(self._inner, SeveralModels) else (self.name,)

    def answering(self, wanted: str = "") -> str:
        """Of the inner one."""
        return self._inner.answering(wanted) if isinstance(self._inner, SeveralModels) else self.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        number, began = next(self._calls), self._clock.now()
        self._write(began, number, request, None)
        try:
            reply = await self._inner.reply(request, delta)
        except BaseException as error:  # Of every kind, cancelling too: it is written down and goes on.
            self._write(self._clock.now(), number, request, error, began)
            raise
        self._write(self._clock.now(), number, request, reply, began)
        return reply

    def _write(
        self,
        at: datetime,
        number: int,
        request: ModelRequest,
        came: ModelReply | BaseException | None,
        began: datetime | None = None,
    ) -> None:
        if self._waiting >= MOST_WAITING:
            log.warning("transcript left out", call=number)
            return
        head: dict[str, Any] = {"at": at.isoformat(), "call": number, "provider": self.name}
        if began is not None:
            head["took_ms"] = round((at - began).total_seconds() * 1000)
        self._waiting += 1
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._writer, self._files.write, at, request, head, came)
        done.add_done_callback(self._written)

    def _written(self, done: asyncio.Future[None]) -> None:
        self._waiting -= 1
        if not done.cancelled() and (error := done.exception()):
            log.warning("transcript failed", why=str(error))

    async def close(self) -> None:
        """Close the inner one, once everything is written."""
        await self._inner.close()
        await asyncio.to_thread(self._writer.shutdown)


class _Files:
    """Runs in one thread. Remembers of each file of the day what its last request was, to write only what is new."""

    def __init__(self, folder: Path, mask: Callable[[str], str], bounds: Bounds) -> None:
        self._folder = folder
        self._mask = mask
        self._bounds = bounds
        self._last: dict[str, tuple[tuple[object, ...], tuple[Message, ...]]] = {}
        self._day = ""

    def write(
        self, at: datetime, request: ModelRequest, head: dict[str, Any], came: ModelReply | BaseException | None
    ) -> None:
        day = f"{at:%Y-%m-%d}"
        if day != self._day:
            self._day = day
            self._last.clear()
        name = f"{day}_{_file_name(request.about)}.jsonl"
        match came:
            case None:
                entry = head | self._asked(name, request)
            case ModelReply():
                usage = {"input": came.usage.input, "output": came.usage.output, "cached": came.usage.cached}
                entry = head | {"kind": "reply", "by": came.by, "stop": came.stop.value, "usage": usage}
                entry["message"] = self._message(came.message)
            case error:
                entry = head | {"kind": "error", "error": type(error).__name__, "why": str(error)}
        self._append(name, self._mask(json.dumps(entry, ensure_ascii=False)))

    def _asked(self, name: str, request: ModelRequest) -> dict[str, Any]:
        prefix = (request.system, request.tools)
        last_prefix, last = self._last.pop(name, ((), ()))
        known = len(last) if request.messages[: len(last)] == last else 0
        self._last[name] = (prefix, request.messages)
        if len(self._last) > MOST_REMEMBERED:
            del self._last[next(iter(self._last))]
        entry: dict[str, Any] = {"kind": "request", "after": known, "may_call": request.may_call}
        entry |= {"max_tokens": request.max_tokens, "thinking": request.thinking.value}
        entry["effort"] = request.effort.value if request.effort else None
        if prefix != last_prefix:
            entry["system"] = self._cut(request.system)
            entry["tools"] = [
                {"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in request.tools
            ]
        entry["messages"] = [self._message(message) for message in request.messages[known:]]
        return entry

    def _message(self, message: Message) -> dict[str, Any]:
        return {"role": message.role.value, "parts": [self._part(part) for part in message.parts]}

    def _part(self, part: Part) -> dict[str, Any]:
        match part:
            case Text(text):
                return {"text": self._cut(text)}
            case Image(blob, mime):
                return {"image": blob, "mime": mime}
            case ToolCall(id, name, arguments, is_cut):
                return {"call": id, "tool": name, "arguments": self._cut(arguments), "is_cut": is_cut}
            case ToolResult(call, text, is_error):
                return {"result": call, "text": self._cut(text), "is_error": is_error}
            case Opaque(provider, model, payload):
                return {"kept": f"{provider}:{model}", "payload": self._cut(payload)}
            case _:
                assert_never(part)

    def _cut(self, text: str) -> str:
        """Masked before it is cut: half a secret would not be found afterwards."""
        masked, most = self._mask(text), self._bounds.text_chars
        return masked if len(masked) <= most else f"{masked[:most]}… ({len(masked) - most} more characters)"

    def _append(self, name: str, line: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / name
        content = line.encode("utf-8", "backslashreplace") + b"\n"
        size = path.stat().st_size if path.exists() else 0
        if size + len(content) > self._bounds.file_bytes:
            return  # The day's beginning is kept: what came first mostly explains what came later.
        if not size:
            self._make_room()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(content)

    def _make_room(self) -> None:
        files = sorted(self._folder.glob("????-??-??_*.jsonl"))
        left = sum(file.stat().st_size for file in files) - self._bounds.folder_bytes + self._bounds.file_bytes
        for file in files:
            if left <= 0:
                return
            left -= file.stat().st_size
            file.unlink()


def _file_name(about: str) -> str:
    """Readable, safe in a path, and different for different conversations."""
    letters = re.sub(r"[^A-Za-z0-9]+", "-", about).strip("-")[:60]
    return f"{letters or 'none'}-{sha256(about.encode()).hexdigest()[:8]}"
