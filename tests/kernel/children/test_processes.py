"""Who descends from whom, where the kernel says it and where only the process table does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kernel.children.processes import Process, Trail, descendants, end, from_ps, proc_table, ps_table, tasks_of
from tests.kernel.children.trees import TREES, Tree
from tests.twins.processes import living, until, word

ROOT = Path(__file__).parents[3]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def test_lines_of_ps_are_read_and_others_left_out() -> None:
    printed = (
        "    1     0     1 Mon Nov 30 21:00:01 2026\n"
        "  812     1   800 Mon Nov 30 21:00:02 2026    \n"
        "garbage\n\n  x 1 1 now\n 5 6\n"
    )

    assert list(from_ps(printed)) == [
        Process(1, 0, 1, "Mon Nov 30 21:00:01 2026"),
        Process(812, 1, 800, "Mon Nov 30 21:00:02 2026"),
    ]


@linux_only
def test_both_tables_know_this_process() -> None:
    for table in (proc_table, ps_table):
        own = {each.pid: each for each in table()}[os.getpid()]
        assert (own.parent, own.group) == (os.getppid(), os.getpgrp())


@linux_only
def test_descendants_are_all_below_and_nobody_else() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 100 & sleep 100; :"]) as process:
        while len(found := list(descendants(process.pid))) < 2:
            pass

        assert process.pid not in found
        assert set(descendants(os.getpid())) >= {process.pid, *found}
        assert set(descendants(os.getpid(), {process.pid})).isdisjoint({process.pid, *found})

        assert end(lambda: [*descendants(process.pid), process.pid], reap=process.poll, within_s=1) is False
        assert process.wait() == -9


@linux_only
def test_the_tasks_of_a_user_are_counted() -> None:
    assert tasks_of(os.getuid()) >= 1
    assert tasks_of(54321) == 0


def table(*lines: tuple[int, int, int, str]) -> list[Process]:
    return [Process(*line) for line in lines]


def test_a_trail_follows_children_of_children() -> None:
    trail = Trail(
        10, lambda: table((1, 0, 1, "a"), (10, 1, 10, "b"), (11, 10, 11, "c"), (12, 11, 11, "d"), (9, 1, 9, "e"))
    )

    assert trail.look() == [11, 12]


def test_who_was_seen_stays_on_the_trail_when_init_adopts_it() -> None:
    tables = iter(
        (
            table((10, 1, 10, "b"), (11, 10, 11, "c"), (12, 11, 12, "d")),
            table((10, 1, 10, "b"), (12, 1, 12, "d"), (13, 12, 13, "e")),
        )
    )
    trail = Trail(10, lambda: next(tables))

    assert trail.look() == [11, 12]
    assert trail.look() == [12, 13]


def test_an_orphan_that_was_never_seen_is_known_by_its_group() -> None:
    tables = iter(
        (
            table((10, 1, 10, "b"), (11, 10, 11, "c")),
            table((10, 1, 10, "b"), (14, 1, 11, "f"), (15, 1, 15, "g")),
        )
    )
    trail = Trail(10, lambda: next(tables))

    trail.look()

    assert trail.look() == [14]


def test_a_number_that_went_to_somebody_else_is_left_alone() -> None:
    tables = iter(
        (
            table((10, 1, 10, "b"), (11, 10, 11, "c")),
            table((10, 1, 10, "b")),
            table((10, 1, 10, "b"), (11, 1, 11, "later"), (12, 11, 11, "later")),
        )
    )
    trail = Trail(10, lambda: next(tables))

    trail.look()
    trail.look()

    assert trail.look() == []


def test_who_was_seen_is_not_forgotten_when_the_table_cannot_be_read() -> None:
    tables = iter((table((10, 1, 10, "b"), (11, 10, 11, "c")), []))
    trail = Trail(10, lambda: next(tables))

    trail.look()

    assert trail.look() == [11]


def test_the_group_of_the_root_is_not_on_the_trail() -> None:
    trail = Trail(10, lambda: table((10, 1, 8, "b"), (8, 1, 8, "shell"), (9, 8, 8, "other"), (11, 10, 8, "c")))

    assert trail.look() == [11]


def test_ending_gives_up_when_somebody_stays() -> None:
    assert end(lambda: [2**30], reap=lambda: None, within_s=0.05) is False


KEEPER = """
import os, sys
from kernel.children.keeper import Keeper
control, lifeline = int(sys.argv[1]), int(sys.argv[2])
os.setsid()
Keeper(control, lifeline, tuple(os.open(os.devnull, os.O_RDWR) for _ in range(3)), None, has_adoption=False).keep()
"""


def _keeper(control: socket.socket, lifeline: socket.socket) -> subprocess.Popen[bytes]:
    files = (control.fileno(), lifeline.fileno())
    return subprocess.Popen([sys.executable, "-c", KEEPER, *map(str, files)], cwd=ROOT, pass_fds=files)


SEEN = [tree for tree in TREES if tree.name not in ("a daemon", "one that starts itself again")]


@pytest.mark.parametrize("tree", SEEN, ids=lambda tree: tree.name.replace(" ", "-"))
async def test_without_adoption_the_trail_ends_what_was_seen(tree: Tree) -> None:
    """As on macOS, where a daemon that forks twice between two looks gets away from a user that is ours."""
    if tree.is_bomb and os.geteuid() == 0:
        pytest.skip("no limit of processes holds for root")
    name = word()
    ours, theirs = socket.socketpair()
    kept_open, lifeline = socket.socketpair()
    order = {
        "argv": ["/bin/sh", "-c", tree.script, name],
        "environment": {"PATH": "/usr/bin:/bin"},
        "folder": "/",
        "private": "",
        "within_s": None,
        "limits": {"NPROC": 80},
        "is_sandboxed": False,
    }
    with ours, kept_open, _keeper(theirs, lifeline) as keeper:
        theirs.close()
        lifeline.close()
        ours.sendall(json.dumps(order).encode() + b"\n")
        assert b"started" in ours.recv(1000)
        await until(lambda: len(living(name)) >= tree.size)

        ours.shutdown(socket.SHUT_WR)

        await until(lambda: keeper.poll() is not None)
        assert living(name) == []
