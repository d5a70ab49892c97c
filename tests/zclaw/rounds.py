"""The store under attack; the suite runs a few rounds, `make chaos` all of them."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import redis

from tests.zclaw.sight import reached, servers_of
from zclaw.folder import open_folder
from zclaw.store import start_store


def starter(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.zclaw.starter", str(root), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def start_at_once(root: Path, rounds: int) -> None:
    """Two starts at one moment, again and again: one owns, one leaves, and there is one server."""
    for _ in range(rounds):
        at = str(time.time() + 1.0)
        pair = [starter(root, at), starter(root, at)]
        said = [process.stdout.readline() for process in pair if process.stdout]

        assert sorted("already runs" in line for line in said) == [False, True], said
        assert len(servers_of(open_folder(root))) == 1

        for process in pair:
            process.communicate(timeout=30)


@dataclass(slots=True)
class Load:
    """Clients that write without a pause and remember what was acknowledged."""

    url: str
    writers: int = 4
    acknowledged: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Load:
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(self.writers)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        n = 0
        with redis.Redis.from_url(self.url, socket_timeout=5.0) as client:
            while not self._over.is_set():
                entry = f"{writer}:{n}"
                try:
                    client.rpush("list", entry)
                    self.acknowledged.append(entry)
                except redis.RedisError:
                    self._over.wait(0.01)  # The server is away; what was not acknowledged may be lost.
                n += 1


class Watch(threading.Thread):
    """Counts the folder's servers as often as it can; `seen` holds every count that ever was."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.seen: set[int] = set()
        self.looks = 0
        self.over = threading.Event()
        self._folder = open_folder(root)

    def run(self) -> None:
        while not self.over.is_set():
            self.seen.add(len(servers_of(self._folder)))
            self.looks += 1


def kill_supervisors_under_load(root: Path, kills: int) -> Load:
    """kill -9 of one supervisor after the other while clients write: nothing acknowledged is lost."""
    dice = random.Random(kills)
    supervisor = starter(root)
    assert supervisor.stdout is not None
    pid, url = supervisor.stdout.readline().split()
    watch = Watch(root)
    watch.start()
    try:
        with Load(url) as load:
            for _ in range(kills):
                # Also while it starts: half of them die before they have said anything.
                reached(lambda: False, within_s=dice.uniform(0.0, 0.6))
                supervisor.kill()
                supervisor.communicate()
                supervisor = starter(root)
            assert supervisor.stdout is not None
            assert supervisor.stdout.readline().split() == [pid, url]
    finally:
        watch.over.set()
        watch.join()
    supervisor.communicate(timeout=30)

    with start_store(root) as store, redis.Redis.from_url(store.url, decode_responses=True) as client:
        kept = set(client.lrange("list", 0, -1))
    lost = set(load.acknowledged) - kept
    print(f"supervisors killed {kills}, acknowledged {len(load.acknowledged)}, lost {len(lost)}, servers {watch.seen}")
    assert not lost
    assert watch.seen == {1}
    assert watch.looks > kills
    assert len(load.acknowledged) > 10 * kills
    return load
