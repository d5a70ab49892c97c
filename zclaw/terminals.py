"""Terminals that are open at the same time: each has a number, the lowest that is free, and with it a conversation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import count

from zclaw.folder import DataFolder
from zclaw.locks import is_locked, try_lock


class Terminal:
    """This terminal among those of its data folder."""

    def __init__(self, folder: DataFolder, number: int) -> None:
        self._folder = folder
        self.number = number
        """From 1; nobody else has it while this terminal is open."""

    def closed_ones(self) -> list[int]:
        """The numbers that were in use before and that no terminal has now."""
        known = [number for number in range(1, self._highest() + 1) if number != self.number]
        return [number for number in known if not is_locked(self._folder.terminal_lock(number))]

    def _highest(self) -> int:
        return next(number for number in count(1) if not self._folder.terminal_lock(number).exists()) - 1


@contextlib.contextmanager
def open_terminal(folder: DataFolder) -> Iterator[Terminal]:
    """A terminal of this folder, until the context ends or the process does. Raises FolderUnusable."""
    number = 1
    while (lock := try_lock(folder.terminal_lock(number))) is None:
        number += 1
    try:
        yield Terminal(folder, number)
    finally:
        lock.release()
