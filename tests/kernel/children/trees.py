"""Commands that try to outlive their end. `$0` is a word by which they are found (tests/twins/processes.py)."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

import pytest

from kernel.ports import ChildCommand, ChildLimits, Isolation


@dataclass(frozen=True, slots=True)
class Tree:
    """A shell script, and how many processes of it live at least when it is fully grown."""

    name: str
    script: str
    size: int
    is_bomb: bool = False

    def command(self, word: str) -> ChildCommand:
        return ChildCommand(("/bin/sh", "-c", self.script, word), limits=ChildLimits(processes=80))


_HAS_SETSID = shutil.which("setsid") is not None

TREES = [
    Tree("one process", 'exec sleep "$0"', 1),
    Tree("deaf to signals", "trap '' TERM INT HUP QUIT USR1; sleep \"$0\"; :", 2),
    Tree("orphans of orphans", '( ( ( sleep "$0" & ) & ) & ); sleep "$0"; :', 3),
    Tree("a stopped one", 'sleep "$0" & kill -STOP $!; sleep "$0"; :', 3),
    Tree("a fork bomb", 'b() { sleep "$0" & b & b; }; b & exec sleep "$0"', 20, is_bomb=True),
]
if _HAS_SETSID:
    TREES += [
        Tree("a session of its own", 'setsid sleep "$0" & sleep "$0"; :', 3),
        Tree(
            "a daemon",
            '(setsid sh -c \'trap "" TERM HUP; (sleep "$0" </dev/null >/dev/null 2>&1 &)\' "$0" &); sleep "$0"; :',
            3,
        ),
        Tree(
            "one that starts itself again",
            's=\'sleep 0.02; (setsid /bin/sh -c "$1" "$0" "$1" &)\'; '
            '(setsid /bin/sh -c "$s" "$0" "$s" &); sleep "$0"; :',
            2,
        ),
    ]

trees = pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name.replace(" ", "-"))


def skip_unbounded(tree: Tree, isolation: Isolation) -> None:
    """Root's own processes have no limit: a fork bomb of root's would be one."""
    if tree.is_bomb and isolation is Isolation.NONE and os.geteuid() == 0:
        pytest.skip("no limit of processes holds for root")
