"""A model's service that storms, in a process of its own: both dialects, every kind of failure, for some chats only.

The newest message of a chat names it, as in `stormy 17/3`: the third message of chat 17. The first call of its turn is
answered with a sentence and a tool call, the second with sentences. Each sentence says whom it answers and which try of
the call it belongs to, so that a reader sees whether two tries were mixed. What befalls a try is decided by its name
alone, so that every run meets the same weather.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import socket
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, assert_never

from aiohttp import web

from benchmarks.model_service import CALL, TOOL, is_first_call
from benchmarks.services import port_of

QUIET, STORMY, DROWNED = "quiet", "stormy", "drowned"
CHANCES = {QUIET: 0.0, STORMY: 0.5, DROWNED: 1.0}
"""Of a try to fail while it storms: a service in trouble that half of the tries get through to, and one that is away
for as long as the storm lasts."""
SENTENCES = 8
LATENCY_S = 0.1
"""Until the first word."""
PACES_S = {QUIET: 0.03, STORMY: 0.25, DROWNED: 0.25}
"""From sentence to sentence; slowly where it storms, so that drafts are shown of what is cut."""
SEED = 3

TAG = re.compile(rf"(?:{'|'.join(CHANCES)}) \d+/\d+")
_LARGEST_REQUEST = 32 * 1024 * 1024
_PAGE = "<html><body>upstream connect error</body></html>"
_OVERLOADED: dict[str, dict[str, Any]] = {
    "completions": {"error": {"message": "The engine is overloaded", "type": "server_error", "code": "overloaded"}},
    "messages": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
}
_LIMITED: dict[str, dict[str, Any]] = {
    "completions": {"error": {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}},
    "messages": {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}},
}


class Hit(Enum):
    """What befalls a try; the value is for people."""

    LIMITED = "429 with retry-after"
    UNAVAILABLE = "503"
    OVERLOADED = "529"
    FIRST_EVENT = "overload as first event"
    AFTER_WORDS = "overload after words"
    CUT = "cut after words"
    ENDED = "end after words"


@dataclass(frozen=True, slots=True)
class StormService:
    """The running service, for those who measure."""

    port: int

    def base(self, dialect: str) -> str:
        """What a provider is told as its address."""
        return f"http://127.0.0.1:{self.port}" + ("/v1" if dialect == "openai" else "")

    def storm(self, asks_s: tuple[int, ...]) -> None:
        """From now on tries of stormy and drowned chats fail; a 429 asks to wait for one of `asks_s`."""
        self._get("storm?asks=" + ",".join(map(str, asks_s)))

    def calm(self) -> None:
        """From now on every call is answered."""
        self._get("calm")

    def tally(self) -> Tally:
        """What was counted so far."""
        found = self._get("tally")
        return Tally(found["hits"], found["answered"], found["struck"], found["most_tries"])

    def _get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=5) as response:
            found: dict[str, Any] = json.load(response)
            return found


@dataclass(frozen=True, slots=True)
class Tally:
    """What the service saw."""

    hits: dict[str, int]
    """Failed tries, by the value of their `Hit`."""
    answered: int
    """Tries that were answered whole."""
    struck: int
    """Turns of which one try or more failed."""
    most_tries: int
    """Of one model call of a turn; one that broke off after words is asked again from the start, and both count."""


@contextmanager
def storm_service() -> Iterator[StormService]:
    """A service that runs as long as the block, calm at first."""
    with port_of("benchmarks.storm_service") as port:
        yield StormService(port)


# --- streams


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer in pieces; all of them in order are whole."""

    opening: bytes
    words: tuple[bytes, ...]
    closing: bytes


