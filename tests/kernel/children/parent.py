"""A worker for tests to kill: runs one command under a guard, and says which process the guard is."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from kernel.children.guarded import GuardedChildren
from kernel.children.linux import hide
from kernel.logs import set_up
from kernel.ports import ChildCommand, ChildLimits, Isolation
from tests.twins.processes import until


async def main(isolation: str, inside: str, script: str, word: str) -> None:
    """Run the script until somebody ends this process."""
    children = GuardedChildren(Isolation(isolation), inside=Path(inside))
    command = ChildCommand(("/bin/sh", "-c", script, word), files={"a": b"1"}, limits=ChildLimits(processes=80))
    running = asyncio.create_task(children.run(command, within=timedelta(hours=1)))
    await until(lambda: children.guard)
    sys.stdout.write(f"{children.guard}\n")
    sys.stdout.flush()
    done = await running
    sys.stdout.write(done.stdout.text)


if __name__ == "__main__":
    set_up("warning")
    hide()
    asyncio.run(main(*sys.argv[1:5]))
