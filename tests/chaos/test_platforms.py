"""Redis goes away while updates come from the platforms: every one of them is answered, once."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.platforms import TRANSPORTS, Open
from tests.chaos.processes import Processes, processes
from tests.chaos.repeating import Json, Platform, came, free_address

EVERY_S = 0.1
"""Between two updates."""


async def away_amid(platform: Platform, folder: Path, updates: int, away_s: float) -> None:
    """Updates come one after the other; after a quarter of them Redis is killed, and comes back so much later.

    In the midst of it comes one that cannot be understood.
    """
    with processes(folder, workers=2, bots=0, calm=True) as here:
        settings = platform.settings(free_address()) | {"ZCLAW_REDIS_URL": here.store_url, "ZCLAW_ACCESS": "open"}
        here.add("bots", "-m", "zclaw", "bots", **settings)
        assert await platform.is_connected(1)
        malformed = platform.malformed()

        back_at = await _say_all(platform, here, malformed, updates, away_s)

        wanted = {(platform.home(number), f"done {number}") for number in range(1, updates + 1)}
        await came(platform.changed, lambda: wanted <= set(platform.shown()))
        took_s = time.monotonic() - back_at
        await came(platform.changed, lambda: platform.is_acknowledged(malformed))
        answered, copies = wanted & set(platform.shown()), Counter(platform.shown())
        here.tend()
        restarts = here.restarts
    print(
        f"{platform.name}: {len(answered)} of {updates} answered, the last {took_s:.1f} s after Redis was back; "
        f"answers shown twice {copies.total() - len(copies)}; came again {platform.retries}, "
        f"given up {len(platform.given_up)}; the malformed one acknowledged: {platform.is_acknowledged(malformed)}; "
        f"processes that died {restarts}"
    )
    assert answered == wanted
    assert len(copies) == copies.total() == updates
    assert platform.is_acknowledged(malformed)
    assert restarts == []


async def _say_all(platform: Platform, here: Processes, malformed: Json, updates: int, away_s: float) -> float:
    """Everybody writes; the moment when Redis was back."""
    back_at = 0.0

    async def redis_goes() -> None:
        nonlocal back_at
        os.kill(here.store.pid, signal.SIGKILL)
        await asyncio.sleep(away_s)
        await asyncio.to_thread(here.store.bring_up)
        back_at = time.monotonic()

    async with asyncio.TaskGroup() as tasks:
        for number in range(1, updates + 1):
            platform.give(platform.said(number, f"task {number} steps 0"))
            if number == updates // 4:
                tasks.create_task(redis_goes())
            if number == updates // 4 + 2:
                platform.give(malformed)
            await asyncio.sleep(EVERY_S)
    return back_at


EACH = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


@EACH
async def test_redis_away_for_3_s_amid_30_updates_leaves_none_unanswered(transport: Open, tmp_path: Path) -> None:
    async with transport(1 / 30) as platform:
        await away_amid(platform, tmp_path, updates=30, away_s=3.0)


@pytest.mark.chaos
@EACH
async def test_redis_away_for_20_s_amid_200_updates_leaves_none_unanswered(transport: Open, tmp_path: Path) -> None:
    async with transport(1 / 5) as platform:
        await away_amid(platform, tmp_path, updates=200, away_s=20.0)
