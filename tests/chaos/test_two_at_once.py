"""Two processes of a transport at once: what people type fast stays in order, and that one is killed nobody notices."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from tests.chaos.outside import Outside
from tests.chaos.platforms import TRANSPORTS, Open
from tests.chaos.processes import Processes, processes
from tests.chaos.repeating import Platform, came, free_address

QUICKLY_S = 0.03
"""Between a first and a second text (M28); a third comes later."""
LATER_S = (0.3, 1.0)
GONE_S = 2.0
"""How long the process that was killed is away."""


@dataclass
class Talk:
    """What was typed and what was read of it, by chat."""

    names: dict[tuple[str, int], object] = field(default_factory=dict)
    """What the platform calls the update of each text."""
    read: dict[str, list[int]] = field(default_factory=dict)
    requests: int = 0
    wrong_requests: list[str] = field(default_factory=list)
    """Requests that hold a text twice, or other texts than those read before and one or more new ones."""

    def listen(self, outside: Outside) -> None:
        """What the model was asked, from the first to the last."""
        for request in outside.asked():
            self.requests += 1
            chat, texts = request[-1][0], [number for _, number in request]
            before = self.read.get(chat, [])
            is_one_chat = {each for each, _ in request} == {chat}
            if not is_one_chat or len(set(texts)) < len(texts) or texts[: len(before)] != before or texts == before:
                self.wrong_requests.append(f"{chat}: {before}, then {texts}")
            self.read[chat] = texts

    def late(self, excused: set[object]) -> list[str]:
        """Texts that were read behind later ones, but for those of the excused updates."""
        found = []
        for chat, texts in self.read.items():
            kept = [number for number in texts if self.names[chat, number] not in excused]
            found += [f"{chat}.{b}" for a, b in pairwise(kept) if b < a]
        return found


async def _type(platform: Platform, talk: Talk, chat: int, each: int, dice: random.Random) -> None:
    for number in range(1, each + 1):
        update = platform.said(chat, f"text {number} of chat {chat}")
        talk.names[str(chat), number] = update.get("update_id") or update.get("event_id")
        platform.give(update)
        await asyncio.sleep(QUICKLY_S if number % 2 else dice.uniform(*LATER_S))


async def _kill(here: Processes, name: str, after_s: float) -> None:
    await asyncio.sleep(after_s)
    os.kill(here.pid(name), signal.SIGKILL)
    await asyncio.sleep(GONE_S)
    here.tend()


def polls(folder: Path, name: str) -> bool:
    """Whether this process is the one that polls."""
    return "telegram polled by us" in (folder / f"{name}.log").read_text()


async def two_at_once(platform: Platform, folder: Path, *, chats: int, each: int, kills_the_poller: bool) -> None:
    """So many people type so many texts; in the midst one of the two processes is killed, and started again."""
    talk, names = Talk(), ("bots-0", "bots-1")
    with processes(folder, workers=2, bots=0, calm=True) as here:
        for name in names:
            settings = {"ZCLAW_REDIS_URL": here.store_url, "ZCLAW_ACCESS": "open"}
            here.add(name, "-m", "zclaw", "bots", **settings, **platform.settings(free_address()))
        assert await platform.is_connected(len(names))
        polling = [name for name in names if polls(folder, name)]
        victim = next(name for name in names if not polling or (name in polling) == kills_the_poller)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_kill(here, victim, each * sum(LATER_S) / 8))
            for chat in range(1, chats + 1):
                tasks.create_task(_type(platform, talk, chat, each, random.Random(chat)))
        wanted = {platform.home(chat) for chat in range(1, chats + 1)}
        await came(platform.changed, lambda: _settled(here.outside, platform, wanted, each))
        talk.listen(here.outside)
        here.tend()
        _judge(platform, talk, {platform.home(chat): str(chat) for chat in range(1, chats + 1)}, each)
        assert here.restarts == [victim]


def _settled(outside: Outside, platform: Platform, wanted: set[str], each: int) -> bool:
    """Whether all texts were read, and the last request of each chat is answered."""
    last = {request[-1][0]: request for request in outside.asked()}
    if len(last) < len(wanted) or any(len(set(request)) < each for request in last.values()):
        return False
    answers = {(platform.home(int(chat)), f"read {request[-1][1]}") for chat, request in last.items()}
    return answers <= set(platform.shown())


def _judge(platform: Platform, talk: Talk, homes: dict[str, str], each: int) -> None:
    shown = Counter(platform.shown())
    unread = [f"{chat}.{n}" for chat in homes.values() for n in range(1, each + 1) if n not in talk.read.get(chat, [])]
    unanswered = [chat for home, chat in homes.items() if (home, f"read {talk.read.get(chat, [0])[-1]}") not in shown]
    # What Slack tells again after its pause may come behind what was said since: nobody could have waited for it.
    excused = platform.retried if "slack" in platform.name else set()
    late, with_excused = talk.late(excused), talk.late(set())
    print(
        f"{platform.name}: {len(talk.names)} texts in {len(homes)} chats, {talk.requests} requests "
        f"({len(talk.wrong_requests)} wrong), {shown.total()} answers, twice {shown.total() - len(shown)}; unread "
        f"{len(unread)}, unanswered chats {len(unanswered)}; told again {len(platform.retried)}; behind later ones "
        f"{len(with_excused)}, of those that were not told again {len(late)}"
    )
    assert (unread, unanswered, talk.wrong_requests, late) == ([], [], [], [])
    assert shown.total() - len(shown) <= (1 if "telegram" in platform.name else 0)
    assert platform.given_up == set()


EACH = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


@EACH
async def test_6_people_type_to_two_processes_and_do_not_notice_that_one_is_killed(
    transport: Open, tmp_path: Path
) -> None:
    async with transport(1 / 30) as platform:
        await two_at_once(platform, tmp_path, chats=6, each=10, kills_the_poller=False)


@pytest.mark.chaos
@EACH
async def test_20_people_type_to_two_processes_and_do_not_notice_that_one_is_killed(
    transport: Open, tmp_path: Path
) -> None:
    async with transport(1 / 5) as platform:
        await two_at_once(platform, tmp_path, chats=20, each=10, kills_the_poller=True)
