"""What the RQ worker costs, as ratios inside one run: goals P7 (wake-up), P8 (no-op jobs), P9 (event-loop lag).

    python -m benchmarks.worker [--rounds 300] [--jobs 1000]

Starts its own store; every consumer is a process of its own. Absolute times are for people, ratios are the goals.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import redis
from rq import Queue, SimpleWorker, Worker
from rq.job import Job

from workers.turnloop import Turns
from workers.worker import SLOTS, run_worker
from zclaw.store import start_store

JOB = "zclaw.turns"
NO_OP = ("time.sleep", 0)
"""For stock workers: something that they have imported already, as a forked child would otherwise do it each time."""
QUEUE = "bench"
RAW = "bench:raw"
AT_ONCE = 300
HOLD_S = 1.0
SETTLE_S = 0.5
"""RQ's books of the last jobs are written within that time."""
LAG_STEP_S = 0.005


# --- consumers, each in a process


class Timing:
    """Turns that do nothing but say on stdout when a drain started."""

    async def drain(self) -> None:
        say(time.monotonic_ns())

    async def stop(self) -> None:
        pass


class Silent(Timing):
    """Turns that do nothing."""

    async def drain(self) -> None:
        pass


class Lagging(Timing):
    """Turns that hold for a second while somebody watches how late the loop is."""

    def __init__(self) -> None:
        self.lags: list[float] = []
        self.until = 0.0

    async def drain(self) -> None:
        self.until = time.monotonic() + HOLD_S + SETTLE_S
        await asyncio.sleep(HOLD_S)

    async def watch(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(LAG_STEP_S)
            if before < self.until:
                self.lags.append(time.monotonic() - before - LAG_STEP_S)


def say(what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def consume(kind: str, url: str) -> int:
    client = redis.Redis.from_url(url)
    queue = Queue(QUEUE, connection=client, serializer="json")
    match kind:
        case "raw":
            while True:
                if client.blmove(RAW, f"{RAW}:taken", 1) is not None:
                    say(time.monotonic_ns())
        case "simple" | "fork":
            worker = (SimpleWorker if kind == "simple" else Worker)([queue], connection=client, serializer="json")
            worker.work(logging_level="WARNING")
            return 0
        case "timing" | "silent":
            return run_turns(queue, Timing() if kind == "timing" else Silent())
        case "lagging":
            turns = Lagging()
            code = run_turns(queue, turns, slots=AT_ONCE)
            say(turns.lags)
            return code
    raise ValueError(kind)


def run_turns(queue: Queue, turns: Timing, slots: int = SLOTS) -> int:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Turns]:
        watch = asyncio.create_task(turns.watch()) if isinstance(turns, Lagging) else None
        yield turns
        if watch is not None:
            watch.cancel()

    return run_worker(queue, opened, job=JOB, slots=slots)


# --- measuring


@dataclass(frozen=True, slots=True)
class Verdict:
    """One goal, what was measured, and whether it holds."""

    goal: str
    measured: str
    holds: bool


class Bench:
    """A store, and one consumer at a time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = redis.Redis.from_url(url)
        self.queue = Queue(QUEUE, connection=self.client, serializer="json")

    @contextmanager
    def consumer(self, kind: str) -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-m", "benchmarks.worker", "--consumer", kind, "--url", self.url]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            self._wait_until_it_listens()
            yield process
        finally:
            process.send_signal(signal.SIGKILL if kind == "raw" else signal.SIGTERM)
            process.communicate(timeout=40)
            self.client.flushall()

    def _wait_until_it_listens(self) -> None:
        while not any(client["cmd"] == "blmove" for client in self.client.client_list()):
            time.sleep(0.05)

    def latency(self, kind: str, rounds: int) -> list[float]:
        """Milliseconds from before the push to the start of the work, with an idle consumer."""
        taken = []
        with self.consumer(kind) as process:
            assert process.stdout is not None
            for number in range(rounds + 20):
                before = time.monotonic_ns()
                if kind == "raw":
                    self.client.rpush(RAW, number)
                else:
                    self.queue.enqueue(JOB, result_ttl=60)
                line = json_line(process)
                if number >= 20:  # The first ones warm up.
                    taken.append((int(line) - before) / 1e6)
                time.sleep(0.02)  # Idle means that the last one has been settled.
        return taken

    def rate(self, kind: str, jobs: int) -> float:
        """No-op jobs per second, from the first start to the last end by RQ's own books."""
        what = (JOB,) if kind == "silent" else NO_OP
        with self.consumer(kind):
            made = [self.queue.enqueue(*what, result_ttl=600) for _ in range(jobs)]
            while self.queue.finished_job_registry.get_job_count(cleanup=False) < jobs:
                time.sleep(0.05)
            ids = [job.id for job in made]
            done = [job for job in Job.fetch_many(ids, self.client, serializer="json") if job is not None]
        assert len(done) == jobs
        return jobs / (max(map(ended, done)) - min(map(started, done))).total_seconds()

    def lags(self) -> list[float]:
        """Milliseconds by which the event loop was late while AT_ONCE jobs start, hold and finish."""
        command = [sys.executable, "-m", "benchmarks.worker", "--consumer", "lagging", "--url", self.url]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._wait_until_it_listens()
        for _ in range(AT_ONCE):
            self.queue.enqueue(JOB, result_ttl=60)
        while self.queue.finished_job_registry.get_job_count(cleanup=False) < AT_ONCE:
            time.sleep(0.05)
        process.terminate()
        printed, _ = process.communicate(timeout=40)
        self.client.flushall()
        return [lag * 1000 for lag in json.loads(printed.splitlines()[-1])]


def json_line(process: subprocess.Popen[str]) -> str:
    """The next line that is a value, past what is logged."""
    assert process.stdout is not None
    for line in process.stdout:
        if line[0].isdigit() and line.strip().isdigit():
            return line
    raise RuntimeError("the consumer ended")


def started(job: Job) -> datetime:
    assert job.started_at is not None
    return job.started_at


def ended(job: Job) -> datetime:
    assert job.ended_at is not None
    return job.ended_at


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def measure(url: str, rounds: int, jobs: int) -> Iterator[Verdict]:
    bench = Bench(url)
    raw, hint = bench.latency("raw", rounds), bench.latency("timing", rounds)
    ratio = quantile(hint, 0.5) / quantile(raw, 0.5)
    yield Verdict(
        "P7 hint -> coroutine, idle: p50 <= 6 x raw BLMOVE",
        f"{ratio:.1f} x ({quantile(hint, 0.5):.2f} / {quantile(raw, 0.5):.2f} ms; {rounds} each)",
        ratio <= 6,
    )
    slow = quantile(hint, 0.99)
    yield Verdict("P7 same, p99 <= 10 ms", f"{slow:.2f} ms (raw {quantile(raw, 0.99):.2f} ms)", slow <= 10)

    ours = bench.rate("silent", jobs)
    for kind, count, goal in (("simple", jobs, 0.9), ("fork", jobs // 4, 4.0)):
        theirs = bench.rate(kind, count)
        yield Verdict(
            f"P8 no-op jobs >= {goal} x RQ's {kind} worker",
            f"{ours / theirs:.1f} x ({ours:.0f} / {theirs:.0f} jobs/s; {jobs} and {count} jobs)",
            ours >= goal * theirs,
        )

    lags = bench.lags()
    late = quantile(lags, 0.99)
    yield Verdict(
        f"P9 event-loop lag while {AT_ONCE} jobs start and finish: p99 <= 10 ms",
        f"{late:.1f} ms (p50 {quantile(lags, 0.5):.1f}, max {max(lags):.1f}; {len(lags)} samples)",
        late <= 10,
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=300)
    options.add_argument("--jobs", type=int, default=1000)
    options.add_argument("--consumer", help=argparse.SUPPRESS)
    options.add_argument("--url", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.consumer:
        return consume(given.consumer, given.url)
    with tempfile.TemporaryDirectory() as folder, start_store(Path(folder)) as store:
        verdicts = []
        for verdict in measure(store.url, given.rounds, given.jobs):
            print(f"{'ok    ' if verdict.holds else 'MISSED'} {verdict.goal}: {verdict.measured}", flush=True)
            verdicts.append(verdict)
    return 0 if all(verdict.holds for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
