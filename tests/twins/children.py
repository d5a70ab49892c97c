"""Children that never leave this process: what a program does is a function in the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from kernel.errors import CannotStart, ChildLost
from kernel.ports import ChildCommand, Exit, Finished, Isolation, Output, TakeBack

Program = Callable[[ChildCommand, bytes], Finished]
Talk = Callable[[bytes], list[bytes]]
"""What a long-lived program answers to a line."""


@dataclass
class TwinChildren:
    """Programs by name (the last part of `argv[0]`); `runs` remembers what was asked for.

    A program in `held` runs until its event is set.
    """

    programs: dict[str, Program] = field(default_factory=dict)
    talks: dict[str, Talk] = field(default_factory=dict)
    isolation: Isolation = Isolation.SANDBOX
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    is_lost: bool = False
    runs: list[ChildCommand] = field(default_factory=list)
    limits: list[timedelta] = field(default_factory=list)
    cancelled: list[ChildCommand] = field(default_factory=list)
    started: list[TwinChild] = field(default_factory=list)

    async def run(
        self, command: ChildCommand, *, within: timedelta, stdin: bytes = b"", take_back: TakeBack | None = None
    ) -> Finished:
        self.runs.append(command)
        self.limits.append(within)
        name = command.argv[0].rpartition("/")[2]
        if name not in self.programs:
            raise CannotStart(f"{command.argv[0]} cannot be started (no such program)")
        if name in self.held:
            try:
                await self.held[name].wait()
            except asyncio.CancelledError:
                self.cancelled.append(command)
                raise
        if self.is_lost:
            raise ChildLost("the command was broken off")
        return self.programs[name](command, stdin)

    async def start(self, command: ChildCommand) -> TwinChild:
        name = command.argv[0].rpartition("/")[2]
        if name not in self.talks:
            raise CannotStart(f"{command.argv[0]} cannot be started (no such program)")
        self.started.append(TwinChild(self.talks[name]))
        return self.started[-1]

    async def close(self) -> None:
        for child in self.started:
            await child.close()


class TwinChild:
    """A long-lived child that answers at once."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._exit: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()

    async def send(self, line: bytes) -> None:
        if self._exit.done():
            raise ChildLost("the child reads no more")
        for answer in self._talk(line):
            self._lines.put_nowait(answer)

    async def receive(self) -> bytes | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def errors(self) -> Output:
        return Output()

    async def ended(self) -> Exit:
        return await asyncio.shield(self._exit)

    async def close(self, patience: timedelta = timedelta(seconds=2)) -> None:
        self.die(Exit(code=0))

    def die(self, how: Exit) -> None:
        """End by itself."""
        if not self._exit.done():
            self._exit.set_result(how)
            self._lines.put_nowait(None)
