"""Eyes on the machine's processes: who lives that carries a word in its command line."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

import psutil


def word() -> str:
    """A number of seconds that no other process sleeps: found in command lines, and long enough for any test."""
    return f"86400.{random.randrange(10**9):09d}"


def living(found: str) -> list[int]:
    """The processes whose command line holds the word, zombies left out."""
    pids = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        is_there = any(found in part for part in process.info["cmdline"] or ())
        if is_there and process.info["status"] != psutil.STATUS_ZOMBIE:
            pids.append(process.info["pid"])
    return pids


async def until(is_so: Callable[[], object], within_s: float = 10.0) -> float:
    """Wait until it is so; how many seconds that took. Fails after `within_s`."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < within_s, "it did not come to that in time"
        await asyncio.sleep(0.005)  # The processes are not ours: there is no event to wait for.
    return time.monotonic() - began
