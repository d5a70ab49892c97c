"""What a turn costs, as ratios inside one run: goals P1-P6, P10, P11, and the time of an idle bot.

    python -m benchmarks.turns [P1 P2 P3 P4 P5 P6 P10 P11 idle] [--tries 2] [--all] [--nanobot PYTHON]

A turn is two model calls of one second and a tool between them. The store, the worker and the providers are the real
ones; the model's service, the people and their adapter are here. Every goal is measured beside its own yardstick; one
that is missed is measured again, `--tries` times in all, for the machine may be shared. `--all` adds P7, P8 and P9.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import worker as worker_goals
from benchmarks.chats import Chats, chats_over
from benchmarks.deaths import AGAIN_S, IN_FLIGHT, LONG_LATENCY_S, aftermath
from benchmarks.deaths import LATENCY_S as DEATH_LATENCY_S
from benchmarks.idle import idle_path
from benchmarks.memory import peak_of, pss_kb, tree_kb
from benchmarks.model_service import WORDS, ModelService, model_service
from benchmarks.rival import Rival
from benchmarks.rival import measure as measure_rival
from benchmarks.stress import stress
from benchmarks.turn_worker import turn_worker, whole_worker
from benchmarks.worker import Verdict, quantile
from benchmarks.yardsticks import floor_s, stock
from zclaw.store import start_store

LATENCY_S = 1.0
FEW, MANY = 200, 1000
HISTORY = 20
STOCK_TURNS = 64
WARM_UP = 3
WITHIN_S = 90.0
IDLE_LATENCY_S = 0.05
IDLE_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Run:
    """Many chats at once through one worker process."""

    chats: int
    answered: int
    wall_s: float
    """From before the first put until the last reply is pulled."""
    cpu_ms: float
    """Of the worker, a turn."""
    base_kb: int
    peak_kb: int
    p99_s: float
    """From before the first put until a chat's reply is pulled, of all but one in a hundred."""


