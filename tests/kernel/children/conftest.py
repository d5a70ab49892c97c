"""Real children in every isolation that this machine offers, and eyes to see what is left of them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kernel.children.guarded import GuardedChildren
from kernel.children.sandbox import sandbox_program
from kernel.children.users import can_change_user
from kernel.ports import Isolation
from tests.twins.processes import until


def possible() -> list[Isolation]:
    """What can be tried here, as whoever runs the tests."""
    found = [Isolation.NONE]
    if can_change_user():
        found.append(Isolation.SEPARATE_USER)
    if sandbox_program():
        found.append(Isolation.SANDBOX)
    return found


def is_empty(folder: Path) -> bool:
    """Whether no private folder is left in it."""
    return not list(folder.iterdir())


@pytest.fixture(params=possible(), ids=lambda each: each.value)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return Isolation(request.param)


@pytest.fixture
def inside() -> Iterator[Path]:
    """Where private folders are made; other users can pass through it, as through /tmp."""
    path = Path(tempfile.mkdtemp(prefix="zclaw-test-", dir="/tmp")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def children(isolation: Isolation, inside: Path) -> AsyncIterator[GuardedChildren]:
    guarded = GuardedChildren(isolation, inside=inside)
    yield guarded
    await guarded.close()
    await until(lambda: is_empty(inside))
