"""The worker process that is measured: the real one with a real provider, and one tool that changes nothing.

python -m benchmarks.turn_worker STORE_URL openai|anthropic MODEL_URL [counts]

With `counts` the tool has an effect, at most once: it notes its call in the store.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

import redis
import redis.asyncio

from benchmarks.model_service import TOOL
from kernel.access import Access
from kernel.clock import SystemClock
from kernel.config import child_environment
from kernel.logs import set_up
from kernel.messages import Concurrency, Json, ToolWords
from kernel.providers.choose import ModelSettings, provider_for
from kernel.settings import AccessRule
from kernel.stores.redis.stores import open_stores
from kernel.stores.wakeups import JOB, hint_client, hint_queue
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome, ToolRegistry
from workers.turnloop import Turns
from workers.worker import run_worker
from zclaw.wiring.parts import beat, process_name
from zclaw.wiring.turns import Rules, open_actors

SCHEMA = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}'
FOUND = "17床：术后第二天，体温 37.2。Drain removed at noon; next look at 18:00. " * 4
WORDS = ToolWords(TOOL, "Looks a note up by its path and gives its text.", SCHEMA)


EFFECTS = "bench:effects"
"""The list in the store to which a tool that counts adds its calls."""

_AS_INSTALLED = """
import sys
sys.modules["rich"] = None
from zclaw.cli import main
sys.exit(main())
"""
"""`zclaw` where the tools of this repository are not installed: structlog and httpx load rich wherever it is."""

Worker = subprocess.Popen[bytes]

EVERYBODY = Access(rule=AccessRule.OPEN)


def tool(store_url: str, *, counts: bool) -> Tool:
    """The one tool."""

    async def look(_arguments: Json, context: ToolContext) -> ToolOutcome:
        if counts:
            async with redis.asyncio.Redis.from_url(store_url) as client:
                await client.rpush(EFFECTS, context.call.rpartition(":")[0])
        return ToolOutcome(FOUND)

    return Tool(
        words=WORDS,
        concurrency=lambda _: Concurrency.EXCLUSIVE if counts else Concurrency.READ_ONLY,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=10),
        describe=lambda _arguments, _language: "look",
        run=look,
    )


@contextmanager
def turn_worker(store_url: str, dialect: str, model_url: str, *, counts: bool = False) -> Iterator[Worker]:
    """A worker that listens for hints; whatever became of it is ended with the block."""
    more = ["counts"] if counts else []
    command = [sys.executable, "-m", "benchmarks.turn_worker", store_url, dialect, model_url, *more]
    with redis.Redis.from_url(store_url) as client, tempfile.TemporaryFile() as logs:
        before = _listeners(client)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=logs)
        try:
            while not _listeners(client) - before:
                if process.poll() is not None:
                    logs.seek(0)
                    raise RuntimeError(f"the worker ended instead of listening: {logs.read()[-2000:].decode()}")
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=40)


@contextmanager
def whole_worker(store_url: str, model_url: str) -> Iterator[Worker]:
    """`zclaw worker` with an Anthropic model, as people start it; ended with the block."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "ZCLAW_REDIS_URL": store_url,
            "ZCLAW_DATA_DIR": folder,
            "ZCLAW_ACCESS": "open",
            "ZCLAW_MODEL": "anthropic:m",
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": model_url,
        }
        process = subprocess.Popen(
            [sys.executable, "-c", _AS_INSTALLED, "worker"],
            env={**child_environment(), **settings},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=40)


def _listeners(client: redis.Redis) -> set[str]:
    """Connections that wait for a hint."""
    return {each["id"] for each in client.client_list() if each["cmd"] == "blmove"}


def main(store_url: str, dialect: str, model_url: str, *more: str) -> int:
    set_up("info")  # As people run it: its lines are part of what a turn costs.
    name = process_name()
    openai, anthropic = (model_url if dialect == each else "" for each in ("openai", "anthropic"))
    settings = ModelSettings(f"{dialect}:m", anthropic_key="k", anthropic_url=anthropic, openai_url=openai)

    @asynccontextmanager
    async def open_turns() -> AsyncIterator[Turns]:
        clock = SystemClock()
        provider = await provider_for(settings, clock=clock, random=random.Random())
        stores = await open_stores(store_url, clock)
        registry = ToolRegistry([tool(store_url, counts="counts" in more)])
        actors = open_actors(
            stores,
            provider=provider,
            registry=registry,
            clock=clock,
            worker=name,
            rules=Rules("Asia/Shanghai", access=EVERYBODY),
        )
        tasks = [asyncio.create_task(actors.serve()), asyncio.create_task(beat(stores.beats, "worker", name, clock))]
        try:
            yield actors
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert provider is not None
            await provider.close()
            await stores.close()

    return run_worker(hint_queue(hint_client(store_url)), open_turns, job=JOB, name=name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
