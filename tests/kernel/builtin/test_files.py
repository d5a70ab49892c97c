"""The conversation's files are read in pages, written whole, changed at one exact place, and listed."""

from __future__ import annotations

import pytest

from kernel.builtin.files import EDIT_FILE, LIST_FILES, MAX_WRITTEN_BYTES, PAGE_CHARS, READ_FILE, WRITE_FILE
from kernel.errors import BadArguments, ModelError
from kernel.tools import MAX_RESULT_CHARS
from kernel.workspace import MAX_FILES, Workspace
from tests.kernel.builtin.calls import ask, context, workspace

HOSTILE_PATHS = ("../../etc/passwd", "/etc/passwd", "a/../../b", "", ".", "名字\x00.txt", "C:\\x", "\ud800", "x" * 201)


async def read(files: Workspace, path: str, **arguments: int) -> str:
    return await ask(READ_FILE, context(files), path=path, **arguments)


async def edit(files: Workspace, old: str, new: str, path: str = "a.txt") -> str:
    return await ask(EDIT_FILE, context(files), path=path, old=old, new=new)


async def test_a_file_is_read_with_its_size() -> None:
    files = await workspace({"notes/a.txt": "一\n二\n"})

    assert await read(files, "notes/a.txt") == "[notes/a.txt: 2 lines; 8 bytes; all below is the file]\n一\n二"


async def test_what_is_written_is_read_back_and_is_a_change_for_the_commit() -> None:
    files = await workspace()

    told = await ask(WRITE_FILE, context(files), path="a.txt", text="正文")

    assert told == "a.txt is written: 6 bytes."
    assert await files.read("a.txt") == "正文".encode()
    assert list(files.changes) == ["a.txt"]


async def test_a_long_file_is_read_to_its_end_page_by_page() -> None:
    lines = [f"line {number} {'x' * 60}" for number in range(1, 1001)]
    files = await workspace({"long.txt": "\n".join(lines)})
    seen, following, pages = list[str](), 1, 0

    while following:
        head, _, text = (await read(files, "long.txt", from_line=following)).partition("\n")
        seen += text.split("\n")
        pages += 1
        following = int(head.split("from_line=")[1].split(";")[0]) if "from_line=" in head else 0

    assert seen == lines
    assert 3 <= pages <= 6


async def test_every_page_fits_into_a_result() -> None:
    files = await workspace({"a.txt": "x" * 3_000_000, "b.txt": "\n".join(["y" * 15_000] * 50), "c.txt": "\n" * 90_000})

    for path in files.paths():
        assert len(await read(files, path)) < MAX_RESULT_CHARS


async def test_one_endless_line_is_cut_with_a_marker_and_a_way_on() -> None:
    files = await workspace({"a.json": "x" * 3_000_000 + "\nend"})

    told = await read(files, "a.json")

    assert "[… this line has 3,000,000 characters; search_files finds" in told
    assert "read on with from_line=2" in told
    assert (await read(files, "a.json", from_line=2)).endswith("\nend")


async def test_a_range_of_lines_is_what_was_asked_for() -> None:
    files = await workspace({"a.txt": "1\n2\n3\n4\n5"})

    told = await read(files, "a.txt", from_line=2, lines=2)

    assert told == "[a.txt: 5 lines; 9 bytes; here lines 2 to 3; read on with from_line=4; all below is the file]\n2\n3"


async def test_a_line_that_is_not_there_is_said() -> None:
    files = await workspace({"a.txt": "1\n2", "empty": ""})

    with pytest.raises(ModelError, match="has 2 lines; line 3 is not there"):
        await read(files, "a.txt", from_line=3)
    assert await read(files, "empty") == "empty is empty."
    with pytest.raises(BadArguments):
        await read(files, "a.txt", from_line=0)


