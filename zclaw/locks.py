"""Locks that the operating system releases when their holder dies: `flock` on files that are never deleted.

A lock belongs to the open file, not to the process: a child that inherits the descriptor holds it too, and
whoever has the last copy holds the lock. So a store server keeps its folder after its supervisor was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from kernel.errors import OperatorError

_ELSEWHERE = "set ZCLAW_DATA_DIR to another folder"


class FolderUnusable(OperatorError):
    """The data folder cannot be used: no permission, no locks, no space, someone else's."""


@dataclass(slots=True)
class Lock:
    """A held lock; `release` gives it back, and so does the end of the process."""

    path: Path
    fd: int

    def release(self) -> None:
        """Give our copy of the lock back; a child that inherited `fd` still holds it. Idempotent."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def try_lock(path: Path) -> Lock | None:
    """The lock at `path`, ours alone; None when someone holds it. Raises FolderUnusable."""
    return _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)


def share_lock(path: Path) -> Lock:
    """The lock at `path`, shared with others who share it; waits while someone has it alone.

    Raises FolderUnusable.
    """
    lock = _lock(path, fcntl.LOCK_SH)
    assert lock is not None, "only LOCK_NB can find a lock taken"
    return lock


def is_locked(path: Path) -> bool:
    """Whether anyone holds the lock at `path`, shared or alone. Raises FolderUnusable."""
    if not path.exists():
        return False
    lock = try_lock(path)
    if lock is None:
        return True
    lock.release()
    return False


def _lock(path: Path, how: int) -> Lock | None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(path.parent, error) from error
    try:
        fcntl.flock(fd, how)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError as error:
        os.close(fd)
        raise unusable(path.parent, error) from error
    return Lock(path, fd)


def unusable(folder: Path, error: OSError) -> FolderUnusable:
    """The line for an operating-system error in the data folder: what is wrong and what to change."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return FolderUnusable(f"The disk that holds {folder} is full: free some space and start again.")
        case errno.EACCES | errno.EPERM:
            return FolderUnusable(f"{folder} may not be written by this user: change its owner, or {_ELSEWHERE}.")
        case errno.EROFS:
            return FolderUnusable(f"{folder} is on a read-only file system: {_ELSEWHERE}.")
        case errno.ENOLCK | errno.ENOTSUP | errno.ENOSYS:
            return FolderUnusable(f"{folder} is on a file system without locks: {_ELSEWHERE} on a local disk.")
        case errno.ENOTDIR | errno.EEXIST:
            return FolderUnusable(f"{folder} is not a folder: {_ELSEWHERE}.")
        case _:
            return FolderUnusable(f"{folder} cannot be used ({error.strerror}): {_ELSEWHERE}.")
