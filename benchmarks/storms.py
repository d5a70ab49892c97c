"""A model's service in a storm of 429, 529 and cut streams, and what people see of it.

    python -m benchmarks.storms [openai anthropic] [--seconds 120] [--chats 100]

Everybody talks all the time: says something, waits for the answer, says the next. First it is calm, then it storms over
half of the chats: half of the tries of their model calls fail, and in every fourth of them all. The store, the worker
and the providers are the real ones. What nobody answered, or answered with half an answer, is lost; kind words after
the last try are an answer, and are counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum, auto
from pathlib import Path

from benchmarks.chats import PLATFORM, TEXT, Chats, chats_over
from benchmarks.storm_service import DROWNED, QUIET, SENTENCES, STORMY, StormService, Tally, storm_service
from benchmarks.turn_worker import turn_worker
from benchmarks.turns import show
from benchmarks.worker import Verdict, quantile
from kernel.clock import SystemClock
from kernel.loop import Limits
from kernel.stores.redis.stores import open_stores
from kernel.texts import say
from zclaw.store import start_store

DIALECTS = ("openai", "anthropic")
DROWNED_EVERY = 4
LATE_S = 1.0
"""How long a second answer is waited for at the end."""
DRAFTS_EVERY_S = 0.2
"""A draft stands for 0.7 s at least."""
SEED = 5
KIND_WORDS = frozenset(say(key, language) for key in ("model.failed", "turn.deadline") for language in ("zh", "en"))

_SENTENCE = re.compile(r"sentence (\d+) of (\w+ \d+/\d+), try (\d+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of each."""

    chats: int = 100
    warm_up_s: float = 2.0
    """What is said meanwhile is not counted: everything is done for the first time."""
    calm_s: float = 30.0
    storm_s: float = 120.0
    pauses_s: tuple[float, float] = (2.0, 6.0)
    """Between an answer and what the person says next: from, to."""
    asks_s: tuple[int, ...] = (1, 5, 20)
    """What a 429 may ask for in `retry-after`."""
    deadline: timedelta = Limits().work
    """Of a turn."""


class Answer(Enum):
    """What a person was told."""

    WHOLE = auto()
    KIND = auto()
    """That the model is away, after the last try."""
    DOUBLED = auto()
    """A sentence twice, or words of two tries."""
    BROKEN = auto()
    """Anything else."""
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Said:
    """A message and what came of it."""

    tag: str
    is_in_storm: bool
    """It was said while it stormed."""
    answer: Answer
    took_s: float


@dataclass(slots=True)
class Report:
    """What was tried and what came of it; what was said during the warm-up is left out."""

    said: list[Said] = field(default_factory=list)
    strays: int = 0
    """Answers to what was answered already."""
    drafts: int = 0
    doubled_drafts: int = 0
    tally: Tally = field(default_factory=lambda: Tally({}, 0, 0, 0))

    def count(self, *answers: Answer) -> int:
        """Messages with one of these answers."""
        return sum(said.answer in answers for said in self.said)

    @property
    def lost(self) -> int:
        return self.count(Answer.NONE, Answer.BROKEN)

    @property
    def doubled(self) -> int:
        return self.count(Answer.DOUBLED) + self.strays + self.doubled_drafts

    def quiet_s(self, *, is_in_storm: bool) -> list[float]:
        """How long the quiet chats waited for each answer."""
        return [
            said.took_s for said in self.said if said.tag.startswith(QUIET) and said.is_in_storm is is_in_storm
        ] or [float("inf")]

    @property
    def longest_s(self) -> float:
        return max((said.took_s for said in self.said), default=float("inf"))

    def lines(self) -> str:
        """For people."""
        moods = Counter(said.tag.partition(" ")[0] for said in self.said if said.is_in_storm)
        hits = ", ".join(f"{kind} {count}" for kind, count in self.tally.hits.items())
        return (
            f"{moods.total()} messages in the storm ({', '.join(f'{mood} {n}' for mood, n in sorted(moods.items()))}), "
            f"{len(self.said) - moods.total()} before it; {self.tally.answered} tries answered, "
            f"{sum(self.tally.hits.values())} failed ({hits}) in {self.tally.struck} turns, "
            f"at most {self.tally.most_tries} tries a call"
        )


def judged(text: str, tag: str) -> Answer:
    """What `text` is as an answer to the message `tag`."""
    if text in KIND_WORDS:
        return Answer.KIND
    if is_doubled(text):
        return Answer.DOUBLED
    found = _SENTENCE.findall(text)
    is_whole = [(int(number), of) for number, of, _ in found] == [(n, tag) for n in range(1, SENTENCES + 1)]
    return Answer.WHOLE if is_whole else Answer.BROKEN


def is_doubled(text: str) -> bool:
    """Whether a sentence stands in it twice, or sentences of two tries or answers do."""
    found = _SENTENCE.findall(text)
    return len({number for number, _, _ in found}) < len(found) or len({(of, tried) for _, of, tried in found}) > 1


