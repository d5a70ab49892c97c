"""Files go into a private folder and come back; nothing foreign does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kernel.children.folder import Folder, lay_out, make, take_back
from kernel.ports import TakeBack, Taken

ROOM = TakeBack(10, 1000)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make(tmp_path)


def taken(folder: Folder, given: Mapping[str, bytes], bounds: TakeBack = ROOM, owner: int | None = None) -> Taken:
    return take_back(folder, given, frozenset(), bounds, os.geteuid() if owner is None else owner)


def test_only_we_can_enter_a_folder(folder: Folder) -> None:
    lay_out(folder, {"a": b"1", "b/c": b"2"})

    for path in (folder.path, folder.home, folder.temporary, folder.files, folder.files / "b"):
        assert path.stat().st_mode & 0o077 == 0
    assert (folder.files / "b/c").stat().st_mode & 0o177 == 0


def test_a_script_may_be_run(folder: Folder) -> None:
    lay_out(folder, {"run": b"#!/bin/sh\n"})

    assert (folder.files / "run").stat().st_mode & 0o777 == 0o700


def test_unchanged_files_are_no_change_however_little_room_there_is(folder: Folder) -> None:
    given = {"a": b"1" * 500, "b/c": b"2"}
    lay_out(folder, given)

    assert taken(folder, given, TakeBack(0, 0)) == Taken()


def test_what_no_disk_can_hold_stays_away_and_is_not_deleted(folder: Folder) -> None:
    given = {"a": b"1", "a/b": b"2", "长" * 100: b"3", "c/d": b"4", "c": b"5"}

    left_out = lay_out(folder, given)

    assert left_out == {"a/b", "长" * 100, "c"}
    found = take_back(folder, given, left_out, ROOM, os.geteuid())
    assert not found.written
    assert not found.deleted
    assert set(found.skipped) == left_out


def test_bounds_hold_and_what_goes_over_them_keeps_its_content(folder: Folder) -> None:
    given = {"old": b"old", "other": b"x"}
    lay_out(folder, given)
    (folder.files / "old").write_bytes(b"n" * 2000)
    for number in range(12):
        (folder.files / f"n{number:02}").write_bytes(b"n" * 10)

    found = taken(folder, given)

    assert len(found.written) == 10
    assert found.deleted == ()
    assert "old" in found.skipped
    assert len(found.skipped) == 3


def test_what_belongs_to_somebody_else_is_not_taken(folder: Folder) -> None:
    """A hard link to a file that only we can read would otherwise come back as the child's."""
    lay_out(folder, {})
    (folder.files / "linked").write_bytes(b"canary")

    found = taken(folder, {}, owner=os.geteuid() + 1)

    assert found == Taken(skipped=("linked",))


def test_a_name_that_is_no_text_is_skipped(folder: Folder) -> None:
    lay_out(folder, {})
    try:
        Path(os.fsdecode(os.fsencode(folder.files) + b"/\xff\xfe")).write_bytes(b"1")
    except OSError:
        pytest.skip("this file system has only names that are text")

    found = taken(folder, {})

    assert found == Taken(skipped=("\ufffd\ufffd",))


def test_a_file_that_became_a_folder_is_gone_and_its_content_new(folder: Folder) -> None:
    lay_out(folder, {"a": b"1"})
    (folder.files / "a").unlink()
    (folder.files / "a").mkdir()
    (folder.files / "a/b").write_bytes(b"2")

    assert taken(folder, {"a": b"1"}) == Taken({"a/b": b"2"}, deleted=("a",))


def test_too_deep_a_folder_is_skipped(folder: Folder) -> None:
    lay_out(folder, {})
    (folder.files / "/".join("d" * 80)).mkdir(parents=True)

    found = taken(folder, {})

    assert found.skipped == ("/".join("d" * 65),)


def test_nobody_deletes_by_making_too_many_entries(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.children.folder._MOST_ENTRIES", 5)
    given = {f"f{number}": b"1" for number in range(9)}
    lay_out(folder, given)

    assert taken(folder, given).deleted == ()
