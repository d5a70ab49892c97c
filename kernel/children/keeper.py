"""One process beside each child: it starts it, waits for it, and ends everything that came of it.

    the child ends            the rest of its tree is ended; "ended" is said
    its time is over          the tree is ended; "ended" is said, with is_timed_out
    the worker says so        the tree is ended; "ended" is said
    the worker closes         the tree is ended; the private folder is removed; the keeper ends
    the guard is gone         the same, and nothing is said: the worker reads that the child was lost

A keeper is a fork of the guard. It talks to the worker over a socket of its own: one line with the order comes in,
"started" or "failed" and then "ended" go out; one more line in between ends the child.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from typing import NoReturn

from kernel.children import linux, users
from kernel.children.launch import Order, become
from kernel.children.processes import Trail, descendants, end, tasks_of
from kernel.children.remove import remove

END_WITHIN_S = 4.0
"""Far more than a tree needs; what then still lives is stuck in the kernel."""
_LONGEST_ORDER_BYTES = 8 * 1024 * 1024
_LOOK_EVERY_S = 0.5
"""How often the process table is looked at where orphans cannot be adopted."""
_COUNT_EVERY_S = 0.05
"""How often processes are counted where the system does not: for root no limit holds."""


class _Over(Exception):
    """The worker or the guard is gone."""


class Keeper:
    """Keeps one child. `control` leads to the worker, `lifeline` to the guard, `streams` are the child's own."""

    def __init__(
        self, control: int, lifeline: int, streams: tuple[int, int, int], uid: int | None, *, has_adoption: bool
    ) -> None:
        self._control = control
        self._lifeline = lifeline
        self._streams = streams
        self._uid = uid
        self._main = 0
        self._status: int | None = None
        self._is_told = False
        self._most = 0
        self._is_counting = uid is None and os.geteuid() == 0
        self._trail = None if has_adoption else Trail(os.getpid())
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(lifeline, select.POLLIN)
        self._wake = self._wake_on_ends()

    def keep(self) -> None:
        """Do everything, from the order to the end of the tree."""
        try:
            order = Order.from_line(self._read_order())
            if not self._start(order):
                self._wait(lambda: False, None)
            deadline = None if order.within_s is None else time.monotonic() + order.within_s
            self._wait(lambda: self._status is not None or self._is_told, deadline)
            is_over = self._status is not None or self._is_told
            is_clear = self._end_all()
            self._say(
                ended=None if self._status is None else os.waitstatus_to_exitcode(self._status),
                is_timed_out=not is_over,
                is_clear=is_clear,
            )
            self._wait(lambda: False, None)
        except _Over:
            self._end_all()

    def _read_order(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            self._wait_for_input()
            piece = self._hear()
            if not piece or len(line) > _LONGEST_ORDER_BYTES:
                raise _Over
            line += piece
        return line

    def _wait_for_input(self) -> None:
        while True:
            ready = {fd for fd, _ in self._poll.poll()}
            if self._lifeline in ready:
                raise _Over
            if self._control in ready:
                return
            self._drain()

    def _start(self, order: Order) -> bool:
        self._most = order.limits["NPROC"]
        if self._uid is not None and order.private:
            _give(order.private, self._uid)
        tasks = 0 if self._uid is not None else tasks_of(os.getuid())
        reading, writing = os.pipe()
        try:
            self._main = os.fork()
        except OSError as error:
            self._say(failed=f"{error.strerror}: {order.argv[0]}")
            return False
        if self._main == 0:
            become(order, self._streams, writing, self._uid, tasks)
        os.close(writing)
        for stream in self._streams:
            os.close(stream)
        why = os.read(reading, 1000)
        os.close(reading)
        if why:
            self._say(failed=why.decode(errors="replace"))
            return False
        self._say(started=self._main, uid=self._uid)
        return True

    def _wait(self, is_over: Callable[[], bool], deadline: float | None) -> None:
        """Until `is_over` or the deadline. Raises _Over."""
        while True:
            self._reap()
            now = time.monotonic()
            if is_over() or (deadline is not None and now >= deadline):
                return
            waits = [*self._look(), *([] if deadline is None else [deadline - now])]
            ready = {fd for fd, _ in self._poll.poll(min(waits) * 1000 + 1 if waits else None)}
            if self._lifeline in ready or (self._control in ready and not self._hear()):
                raise _Over
            self._is_told = self._is_told or self._control in ready
            self._drain()

    def _look(self) -> list[float]:
        """Look at what runs, where somebody has to; how long until the next look, if there is to be one."""
        if self._is_over_limit():
            self._is_told = True
            return [0.0]
        if self._trail is not None:
            self._trail.look()
            return [_LOOK_EVERY_S]
        return [_COUNT_EVERY_S] if self._is_counting and self._main and self._status is None else []

    def _is_over_limit(self) -> bool:
        if not self._is_counting or not self._main or self._status is not None or self._is_told:
            return False
        return sum(1 for _ in self._left()) > self._most

    def _end_all(self) -> bool:
        return end(self._left, reap=self._reap, within_s=END_WITHIN_S, also=self._end_user)

    def _left(self) -> Iterable[int]:
        return descendants(os.getpid()) if self._trail is None else self._trail.look()

    def _end_user(self) -> None:
        if self._uid is not None:
            users.kill_user(self._uid)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._main:
                    self._status = status

    def _wake_on_ends(self) -> int:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll.register(reading, select.POLLIN)
        return reading

    def _hear(self) -> bytes:
        try:
            return os.read(self._control, 65536)
        except ConnectionError:  # Closed while something of ours was not yet read.
            return b""

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)

    def _say(self, **content: object) -> None:
        with contextlib.suppress(OSError):  # The worker may be gone; the next wait notices.
            os.write(self._control, json.dumps(content).encode() + b"\n")


def run(keeper: Callable[[], Keeper], private: str, uid: int | None) -> NoReturn:
    """The whole life of a keeper's process, after its fork."""
    code = 1
    try:
        os.chdir("/")
        keeper().keep()
        clear(private, uid)
        code = 0
    except BaseException as error:  # The boundary of a fork: nothing may return from here.
        # The worker's log is this process's standard error; a name holds no secret.
        os.write(2, f"zclaw keeper: {type(error).__name__}\n".encode())
    finally:
        os._exit(code)


def clear(private: str, uid: int | None) -> None:
    """Remove what the child could write: its private folder and, if it had a user of its own, that user's traces."""
    if private:
        with contextlib.suppress(OSError):
            remove(private)
    if uid is not None:
        users.remove_traces(uid)


def _give(folder: str, uid: int) -> None:
    """Make the folder and everything in it the user's; we made all of it ourselves just now, so no link is in it."""
    for path, folders, files in os.walk(folder, topdown=False):
        for name in (*folders, *files):
            os.lchown(os.path.join(path, name), uid, uid)  # noqa: PTH118
    os.lchown(folder, uid, uid)


def adopts_orphans() -> bool:
    """Make this process the parent of orphans below it, where that exists."""
    return linux.adopt_orphans()
