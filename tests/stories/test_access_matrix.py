"""Every kind of person on every way in: what they may do takes effect, and of the rest nothing does."""

from __future__ import annotations

import pytest

from tests.stories.access_matrix import ACTIONS, ACTORS, Outcome, cells
from tests.stories.access_scene import Scene

EXPECTED = cells()


@pytest.mark.parametrize(("path", "actor", "action"), EXPECTED, ids=[" ".join(cell) for cell in EXPECTED])
async def test_a_cell_of_the_access_matrix(path: str, actor: str, action: str) -> None:
    scene = Scene(path, actor)
    await scene.prepare(action)

    await scene.plays(action)

    assert scene.outcome(action) is EXPECTED[path, actor, action]


def test_the_matrix_is_whole() -> None:
    paths = {path for path, _, _ in EXPECTED}

    assert len(EXPECTED) == len(paths) * len(ACTORS) * len(ACTIONS) == 480
    assert set(EXPECTED.values()) == set(Outcome)
