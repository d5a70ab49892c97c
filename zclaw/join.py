"""How a terminal joins the installation on its machine, and starts one when none runs.

Every terminal shares the `terminals` lock. A supervisor that a terminal started ends when it gets that lock alone;
it holds it until it is gone, so a terminal that opens meanwhile waits and then starts the next one. No moment is
left in which both believe in each other.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from kernel.config import HANDED_FD, CommonSettings, Given, child_environment
from kernel.errors import OperatorError
from zclaw.folder import DataFolder, open_folder
from zclaw.locks import Lock, is_locked, share_lock
from zclaw.roles import READY, TAKEN, command
from zclaw.settings_record import differing
from zclaw.store import READY_WITHIN_S, StoreUnusable, is_answering, store_url

_POLL_S = 0.05
_SUPERVISOR = command("up", "--until-last-terminal")


class Joined:
    """A terminal's part in a running installation; a context manager that leaves it."""

    def __init__(self, folder: DataFolder, terminals: Lock, url: str, differing: Sequence[str]) -> None:
        self.folder = folder
        """The installation's data folder."""
        self.url = url
        """Address of its store for redis clients."""
        self.differing = differing
        """Settings that we were given and that it does not run with, as the person wrote them."""
        self._terminals = terminals

    def is_supervised(self) -> bool:
        """Whether a supervisor still runs; without one nobody answers."""
        return is_locked(self.folder.owner_lock)

    def last_words(self) -> str:
        """Why the supervisor ended, if it said so; in any case where to look."""
        log = self.folder.logs / "up.log"
        lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
        said = lines[-1].strip() if lines else ""
        why = "" if not said or said.startswith(("zclaw is starting", "No platform")) else f"{said} "
        return f"{why}(more in {log})"

    def leave(self) -> None:
        """Leave; a supervisor that a terminal started ends after the last one. Idempotent."""
        self._terminals.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()


def join(given: Given, supervisor: Sequence[str] = _SUPERVISOR) -> Joined:
    """Join the installation that these settings name, started first if none runs; its store answers on return.

    `supervisor` is the command line that starts it; `--ready-fd=N` is added. Raises OperatorError with one line.
    """
    settings = given.settings(CommonSettings)
    folder = open_folder(settings.data_dir)
    terminals = share_lock(folder.terminals_lock)
    try:
        if not is_locked(folder.owner_lock):
            _start_supervisor(folder, given, supervisor)
        if settings.redis_url is not None:
            return Joined(folder, terminals, settings.redis_url.reveal(), differing(folder, given))
        _wait_for_store(folder)
    except BaseException:
        terminals.release()
        raise
    return Joined(folder, terminals, store_url(folder), differing(folder, given))


def _start_supervisor(folder: DataFolder, given: Given, supervisor: Sequence[str]) -> None:
    """Start a supervisor that outlives this terminal, and wait until it runs or says why not."""
    line = given.line(leash=False)
    settings_in, settings_out = os.pipe()
    ready_in, ready_out = os.pipe()
    log = os.open(folder.logs / "up.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.write(settings_out, line)
    try:
        process = subprocess.Popen(
            [*supervisor, f"--ready-fd={ready_out}"],
            env={**child_environment(), HANDED_FD: str(settings_in)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder.root,
            pass_fds=(settings_in, ready_out),
            start_new_session=True,
        )
    finally:
        for fd in (settings_in, settings_out, ready_out, log):
            os.close(fd)
    try:
        said = _read_line(ready_in, READY_WITHIN_S)
    finally:
        os.close(ready_in)
    if said == READY:
        # It lives on without us: nothing here waits for it, and init takes it over when we leave.
        process.returncode = 0
        return
    with contextlib.suppress(subprocess.TimeoutExpired):  # It has said why, or will not; the line below tells.
        process.wait(timeout=READY_WITHIN_S)
    if said != TAKEN:
        raise OperatorError(said or f"zclaw did not start: look into {folder.logs / 'up.log'}.")


def _read_line(fd: int, within_s: float) -> str:
    deadline = time.monotonic() + within_s
    line = b""
    while not line.endswith(b"\n") and select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
        piece = os.read(fd, 4096)
        if not piece:
            break
        line += piece
    return line.decode("utf-8", "replace").strip()


def _wait_for_store(folder: DataFolder) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if is_answering(folder):
            return
        if not is_locked(folder.owner_lock):
            raise StoreUnusable(f"zclaw ended while it was starting: look into {folder.logs / 'up.log'}.")
        time.sleep(_POLL_S)
    raise StoreUnusable(f"The store of {folder.root} does not answer: look into {folder.logs / 'store.log'}.")
