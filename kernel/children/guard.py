"""The guard: one small process beside each worker, under which all its children live.

It holds one end of a socket. For each child the worker sends a line of JSON, `{"private": folder}`, together with
four open files: a socket to talk to the child's keeper, and the child's input, output and error output. The guard
forks a keeper (kernel/children/keeper.py) and sees to it that nothing is left of it. When the worker's end closes,
however that came, it ends everything and itself.

    a keeper ends as it should    its user is free again
    a keeper is killed            the guard adopted its orphans: they are ended, the folder is removed
    the worker lets go of a       the keeper has some seconds; then it is killed, and that
    keeper's socket               is the case above
    the worker is gone            every keeper is told, then whatever is left is killed

Imports only what is small: it starts in milliseconds and is forked for every child.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterable
from typing import NamedTuple

from kernel.children import linux, users
from kernel.children.keeper import END_WITHIN_S, Keeper, adopts_orphans, clear, run
from kernel.children.launch import highest_fd
from kernel.children.processes import descendants, end

MOST_CHILDREN = 128
"""More at a time are refused."""
_FILES_PER_CHILD = 4
_PATIENCE_S = END_WITHIN_S + 1.0
_LAST_PATIENCE_S = 4.0
"""For all keepers together once the worker is gone; with what comes after it, under 10 s."""


class _Kept(NamedTuple):  # Not a dataclass: see kernel/children/processes.py.
    pid: int
    control: int
    lifeline: int
    private: str
    uid: int | None
    lock: int


class Guard:
    """Serves one worker over `worker`; with `has_users` every child gets a user of its own."""

    def __init__(self, worker: socket.socket, *, has_users: bool) -> None:
        self._worker = worker
        self._users = users.Users() if has_users else None
        self._kept: dict[int, _Kept] = {}
        self._overdue: dict[int, float] = {}
        self._cleaners: set[int] = set()
        self._has_adoption = adopts_orphans()
        self._buffer = b""
        self._files: list[int] = []
        self._poll = select.poll()
        self._poll.register(worker, select.POLLIN)
        self._wake, waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll.register(self._wake, select.POLLIN)

    def serve(self) -> None:
        """Until the worker is gone."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()

    def _turn(self) -> bool:
        """Wait for something and answer it; False when the worker is gone."""
        wait = min((due - time.monotonic() for due in self._overdue.values()), default=None)
        for fd, _ in self._poll.poll(None if wait is None else max(0.0, wait) * 1000 + 1):
            if fd == self._worker.fileno():
                if not self._read():
                    return False
            elif fd == self._wake:
                self._drain()
            else:
                self._let_go(fd)
        self._reap()
        for pid, due in list(self._overdue.items()):
            if time.monotonic() >= due:
                self._overdue.pop(pid)
                _kill(pid)
        return True

    def _read(self) -> bool:
        try:
            data, files, _, _ = socket.recv_fds(self._worker, 65536, _FILES_PER_CHILD * 16)
        except ConnectionError:
            return False
        self._files += files
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            streams, self._files = self._files[:_FILES_PER_CHILD], self._files[_FILES_PER_CHILD:]
            self._start(json.loads(line)["private"], streams)
        return bool(data)

    def _start(self, private: str, files: list[int]) -> None:
        control, stdin, stdout, stderr = files
        uid, lock = None, -1
        reading, writing = os.pipe()
        pid = -1
        try:
            if len(self._kept) >= MOST_CHILDREN:
                raise OSError("too many commands run already")
            if self._users is not None:
                uid, lock = self._users.take()
            pid = os.fork()
        except (OSError, users.NoUser) as error:
            _say_failed(control, str(error) or "no user is free")
        if pid == 0:
            keep = (control, reading, stdin, stdout, stderr, lock)
            _close_all_but(keep)

            def keeper() -> Keeper:
                return Keeper(control, reading, (stdin, stdout, stderr), uid, has_adoption=adopts_orphans())

            run(keeper, private, uid)
        for fd in (reading, stdin, stdout, stderr):
            os.close(fd)
        kept = _Kept(pid, control, writing, private, uid, lock)
        if pid < 0:
            self._forget(kept)
            return
        self._kept[pid] = kept
        # Says only that the other end is closed: what arrives is the keeper's to read.
        self._poll.register(control, 0)

    def _let_go(self, control: int) -> None:
        self._poll.unregister(control)
        for kept in self._kept.values():
            if kept.control == control:
                self._overdue[kept.pid] = time.monotonic() + _PATIENCE_S

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                kept = self._kept.pop(pid, None)
                if kept is None:  # A cleaner, or an orphan.
                    self._cleaners.discard(pid)
                    continue
                self._overdue.pop(pid, None)
                if status != 0:
                    self._end_orphans(kept.uid)
                    self._clear(kept)
                self._forget(kept)

    def _end_orphans(self, uid: int | None) -> None:
        def end_user() -> None:
            if uid is not None:
                users.kill_user(uid)

        # Without adoption a killed keeper leaves the session of its child behind; macOS has nothing that names it.
        end(self._orphans, reap=lambda: None, within_s=_LAST_PATIENCE_S, also=end_user)

    def _orphans(self) -> Iterable[int]:
        if not self._has_adoption:
            return
        own = self._cleaners | set(self._kept)
        for pid in descendants(os.getpid(), own):
            # A zombie is one that `_reap` takes next.
            if not _is_zombie(pid):
                yield pid

    def _clear(self, kept: _Kept) -> None:
        """In a process of its own: a child may have left a million files."""
        try:
            pid = os.fork()
        except OSError:  # No room for a process: then it takes as long as it takes.
            clear(kept.private, kept.uid)
            return
        if pid == 0:
            try:
                _close_all_but(())
                clear(kept.private, kept.uid)
            finally:
                os._exit(0)
        self._cleaners.add(pid)

    def _forget(self, kept: _Kept) -> None:
        with contextlib.suppress(KeyError):
            self._poll.unregister(kept.control)
        for fd in (kept.control, kept.lifeline, kept.lock):
            if fd >= 0:
                os.close(fd)
        if self._users is not None and kept.uid is not None:
            self._users.give_back(kept.uid)

    def _end_all(self) -> None:
        for kept in self._kept.values():
            os.close(kept.lifeline)
            self._kept[kept.pid] = kept._replace(lifeline=-1)
        deadline = time.monotonic() + _LAST_PATIENCE_S
        while self._kept and time.monotonic() < deadline:
            select.select([self._wake], [], [], 0.1)
            self._drain()
            self._reap()
        for pid in list(self._kept):
            _kill(pid)
        while self._kept:
            select.select([self._wake], [], [], 0.1)
            self._drain()
            self._reap()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)


def _say_failed(control: int, why: str) -> None:
    with contextlib.suppress(OSError):
        os.write(control, json.dumps({"failed": why}).encode() + b"\n")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
            return stat.read().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return True


def _close_all_but(keep: Iterable[int]) -> None:
    """Keepers hold no file of one another: an end that closes must reach who waits for it."""
    start = 3
    for fd in sorted(fd for fd in keep if fd >= start):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, highest_fd())


def main(fd: int, *, has_users: bool) -> None:
    """The guard's process, from its first message to its end; `fd` is its end of the socket."""
    linux.hide()
    worker = socket.socket(fileno=fd)
    worker.send(b"ready\n")
    Guard(worker, has_users=has_users).serve()
