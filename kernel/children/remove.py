"""Remove what a child left behind, whatever shape it has."""

from __future__ import annotations

import contextlib
import errno
import os
import stat


def remove(path: str) -> None:
    """Remove the file, link or whole folder; links are never followed. Nothing there is fine.

    A folder may be deeper than any path is long, or locked by its owner: so nothing here is recursive, and folders
    are opened before they are emptied. Nobody else may be writing in it any more. Raises OSError.
    """
    try:
        is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        os.unlink(path)  # noqa: PTH108
        return
    top = _unlocked(path, None)
    try:
        number = 0
        while names := os.listdir(top):  # noqa: PTH208 — of an open folder
            for name in names:
                number = _flatten(top, name, number)
    finally:
        os.close(top)
    os.rmdir(path)  # noqa: PTH106


def _flatten(top: int, name: str, number: int) -> int:
    """Remove one entry of `top`; folders that it holds move up into `top`, under names that count up."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return number
    folder = _unlocked(name, top)
    try:
        for inner in os.listdir(folder):  # noqa: PTH208
            if not stat.S_ISDIR(os.stat(inner, dir_fd=folder, follow_symlinks=False).st_mode):
                os.unlink(inner, dir_fd=folder)
                continue
            _unlock(inner, folder)  # A folder that moves gets a new "..", which its own mode must allow.
            number = _move_up(inner, folder, top, number)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return number


def _move_up(name: str, folder: int, top: int, number: int) -> int:
    while True:
        number += 1
        try:
            os.rename(name, f".{number}", src_dir_fd=folder, dst_dir_fd=top)
            return number
        except OSError as error:
            # A name that is taken, except by an empty folder, which may go.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise


def _unlocked(name: str, inside: int | None) -> int:
    _unlock(name, inside)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inside)


def _unlock(name: str, inside: int | None) -> None:
    with contextlib.suppress(PermissionError):
        os.chmod(name, 0o700, dir_fd=inside)
