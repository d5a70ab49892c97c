"""The real `Children`: every child under one guard process, in a private folder, with nothing of ours in reach."""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from kernel.children import folder
from kernel.children.call import Call, open_call
from kernel.children.folder import Folder
from kernel.children.link import Link, open_link
from kernel.children.long_lived import LongLived
from kernel.children.pipes import ERRORS, INPUT, OUTPUT, Pipes, Sink, write_all
from kernel.children.sandbox import PATH, sandboxed
from kernel.errors import CannotStart, ChildLost
from kernel.ports import ChildCommand, ChildLimits, Finished, Isolation, TakeBack, Taken

FLOOD_BYTES = 64 * 1024 * 1024
"""A run that writes more than this is ended: reading it away would cost the other chats too much."""
_OUTPUT_WITHIN_S = 5.0
"""What was written before the end arrives at once; somebody outside may hold a pipe open for ever."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Opened:
    call: Call
    folder: Folder
    left_out: frozenset[str]
    owner: int


class GuardedChildren:
    """Children of one process. The guard starts with the first child, and anew when it was lost.

    `isolation` is what `find_isolation` found; private folders are made in `inside` (default: the system's).
    """

    def __init__(self, isolation: Isolation, *, inside: Path | None = None) -> None:
        self._isolation = isolation
        self._inside = inside
        self._link: Link | None = None
        self._lock = asyncio.Lock()

    @property
    def isolation(self) -> Isolation:
        """What keeps children from what is ours."""
        return self._isolation

    @property
    def guard(self) -> int | None:
        """The guard's process; None before the first child."""
        return None if self._link is None else self._link.pid

    async def run(
        self, command: ChildCommand, *, within: timedelta, stdin: bytes = b"", take_back: TakeBack | None = None
    ) -> Finished:
        """See the port."""
        pipes = Pipes(has_input=bool(stdin), is_merged=command.is_merged)
        try:
            opened = await self._open(command, pipes, within)
            try:
                return await self._finish(opened, command, pipes, stdin, take_back)
            finally:
                await opened.call.end()
        finally:
            pipes.close()

    async def start(self, command: ChildCommand) -> LongLived:
        """See the port."""
        pipes = Pipes(has_input=True, is_merged=command.is_merged)
        try:
            opened = await self._open(command, pipes, None)
            try:
                return await LongLived.over(opened.call, pipes, command.output_bytes)
            except BaseException:
                await opened.call.end()
                raise
        finally:
            pipes.close()

    async def close(self) -> None:
        """See the port."""
        async with self._lock:
            if self._link is not None:
                await self._link.close()
                self._link = None

    async def _finish(
        self, opened: _Opened, command: ChildCommand, pipes: Pipes, stdin: bytes, take_back: TakeBack | None
    ) -> Finished:
        flooded = asyncio.Event()

        def on_flood() -> None:
            if not flooded.is_set():
                flooded.set()
                opened.call.stop()

        sinks = [Sink(command.output_bytes, flood=FLOOD_BYTES, on_flood=on_flood) for _ in (OUTPUT, ERRORS)]
        try:
            for sink, which in zip(sinks, (OUTPUT, ERRORS), strict=True):
                await sink.read(pipes.take(which))
            await write_all(stdin, pipes.take(INPUT))
            how, is_timed_out = await opened.call.ended()
            await asyncio.wait([sink.closed for sink in sinks], timeout=_OUTPUT_WITHIN_S)
            taken = Taken()
            if take_back is not None:
                taken = await _in_thread(
                    folder.take_back, opened.folder, command.files, opened.left_out, take_back, opened.owner
                )
            out, err = (sink.output() for sink in sinks)
            return Finished(how, out, err, is_timed_out, flooded.is_set(), taken)
        finally:
            for sink in sinks:
                sink.close()

    async def _open(self, command: ChildCommand, pipes: Pipes, within: timedelta | None) -> _Opened:
        """Start the command. The folder is the keeper's to remove from the moment when the guard knows of it."""
        place = folder.make(self._inside)
        ours, theirs = socket.socketpair()
        try:
            await self._hand_over(str(place.path), (theirs.fileno(), *pipes.theirs))
        except BaseException:
            folder.discard(place)
            ours.close()
            raise
        finally:
            theirs.close()
            pipes.close_theirs()
        call = await open_call(ours)
        try:
            left_out = await _in_thread(folder.lay_out, place, command.files)
            uid = await call.order(self._order(command, place, within))
            return _Opened(call, place, left_out, os.geteuid() if uid is None else uid)
        except BaseException:
            await call.end()
            folder.discard(place)  # There may have been no room for a keeper.
            raise

    async def _hand_over(self, private: str, files: tuple[int, ...]) -> None:
        async with self._lock:
            if self._link is not None and self._link.is_alive:
                try:
                    await self._link.hand_over(private, files)
                    return
                except ChildLost:
                    pass  # It has just ended, and knows nothing of this child.
            if self._link is not None:
                await self._link.close()
                self._link = None
            self._link = await open_link(has_users=self._isolation is Isolation.SEPARATE_USER)
            await self._link.hand_over(private, files)

    def _order(self, command: ChildCommand, place: Folder, within: timedelta | None) -> dict[str, Any]:
        environment = {
            **{"PATH": PATH, "HOME": str(place.home), "LANG": "C.UTF-8", "TMPDIR": str(place.temporary)},
            **command.environment,
        }
        return {
            "argv": self._argv(command, place, environment["PATH"]),
            "environment": environment,
            "folder": command.folder or str(place.files),
            "private": str(place.path),
            "within_s": None if within is None else within.total_seconds(),
            "limits": _limits(command.limits),
            "is_sandboxed": self._isolation is Isolation.SANDBOX,
        }

    def _argv(self, command: ChildCommand, place: Folder, path: str) -> tuple[str, ...]:
        if self._isolation is not Isolation.SANDBOX:
            return command.argv
        program = shutil.which("bwrap", path=PATH)
        if program is None:
            raise CannotStart("bubblewrap is gone: start zclaw again")
        if shutil.which(command.argv[0], path=path) is None:
            raise CannotStart(f"{command.argv[0]} cannot be started (no such program)")
        folders = (str(place.path), *([command.folder] if command.folder else []))
        return sandboxed(program, command.argv, folders=folders, readable=command.readable)


def _limits(limits: ChildLimits) -> Mapping[str, int]:
    numbers = {
        "DATA": limits.memory_bytes,
        "FSIZE": limits.file_bytes,
        "NPROC": limits.processes,
        "NOFILE": limits.open_files,
    }
    return numbers if limits.cpu is None else {**numbers, "CPU": math.ceil(limits.cpu.total_seconds())}


async def _in_thread(function: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """What the function returns. Cancelling waits for it: nothing may write into a folder that is being removed."""
    task = asyncio.create_task(asyncio.to_thread(function, *arguments, **named))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
