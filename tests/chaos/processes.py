"""The processes of a chaos run: workers and bots that are started again as soon as they die.

They share nothing but the store: each has a working folder, a home and a place for temporary files of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.outside import Outside
from zclaw.store import RunningStore, start_store

ROOT = Path(__file__).parents[2]


class Processes:
    """Workers and bots over one store, in one outside world."""

    def __init__(
        self, folder: Path, store: RunningStore, outside_url: str, worker_words: Sequence[str], *, calm: bool
    ) -> None:
        self.outside = Outside(outside_url)
        self.store = store
        self.restarts: list[str] = []
        """The names of processes that had to be started again."""
        self._folder = folder
        self._urls = (store.url, outside_url)
        self._words = ("--calm",) if calm else ()
        self._worker_words = tuple(worker_words)
        self._others: dict[str, tuple[tuple[str, ...], Mapping[str, str]]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._thaw: dict[int, float] = {}
        self._read = 0

    @property
    def store_url(self) -> str:
        """Address of the store that they share."""
        return self.store.url

    def start(self, *, workers: int, bots: int) -> None:
        """Start them all."""
        for number in range(workers):
            self.start_one(f"worker-{number}")
        for number in range(bots):
            self.start_one(f"bot-{number}")

    def start_one(self, name: str) -> None:
        """Start `worker-3`, `bot-1`, … or again what was added by this name."""
        words: tuple[str, ...]
        more: Mapping[str, str] = {}
        if name in self._others:
            words, more = self._others[name]
        elif name.startswith("worker"):
            words = ("-m", "tests.chaos.worker", *self._urls, *self._words, *self._worker_words)
        else:
            words = ("-m", "tests.chaos.bot", *self._urls, name, *self._words)
        own = self._folder / name
        own.mkdir(exist_ok=True)
        places = {"HOME": str(own), "TMPDIR": str(own), "PYTHONPATH": str(ROOT)}
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, *words],
                cwd=own,
                env={**os.environ, **places, **more},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def add(self, name: str, *words: str, **environment: str) -> None:
        """Start one more, `python WORDS`, with these settings beside the common ones; tended like the others."""
        self._others[name] = (words, environment)
        self.start_one(name)

    def tend(self, freeze_s: float = 0.0) -> None:
        """Start again what has died, and let go on what has been frozen for `freeze_s`."""
        for name, process in list(self._running.items()):
            if process.poll() is not None:
                self.restarts.append(name)
                self.start_one(name)
        for pid, fate, _, at in self.outside.fates()[self._read :]:
            self._read += 1
            if fate == "freeze":
                self._thaw[pid] = at + freeze_s
        for pid, at in list(self._thaw.items()):
            if time.time() >= at:
                del self._thaw[pid]
                os.kill(pid, signal.SIGCONT)

    @property
    def awake(self) -> list[int]:
        """The process ids of all that are not frozen."""
        return [process.pid for process in self._running.values() if process.pid not in self._thaw]

    @property
    def frozen(self) -> int:
        """How many are frozen right now."""
        return len(self._thaw)

    def pid(self, name: str) -> int:
        """The process id of `worker-0`, `bot-1`, …"""
        return self._running[name].pid

    def end(self, name: str, number: signal.Signals, within_s: float) -> int:
        """End one for good, by a signal; its exit code. Raises `TimeoutExpired` when it does not end in time."""
        process = self._running.pop(name)
        process.send_signal(number)
        try:
            return process.wait(within_s)
        finally:
            process.kill()
            process.wait()

    def stop(self) -> None:
        """Kill them all."""
        for process in self._running.values():
            process.kill()
            process.wait()


@contextmanager
def processes(
    folder: Path, *, workers: int, bots: int, worker_words: Sequence[str] = (), calm: bool = False
) -> Iterator[Processes]:
    """A store, an outside world, and that many processes, all gone at the end; `calm`: without fuses."""
    with start_store(folder / "store") as store, start_store(folder / "outside") as outside:
        here = Processes(folder, store, outside.url, worker_words, calm=calm)
        try:
            here.start(workers=workers, bots=bots)
            yield here
        finally:
            here.stop()
