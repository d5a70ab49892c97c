"""A conversation's files: names in a manifest, never places on a disk."""

from __future__ import annotations

import pytest

from kernel.errors import BadArguments, ModelError
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.state import Memory
from kernel.workspace import MAX_FILES, Workspace
from tests.twins.clock import JumpingClock


def blobs() -> MemoryBlobs:
    return MemoryBlobs(Memory(JumpingClock()))


async def test_what_is_written_is_read_and_is_what_a_commit_must_store() -> None:
    here = Workspace({}, kept := blobs())

    await here.write("notes/a.txt", "正文".encode())

    assert await here.read("notes/a.txt") == "正文".encode()
    assert here.paths() == ("notes/a.txt",)
    assert await Workspace({"notes/a.txt": str(here.changes["notes/a.txt"])}, kept).read("notes/a.txt")


async def test_a_file_that_is_replaced_or_deleted_is_a_change_and_one_that_is_read_is_not() -> None:
    kept = blobs()
    old = await kept.put(b"old")
    here = Workspace({"a": old, "b": old, "c": old}, kept)

    await here.read("a")
    await here.write("b", b"new")
    here.delete("c")

    assert here.changes == {"b": await kept.put(b"new"), "c": None}
    assert here.paths() == ("a", "b")
    with pytest.raises(ModelError):
        await here.read("c")


async def test_the_manifest_that_it_was_given_stays_as_it_was() -> None:
    manifest: dict[str, str] = {}

    await Workspace(manifest, blobs()).write("a", b"x")

    assert manifest == {}


@pytest.mark.parametrize("spelling", ["notes/a.txt", "./notes/a.txt", "notes//a.txt", "notes/./a.txt", "notes/a.txt/"])
async def test_every_spelling_of_a_path_is_one_file(spelling: str) -> None:
    here = Workspace({}, blobs())

    await here.write(spelling, b"x")

    assert here.paths() == ("notes/a.txt",)
    assert await here.read(spelling) == b"x"


@pytest.mark.parametrize(
    "path",
    [
        *("../../etc/passwd", "a/../../b", "a/..", "/etc/passwd", "", ".", "/", "..\\x", "C:\\x"),
        *("名字\x00.txt", "a\nb", "a\x1bb", "\ud800", "x" * 201),
        *("会议纪要\u202egpj.exe", "a\u2028b", "a\x85b", "a\u200bb"),
    ],
)
async def test_a_path_that_leads_out_or_is_none_is_refused_for_reading_writing_and_deleting(path: str) -> None:
    here = Workspace({"etc/passwd": "x"}, blobs())

    with pytest.raises(ModelError):
        await here.read(path)
    with pytest.raises(ModelError):
        await here.write(path, b"x")
    with pytest.raises(ModelError):
        here.delete(path)
    assert here.changes == {}


async def test_there_is_room_for_two_hundred_files_and_replacing_one_still_works() -> None:
    kept = blobs()
    here = Workspace({str(number): await kept.put(b"x") for number in range(MAX_FILES)}, kept)

    with pytest.raises(ModelError, match="delete some first"):
        await here.write("one more", b"x")
    await here.write("7", b"new")
    here.delete("8")
    await here.write("one more", b"x")


async def test_a_file_above_twenty_megabytes_is_an_answer_for_the_model() -> None:
    with pytest.raises(BadArguments):
        await Workspace({}, blobs()).write("big", b"x" * 20_000_001)


async def test_a_file_whose_bytes_are_gone_is_missing() -> None:
    with pytest.raises(ModelError, match="no file 'a'"):
        await Workspace({"a": "gone"}, blobs()).read("a")
