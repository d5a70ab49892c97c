"""CPU per model call, for each provider and for the transports that httpx could use.

    python benchmarks/providers.py [--calls 300] [--at-once 200] [--rounds 3]

A model's service of its own runs in another process, so that only our side is counted: a request of 19 messages and
10 tools, a reply of 40 pieces. `at once` waits one second at the service, as a model does; `floor` is aiohttp alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp
import httpx
from aiohttp import web

from kernel.clock import SystemClock
from kernel.messages import Message, ModelRequest, Role, Text, ToolWords
from kernel.providers.anthropic import Anthropic
from kernel.providers.openai_compat import OpenAICompatible

SCHEMA = json.dumps({"type": "object", "properties": {name: {"type": "string"} for name in "abcdef"}})
REQUEST = ModelRequest(
    "You are an assistant. " * 50,
    tuple(
        Message(Role.ASSISTANT if n % 2 else Role.USER, (Text(f"{n} " + "查房记录 notes " * 20),)) for n in range(19)
    ),
    tuple(ToolWords(f"service.tool_{n}", "Does something with files. " * 4, SCHEMA) for n in range(10)),
)
PIECES = [f"piece {n} 文字 " for n in range(40)]

Call = Callable[[], Awaitable[object]]
Make = Callable[[str], AbstractAsyncContextManager[Call]]


def anthropic_stream() -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 900, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in PIECES
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def openai_stream() -> bytes:
    deltas: list[dict[str, Any]] = [{"delta": {"content": piece}, "finish_reason": None} for piece in PIECES]
    choices = [{"index": 0, **delta} for delta in [*deltas, {"delta": {}, "finish_reason": "stop"}]]
    events = [{"choices": [choice], "usage": None} for choice in choices]
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


async def serve() -> None:
    streams = {"messages": anthropic_stream(), "completions": openai_stream()}

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        await asyncio.sleep(float(request.match_info["delay"]))
        stream = streams[request.path.rsplit("/", 1)[1]]
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        third = len(stream) // 3
        for start in range(0, len(stream), third):
            await response.write(stream[start : start + third])
        await response.write_eof()
        return response

    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/{delay}/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


@asynccontextmanager
async def anthropic(url: str) -> AsyncIterator[Call]:
    provider = Anthropic("m", "key", clock=SystemClock(), random=random.Random(1), url=url)
    yield lambda: provider.reply(REQUEST)
    await provider.close()


@asynccontextmanager
async def openai(url: str, http: httpx.AsyncClient | None = None) -> AsyncIterator[Call]:
    provider = OpenAICompatible("m", "key", clock=SystemClock(), random=random.Random(1), url=url + "/v1")
    if http:
        provider._client = http
    yield lambda: provider.reply(REQUEST)
    await provider.close()


@asynccontextmanager
async def floor(url: str) -> AsyncIterator[Call]:
    body = b"x" * 20_000
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> bytes:
            async with session.post(url + "/v1/completions", data=body) as response:
                return await response.read()

        yield call


def pooled(most: int | None, resting: int | None) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=resting)
    return httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(None, connect=10))


ROWS: dict[str, Make] = {
    "floor: aiohttp": floor,
    "anthropic SDK over aiohttp": anthropic,
    "openai, our transport": openai,
    "openai, httpx 1000/100": lambda url: openai(url, pooled(1000, 100)),
    "openai, httpx 100/20": lambda url: openai(url, pooled(100, 20)),
    "openai, httpx no limit": lambda url: openai(url, pooled(None, None)),
}


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def measure(port: int, make: Make, calls: int, at_once: int) -> tuple[float, float, float]:
    """CPU ms a call one after the other; CPU ms a call and wall s at once."""
    async with make(f"http://127.0.0.1:{port}/0") as call:
        for _ in range(20):
            await call()
        start = cpu_s()
        for _ in range(calls):
            await call()
        one_ms = (cpu_s() - start) / calls * 1000
    async with make(f"http://127.0.0.1:{port}/1") as call:
        await call()
        wall, start = time.monotonic(), cpu_s()
        await asyncio.gather(*(call() for _ in range(at_once)))
        return one_ms, (cpu_s() - start) / at_once * 1000, time.monotonic() - wall


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve())
        return
    with subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout
        port = int(service.stdout.readline())
        try:
            print(f"{'':30} {'one by one':>12} {f'{arguments.at_once} at once':>14} {'wall':>8}")
            best: dict[str, tuple[float, ...]] = {}
            for _ in range(arguments.rounds):  # Rows in turn, the best of each: the machine is shared.
                for name, make in ROWS.items():
                    now = asyncio.run(measure(port, make, arguments.calls, arguments.at_once))
                    best[name] = tuple(map(min, best.get(name, now), now))
            for name, (one_ms, many_ms, wall_s) in best.items():
                print(f"{name:30} {one_ms:9.2f} ms {many_ms:11.2f} ms {wall_s:6.2f} s")
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
