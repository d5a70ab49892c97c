"""Log files that processes write to by themselves: opened for them, read for their last words, kept short."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

LIMIT_BYTES = 20 << 20
"""A log that has grown longer moves to `….log.1`, in the place of the one before."""


def open_log(path: Path) -> int:
    """A descriptor to append to `path`, readable by this user alone. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def text_since(path: Path, offset: int) -> str:
    """What was written after `offset`, the length of the log at an earlier time."""
    with path.open("rb") as file:
        file.seek(min(offset, path.stat().st_size))
        return file.read().decode("utf-8", "replace")


def keep_short(path: Path, limit_bytes: int = LIMIT_BYTES) -> None:
    """Move the content of a log that is too long aside; its writers go on in the same file.

    They append, so the file can be cut under them; a line written in between is lost.
    """
    with contextlib.suppress(OSError):  # No log yet, or no space for the copy: next time.
        if path.stat().st_size > limit_bytes:
            older = path.with_suffix(".log.1")
            shutil.copyfile(path, older)
            older.chmod(0o600)
            os.truncate(path, 0)
