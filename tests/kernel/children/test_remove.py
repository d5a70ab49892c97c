"""Whatever a child left behind is removed, and nothing beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernel.children.remove import remove


def test_nothing_there_is_fine(tmp_path: Path) -> None:
    remove(str(tmp_path / "none"))


def test_links_are_removed_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "top2").symlink_to(tmp_path / "kept")
    os.mkfifo(top / "pipe")

    remove(str(top))
    remove(str(tmp_path / "top2"))

    assert (tmp_path / "kept/file").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_folder_may_be_deeper_than_a_path_is_long(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)

    remove(str(top))

    assert not list(tmp_path.iterdir())


def test_names_that_we_would_use_are_no_obstacle(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for path in ("a/b/c", "a/d", ".1/x", ".2", "z/.1/y", "z/.4"):
        (top / path).mkdir(parents=True)
    (top / ".3").write_text("x")

    remove(str(top))

    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is locked for root")
def test_locked_folders_are_opened(tmp_path: Path) -> None:
    locked = tmp_path / "top/locked"
    (locked / "in").mkdir(parents=True)
    (locked / "in/file").write_text("x")
    for path in (locked / "in", locked, tmp_path / "top"):
        path.chmod(0)

    remove(str(tmp_path / "top"))

    assert not list(tmp_path.iterdir())
