"""Promise 3: however often, in whatever order and by whichever process an update is told, it is read and answered once.

And what nobody said to the bot is not read.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.outside import Outside
from tests.chaos.platforms import SlackKind, TelegramKind, slack, telegram
from tests.chaos.processes import Processes, processes
from tests.chaos.repeating import Platform, came, free_address
from tests.chaos.scenes import SCENES, Scene, Stage, telegram_private
from tests.chaos.slacks import SlackHttp, SlackSocket
from tests.chaos.telegrams import TelegramPolling, TelegramWebhook

LAST = 99_999
"""The chat of who says something when all has been said."""


def program(answers: int) -> Iterator[tuple[Scene, int]]:
    """Scenes with exactly so many answers, and how many each has."""
    left = answers
    while left:
        for scene, most in SCENES:
            if most <= left:
                left -= most
                yield scene, most
            elif left:
                left -= 1
                yield telegram_private, 1


async def perform(stage: Stage, here: Processes, answers: int, over_s: float, victim: str) -> None:
    """All scenes, one beginning after the other; in the middle one process of the bots is killed."""
    scenes = list(program(answers))
    async with asyncio.TaskGroup() as tasks:
        for chat, (scene, most) in enumerate(scenes, 1):
            tasks.create_task(_scene(scene, stage, chat, most))
            if chat == len(scenes) // 2:
                os.kill(here.pid(victim), signal.SIGKILL)
            here.tend()
            await asyncio.sleep(over_s / len(scenes))


async def _scene(scene: Scene, stage: Stage, chat: int, most: int) -> None:
    await scene(stage, chat, most)


async def all_answered(stage: Stage, within_s: float) -> None:
    """Wait for that; then somebody says a last word on each platform."""
    platforms: tuple[Platform, ...] = (stage.telegram, stage.slack)
    for platform in platforms:
        wanted = stage.wanted[platform]
        await came(platform.changed, lambda p=platform, w=wanted: w <= set(p.shown()), within_s)  # type: ignore[misc]
    for number, platform in enumerate(platforms):
        stage.expect(platform, platform.home(LAST + number), 1)
        platform.give(platform.said(LAST + number, f"text 1 of chat {LAST + number}"))
        await came(platform.changed, lambda: stage.missing() == 0, within_s)


def judge(stage: Stage, outside: Outside, answers: int, restarts: list[str]) -> None:
    """The promise, with its figures in sight."""
    requests = outside.asked()
    read = Counter(request[-1] for request in requests)
    wanted = sum(len(each) for each in stage.wanted.values())
    shown = {platform: Counter(platform.shown()) for platform in stage.wanted}
    doubled = [each for request in requests if len(set(request)) < len(request) for each in request]
    strange = [each for request in requests for each in request if each[1] == 9]
    copies = {platform.name: count.total() - len(count) for platform, count in shown.items()}
    print(
        f"{answers} texts to the bot and {stage.unaddressed} others, as {stage.updates} updates that were told "
        f"{stage.updates + stage.copies} times (and {_retries(stage)} times again for want of an answer); killed "
        f"{restarts}; answered {wanted - stage.missing()} of {wanted}; read {len(read)} texts, twice "
        f"{read.total() - len(read)}; unaddressed read {len(strange)}; answers shown twice {copies}"
    )
    assert wanted == answers + len(stage.wanted)
    assert stage.missing() == 0
    assert [read.total(), len(read)] == [wanted, wanted]
    assert (doubled, strange) == ([], [])
    for platform, count in shown.items():
        assert set(count) == stage.wanted[platform]
    assert copies[stage.slack.name] == 0
    # Who is killed between a send and its record may say that once more; Telegram cannot be asked what it shows.
    assert copies[stage.telegram.name] <= len(restarts)


def _retries(stage: Stage) -> int:
    return stage.telegram.retries + stage.slack.retries


async def heard_once(
    kinds: tuple[TelegramKind, SlackKind],
    folder: Path,
    *,
    answers: int,
    bots: int,
    workers: int,
    over_s: float,
    hurry: float,
) -> None:
    """So many texts, over so many seconds, to so many processes that each carry both platforms."""
    dice = random.Random(3)
    async with telegram(kinds[0], hurry) as one, slack(kinds[1], hurry) as other:
        stage = Stage(one, other, dice, apart_s=max(2.0, 6.0 * hurry), hurry=hurry)
        with processes(folder, workers=workers, bots=0, worker_words=("--no-fold",), calm=True) as here:
            for number in range(bots):
                address = free_address()
                settings = one.settings(address) | other.settings(address)
                here.add(f"bots-{number}", "-m", "zclaw", "bots", ZCLAW_ACCESS="open", **_store(here), **settings)
            assert await one.is_connected(bots)
            assert await other.is_connected(bots)
            victim = _victim(folder, bots, is_polling=hurry == 1)
            await perform(stage, here, answers, over_s, victim)
            await all_answered(stage, within_s=60)
            here.tend()
            judge(stage, here.outside, answers, here.restarts)
            assert here.restarts == [victim]


def _store(here: Processes) -> dict[str, str]:
    return {"ZCLAW_REDIS_URL": here.store_url}


def _victim(folder: Path, bots: int, *, is_polling: bool) -> str:
    """The process that polls, or one that does not: 12 s pass before another may poll in its place."""
    names = [f"bots-{number}" for number in range(bots)]
    polling = [name for name in names if "telegram polled by us" in (folder / f"{name}.log").read_text()]
    return next(name for name in names if (name in polling) == (is_polling and bool(polling)))


BOTH = pytest.mark.parametrize(
    "kinds", [(TelegramWebhook, SlackHttp), (TelegramPolling, SlackSocket)], ids=["they call", "we ask"]
)


@BOTH
async def test_50_texts_told_up_to_5_times_are_read_and_answered_once(
    kinds: tuple[TelegramKind, SlackKind], tmp_path: Path
) -> None:
    await heard_once(kinds, tmp_path, answers=50, bots=2, workers=1, over_s=2, hurry=1 / 100)


@pytest.mark.chaos
@pytest.mark.timeout(900)
@BOTH
async def test_500_texts_told_up_to_5_times_are_read_and_answered_once(
    kinds: tuple[TelegramKind, SlackKind], tmp_path: Path
) -> None:
    await heard_once(kinds, tmp_path, answers=500, bots=3, workers=2, over_s=60, hurry=1.0)
