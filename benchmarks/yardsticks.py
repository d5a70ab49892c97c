"""What a turn costs without us: two calls in a bare event loop (the floor), and in a pool of stock RQ workers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import redis
from rq import Queue, Worker

from benchmarks.chats import TEXT
from benchmarks.memory import peak_of
from benchmarks.model_service import CALL, TOOL
from benchmarks.stock_jobs import turn
from benchmarks.turn_worker import FOUND, WORDS
from kernel.messages import Message, ModelRequest, Role, Text, ToolCall, ToolResult
from kernel.prompts import SYSTEM
from kernel.providers import anthropic_wire, openai_wire
from kernel.providers.anthropic_request import request_body as anthropic_body
from kernel.providers.openai_request import request_body as openai_body
from kernel.providers.turns import Maker, to_bytes

STOCK_QUEUE = "stock"
STOCK_WORKERS = 16


def bodies(dialect: str) -> tuple[bytes, bytes]:
    """The two requests of a turn, as our provider would write them."""
    wire = openai_wire if dialect == "openai" else anthropic_wire
    body = openai_body if dialect == "openai" else anthropic_body
    said = Message(Role.USER, (Text("[2026-11-30 Mon 09:00 Asia/Shanghai]"), Text(TEXT)))
    call = ToolCall("call_1", TOOL, str(CALL).replace("'", '"'))
    after = (said, Message(Role.ASSISTANT, (call,)), Message(Role.USER, (ToolResult(call.id, FOUND),)))
    maker = Maker(wire.PROVIDER, "m")
    first, second = (ModelRequest(SYSTEM, messages, (WORDS,)) for messages in ((said,), after))
    return to_bytes(body(first, maker)), to_bytes(body(second, maker))


def address(base: str, dialect: str) -> str:
    """Where requests go, given what a provider is told as its address."""
    return base + ("/chat/completions" if dialect == "openai" else "/v1/messages")


async def floor_s(base: str, dialect: str, chats: int) -> float:
    """Seconds that all turns take with asyncio and aiohttp alone."""
    url, both = address(base, dialect), bodies(dialect)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one() -> None:
            for body in both:
                async with session.post(url, data=body, headers={"content-type": "application/json"}) as response:
                    await response.read()

        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(chats)))
        return time.monotonic() - began


@dataclass(frozen=True, slots=True)
class Stock:
    """What a pool of stock workers did."""

    turns: int
    wall_s: float
    peak_kb: int

    @property
    def turns_per_s(self) -> float:
        return self.turns / self.wall_s


def stock(store_url: str, base: str, turns: int) -> Stock:
    """So many turns in a pool of stock SimpleWorkers, from the first enqueue to the end of the last."""
    client = redis.Redis.from_url(store_url)
    queue = Queue(STOCK_QUEUE, connection=client, serializer="json")
    command = [str(Path(sys.executable).with_name("rq")), "worker-pool", STOCK_QUEUE, "-n", str(STOCK_WORKERS), "-q"]
    command += ["-w", "rq.worker.SimpleWorker", "-S", "json", "-u", store_url, "-P", str(Path.cwd())]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while Worker.count(connection=client, queue=queue) < STOCK_WORKERS:
            if process.poll() is not None:
                raise RuntimeError("the pool of stock workers ended instead of listening")
            time.sleep(0.1)
        first, second = (body.decode() for body in bodies("openai"))
        with peak_of(process.pid) as peak:
            began = time.monotonic()
            for _ in range(turns):
                queue.enqueue(turn, address(base, "openai"), first, second, result_ttl=600)
            while queue.finished_job_registry.get_job_count(cleanup=False) < turns:
                if queue.failed_job_registry.get_job_count(cleanup=False):
                    raise RuntimeError("a stock worker failed")
                time.sleep(0.02)
            return Stock(turns, time.monotonic() - began, peak.kb)
    finally:
        process.terminate()
        process.wait(timeout=60)
        client.close()
