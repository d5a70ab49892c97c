"""Waiting for the first of several events."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


async def first_of(*waits: Coroutine[object, object, object]) -> None:
    """Return when one of `waits` has ended; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
