"""A model's service of our own, in a process of its own: both dialects, streaming, a fixed time for every answer.

The first call of a turn is answered with a tool call, the second, which brings the result, with words. The time that an
answer takes is the first piece of the path: `http://127.0.0.1:<port>/1.0/v1/chat/completions` answers after a second.
One that costs little itself, as it shares two cores with what is measured: no framework, streams made beforehand.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.services import port_of

WORDS = [f"第{n}句 sentence {n} of the answer. " for n in range(20)]
"""The answer; a reply ends in the last of them."""
TOOL = "look"
CALL = {"path": "ward/17.md"}


@dataclass(frozen=True, slots=True)
class Call:
    """One model call as the service saw it, in nanoseconds of the machine's monotonic clock."""

    arrived: int
    answered: int


@dataclass(frozen=True, slots=True)
class ModelService:
    """The running service, for those who measure."""

    port: int

    def base(self, dialect: str, latency_s: float, *, is_plain: bool = False) -> str:
        """What a provider is told as its address: every answer takes `latency_s`; `is_plain`: none calls a tool."""
        way = f"{latency_s}/plain" if is_plain else f"{latency_s}"
        return f"http://127.0.0.1:{self.port}/{way}" + ("/v1" if dialect == "openai" else "")

    def wait_for(self, calls: int) -> None:
        """Return when that many calls wait for their answer."""
        while self._state()["in_flight"] < calls:
            time.sleep(0.02)

    def calls(self) -> list[Call]:
        """The calls answered since the last look, oldest first."""
        return [Call(*each) for each in self._state()["calls"]]

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state", timeout=5) as response:
            state: dict[str, Any] = json.load(response)
            return state


@contextmanager
def model_service() -> Iterator[ModelService]:
    """A service that runs as long as the block."""
    with port_of("benchmarks.model_service") as port:
        yield ModelService(port)


# --- streams


def openai_stream(*, is_first: bool) -> bytes:
    """Every event of one answer in the chat completions dialect."""
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in WORDS]
    if is_first:
        function = {"name": TOOL, "arguments": ""}
        deltas = [
            {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": json.dumps(CALL)}}]},
        ]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if is_first else "stop"})
    events: list[dict[str, Any]] = [{"id": "c1", "model": "m", "choices": [choice]} for choice in choices]
    events.append({"id": "c1", "model": "m", "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 40}})
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


def anthropic_stream(*, is_first: bool) -> bytes:
    """Every event of one answer in the Messages dialect."""
    block: dict[str, Any] = {"type": "text", "text": ""}
    deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": piece} for piece in WORDS]
    if is_first:
        block = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(CALL)}]
    usage = {"input_tokens": 900, "output_tokens": 1}
    message: dict[str, Any] = {"id": "m1", "type": "message", "role": "assistant", "model": "m"}
    message |= {"content": [], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if is_first else "end_turn"},
            "usage": {"output_tokens": 40},
        },
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def is_first_call(body: dict[str, Any]) -> bool:
    """Whether the request's last message brings no result of a tool."""
    last = body["messages"][-1]
    blocks = last["content"] if isinstance(last["content"], list) else ()
    return last["role"] != "tool" and not any(block["type"] == "tool_result" for block in blocks)


def _response(kind: str, body: bytes) -> bytes:
    """A whole response; the stream in three chunks."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    size = len(body) // 3 + 1
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


# --- the server


class Service:
    """What all connections share."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.calls: list[tuple[int, int]] = []
        makers = {"completions": openai_stream, "messages": anthropic_stream}
        self.answers = {
            (dialect, is_first): _response("text/event-stream", make(is_first=is_first))
            for dialect, make in makers.items()
            for is_first in (True, False)
        }

    def take_state(self) -> bytes:
        """What is asked for under /state; the list of calls begins anew."""
        state = {"in_flight": self.in_flight, "calls": self.calls}
        self.calls = []
        return _response("application/json", json.dumps(state).encode())


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._answering: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        if self._answering is not None:
            self._answering.cancel()
            self._over()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < _length(head):
            return
        self._received = b""
        path = head.split(b" ", 2)[1].decode().partition("?")[0]
        if path == "/state":
            self._write(self._service.take_state())
            return
        calls = path.split("/")[2] != "plain" and is_first_call(json.loads(body))
        answer = self._service.answers[path.rsplit("/", 1)[1], calls]
        self._service.in_flight += 1
        latency_s = float(path.split("/")[1])
        loop = asyncio.get_running_loop()
        self._answering = loop.call_later(latency_s, self._answer, time.monotonic_ns(), answer)

    def _answer(self, arrived: int, answer: bytes) -> None:
        self._service.calls.append((arrived, time.monotonic_ns()))
        self._write(answer)
        self._over()

    def _over(self) -> None:
        self._answering = None
        self._service.in_flight -= 1

    def _write(self, answer: bytes) -> None:
        if self._transport is not None:
            self._transport.write(answer)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def serve() -> None:
    service = Service()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(service), "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
