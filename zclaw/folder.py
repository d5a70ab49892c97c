"""The data folder on disk: who may read it, what lies where, and where the store's socket goes."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from zclaw.locks import FolderUnusable, unusable

SOCKET_PATH_LIMIT_BYTES = 100
"""The kernel's limit is 104 bytes on macOS and 108 on Linux, the closing zero included."""

_SHORT_ROOT = "/tmp"  # noqa: S108 — a path by rule, not by TMPDIR: every session of a user must find the same socket.


@dataclass(frozen=True, slots=True)
class DataFolder:
    """One installation's folder; everything of ours that outlives a process lies in it."""

    root: Path

    @property
    def owner_lock(self) -> Path:
        """Held by the one supervisor of this folder."""
        return self.root / "locks" / "owner"

    @property
    def store_lock(self) -> Path:
        """Held by the one store server of this folder, for as long as it lives."""
        return self.root / "locks" / "store"

    @property
    def terminals_lock(self) -> Path:
        """Shared by the open terminals; alone in the hands of a supervisor that ends because none is left."""
        return self.root / "locks" / "terminals"

    def terminal_lock(self, number: int) -> Path:
        """Held by the `number`-th of the terminals that are open at the same time, from 1."""
        return self.root / "locks" / f"terminal-{number}"

    @property
    def settings_record(self) -> Path:
        """With which settings the supervisor runs (zclaw/settings_record.py)."""
        return self.root / "locks" / "settings"

    @property
    def stop_request(self) -> Path:
        """Exists from `zclaw down` until the supervisor has seen it; no process id that may be someone else's."""
        return self.root / "locks" / "stop"

    @property
    def store(self) -> Path:
        """The store server's own files."""
        return self.root / "store"

    @property
    def logs(self) -> Path:
        """One log file a role."""
        return self.root / "logs"

    @property
    def socket(self) -> Path:
        """The store's socket: in the folder when the path is short and plain, else under /tmp.

        Named by the folder's device and inode there: every spelling of the folder gives the same socket.
        """
        inside = self.store / "socket"
        plain = str(inside).isascii() and not any(c.isspace() or c in "\"'\\%?#" for c in str(inside))
        if plain and len(os.fsencode(inside)) <= SOCKET_PATH_LIMIT_BYTES:
            return inside
        root = self.root.stat()
        name = hashlib.sha256(f"{root.st_dev}:{root.st_ino}".encode()).hexdigest()[:16]
        return Path(_SHORT_ROOT) / f"zclaw-{os.geteuid()}" / name / "socket"


def open_folder(root: Path) -> DataFolder:
    """The data folder at `root`, made when it is missing, closed to others (0700). Raises FolderUnusable."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = DataFolder(root.resolve())
        # Only what is ours is closed to others: the setting may name a home folder or, by mistake, /tmp.
        if folder.owner_lock.parent.exists() or not any(folder.root.iterdir()):
            _close_to_others(folder.root)
        for part in (folder.owner_lock.parent, folder.store, folder.logs):
            part.mkdir(exist_ok=True)
            _close_to_others(part)
        if folder.socket.parent != folder.store:
            for part in (folder.socket.parent.parent, folder.socket.parent):
                part.mkdir(mode=0o700, exist_ok=True)
                _refuse_unless_private(part)
    except OSError as error:
        raise unusable(root, error) from error
    return folder


def _close_to_others(folder: Path) -> None:
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def _refuse_unless_private(folder: Path) -> None:
    # Anyone may make a folder of this name under /tmp before we do, and would then own our socket.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise FolderUnusable(
            f"{folder} is not a folder that only this user can open: remove it, "
            "or set ZCLAW_DATA_DIR to a shorter path."
        )
