"""Redis goes away while updates come from the platforms: every one of them is answered, once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.bots.slack import fake as slack_fake
from tests.bots.slack.fake import FakeSlack, fake_slack
from tests.bots.telegram import fake_api
from tests.bots.telegram.fake_api import FakeApi
from tests.bots.telegram.test_updates import message
from tests.chaos.processes import processes

EVERY_S = 0.1
"""Between two updates."""
SLACK_WAITS_S = 3.0
SLACK_TRIES = 4
"""An envelope that is not acknowledged in time is sent again; a few times only."""
ANSWERED_WITHIN_S = 60.0


class Platform(Protocol):
    """A fake platform in front of the real bots."""

    def settings(self) -> dict[str, str]:
        """What `zclaw bots` needs to know of it."""

    async def connected(self) -> bool:
        """Whether the bot came."""

    async def answered(self, everything: Callable[[], bool]) -> bool:
        """Whether `everything` was shown in time."""

    async def say(self, number: int, text: str) -> None:
        """One more person, each in a chat of their own, writes."""

    def answers(self) -> list[tuple[str, str]]:
        """What was shown: chat and text."""

    def chat(self, number: int) -> str:
        """The chat of a person."""


class Telegram:
    """See `Platform`."""

    def __init__(self, api: FakeApi) -> None:
        self._api = api

    def settings(self) -> dict[str, str]:
        return {"TELEGRAM_BOT_TOKEN": fake_api.TOKEN, "TELEGRAM_API_URL": self._api.url}

    async def connected(self) -> bool:
        return await _came(self._api.changed, lambda: bool(self._api.of("getUpdates")))

    async def answered(self, everything: Callable[[], bool]) -> bool:
        return await _came(self._api.changed, everything)

    async def say(self, number: int, text: str) -> None:
        person = {"id": 1000 + number, "is_bot": False, "first_name": "A", "language_code": "en"}
        chat = {"id": 1000 + number, "type": "private", "first_name": "A"}
        await self._api.adds(message(text=text, chat=chat, **{"from": person}) | {"update_id": number})

    def answers(self) -> list[tuple[str, str]]:
        return [(str(each["chat_id"]), str(each["text"])) for each in self._api.of("sendMessage")]

    def chat(self, number: int) -> str:
        return str(1000 + number)


class Slack:
    """See `Platform`. Sends again what is not acknowledged, as Slack does."""

    def __init__(self, slack: FakeSlack, tasks: asyncio.TaskGroup) -> None:
        self._slack = slack
        self._tasks = tasks
        self.retries = 0

    def settings(self) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": slack_fake.BOT_TOKEN,
            "SLACK_APP_TOKEN": slack_fake.APP_TOKEN,
            "SLACK_API_URL": self._slack.api_url,
        }

    async def connected(self) -> bool:
        return await _came(self._slack.changed, lambda: bool(self._slack.sockets))

    async def answered(self, everything: Callable[[], bool]) -> bool:
        return await _came(self._slack.changed, everything)

    async def say(self, number: int, text: str) -> None:
        person = f"U{number}"
        self._slack.users[person] = slack_fake.person(person)
        event = slack_fake.event(f"17000{number:05}.000100", text, user=person, channel=self.chat(number))
        self._tasks.create_task(self._insist(event))

    async def _insist(self, event: dict[str, Any]) -> None:
        for tries in range(SLACK_TRIES):
            envelope = await self._slack.send("events_api", event, retry_attempt=tries)
            self.retries += tries > 0
            await asyncio.sleep(SLACK_WAITS_S)
            if envelope in self._slack.acks:
                return

    def answers(self) -> list[tuple[str, str]]:
        return [(str(post["channel"]), json.dumps(post)) for post in self._slack.posts]

    def chat(self, number: int) -> str:
        return f"D{number}"


async def _came(changed: asyncio.Condition, holds: Callable[[], bool]) -> bool:
    """Whether the condition on a fake came to hold in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ANSWERED_WITHIN_S), changed:
            await changed.wait_for(holds)
    return holds()


def _read(platform: Platform) -> set[tuple[str, str]]:
    """The answers, without what Slack wraps them in."""
    return {(chat, text[text.find("done ") :].split('"')[0]) for chat, text in platform.answers()}


async def away_amid(platform: Platform, folder: Path, updates: int, away_s: float) -> None:
    """Updates come one after the other; after a quarter of them Redis is killed, and comes back so much later."""
    with processes(folder, workers=2, bots=0, calm=True) as here:
        settings = platform.settings() | {"ZCLAW_REDIS_URL": here.store_url, "ZCLAW_ACCESS": "open"}
        here.add("bots", "-m", "zclaw", "bots", **settings)
        assert await platform.connected()
        back_at = 0.0

        async def redis_goes() -> None:
            nonlocal back_at
            os.kill(here.store.pid, signal.SIGKILL)
            await asyncio.sleep(away_s)
            await asyncio.to_thread(here.store.bring_up)
            back_at = time.monotonic()

        async with asyncio.TaskGroup() as tasks:
            for number in range(1, updates + 1):
                await platform.say(number, f"task {number} steps 0")
                if number == updates // 4:
                    tasks.create_task(redis_goes())
                await asyncio.sleep(EVERY_S)

        wanted = {(platform.chat(number), f"done {number}") for number in range(1, updates + 1)}
        await platform.answered(lambda: len(wanted & _read(platform)) == updates)
        answered = wanted & _read(platform)
        copies = Counter(platform.answers())
        took_s = time.monotonic() - back_at
        here.tend()
        restarts = here.restarts
    print(
        f"{len(answered)} of {updates} answered, the last {took_s:.1f} s after Redis was back; "
        f"answers shown twice {sum(copies.values()) - len(copies)}; processes that died {restarts}"
    )
    assert answered == wanted
    assert len(copies) == copies.total() == updates
    assert restarts == []


@asynccontextmanager
async def telegram() -> AsyncIterator[Platform]:
    async with fake_api.serving() as api:
        yield Telegram(api)


@asynccontextmanager
async def slack() -> AsyncIterator[Platform]:
    async with fake_slack() as fake, asyncio.TaskGroup() as tasks:
        yield Slack(fake, tasks)


Fake = Callable[[], AbstractAsyncContextManager[Platform]]
PLATFORMS = pytest.mark.parametrize("platform", [telegram, slack], ids=["telegram", "slack"])


@PLATFORMS
async def test_redis_away_for_3_s_amid_40_updates_leaves_none_unanswered(platform: Fake, tmp_path: Path) -> None:
    async with platform() as fake:
        await away_amid(fake, tmp_path, updates=40, away_s=3.0)


@pytest.mark.chaos
@PLATFORMS
async def test_redis_away_for_20_s_amid_200_updates_leaves_none_unanswered(platform: Fake, tmp_path: Path) -> None:
    async with platform() as fake:
        await away_amid(fake, tmp_path, updates=200, away_s=20.0)
