"""Users for children when we are root: one each, so that children reach neither us nor one another.

A user of its own also makes the end of a child certain: the kernel sends a signal to all processes of a user at once,
and no fork escapes it. The numbers are from a range that no system hands out (systemd: "60578…61183 unused").
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import stat
import sys
from collections import deque

_FIRST, _PAIRS = 60600, 256
_LOCK_FOLDERS = ("/var/run/zclaw-users", "/tmp/zclaw-users")  # noqa: S108 — refused unless it is root's own
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 — looked through, never written


class NoUser(Exception):
    """Every user is taken, or none can be locked."""


class Users:
    """The users of the range that no other process on this machine has; the one unused for longest comes first."""

    def __init__(self) -> None:
        start = int.from_bytes(os.urandom(2), "big") % _PAIRS
        self._free = deque(_FIRST + 2 * ((start + number) % _PAIRS) for number in range(_PAIRS))
        self._folder = -1

    def take(self) -> tuple[int, int]:
        """A user that runs nothing, and the lock that makes it ours for as long as any process holds it open.

        Raises NoUser.
        """
        if self._folder < 0:
            self._folder = _lock_folder()
        for _ in range(len(self._free)):
            uid = self._free.popleft()
            lock = os.open(str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=self._folder)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                self._free.append(uid)
                continue
            kill_user(uid)  # What a guard left behind that was itself killed.
            return uid, lock
        raise NoUser

    def give_back(self, uid: int) -> None:
        """The user is free again; its lock is closed by whoever holds it."""
        self._free.append(uid)


def kill_user(uid: int) -> None:
    """Kill everything that the user runs at this instant; nothing where no process can be made: try again then."""
    try:
        pid = os.fork()
    except OSError:
        return
    if pid == 0:
        with contextlib.suppress(BaseException):  # The boundary of a fork: nothing may return from here.
            # A real user of its own, so that the one that is being ended cannot end this process first.
            if hasattr(os, "setresuid"):
                os.setresuid(uid + 1, uid, 0)
            else:
                os.setreuid(uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(pid, 0)


def remove_traces(uid: int) -> None:
    """Remove what the user left in the folders that everybody may write, so that its next child finds nothing."""
    from kernel.children.remove import remove  # noqa: PLC0415 — needed only here

    for folder in _SHARED_FOLDERS:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == uid:
                        remove(entry.path)


def can_change_user() -> bool:
    """Whether this process may start others as another user and end them: root, and with root's rights."""
    if os.geteuid() != 0:
        return False
    if sys.platform != "linux":
        return True
    with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123
        effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff"))
    # CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID: a container may have dropped some.
    needed = (0, 1, 3, 5, 6, 7)
    return all(effective >> capability & 1 for capability in needed)


def _lock_folder() -> int:
    for path in _LOCK_FOLDERS:
        with contextlib.suppress(FileExistsError, OSError):
            os.mkdir(path, 0o700)  # noqa: PTH102
        with contextlib.suppress(OSError):
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            status = os.fstat(folder)
            if status.st_uid == 0 and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return folder
            os.close(folder)
    raise NoUser
