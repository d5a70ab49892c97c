"""How much memory processes take: their proportional share (PSS), so that what they share counts once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

EVERY_S = 0.1


def pss_kb(pid: int) -> int:
    """The PSS of one process, in KB; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (OSError, ValueError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def tree_kb(pid: int) -> int:
    """The PSS of a process and everything that it started."""
    try:
        below = [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        below = []
    return sum(map(pss_kb, [pid, *below]))


class Peak:
    """The highest sum seen so far, in KB."""

    kb = 0


@contextmanager
def peak_of(pid: int) -> Iterator[Peak]:
    """Watch a process and everything that it started while the block runs."""
    peak, ended = Peak(), threading.Event()

    def watch() -> None:
        while True:
            peak.kb = max(peak.kb, tree_kb(pid))
            if ended.wait(EVERY_S):
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()
