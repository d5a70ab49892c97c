"""A worker process for tests: its turns do what lists in Redis say.

A drain appends to `begun`, waits until something is pushed to `go` (at once when `free` exists), appends to `ended`;
cancelled it appends to `cancelled`, the hand-back to `handed-back`. While `broken` exists, a drain raises its text;
while `shut` exists, opening waits.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import redis
from redis.asyncio import Redis
from rq import Queue

from workers import worker
from workers.turnloop import Turns

QUEUE = "turns"
JOB = "zclaw.turns"


class ListedTurns:
    """Turns that are told by lists what to do."""

    def __init__(self, store: Redis) -> None:
        self._store = store
        self._go = asyncio.Event()
        self._running = 0
        self._quiet = asyncio.Condition()

    async def listen(self) -> None:
        while not await self._store.blpop(["go"], 1):
            pass
        self._go.set()

    async def drain(self) -> None:
        self._running += 1
        try:
            await self._store.rpush("begun", os.getpid())
            if broken := await self._store.get("broken"):
                raise ValueError(str(broken))
            if not await self._store.exists("free"):
                await self._go.wait()
            await self._store.rpush("ended", os.getpid())
        except asyncio.CancelledError:
            await self._store.rpush("cancelled", os.getpid())
            raise
        finally:
            self._running -= 1
            async with self._quiet:
                self._quiet.notify_all()

    async def stop(self) -> None:
        await self._store.rpush("stopping", os.getpid())
        try:
            async with self._quiet:
                await self._quiet.wait_for(lambda: self._running == 0)
        except asyncio.CancelledError:
            await self._store.rpush("handed-back", os.getpid())
            raise


@asynccontextmanager
async def open_turns(url: str) -> AsyncIterator[Turns]:
    store = Redis.from_url(url)
    while await store.exists("shut"):
        await store.rpush("knocking", os.getpid())
        await asyncio.sleep(0.05)
    turns = ListedTurns(store)
    listening = asyncio.create_task(turns.listen())
    try:
        yield turns
    finally:
        listening.cancel()
        await store.rpush("closed", os.getpid())
        await store.aclose()


def main() -> int:
    """Run one worker until it is told to stop."""
    options = argparse.ArgumentParser()
    options.add_argument("url")
    options.add_argument("name")
    options.add_argument("--slots", type=int, default=worker.SLOTS)
    options.add_argument("--grace", type=float, default=25.0)
    options.add_argument("--brief", action="store_true", help="signs of life expire after 2 s instead of 30")
    given = options.parse_args()
    if given.brief:
        worker._ALIVE_S, worker._TEND_EVERY_S = 2, 0.5
    queue = Queue(QUEUE, connection=redis.Redis.from_url(given.url), serializer="json")
    return worker.run_worker(
        queue,
        lambda: open_turns(given.url),
        job=JOB,
        name=given.name,
        slots=given.slots,
        grace=timedelta(seconds=given.grace),
    )


if __name__ == "__main__":
    sys.exit(main())
