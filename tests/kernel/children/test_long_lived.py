"""A long-lived child: lines go in and come out until one side has enough."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta

import pytest

from kernel.children.guarded import GuardedChildren
from kernel.errors import CannotStart, ChildLost
from kernel.ports import Child, ChildCommand, Children, Exit
from tests.kernel.children.trees import Tree, skip_unbounded, trees
from tests.twins.children import TwinChildren
from tests.twins.processes import living, until, word


@pytest.fixture(params=["real", "twin"])
def either(request: pytest.FixtureRequest, children: GuardedChildren) -> Children:
    """The contract holds for both."""
    return children if request.param == "real" else TwinChildren(talks={"cat": lambda line: [line]})


async def test_a_child_answers_line_by_line(either: Children) -> None:
    child: Child = await either.start(ChildCommand(("/bin/cat",)))

    for line in (b"one", "二".encode(), b"", b"x" * 50_000):
        await child.send(line)
        assert await child.receive() == line

    await child.close()
    assert await child.receive() is None
    assert await child.ended() == Exit(code=0)


async def test_a_closed_child_reads_no_more(either: Children) -> None:
    child = await either.start(ChildCommand(("/bin/cat",)))
    await child.close()
    await child.close()

    with pytest.raises(ChildLost):
        await child.send(b"late")


async def test_what_is_no_program_cannot_be_started(either: Children) -> None:
    with pytest.raises(CannotStart):
        await either.start(ChildCommand(("no-such-program",)))


async def test_the_end_of_a_child_is_known(children: GuardedChildren) -> None:
    child = await children.start(
        ChildCommand(("/bin/sh", "-c", "read line; echo bye; echo why >&2; printf rest; exit 4"))
    )

    await child.send(b"go")

    assert [await child.receive(), await child.receive(), await child.receive()] == [b"bye", b"rest", None]
    assert await child.ended() == Exit(code=4)
    assert child.errors().text == "why\n"
    await child.close()


async def test_a_line_without_end_is_no_line(children: GuardedChildren) -> None:
    child = await children.start(ChildCommand(("/bin/cat", "/dev/zero"), output_bytes=100_000))

    with pytest.raises(ChildLost):
        await child.receive()

    await child.close(timedelta())


async def test_errors_without_end_are_read_away(children: GuardedChildren) -> None:
    child = await children.start(ChildCommand(("/bin/sh", "-c", "yes | head -c 5000000 >&2; echo done")))

    assert await child.receive() == b"done"
    assert len(child.errors().head + child.errors().tail) <= 16 * 1024
    await child.close()


async def test_a_child_that_does_not_care_is_ended_after_its_patience(children: GuardedChildren) -> None:
    name = word()
    child = await children.start(ChildCommand(("/bin/sh", "-c", 'trap "" TERM; (sleep "$0" &); sleep "$0"; :', name)))
    await until(lambda: living(name))

    await child.close(timedelta(seconds=0.1))

    assert living(name) == []
    assert await child.ended() == Exit(signal=9)


@trees
async def test_nothing_outlives_a_child_that_is_closed(children: GuardedChildren, tree: Tree) -> None:
    skip_unbounded(tree, children.isolation)
    name = word()
    child = await children.start(tree.command(name))
    await until(lambda: len(living(name)) >= tree.size)

    await child.close(timedelta())

    assert living(name) == []


async def test_a_killed_guard_is_the_end_of_its_children(children: GuardedChildren) -> None:
    name = word()
    child = await children.start(ChildCommand(("/bin/sh", "-c", 'cat; sleep "$0"', name)))
    await until(lambda: living(name))
    assert children.guard is not None

    os.kill(children.guard, signal.SIGKILL)

    assert await child.receive() is None
    with pytest.raises(ChildLost):
        await child.ended()
    await child.close()
    assert living(name) == []


async def test_a_start_that_is_cancelled_leaves_nothing(children: GuardedChildren) -> None:
    name = word()
    starting = [asyncio.create_task(children.start(ChildCommand(("/bin/sleep", name)))) for _ in range(20)]
    for number, each in enumerate(starting):
        asyncio.get_running_loop().call_later(0.001 * number, each.cancel)

    await asyncio.wait(starting)

    for each in starting:
        if not each.cancelled():
            await (await each).close(timedelta())
    assert living(name) == []
