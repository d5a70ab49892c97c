"""Who descends from whom, and the end of all of them.

On Linux a keeper adopts orphans, so its descendants are exactly what it started, however they detached. macOS has no
such thing: there a `Trail` looks at the process table again and again and remembers whom it saw. What forks twice
between two looks and leaves its process group is not seen; a second user (kernel/children/users.py) closes that gap.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

Pids = Callable[[], Iterable[int]]


class Process(NamedTuple):  # Not a dataclass: importing those takes as long as the rest of the guard's start.
    """One line of the process table. `started` tells two processes apart that had one number."""

    pid: int
    parent: int
    group: int
    started: str


def descendants(root: int, but: Container[int] = ()) -> Iterator[int]:
    """Everything below `root` (Linux), nearest first, each as soon as it is found; without `but` and those below."""
    pending = [root]
    while pending:
        for pid in _children(pending.pop(0)):
            if pid not in but:
                pending.append(pid)
                yield pid


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 — a hot path, and names are all we need
            with open(f"/proc/{pid}/task/{task}/children", "rb") as children:  # noqa: PTH123
                found += map(int, children.read().split())
        return found
    # A kernel without these files, or a process that just ended.
    return [] if _has_children_files() else [each.pid for each in proc_table() if each.parent == pid]


def _has_children_files() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110


def proc_table() -> Iterator[Process]:
    """The process table of Linux."""
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # A program's name may hold blanks and brackets: the fields begin behind the last bracket.
                with open(f"/proc/{name}/stat", errors="replace") as stat:  # noqa: PTH123
                    after = stat.read().rpartition(")")[2].split()
                yield Process(int(name), int(after[1]), int(after[2]), after[19])


def ps_table() -> Iterator[Process]:
    """The process table as `ps` prints it, on macOS and on Linux."""
    import subprocess  # noqa: PLC0415 — heavy, and Linux never needs it

    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,lstart="]
    try:
        ps = subprocess.Popen(command, env={"LC_ALL": "C"}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return
    printed, _ = ps.communicate()
    # It sees itself, and is nobody's child to be ended.
    yield from (each for each in from_ps(printed.decode(errors="replace")) if each.pid != ps.pid)


def from_ps(printed: str) -> Iterator[Process]:
    """The lines of `ps -o pid=,ppid=,pgid=,lstart=`; what cannot be read is left out."""
    for line in printed.splitlines():
        fields = line.split(None, 3)
        if len(fields) == 4 and all(part.isdigit() for part in fields[:3]):
            yield Process(int(fields[0]), int(fields[1]), int(fields[2]), fields[3].strip())


class Trail:
    """Everybody who was ever seen below `root`, where orphans are adopted by somebody else."""

    def __init__(self, root: int, table: Callable[[], Iterable[Process]] = ps_table) -> None:
        self._root = root
        self._table = table
        self._seen: set[tuple[int, str]] = set()
        self._groups: set[int] = set()

    def look(self) -> list[int]:
        """Those of them that live, and remember them."""
        processes = {each.pid: each for each in self._table()}
        if not processes:  # There was no room to run `ps`.
            return sorted(pid for pid, _ in self._seen)
        own = processes.pop(self._root, None)
        found = {pid for pid, each in processes.items() if (pid, each.started) in self._seen}
        while True:
            more = {
                each.pid
                for each in processes.values()
                if each.pid not in found
                and (each.parent in found or each.parent == self._root or each.group in self._groups)
            }
            if not more:
                break
            found |= more
            # A group that one of ours leads is ours; the root's own group is not.
            self._groups |= {pid for pid in more if processes[pid].group == pid and (own is None or own.group != pid)}
        # The number of an empty group may go to somebody else.
        self._groups &= {each.group for each in processes.values()}
        self._seen = {(pid, processes[pid].started) for pid in found}
        return sorted(found)


def tasks_of(uid: int) -> int:
    """How many tasks the user runs, as RLIMIT_NPROC counts them; 0 where this cannot be seen."""
    count = 0
    if sys.platform == "linux":
        for name in os.listdir("/proc"):  # noqa: PTH208
            if name.isdigit():
                with contextlib.suppress(OSError):
                    folder = f"/proc/{name}"
                    if os.stat(folder).st_uid == uid:  # noqa: PTH116
                        count += len(os.listdir(f"{folder}/task"))  # noqa: PTH208
    return count


def end(left: Pids, *, reap: Callable[[], object], within_s: float, also: Callable[[], object] = lambda: None) -> bool:
    """End everything that `left` names until it names nobody; whether that was so within the time.

    Everything is stopped first and killed when nobody new is found: what is stopped cannot fork, and still holds its
    place under the limit of processes, so that a fork bomb runs out of room. `also` ends them in a further way.
    """
    deadline = time.monotonic() + within_s
    stopped: set[int] = set()
    while True:
        also()
        reap()
        is_anybody = is_news = False
        for pid in left():
            is_anybody = True
            if pid not in stopped:
                is_news = True
                stopped.add(pid)
                _signal(pid, signal.SIGSTOP)
        if not is_anybody:
            return True
        is_late = time.monotonic() > deadline
        if is_late or not is_news:
            for pid in stopped:
                _signal(pid, signal.SIGKILL)
            stopped.clear()
            if is_late:
                return False
            time.sleep(0.002)  # The kernel takes them down meanwhile; there is no event for grandchildren.


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
