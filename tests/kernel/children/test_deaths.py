"""However a worker or a guard ends, nothing that it started outlives it by ten seconds."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from kernel.children.guarded import GuardedChildren
from kernel.errors import ChildLost
from kernel.ports import ChildCommand, Isolation
from tests.kernel.children.conftest import is_empty
from tests.kernel.children.trees import Tree, skip_unbounded, trees
from tests.twins.processes import living, until, word

ROOT = Path(__file__).parents[3]
HOUR = timedelta(hours=1)


@asynccontextmanager
async def worker(isolation: Isolation, inside: Path, tree: Tree, name: str) -> AsyncIterator[tuple[int, int]]:
    """A worker process that runs the tree, fully grown, and its guard."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.kernel.children.parent", isolation.value, str(inside), tree.script, name),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        guard = int(await process.stdout.readline())
        # The worker itself carries the word too.
        await until(lambda: len(living(name)) >= tree.size + 1)
        yield process.pid, guard
    finally:
        if process.returncode is None and psutil.pid_exists(process.pid):
            process.kill()
        await process.wait()


def exists(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@trees
async def test_nothing_outlives_a_killed_worker(isolation: Isolation, inside: Path, tree: Tree) -> None:
    skip_unbounded(tree, isolation)
    name = word()
    async with worker(isolation, inside, tree, name) as (pid, guard):
        os.kill(pid, signal.SIGKILL)

        await until(lambda: living(name) == [], within_s=10)
        await until(lambda: not exists(guard), within_s=10)
        await until(lambda: is_empty(inside))


@trees
async def test_nothing_outlives_its_time(children: GuardedChildren, isolation: Isolation, tree: Tree) -> None:
    skip_unbounded(tree, isolation)
    name = word()

    done = await children.run(tree.command(name), within=timedelta(seconds=0.5))

    assert done.is_timed_out
    assert done.exit.signal == signal.SIGKILL
    assert living(name) == []


@trees
async def test_nothing_outlives_a_stop(children: GuardedChildren, isolation: Isolation, tree: Tree) -> None:
    skip_unbounded(tree, isolation)
    name = word()
    running = asyncio.create_task(children.run(tree.command(name), within=HOUR))
    await until(lambda: len(living(name)) >= tree.size)

    running.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await running

    assert living(name) == []


async def test_what_a_command_leaves_running_ends_with_it(children: GuardedChildren) -> None:
    name = word()

    done = await children.run(ChildCommand(("/bin/sh", "-c", '(sleep "$0" &); echo done', name)), within=HOUR)

    assert done.stdout.text == "done\n"
    assert living(name) == []


async def test_a_killed_guard_fails_the_calls_in_flight_and_the_next_one_works(children: GuardedChildren) -> None:
    name = word()
    running = asyncio.create_task(children.run(ChildCommand(("/bin/sleep", name)), within=HOUR))
    await until(lambda: living(name))
    guard = children.guard
    assert guard is not None

    os.kill(guard, signal.SIGKILL)

    with pytest.raises(ChildLost):
        await running
    assert living(name) == []
    done = await children.run(ChildCommand(("/bin/echo", "again")), within=HOUR)
    assert done.stdout.text == "again\n"
    assert children.guard != guard


async def test_a_killed_guard_takes_no_other_guards_children_with_it(
    children: GuardedChildren, isolation: Isolation, inside: Path
) -> None:
    other = GuardedChildren(isolation, inside=inside)
    mine, others = word(), word()
    lost = asyncio.create_task(children.run(ChildCommand(("/bin/sleep", mine)), within=HOUR))
    kept = asyncio.create_task(other.run(ChildCommand(("/bin/sleep", others)), within=HOUR))
    await until(lambda: living(mine) and living(others))
    assert children.guard is not None

    os.kill(children.guard, signal.SIGKILL)

    with pytest.raises(ChildLost):
        await lost
    assert living(others)
    kept.cancel()
    await asyncio.wait([kept])
    await other.close()
    assert living(others) == []


async def test_a_child_that_kills_its_keeper_does_not_get_away(inside: Path) -> None:
    children = GuardedChildren(Isolation.NONE, inside=inside)
    name = word()
    script = 'kill -KILL $PPID; (trap "" TERM; sleep "$0" &); sleep "$0"; :'

    with pytest.raises(ChildLost):
        await children.run(ChildCommand(("/bin/sh", "-c", script, name)), within=HOUR)

    assert living(name) == []
    await until(lambda: is_empty(inside))
    await children.close()


async def test_a_child_that_stops_its_keeper_ends_all_the_same(inside: Path) -> None:
    children = GuardedChildren(Isolation.NONE, inside=inside)
    name = word()
    running = asyncio.create_task(
        children.run(ChildCommand(("/bin/sh", "-c", 'kill -STOP $PPID; sleep "$0"; :', name)), within=HOUR)
    )
    await until(lambda: len(living(name)) >= 2)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: living(name) == [], within_s=10)
    await until(lambda: is_empty(inside))
    await children.close()


async def test_closing_ends_what_runs(isolation: Isolation, inside: Path) -> None:
    children = GuardedChildren(isolation, inside=inside)
    name = word()
    running = asyncio.create_task(children.run(ChildCommand(("/bin/sleep", name)), within=HOUR))
    await until(lambda: living(name))

    await children.close()

    with pytest.raises(ChildLost):
        await running
    assert living(name) == []
    assert is_empty(inside)
