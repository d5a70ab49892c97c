"""A search finds lines in every text file, shows them with what is around, and always ends."""

from __future__ import annotations

import random
import time
from datetime import timedelta

import pytest

from kernel.builtin.search import MAX_HITS, MAX_SEARCHED_BYTES, search_tool
from kernel.errors import ModelError
from kernel.tools import MAX_RESULT_CHARS
from kernel.workspace import Workspace
from tests.kernel.builtin.calls import ask, context, workspace

SEARCH_FILES = search_tool()


async def search(files: Workspace, pattern: str, **arguments: str) -> str:
    return await ask(SEARCH_FILES, context(files), pattern=pattern, **arguments)


async def test_lines_are_found_with_their_numbers_and_neighbours() -> None:
    files = await workspace({"a.py": "one\ntwo\nthree\nfour\n", "b/c.py": "four", "d.py": "five"})

    told = await search(files, "t[hw]|four$")

    assert told == (
        "4 matching lines in 2 of 3 files.\na.py\n  1- one\n  2: two\n  3: three\n  4: four\nb/c.py\n  1: four"
    )


async def test_distant_matches_are_set_apart() -> None:
    files = await workspace({"a.txt": "x\n\n\n\n\nx\n"})

    assert await search(files, "x") == "2 matching lines in 1 of 1 files.\na.txt\n  1: x\n  2- \n  --\n  5- \n  6: x"


async def test_a_path_narrows_the_search_to_a_folder_or_a_file() -> None:
    files = await workspace({"a/x.txt": "hit", "a/b/y.txt": "hit", "ab/z.txt": "hit"})

    assert "in 2 of 2 files" in await search(files, "hit", path="a/")
    assert "in 1 of 1 files" in await search(files, "hit", path="ab/z.txt")
    with pytest.raises(ModelError, match="no file or folder 'c'"):
        await search(files, "hit", path="c")


async def test_chinese_other_encodings_and_capitals_are_found() -> None:
    files = await workspace({"a.txt": "病历\nTODO 查房".encode("gb18030"), "b.txt": "todo 查房"})

    told = await search(files, r"(?i)todo \p{Han}{2}$")

    assert "  2: TODO 查房" in told
    assert "  1: todo 查房" in told


async def test_no_match_spans_lines() -> None:
    files = await workspace({"a.txt": "begin\nend\n\nend"})

    assert (await search(files, r"begin\s+end")).startswith("0 matching lines in 0 of 1 files.")
    assert "  4: end" in await search(files, "^end$")


async def test_what_is_no_text_or_too_large_is_left_out_and_said() -> None:
    files = await workspace(
        {"a.png": b"\x89PNG hit", "big.txt": "hit\n" * (MAX_SEARCHED_BYTES // 4 + 1), "c.txt": "hit"}
    )

    told = await search(files, "hit")

    assert "1 matching line in 1 of 3 files." in told
    assert "Left out as larger than 5 MB: big.txt." in told
    assert "Left out as no text: 1." in told


async def test_more_matches_than_one_reads_are_capped_and_said() -> None:
    files = await workspace({"a.txt": "\n".join(["hit", "no", "no", "no"] * 500), "b.txt": "hit"})

    told = await search(files, "hit")

    assert told.startswith(f"{MAX_HITS} matching lines in 1 of 2 files. There may be more")
    assert f"  {MAX_HITS * 4 - 3}: hit" in told
    assert f"  {MAX_HITS * 4 + 1}: hit" not in told


async def test_a_result_stays_below_the_cap_whatever_the_lines_are() -> None:
    files = await workspace(
        {f"{number:0190}.txt": "\n".join(["x" * 5_000, "hit" * 2_000] * 60) for number in range(60)}
    )

    told = await search(files, "hit")

    assert len(told) < MAX_RESULT_CHARS
    assert "There may be more" in told


async def test_in_an_endless_line_the_place_itself_is_shown() -> None:
    files = await workspace({"a.json": "x" * 2_000_000 + '"name": "三床"' + "y" * 1_000_000, "b.txt": "end"})

    told = await search(files, '"name": ".."')

    assert '"name": "三床"' in told
    assert "(line of 3,000,016 bytes)" in told
    assert len(told) < 1_000


async def test_line_numbers_hold_beyond_the_pieces_a_file_is_searched_in() -> None:
    lines = [f"line {number}" for number in range(1, 50_001)]
    lines[40_000] = "needle"
    files = await workspace({"a.txt": "\n".join(lines)})

    assert "  40001: needle" in await search(files, "needle")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("[", "missing ]"),
        ("a(?=b)", "invalid perl operator"),
        (r"(a)\1", "invalid escape"),
        ("((((x{100}){100}){100}){100})", "invalid repetition size"),
        (r"\pL{200}", "pattern too large"),
        ("(" * 250 + ")" * 251, "500 characters|unexpected"),
        ("x" * 501, "1 to 500 characters"),
        ("", "1 to 500 characters"),
        ("\ud83c", "half of a pair"),
        ("*", "no argument for repetition"),
    ],
)
async def test_a_pattern_that_cannot_be_searched_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        await search(await workspace({"a.txt": "x"}), pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(?:a?){30}a{30}b", "(.*)(.*)(.*)(.*)x"])
async def test_patterns_that_ruin_backtracking_engines_are_searched_like_others(pattern: str) -> None:
    files = await workspace({"a.txt": "a" * 50_000 + "!"})
    begun = time.monotonic()

    await search(files, pattern)

    assert time.monotonic() - begun < 1


async def test_a_search_that_takes_too_long_ends_with_what_it_has_found() -> None:
    chance = random.Random(1)
    noise = "\n".join("".join(chance.choice("ab") for _ in range(10_000)) for _ in range(30))
    files = await workspace({"a.txt": "aXc", "b.txt": noise, "c.txt": "aXc"})
    begun = time.monotonic()

    told = await ask(search_tool(timedelta(seconds=0.3)), context(files), pattern=r"[ab]{0,1000}a[ab]{0,1000}c|Xc")

    assert "time for a search was over" in told
    assert "a.txt\n  1: aXc" in told
    assert "c.txt" not in told
    assert time.monotonic() - begun < 3


async def test_a_pattern_that_matches_nothing_in_every_line_does_not_loop() -> None:
    files = await workspace({"a.txt": "ab\n\ncd", "empty": ""})

    assert (await search(files, "x*")).startswith("3 matching lines in 1 of 2 files.")
    assert (await search(files, "^")).startswith("3 matching lines")