class Bench:
    """One service for all goals, a store of its own for each measurement."""

    def __init__(self, folder: Path, service: ModelService, nanobot: str = "") -> None:
        self._folder = folder
        self._nanobot = nanobot
        self._service = service
        self._stores = 0

    @property
    def has_rival(self) -> bool:
        """Whether there is a Python to compare with; P5 and P6 are left out without."""
        return bool(self._nanobot)

    # --- goals, each with its yardstick

    async def many(self, chats: int, dialect: str, goal: float) -> Verdict:
        """P1."""
        floor = await floor_s(self._service.base(dialect, LATENCY_S), dialect, chats)
        run = await self._run(chats, dialect)
        ratio = run.wall_s / floor
        return Verdict(
            f"P1 {chats} chats, one worker, {dialect}: <= {goal} x no queue at all",
            f"{ratio:.2f} x ({run.wall_s:.2f} / {floor:.2f} s; {run.answered} of {chats} answered, "
            f"{run.cpu_ms:.1f} CPU ms a turn)",
            ratio <= goal and run.answered == chats,
        )

    async def against_stock(self) -> list[Verdict]:
        """P2."""
        run = await self._run(FEW, "openai")
        with self._store() as url:
            pool = await asyncio.to_thread(stock, url, self._service.base("openai", LATENCY_S), STOCK_TURNS)
        faster = run.answered / run.wall_s / pool.turns_per_s
        smaller = pool.peak_kb / run.peak_kb
        return [
            Verdict(
                "P2 turns/s >= 8 x a pool of 16 stock workers",
                f"{faster:.1f} x ({run.answered} turns in {run.wall_s:.2f} s / {pool.turns} in {pool.wall_s:.1f} s)",
                faster >= 8,
            ),
            Verdict(
                "P2 same, peak memory <= 1/4",
                f"1/{smaller:.1f} ({run.peak_kb / 1024:.0f} / {pool.peak_kb / 1024:.0f} MB PSS)",
                smaller >= 4,
            ),
        ]

    async def memory(self) -> Verdict:
        """P3."""
        run = await self._run(FEW, "openai", history=HISTORY)
        each = (run.peak_kb - run.base_kb) / run.chats
        return Verdict(
            f"P3 memory of a turn in flight, {HISTORY} messages of history: <= 64 KB PSS",
            f"{each:.0f} KB ({run.base_kb / 1024:.1f} -> {run.peak_kb / 1024:.1f} MB with {run.chats} in flight)",
            each <= 64 and run.answered == run.chats,
        )

    async def small(self) -> Verdict:
        """P4. The worker that people start, with all its tools and everything that it starts."""
        async with self._fresh() as (url, chats):
            with whole_worker(url, self._service.base("anthropic", IDLE_LATENCY_S, is_plain=True)) as worker:
                await chats.say(range(1))
                told = await chats.replies(1, WITHIN_S)
                mb = tree_kb(worker.pid) / 1024
        return Verdict(
            "P4 `zclaw worker` after its first turn, Anthropic's SDK loaded: <= 110 MB PSS",
            f"{mb:.0f} MB ({len(told)} of 1 answered)",
            mb <= 110 and len(told) == 1,
        )

    async def cheaper(self) -> Verdict:
        """P5. The adapter's share is that of this process, which also counts and prints."""
        mine = time.process_time()
        run = await self._run(FEW, "openai", is_plain=True)
        cpu_ms = run.cpu_ms + (time.process_time() - mine) / FEW * 1000
        other = await self._rival(FEW)
        return Verdict(
            "P5 CPU of a one-call turn, worker and adapter: <= 1/6 of nanobot-ai",
            f"1/{other.cpu_ms / cpu_ms:.1f} ({cpu_ms:.1f} / {other.cpu_ms:.1f} ms; {run.answered} of {FEW} answered)",
            other.cpu_ms >= 6 * cpu_ms and run.answered == FEW,
        )

    async def faster(self) -> Verdict:
        """P6."""
        run = await self._run(FEW, "openai", is_plain=True)
        other = await self._rival(FEW)
        ratio = other.wall_s / run.wall_s
        return Verdict(
            f"P6 {FEW} chats, model {LATENCY_S:.0f} s: turns/s >= 5 x nanobot-ai, p99 <= 2 x the model's time",
            f"{ratio:.1f} x ({run.wall_s:.2f} / {other.wall_s:.2f} s); p99 {run.p99_s:.2f} s",
            ratio >= 5 and run.p99_s <= 2 * LATENCY_S,
        )

    async def _rival(self, chats: int) -> Rival:
        url = self._service.base("openai", LATENCY_S, is_plain=True)
        return await asyncio.to_thread(measure_rival, self._nanobot, url, chats, WORDS[-1].strip())

    async def killed(self) -> Verdict:
        """P10, kill -9."""
        limit_s = 15 + 5 + 3 + 2 * AGAIN_S
        async with self._fresh() as (url, chats):
            after = await aftermath(url, self._service, chats, signal.SIGKILL, latency_s=DEATH_LATENCY_S)
        return Verdict(
            f"P10 kill -9 with {IN_FLIGHT} in flight: all answered within {limit_s:.0f} s",
            f"{after.answered} of {after.turns} within {after.last_answer_s:.1f} s, {after.doubled} twice",
            after.is_whole and after.last_answer_s <= limit_s,
        )

    async def told_to_end(self) -> list[Verdict]:
        """P10, SIGTERM: turns that can finish in time, and turns that cannot."""
        async with self._fresh() as (url, chats):
            short = await aftermath(url, self._service, chats, signal.SIGTERM, latency_s=DEATH_LATENCY_S)
        async with self._fresh() as (url, chats):
            long = await aftermath(url, self._service, chats, signal.SIGTERM, latency_s=LONG_LATENCY_S)
        # What was handed back waits for no lease: the next worker has it at once.
        again_s = long.last_answer_s - long.exit_s
        return [
            Verdict(
                f"P10 SIGTERM with {IN_FLIGHT} in flight: finished, exit 0",
                f"{short.answered} of {short.turns}, exit {short.exit_code} after {short.exit_s:.1f} s, last answer "
                f"after {short.last_answer_s:.1f} s",
                short.is_whole and short.exit_code == 0 and short.last_answer_s <= short.exit_s + 0.1,
            ),
            Verdict(
                f"P10 same, model answers in {LONG_LATENCY_S:.0f} s: handed back after 25 s, exit 0",
                f"{long.answered} of {long.turns}, exit {long.exit_code} after {long.exit_s:.1f} s, answered by "
                f"the next worker {again_s:.1f} s later",
                long.is_whole and long.exit_code == 0 and 25 <= long.exit_s <= 30 and again_s < 15,
            ),
        ]

    async def stressed(self) -> Verdict:
        """P11."""
        async with self._fresh() as (url, chats):
            seen = await stress(url, self._service, chats)
        return Verdict(
            "P11 typed fast, workers killed and frozen: 0 lost, 0 out of place, 0 effects repeated",
            f"{seen.messages} messages, {seen.kills} kills, {seen.freezes} freezes: lost {seen.lost}, out of place "
            f"{seen.misplaced}; {seen.effects} effects, repeated {seen.repeated}; {seen.took_s:.0f} s",
            (seen.lost, seen.misplaced, seen.repeated) == (0, 0, 0) and seen.messages >= 10_000,
        )

    async def idle(self) -> list[Verdict]:
        """The idle path."""
        async with self._fresh() as (url, chats):
            with turn_worker(url, "openai", self._service.base("openai", IDLE_LATENCY_S)):
                ways = await idle_path(self._service, chats, 0, IDLE_ROUNDS)
        named = (("message in -> model asked", ways.inward), ("model done -> reply out", ways.outward))
        return [
            Verdict(
                f"idle {name}: p50 <= 15 ms",
                f"{quantile(taken, 0.5):.1f} ms (p90 {quantile(taken, 0.9):.1f}, max {max(taken):.1f}; "
                f"{len(taken)} messages)",
                quantile(taken, 0.5) <= 15,
            )
            for name, taken in named
        ]

    # --- measuring

    async def _run(self, number: int, dialect: str, *, history: int = 0, is_plain: bool = False) -> Run:
        async with self._fresh() as (url, chats):
            who = range(number)
            if history:
                await chats.remember(who, history)
            model_url = self._service.base(dialect, LATENCY_S, is_plain=is_plain)
            with turn_worker(url, dialect, model_url) as worker:
                await chats.say(range(number, number + WARM_UP))
                await chats.replies(WARM_UP, WITHIN_S)
                base_kb, before = pss_kb(worker.pid), psutil.Process(worker.pid).cpu_times()
                with peak_of(worker.pid) as peak:
                    began, began_ns = time.monotonic(), time.monotonic_ns()
                    await chats.say(who)
                    replies = await chats.replies(number, WITHIN_S)
                    wall_s = time.monotonic() - began
                after = psutil.Process(worker.pid).cpu_times()
        cpu_s = after.user + after.system - before.user - before.system
        waits = [(at - began_ns) / 1e9 for told in replies.values() for at, _ in told]
        p99_s = quantile(waits, 0.99) if waits else float("inf")
        return Run(number, len(replies), wall_s, cpu_s / number * 1000, base_kb, peak.kb, p99_s)

    @contextmanager
    def _store(self) -> Iterator[str]:
        self._stores += 1
        with start_store(self._folder / str(self._stores)) as store:
            yield store.url

    @asynccontextmanager
    async def _fresh(self) -> AsyncIterator[tuple[str, Chats]]:
        with self._store() as url:
            async with chats_over(url) as chats:
                yield url, chats