def openai_stream(words: list[str], call_id: str) -> Stream:
    """An answer in the chat completions dialect, with a call of the tool where there is a `call_id`."""
    closing: list[dict[str, Any]] = []
    if call_id:
        function = {"name": TOOL, "arguments": json.dumps(CALL)}
        closing.append(_choice({"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]}))
    closing.append(_choice({}, "tool_calls" if call_id else "stop"))
    closing.append({"id": "c1", "model": "m", "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 40}})
    return Stream(
        b"",
        tuple(_event(_choice({"content": each})) for each in words),
        b"".join(map(_event, closing)) + b"data: [DONE]\n\n",
    )


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def anthropic_stream(words: list[str], call_id: str) -> Stream:
    """An answer in the Messages dialect, with a call of the tool where there is a `call_id`."""
    usage = {"input_tokens": 900, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    opening: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    closing: list[dict[str, Any]] = [{"type": "content_block_stop", "index": 0}]
    if call_id:
        block = {"type": "tool_use", "id": call_id, "name": TOOL, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(CALL)}
        closing.append({"type": "content_block_start", "index": 1, "content_block": block})
        closing.append({"type": "content_block_delta", "index": 1, "delta": delta})
        closing.append({"type": "content_block_stop", "index": 1})
    stop = {"stop_reason": "tool_use" if call_id else "end_turn"}
    closing.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 40}})
    closing.append({"type": "message_stop"})
    pieces = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": each}} for each in words
    ]
    return Stream(b"".join(map(_event, opening)), tuple(map(_event, pieces)), b"".join(map(_event, closing)))


def _event(event: dict[str, Any]) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


# --- the service


@dataclass(frozen=True, slots=True)
class Try:
    """One try of one model call, as the service reads it."""

    dialect: str
    tag: str
    step: str
    """`call` and `answer` in a turn; `summary` of a long history, between turns."""
    number: int
    """Of the tries of this call, from 1."""

    @property
    def mood(self) -> str:
        return self.tag.partition(" ")[0]

    def stream(self) -> Stream:
        """What answers it."""
        words = [sentence(number, self.tag, self.number) for number in range(1, SENTENCES + 1)]
        call_id = ""
        match self.step:
            case "call":
                words = [sentence(0, self.tag, self.number)]
                call_id = "call_" + re.sub(r"\W", "_", f"{self.tag} {self.number}")
            case "summary":
                words = ["All that was asked so far was answered."]
        return (openai_stream if self.dialect == "completions" else anthropic_stream)(words, call_id)


def sentence(number: int, tag: str, try_number: int) -> str:
    """One sentence of an answer."""
    return f"第{number}句 sentence {number} of {tag}, try {try_number}. "


class Service:
    """Answers, or not."""

    def __init__(self) -> None:
        self._asks_s: tuple[int, ...] = ()
        self._hits: Counter[Hit] = Counter()
        self._struck: set[str] = set()
        self._tries: Counter[tuple[str, str]] = Counter()
        self._answered = 0

    def app(self) -> web.Application:
        """What is served."""
        app = web.Application(client_max_size=_LARGEST_REQUEST)
        app.router.add_post("/v1/chat/completions", self.model)
        app.router.add_post("/v1/messages", self.model)
        app.router.add_get("/storm", self.storm)
        app.router.add_get("/calm", self.calm)
        app.router.add_get("/tally", self.tally)
        return app

    async def storm(self, request: web.Request) -> web.Response:
        self._asks_s = tuple(map(int, request.query["asks"].split(",")))
        return web.json_response({})

    async def calm(self, _request: web.Request) -> web.Response:
        self._asks_s = ()
        return web.json_response({})

    async def tally(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "hits": {hit.value: self._hits[hit] for hit in Hit},
                "answered": self._answered,
                "struck": len(self._struck),
                "most_tries": max((count for (_, step), count in self._tries.items() if step != "summary"), default=0),
            }
        )

    async def model(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        asked = self._read(request.path.rsplit("/", 1)[1], body)
        dice = random.Random(f"{SEED} {asked}")
        hit = self._befalls(asked, dice)
        if hit is not None:
            self._hits[hit] += 1
            self._struck.add(asked.tag)
        match hit:
            case Hit.LIMITED:
                headers = {"retry-after": str(dice.choice(self._asks_s))}
                return web.json_response(_LIMITED[asked.dialect], status=429, headers=headers)
            case Hit.UNAVAILABLE:
                return web.Response(status=503, text=_PAGE, content_type="text/html")
            case Hit.OVERLOADED:
                return web.json_response(_OVERLOADED[asked.dialect], status=529, reason="Overloaded")
            case _:
                return await self._speak(request, asked, hit, dice)

    def _read(self, dialect: str, body: bytes) -> Try:
        tag = TAG.findall(body.decode())[-1]  # A tool's result, which may stand behind the person's words, has none.
        parsed = json.loads(body)
        step = "summary" if not parsed.get("tools") else "call" if is_first_call(parsed) else "answer"
        self._tries[tag, step] += 1
        return Try(dialect, tag, step, self._tries[tag, step])

    def _befalls(self, asked: Try, dice: random.Random) -> Hit | None:
        is_hit = bool(self._asks_s) and dice.random() < CHANCES[asked.mood]
        return dice.choice(list(Hit)) if is_hit else None

    async def _speak(
        self, request: web.Request, asked: Try, hit: Hit | None, dice: random.Random
    ) -> web.StreamResponse:
        """Stream the answer as far as it may come."""
        await asyncio.sleep(LATENCY_S)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        stream = asked.stream()
        if hit is Hit.FIRST_EVENT:
            await response.write(_event(_OVERLOADED[asked.dialect]))
            return response
        whole = len(stream.words)
        said = whole if hit is None else dice.randint(1, max(1, whole - 1))
        await response.write(stream.opening)
        for piece in stream.words[:said]:
            await response.write(piece)
            await asyncio.sleep(PACES_S[asked.mood])
        rest = b"".join(stream.words[said:]) + stream.closing
        match hit:
            case None:
                await response.write(rest)
                self._answered += 1
            case Hit.AFTER_WORDS:
                await response.write(_event(_OVERLOADED[asked.dialect]))
            case Hit.CUT:
                await response.write(rest[: dice.randint(1, rest.index(b"\n\n"))])  # In the middle of an event.
                assert request.transport is not None
                request.transport.abort()
            case Hit.ENDED | Hit.LIMITED | Hit.UNAVAILABLE | Hit.OVERLOADED:
                pass
            case _:
                assert_never(hit)
        return response


async def serve() -> None:
    runner = web.AppRunner(Service().app(), access_log=None)
    await runner.setup()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        await web.SockSite(runner, listening).start()
        print(listening.getsockname()[1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
