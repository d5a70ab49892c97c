"""Waiting for a store that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from kernel.errors import RetryLater

log = structlog.get_logger()

RETRY_S = 0.5

_T = TypeVar("_T")


async def patiently(work: Callable[[], Awaitable[_T]]) -> _T:
    """What `work` gives, tried again while the store is away; said once, not each time."""
    is_told = False
    while True:
        try:
            return await work()
        except RetryLater as away:
            if not is_told:
                log.warning("waits for the store", why=str(away))
            is_told = True
            await asyncio.sleep(RETRY_S)
