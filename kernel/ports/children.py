"""Processes of others: commands that tools run, and long-lived ones that we talk to line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Protocol

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE


class Isolation(Enum):
    """What keeps a child from what is ours; the children of one process all have the same."""

    SEPARATE_USER = "separate_user"
    """Each child has a user of its own: it reads what everybody on the machine may read."""
    SANDBOX = "sandbox"
    """Each child sees its own folder and the system's programs, no other file and no other process."""
    NONE = "none"
    """A child reads whatever our own user may read."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one child and everything it starts may use; memory, CPU time and files count for each process."""

    cpu: timedelta | None = timedelta(minutes=5)
    memory_bytes: int = 1024 * MEGABYTE
    file_bytes: int = 100 * MEGABYTE
    processes: int = 256
    open_files: int = 1024


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Take at most so many new or changed files back, and so many bytes of all of them together."""

    files: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ChildCommand:
    """What to run: a program with its arguments, never a shell's line.

    It runs in a fresh private folder that holds `files` (path to content), or in `folder`, one of the operator's. Its
    environment is PATH, HOME, LANG and TMPDIR, none of them ours, and then `environment`. `readable` are further
    folders that a sandbox has to show it.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    folder: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ChildLimits = ChildLimits()
    output_bytes: int = 64 * KILOBYTE
    """Of a run: so much of each output is kept, its beginning and its end. Of a long-lived child: its longest line."""
    is_merged: bool = False
    """Standard error goes into standard output, in the order in which both were written."""
    readable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """What a child wrote: all of it, or its beginning and its end with `left_out` bytes missing between them."""

    head: bytes = b""
    tail: bytes = b""
    left_out: int = 0

    @property
    def text(self) -> str:
        """As text; what is no UTF-8 becomes U+FFFD, and a marker says how much is missing."""
        if not self.left_out:
            return (self.head + self.tail).decode(errors="replace")
        marker = f"\n[… {self.left_out} bytes left out …]\n"
        return self.head.decode(errors="replace") + marker + self.tail.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: with a `code`, or by a `signal`."""

    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """How the files differ from those that were given.

    `skipped` names what stays as it was although it changed: links and other specials, foreign or unreadable files,
    names we cannot keep, what went over the bounds.
    """

    written: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run. `is_flooded`: it was ended because it would not stop writing."""

    exit: Exit
    stdout: Output = Output()
    stderr: Output = Output()
    is_timed_out: bool = False
    is_flooded: bool = False
    taken: Taken = Taken()


class Child(Protocol):
    """A long-lived child with pipes. One task sends, one receives."""

    async def send(self, line: bytes) -> None:
        """Write the line and its end. Raises `ChildLost` when nobody reads any more."""

    async def receive(self) -> bytes | None:
        """The next line without its end; None when there will be none. Raises `ChildLost` for one that is too long."""

    def errors(self) -> Output:
        """What it wrote to standard error so far, as much of it as is kept."""

    async def ended(self) -> Exit:
        """How it ended, once it has. Raises `ChildLost` when nobody knows."""

    async def close(self, patience: timedelta = timedelta(seconds=2)) -> None:
        """Close its input, give it `patience` to end, then end it; returns when all it started is gone too."""


class Children(Protocol):
    """The one way to start a process. Everything that a child starts, however it hides, ends with it and with us."""

    @property
    def isolation(self) -> Isolation:
        """What keeps children from what is ours."""

    async def run(
        self, command: ChildCommand, *, within: timedelta, stdin: bytes = b"", take_back: TakeBack | None = None
    ) -> Finished:
        """Run the command to its end, or end it after `within`; cancelling ends it too.

        Returns or is cancelled when everything it started is gone. Raises `CannotStart` and `ChildLost`.
        """

    async def start(self, command: ChildCommand) -> Child:
        """Start the command and keep it until it ends by itself, is closed, or this process ends.

        Raises `CannotStart` and `ChildLost`.
        """

    async def close(self) -> None:
        """End all children."""