async def measure(bench: Bench, goals: list[str], tries: int) -> list[Verdict]:
    """Each goal's verdicts, printed as they come."""
    rows: dict[str, list[Callable[[], Awaitable[Verdict | list[Verdict]]]]] = {
        "P1": [
            lambda: bench.many(FEW, "openai", 1.3),
            lambda: bench.many(MANY, "openai", 2.5),
            lambda: bench.many(MANY, "anthropic", 3.0),
        ],
        "P2": [bench.against_stock],
        "P3": [bench.memory],
        "P4": [bench.small],
        "P5": [bench.cheaper],
        "P6": [bench.faster],
        "P10": [bench.killed, bench.told_to_end],
        "P11": [bench.stressed],
        "idle": [bench.idle],
    }
    verdicts: list[Verdict] = []
    if not bench.has_rival:
        goals = [goal for goal in goals or rows if goal not in ("P5", "P6")]
    for goal in goals or rows:
        for row in rows[goal]:
            verdicts += await _patiently(row, tries)
    return verdicts


async def _patiently(row: Callable[[], Awaitable[Verdict | list[Verdict]]], tries: int) -> list[Verdict]:
    """The first measurement in which all holds, else the last one."""
    number = 0
    while True:
        number += 1
        found = await row()
        verdicts = found if isinstance(found, list) else [found]
        for verdict in verdicts:
            show(verdict, f" [try {number}]" if number > 1 else "")
        if number >= tries or all(verdict.holds for verdict in verdicts):
            return verdicts


def show(verdict: Verdict, note: str = "") -> None:
    print(f"{'PASS' if verdict.holds else 'FAIL'}  {verdict.goal}: {verdict.measured}{note}", flush=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("goals", nargs="*", help="P1 P2 P3 P4 P5 P6 P10 P11 idle; none: all of them")
    options.add_argument("--tries", type=int, default=2)
    options.add_argument("--nanobot", default="", help="a Python that has nanobot-ai, for P5 and P6")
    options.add_argument("--all", action="store_true", help="the goals of benchmarks/worker.py too")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, model_service() as service:
        verdicts = asyncio.run(measure(Bench(Path(folder), service, given.nanobot), given.goals, given.tries))
    if given.all:
        with tempfile.TemporaryDirectory() as folder, start_store(Path(folder)) as store:
            for verdict in worker_goals.measure(store.url, rounds=300, jobs=1000):
                show(verdict)
                verdicts.append(verdict)
    held = sum(verdict.holds for verdict in verdicts)
    print(f"{held} of {len(verdicts)} hold")
    return 0 if held == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
