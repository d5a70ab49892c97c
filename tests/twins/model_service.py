"""A model's service on 127.0.0.1: strict about what it gets, and as badly behaved as a test wants."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.twins.strict_requests import anthropic_breach, openai_breach


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that is no stream."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stream:
    """A 200 stream of `pieces`; then its end, a reset, or nothing for ever."""

    pieces: tuple[bytes, ...]
    end: str = "whole"


Answer = Page | Stream


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """Its JSON."""
        return json.loads(self.raw)


class ModelService:
    """Gives its answers in order, the last again and again; `refusals` are what a strict service would refuse."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.refusals: list[str] = []
        self.models: Answer = Page(200, '{"data": []}')
        self.own_rules: Callable[[Any], Page | None] = lambda _: None
        """What this service refuses that others take, by the body."""
        self.url = ""
        self.in_stream = asyncio.Event()
        """Set when a stream has said all it will say and stays open."""
        self.left = asyncio.Event()
        """Set when the client closed a stream that stayed open."""
        self._answers: deque[Answer] = deque()

    def answers(self, *answers: Answer) -> None:
        """What to give from now on."""
        self._answers = deque(answers)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        if request.path.endswith("/models"):
            self.requests.append(Received(request.path, _headers(request), b""))
            return await self._give(request, self.models)
        received = Received(request.path, _headers(request), await request.read())
        self.requests.append(received)
        breach = (anthropic_breach if request.path.endswith("/messages") else openai_breach)(received.body)
        if breach:
            self.refusals.append(breach)
            return web.json_response({"error": {"message": breach, "type": "invalid_request_error"}}, status=400)
        if page := self.own_rules(received.body):
            return await self._give(request, page)
        return await self._give(request, self._answers.popleft() if len(self._answers) > 1 else self._answers[0])

    async def _give(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        if isinstance(answer, Page):
            return web.Response(status=answer.status, text=answer.body, headers=answer.headers)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in answer.pieces:
            await response.write(piece)
        if answer.end == "open":
            self.in_stream.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.left.set()
        if answer.end == "reset":
            assert request.transport
            connection = request.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
        return response


def _headers(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


@asynccontextmanager
async def model_service() -> AsyncIterator[ModelService]:
    """One that runs."""
    service = ModelService()
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{rest:.*}", service.handle)
    runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield service
    await runner.cleanup()


def claude_events(*blocks: dict[str, Any], stop: str | None = "end_turn") -> list[dict[str, Any]]:
    """The events of one reply. A block holds its first event's fields, and under `deltas` what comes after."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 5}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}}]
    for index, block in enumerate(blocks):
        start = {key: block[key] for key in block if key != "deltas"}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.append({"type": "ping"})
        for delta in block.get("deltas", ()):
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 42}})
    events.append({"type": "message_stop"})
    return events


def claude_text(*pieces: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": "", "deltas": [{"type": "text_delta", "text": piece} for piece in pieces]}


def claude_call(id_: str, name: str, *pieces: str) -> dict[str, Any]:
    """A tool_use block."""
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return {"type": "tool_use", "id": id_, "name": name, "input": {}, "deltas": deltas}


def claude_stream(events: Iterable[dict[str, Any]], end: str = "whole") -> Stream:
    """The events as Anthropic writes them."""
    return Stream(tuple(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events), end)


def chat_pieces(*deltas: dict[str, Any], finish: str | None = "stop") -> list[dict[str, Any]]:
    """The pieces of one reply in the chat completions dialect, with the usage that comes last."""
    pieces: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}
        for delta in ({"role": "assistant", "content": ""}, *deltas)
    ]
    pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    usage = {"prompt_tokens": 1000, "completion_tokens": 42, "prompt_tokens_details": {"cached_tokens": 900}}
    return [*pieces, {"choices": [], "usage": usage}]


def chat_stream(pieces: Iterable[dict[str, Any]], *, is_done: bool = True, end: str = "whole") -> Stream:
    """The pieces as services write them, with the keep-alive comments of some."""
    lines = [b": keep-alive\n\n", *(f"data: {json.dumps(piece)}\n\n".encode() for piece in pieces)]
    return Stream((*lines, b"data: [DONE]\n\n") if is_done else tuple(lines), end)