async def test_a_file_of_millions_of_empty_lines_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match="more than 2,000,000 lines"):
        await read(await workspace({"a.txt": "\n" * 19_000_000}), "a.txt")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\nplain looking", "a PDF document, 22 bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG picture"),
        (b"PK\x03\x04" + bytes(50), "a ZIP archive"),
        (bytes(range(256)), "no text in UTF-8"),
        (b"caf\xe9\n", "no text in UTF-8"),
    ],
)
async def test_binary_files_are_named_in_words(content: bytes, kind: str) -> None:
    files = await workspace({"a.txt": content})

    with pytest.raises(ModelError, match=kind):
        await read(files, "a.txt")
    with pytest.raises(ModelError, match=kind):
        await edit(files, "a", "b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
async def test_a_file_keeps_its_encoding_and_line_ends_when_it_is_edited(encoding: str) -> None:
    files = await workspace({"a.txt": "病历\r\n查房\r\n".encode(encoding)})

    assert (await read(files, "a.txt")).endswith("\n病历\n查房")
    await edit(files, "病历\n查房", "病历\n三床")

    assert await files.read("a.txt") == "病历\r\n三床\r\n".encode(encoding)


async def test_windows_line_ends_in_an_edit_meet_those_of_the_file() -> None:
    files = await workspace({"a.txt": "x\r\ny\r\n"})

    await edit(files, "x\r\ny", "x\r\nz\nw")

    assert await files.read("a.txt") == b"x\r\nz\r\nw\r\n"


async def test_an_edit_changes_one_place_and_says_where() -> None:
    files = await workspace({"a.txt": "a = 1\nb = 2\n"})

    told = await edit(files, "b = 2", "b = 3\nc = 4")

    assert told == "a.txt is changed at line 2; it has 18 bytes now."
    assert await files.read("a.txt") == b"a = 1\nb = 3\nc = 4\n"


@pytest.mark.parametrize(
    ("old", "why"),
    [
        ("x = 1", r"occurs 3 times in a.txt, at lines 1, 3, 4; give more"),
        ("aa", r"occurs 2 times in a.txt, at lines 5, 5"),
        ("y = 1", r"does not occur in a.txt. Read"),
        ("if  x:\n\tpass", r"does not occur in a.txt. Read"),
        ("  if x:\n\tgo", r"Its first line is in line 6"),
        ("", "is empty"),
    ],
)
async def test_an_edit_without_exactly_one_place_changes_nothing_and_says_what_it_found(old: str, why: str) -> None:
    files = await workspace({"a.txt": "x = 1\n\nx = 1\nx = 1\naaa\n    if x:\n        pass\n"})

    with pytest.raises(ModelError, match=why):
        await edit(files, old, "z")

    assert files.changes == {}


async def test_an_edit_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match="are the same"):
        await edit(await workspace({"a.txt": "x"}), "x", "x")


@pytest.mark.parametrize("size", [2, 500_000])
async def test_an_edit_of_very_many_equal_places_is_soon_refused(size: int) -> None:
    with pytest.raises(ModelError, match=r"occurs 100 times and more"):
        await edit(await workspace({"a.txt": "a" * 1_000_000}), "a" * size, "b")


async def test_text_that_cannot_be_stored_is_refused_and_nothing_is_written() -> None:
    files = await workspace({"a.txt": "x"})

    with pytest.raises(ModelError, match="half of a pair"):
        await ask(WRITE_FILE, context(files), path="b.txt", text="ok \ud83c")
    with pytest.raises(ModelError, match="half of a pair"):
        await edit(files, "x", "\udfa9")
    with pytest.raises(ModelError, match="1,000,000"):
        await ask(WRITE_FILE, context(files), path="b.txt", text="x" * (MAX_WRITTEN_BYTES + 1))
    assert files.changes == {}


@pytest.mark.parametrize("path", HOSTILE_PATHS)
async def test_no_path_leads_out_of_the_conversation(path: str) -> None:
    files = await workspace({"etc/passwd": "ours"})

    with pytest.raises(ModelError):
        await read(files, path)
    with pytest.raises(ModelError):
        await ask(WRITE_FILE, context(files), path=path, text="x")
    with pytest.raises(ModelError):
        await edit(files, "a", "b", path)
    assert files.changes == {}


async def test_a_full_workspace_is_said_in_words() -> None:
    files = await workspace({f"{number}.txt": "x" for number in range(MAX_FILES)})

    with pytest.raises(ModelError, match="200 files already"):
        await ask(WRITE_FILE, context(files), path="one-more.txt", text="x")


async def listed(files: Workspace, **arguments: str) -> str:
    return await ask(LIST_FILES, context(files), **arguments)


async def test_files_are_listed_all_or_below_a_folder() -> None:
    files = await workspace({"a.txt": "x", "notes/b.txt": "x", "notes/c/d.txt": "x", "notes2/e.txt": "x"})

    assert await listed(files) == "4 files:\na.txt\nnotes/b.txt\nnotes/c/d.txt\nnotes2/e.txt"
    assert await listed(files, path="./notes/") == "2 files:\nnotes/b.txt\nnotes/c/d.txt"
    assert await listed(files, path="a.txt") == "1 file:\na.txt"
    assert await listed(await workspace()) == "There are no files yet."
    with pytest.raises(ModelError, match="no file or folder 'other'"):
        await listed(files, path="other")


async def test_many_files_are_listed_by_folder() -> None:
    files = await workspace({f"logs/{number}.txt": "x" for number in range(150)} | {"src/a/b.py": "x", "top.md": "x"})

    assert await listed(files) == "152 files:\nlogs/ (150 files)\nsrc/ (1 file)\ntop.md"
    inside = await listed(files, path="logs")
    assert inside.startswith("150 files:\nlogs/0.txt\n")
    assert inside.endswith("… and 70 more")


async def test_a_listing_fits_into_a_result() -> None:
    files = await workspace({f"{number:0200}": "x" for number in range(MAX_FILES)})

    assert len(await listed(files)) < MAX_RESULT_CHARS


def test_a_page_is_smaller_than_what_is_cut() -> None:
    assert PAGE_CHARS < MAX_RESULT_CHARS