class Crowd:
    """People who talk until the storm is over. Not reusable."""

    def __init__(self, chats: Chats, plan: Plan) -> None:
        self.report = Report()
        self._chats = chats
        self._plan = plan
        self._told: dict[int, asyncio.Queue[tuple[int, str]]] = {chat: asyncio.Queue() for chat in range(plan.chats)}
        self._is_warm = self._is_storming = False
        self._over = asyncio.Event()

    async def talk(self, service: StormService) -> None:
        """From the first words to the last answer, the weather included."""
        async with asyncio.TaskGroup() as group:
            hearing = group.create_task(self._hear())
            people = [group.create_task(self._person(chat)) for chat in self._told]
            await asyncio.sleep(self._plan.warm_up_s)
            self._is_warm = True
            await asyncio.sleep(self._plan.calm_s)
            await asyncio.to_thread(service.storm, self._plan.asks_s)
            self._is_storming = True
            await asyncio.sleep(self._plan.storm_s)
            await asyncio.to_thread(service.calm)
            self._over.set()
            await asyncio.wait(people)
            await asyncio.sleep(LATE_S)
            hearing.cancel()
        self.report.strays += sum(told.qsize() for told in self._told.values())

    async def _hear(self) -> None:
        while True:
            for chat, told in (await self._chats.replies(1, LATE_S)).items():
                for each in told:
                    self._told[int(chat)].put_nowait(each)

    async def _person(self, chat: int) -> None:
        dice = random.Random(f"{SEED} {chat}")
        mood = QUIET if chat % 2 else DROWNED if chat // 2 % DROWNED_EVERY == 0 else STORMY
        await asyncio.sleep(dice.uniform(0, self._plan.pauses_s[1]))
        number = 0
        while not self._over.is_set():
            number += 1
            counts, is_in_storm, tag = self._is_warm, self._is_storming, f"{mood} {chat}/{number}"
            said = time.monotonic_ns()
            await self._chats.say(range(chat, chat + 1), text=f"{tag}：{TEXT.format(chat=chat)}")
            answer, at = await self._answer(chat, tag)
            if counts:
                self.report.said.append(Said(tag, is_in_storm, answer, (at - said) / 1e9))
            try:
                async with asyncio.timeout(dice.uniform(*self._plan.pauses_s)):
                    await self._over.wait()
            except TimeoutError:
                pass

    async def _answer(self, chat: int, tag: str) -> tuple[Answer, int]:
        """What came of `tag`, and when."""
        try:
            async with asyncio.timeout(self._plan.deadline.total_seconds()):
                while True:
                    at, text = await self._told[chat].get()
                    if all(of == tag for _, of, _ in _SENTENCE.findall(text)):
                        return judged(text, tag), at
                    self.report.strays += 1
        except TimeoutError:
            return Answer.NONE, time.monotonic_ns()


@asynccontextmanager
async def drafts_watched(store_url: str, report: Report) -> AsyncIterator[None]:
    """Every draft that is shown within the block, judged."""
    stores = await open_stores(store_url, SystemClock())

    async def watch() -> None:
        seen: set[tuple[str, int]] = set()
        while True:
            for draft in await stores.outbox.drafts(PLATFORM):
                if draft.text and (draft.turn, draft.sequence) not in seen:
                    seen.add((draft.turn, draft.sequence))
                    report.drafts += 1
                    report.doubled_drafts += is_doubled(draft.text)
            await asyncio.sleep(DRAFTS_EVERY_S)

    watching = asyncio.create_task(watch())
    try:
        yield
        assert not watching.done()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await stores.close()


async def storm_over(folder: Path, dialect: str, plan: Plan) -> Report:
    """One run, with a store of its own in `folder`."""
    with start_store(folder) as store, storm_service() as service:
        async with chats_over(store.url) as chats:
            with turn_worker(store.url, dialect, service.base(dialect)):
                crowd = Crowd(chats, plan)
                async with drafts_watched(store.url, crowd.report):
                    await crowd.talk(service)
                crowd.report.tally = await asyncio.to_thread(service.tally)
    return crowd.report


def verdicts(dialect: str, plan: Plan, report: Report) -> list[Verdict]:
    """The goals."""
    calm_s, storm_s = (quantile(report.quiet_s(is_in_storm=is_in_storm), 0.95) for is_in_storm in (False, True))
    stormy = [said for said in report.said if said.is_in_storm and not said.tag.startswith(QUIET)]
    return [
        Verdict(
            f"{dialect}, {plan.storm_s:.0f} s of storm over {plan.chats // 2} of {plan.chats} chats: 0 turns lost "
            f"within {plan.deadline.total_seconds() / 60:.0f} min",
            f"{report.lost} of {len(report.said)}; {report.count(Answer.KIND)} answered with kind words after the last "
            f"try; longest wait {report.longest_s:.0f} s; {report.lines()}",
            report.lost == 0 and bool(stormy),
        ),
        Verdict(
            f"{dialect}, same: 0 doubled text",
            f"{report.count(Answer.DOUBLED)} answers, {report.strays} second answers, {report.doubled_drafts} of "
            f"{report.drafts} drafts",
            report.doubled == 0,
        ),
        Verdict(
            f"{dialect}, same: p95 of the other {plan.chats // 2} chats <= 2 x",
            f"{storm_s / calm_s:.2f} x ({storm_s:.3f} / {calm_s:.3f} s)",
            storm_s <= 2 * calm_s,
        ),
    ]


def main() -> int:
    usual = Plan()
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("dialects", nargs="*", help=f"{' '.join(DIALECTS)}; none: both")
    options.add_argument("--seconds", type=float, default=usual.storm_s)
    options.add_argument("--chats", type=int, default=usual.chats)
    given = options.parse_args()
    plan = replace(usual, chats=given.chats, storm_s=given.seconds)
    found: list[Verdict] = []
    for dialect in given.dialects or DIALECTS:
        with tempfile.TemporaryDirectory() as folder:
            report = asyncio.run(storm_over(Path(folder), dialect, plan))
        for verdict in verdicts(dialect, plan, report):
            show(verdict)
            found.append(verdict)
    held = sum(verdict.holds for verdict in found)
    print(f"{held} of {len(found)} hold")
    return 0 if held == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
