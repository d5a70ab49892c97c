"""The supervisor: the store and the roles of one machine as child processes, kept running.

Each role is a session of its own, so that Ctrl-C reaches only the supervisor, which then stops bots, workers,
scheduler and the store in this order. Each holds the reading end of a pipe; the supervisor writes the role's own
settings into it and keeps it open. So settings are in nobody's environment or command line, and a role notices
the end of its supervisor, however that came (zclaw/leash.py).

    a role ends          started again after a pause that doubles up to 30 s, with jitter
    ... with code 2      its settings are wrong: its line is shown, everything stops, exit 2
    the store ends       started again, or adopted; the roles wait for it by themselves
    SIGINT, SIGTERM,     everything stops in order, exit 0; a second signal does not wait
    SIGHUP, zclaw down
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from kernel.config import HANDED_FD, child_environment
from kernel.errors import OperatorError
from zclaw.folder import DataFolder
from zclaw.locks import Lock, try_lock
from zclaw.logfiles import keep_short, open_log, text_since
from zclaw.store import RunningStore

WRONG_SETTINGS = 2
"""The exit code of a role that cannot run with its settings; of the supervisor then too."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_STEADY_AFTER_S = 60.0
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Role:
    """One child: its name, its command line, the line of settings that is handed to it, and how long it may stop."""

    name: str
    command: tuple[str, ...]
    settings: bytes
    patience_s: float = 10.0


@dataclass(slots=True)
class _Child:
    role: Role
    process: subprocess.Popen[bytes] | None = None
    pipe: int = -1
    started: float = 0.0
    failures: int = 0
    due: float = 0.0
    log_from: int = 0


def pause_s(failures: int, dice: random.Random) -> float:
    """How long a role waits before its next start after `failures` (1, 2, …) quick ends in a row."""
    full = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10))
    return full * dice.uniform(0.5, 1.0)


class Supervisor:
    """Keeps `roles` running until a signal, `zclaw down`, or wrong settings; they stop in the order given.

    `store` is None when the roles use a store elsewhere. `until_last_terminal` ends it when nobody shares the
    folder's `terminals` lock any more. Runs in the main thread: it takes the process's signals.
    """

    def __init__(
        self,
        folder: DataFolder,
        store: RunningStore | None,
        roles: Sequence[Role],
        *,
        until_last_terminal: bool = False,
        dice: random.Random | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._folder = folder
        self._store = store
        self._children = [_Child(role) for role in roles]
        self._until_last_terminal = until_last_terminal
        self._terminals: Lock | None = None
        self._dice = dice or random.Random()  # noqa: S311 — jitter, not a secret
        self._say = say or _to_stderr
        self._signals = 0
        self._exit_code: int | None = None
        self._store_due = 0.0
        self._store_failures = 0
        self._wake = -1

    def run(self, on_ready: Callable[[], None] | None = None) -> int:
        """Start every role, call `on_ready`, and keep them running; the exit code once all have stopped."""
        self._folder.stop_request.unlink(missing_ok=True)
        with self._taking_signals():
            try:
                self._look()
                if on_ready is not None:
                    on_ready()
                while not self._is_over():
                    self._wait(self._seconds_to_next_start())
                    self._look()
            finally:
                self._stop_all()
        return self._exit_code or 0

    def _is_over(self) -> bool:
        if self._exit_code is not None or self._signals:
            return True
        if self._folder.stop_request.exists():
            self._folder.stop_request.unlink(missing_ok=True)
            return True
        if self._until_last_terminal and self._terminals is None:
            # Kept to the end: a terminal that opens now waits until this supervisor is gone, then starts its own.
            self._terminals = try_lock(self._folder.terminals_lock)
        return self._terminals is not None

    def _look(self) -> None:
        now = time.monotonic()
        for log in self._folder.logs.glob("*.log"):
            keep_short(log)
        self._look_at_store(now)
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._ended(child, now)
            if child.process is None and now >= child.due and self._exit_code is None:
                self._start(child, now)

    def _look_at_store(self, now: float) -> None:
        if self._store is None or now < self._store_due or self._store.is_alive():
            return
        try:
            self._store.bring_up()
            self._store_failures = 0
            self._say("The store ended and runs again.")
        except OperatorError as error:
            # A full disk passes: the roles wait, and so do we.
            self._store_failures += 1
            self._store_due = now + min(5.0, pause_s(self._store_failures, self._dice))
            if self._store_failures == 1:
                self._say(str(error))

    def _start(self, child: _Child, now: float) -> None:
        reading, writing = os.pipe()
        log = -1
        try:
            os.write(writing, child.role.settings)
            log = open_log(self._log_path(child))
            child.log_from = os.fstat(log).st_size
            child.process = subprocess.Popen(
                child.role.command,
                env={**child_environment(), HANDED_FD: str(reading)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(reading,),
                start_new_session=True,
            )
            child.pipe, child.started = writing, now
        except OSError as error:
            os.close(writing)
            self._failed(child, now, f"cannot be started ({error.strerror})")
        finally:
            os.close(reading)
            if log >= 0:
                os.close(log)

    def _ended(self, child: _Child, now: float) -> None:
        assert child.process is not None
        code = child.process.returncode
        self._let_go(child)
        if code == WRONG_SETTINGS:
            self._say(self._last_line(child) or f"zclaw {child.role.name} refuses its settings.")
            self._exit_code = WRONG_SETTINGS
            return
        if now - child.started >= _STEADY_AFTER_S:
            child.failures = 0
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        self._failed(child, now, how)

    def _failed(self, child: _Child, now: float, how: str) -> None:
        child.failures += 1
        pause = pause_s(child.failures, self._dice)
        child.due = now + pause
        self._say(f"zclaw {child.role.name} {how}; it starts again in {pause:.1f} s.")

    def _log_path(self, child: _Child) -> Path:
        return self._folder.logs / f"{child.role.name}.log"

    def _last_line(self, child: _Child) -> str:
        lines = text_since(self._log_path(child), child.log_from).split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _let_go(self, child: _Child) -> None:
        child.process = None
        os.close(child.pipe)
        child.pipe = -1

    def _stop_all(self) -> None:
        asked = max(self._signals, 1)
        for child in self._children:
            if child.process is None:
                continue
            self._stop(child.process, child.role.patience_s, asked)
            self._let_go(child)
        if self._store is not None:
            self._store.stop()
        if self._terminals is not None:
            self._terminals.release()

    def _stop(self, process: subprocess.Popen[bytes], patience_s: float, asked: int) -> None:
        deadline = time.monotonic() + patience_s
        process.send_signal(signal.SIGTERM)
        while process.poll() is None:
            if time.monotonic() >= deadline or self._signals > asked:
                process.kill()
                process.wait()
                return
            self._wait(min(0.2, max(0.0, deadline - time.monotonic())))

    def _seconds_to_next_start(self) -> float:
        now = time.monotonic()
        waits = [child.due - now for child in self._children if child.process is None]
        return max(0.0, min([_LOOK_EVERY_S, *waits]))

    def _wait(self, seconds: float) -> None:
        # Ends early when a signal arrives, the end of a child included.
        if select.select([self._wake], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 1024)

    @contextlib.contextmanager
    def _taking_signals(self) -> Iterator[None]:
        self._wake, waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(waker, False)
        before = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
        }
        previous = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(waker)
            os.close(self._wake)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self._signals += 1


def _to_stderr(line: str) -> None:
    with contextlib.suppress(OSError):  # The terminal may be gone; the roles are not.
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
