"""A store, its queue, and worker processes on it: what the tests of the worker stand in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import redis
from rq import Queue
from rq.job import Job

ROOT = Path(__file__).parents[2]
QUEUE = "turns"
JOB = "zclaw.turns"


def until(claim: Callable[[], object], within_s: float = 15.0) -> None:
    """Return when the claim holds: other processes do not tell us when they got there."""
    deadline = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


class Hall:
    """One store, its queue, and worker processes on it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.store = redis.Redis.from_url(url)
        self.queue = Queue(QUEUE, connection=self.store, serializer="json")
        self.trap = folder / "sprung"
        self.processes: list[subprocess.Popen[bytes]] = []

    def worker(self, name: str = "w1", *options: str) -> subprocess.Popen[bytes]:
        """A running worker that has signed on."""
        process = self.start(name, *options)
        until(lambda: self.state(name) in ("idle", "busy"))
        return process

    def start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        """A worker that starts."""
        env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "ZCLAW_TEST_TRAP": str(self.trap)}
        command = [sys.executable, str(Path(__file__).with_name("carrier.py")), self.url, name, *options]
        process = subprocess.Popen(command, env=env)
        self.processes.append(process)
        return process

    def hint(self, count: int = 1) -> list[Job]:
        """Push hints as the door does."""
        return [self.queue.enqueue(JOB, result_ttl=60, failure_ttl=86400) for _ in range(count)]

    def state(self, name: str = "w1") -> str:
        """What RQ's monitoring reads about a worker."""
        return self.field(f"rq:worker:{name}", "state") or "gone"

    def field(self, key: str, name: str) -> str | None:
        """One field of a hash."""
        found = self.store.hget(key, name)
        return found.decode() if isinstance(found, bytes) else found

    def length(self, name: str) -> int:
        return int(self.store.llen(name))

    def executing(self) -> int:
        return int(self.store.zcard(f"rq:wip:{QUEUE}"))

    def waiting(self) -> int:
        return self.length(f"rq:queue:{QUEUE}")

    def intermediate(self) -> int:
        return self.length(f"rq:queue:{QUEUE}:intermediate")

    def info(self) -> str:
        """The output of `rq info`."""
        command = [str(Path(sys.executable).with_name("rq")), "info", "--url", self.url, "--raw"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.store.close()
