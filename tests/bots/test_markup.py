"""Markdown is read as people meant it, and cut so that every part stands alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.markup import (
    CodeBlock,
    Document,
    Heading,
    Listing,
    Mark,
    Paragraph,
    Quote,
    Rule,
    Run,
    Table,
    parse,
)
from bots.splitting import Measure, clean, is_boundary, split_markdown, utf16_length

BOLD = frozenset({Mark.BOLD})
FAMILY = "👨‍👩‍👧‍👦"


def code_blocks(text: str) -> list[CodeBlock]:
    found: list[CodeBlock] = []
    waiting = list(parse(text).blocks)
    while waiting:
        match waiting.pop(0):
            case CodeBlock() as block:
                found.append(block)
            case Quote(blocks):
                waiting = [*blocks, *waiting]
            case Listing(items):
                waiting = [*(block for item in items for block in item), *waiting]
            case _:
                pass
    return found


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


# --- reading


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("**注意：**请看", (Run("注意：", BOLD), Run("请看"))),
        ("请**“看”**这里", (Run("请"), Run("“看”", BOLD), Run("这里"))),
        ("a*b*c", (Run("a"), Run("b", frozenset({Mark.ITALIC})), Run("c"))),
        ("snake_case_name", (Run("snake_case_name"),)),
        ("2 * 3 * 4", (Run("2 * 3 * 4"),)),
        ("~~gone~~", (Run("gone", frozenset({Mark.STRIKE})),)),
        ("`a*b*`", (Run("a*b*", frozenset({Mark.CODE})),)),
        ("one\ntwo", (Run("one"), Run("\n"), Run("two"))),
        ("<b>1 < 2</b>", (Run("<b>1 < 2</b>"),)),
        ("[**t**](http://a.example/b_c)", (Run("t", BOLD, "http://a.example/b_c"),)),
        ("![](http://a.example/p.png)", (Run("http://a.example/p.png", link="http://a.example/p.png"),)),
    ],
)
def test_a_line_is_read(text: str, runs: tuple[Run, ...]) -> None:
    assert parse(text) == Document((Paragraph(runs),))


def test_blocks_are_read() -> None:
    text = "## T\n\n> q\n\n3. a\n   - b\n4. c\n\n| x | y |\n|---|---|\n| 1 |\n\n---\n\n```py title\ncode\n\n```"

    blocks = parse(text).blocks

    inner = Listing(((Paragraph((Run("b"),)),),), None, True)
    assert blocks == (
        Heading(2, (Run("T"),)),
        Quote((Paragraph((Run("q"),)),)),
        Listing(((Paragraph((Run("a"),)), inner), (Paragraph((Run("c"),)),)), 3, True),
        Table((((Run("x"),), (Run("y"),)), ((Run("1"),), ()))),
        Rule(),
        CodeBlock("py", "code\n"),
    )


def test_a_list_with_blank_lines_between_its_items_is_loose() -> None:
    (listing,) = parse("- a\n\n- b").blocks

    assert isinstance(listing, Listing)
    assert not listing.is_tight


@given(st.text(alphabet=st.characters(), max_size=200) | st.text(alphabet="*_`~[]()<>|#- \n>1.\\&ab", max_size=200))
def test_nothing_that_is_text_breaks_the_reader(text: str) -> None:
    parse(text)


# --- cutting


def test_a_long_python_block_across_the_limit_is_closed_and_opened_again() -> None:
    code = "".join(f"    value_{n} = compute({n})\n" for n in range(250))
    text = "讲解。" * 900 + f"\n\n```python\n{code}```\n\n完。"

    parts = split_markdown(text, 4096, Measure.UTF16_UNITS)

    assert len(parts) > 2
    blocks = [block for part in parts for block in code_blocks(part)]
    assert all(block.language == "python" for block in blocks)
    assert "".join(block.text + "\n" for block in blocks) == code
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert all(utf16_length(part) <= 4096 for part in parts)


def test_a_cut_is_made_between_blocks_rather_than_inside_one() -> None:
    first, second = "first words. " * 20, "second words. " * 20

    parts = split_markdown(f"{first}\n\n{second}", 400, Measure.CHARACTERS)

    assert parts == (first.strip(), second)


def test_a_heading_stays_with_what_it_heads() -> None:
    text = f"{'a ' * 150}\n\n# Head\n\n{'b ' * 150}"

    parts = split_markdown(text, 400, Measure.CHARACTERS)

    assert parts[1].startswith("# Head")


def test_code_in_a_deep_list_is_cut_so_that_what_follows_it_is_not_code() -> None:
    code = "".join(f"      line {n} of the code\n" for n in range(30))
    text = f"- a\n  - b\n    - c\n      ```js\n{code}      ```\n\nAfter the list."

    parts = split_markdown(text, 200, Measure.CHARACTERS)

    last = parse(parts[-1]).blocks[-1]
    assert last == Paragraph((Run("After the list."),))
    lines = [line.strip() for part in parts for block in code_blocks(part) for line in block.text.split("\n")]
    assert lines == [f"line {n} of the code" for n in range(30)]


def test_code_in_a_quote_stays_in_the_quote() -> None:
    text = "> ```\n" + "".join(f"> line {n} of the code\n" for n in range(30)) + "> ```\n"

    parts = split_markdown(text, 200, Measure.CHARACTERS)

    assert all(isinstance(block, Quote) for part in parts for block in parse(part).blocks)
    assert "\n".join(b.text for part in parts for b in code_blocks(part)).count("line") == 30


@pytest.mark.parametrize(
    "text",
    [
        "w" * 19 + "\n```py\n" + "a" * 200 + "\n```",
        *("```py\n" + "a" * length + "\n``````````\nafter, and more of it" for length in range(40, 60)),
    ],
)
def test_a_long_line_of_code_is_cut_neither_at_its_opening_nor_at_its_closing(text: str) -> None:
    parts = split_markdown(text, 64, Measure.CHARACTERS)

    blocks = [block for part in parts for block in code_blocks(part)]
    assert {block.language for block in blocks} == {"py"}
    assert all(block.text for block in blocks)
    assert "".join(block.text for block in blocks) == code_blocks(text)[0].text


def test_blank_lines_at_the_end_of_code_make_no_block_of_their_own() -> None:
    text = "```py\n" + "a = 1\n" * 9 + "\n" * 30 + "```\nafter"

    parts = split_markdown(text, 64, Measure.CHARACTERS)

    assert all(block.text.strip() for part in parts for block in code_blocks(part))


def test_every_part_of_a_long_table_has_its_header() -> None:
    text = "before\n\n| 药 | dose |\n|---|---|\n" + "".join(f"| 药{n} | {n} mg |\n" for n in range(30))

    parts = split_markdown(text, 120, Measure.CHARACTERS)

    tables = [block for part in parts for block in parse(part).blocks if isinstance(block, Table)]
    assert len(tables) == len(parts) > 3
    assert {table.rows[0] for table in tables} == {((Run("药"),), (Run("dose"),))}
    assert [row[1][0].text for table in tables for row in table.rows[1:]] == [f"{n} mg" for n in range(30)]
    assert all(len(table.rows) > 1 and len(part) <= 120 for table, part in zip(tables, parts, strict=True))


@pytest.mark.parametrize("cells", ["1 | 2", "一个很长的格子，" * 15 + " | 2"])
def test_a_header_is_not_parted_from_its_rows(cells: str) -> None:
    text = "words before\n\n| a | b |\n|---|---|\n" + f"| {cells} |\n" * 9

    for limit in range(90, 125):
        parts = split_markdown(text, limit, Measure.CHARACTERS)

        assert "|---" in parts[0]
        assert not any(part.endswith("---|") for part in parts)


def test_an_astral_character_at_the_limit_is_not_cut() -> None:
    assert split_markdown("a" * 4095 + "🎩", 4096, Measure.UTF16_UNITS) == ("a" * 4095, "🎩")
    assert split_markdown("a" * 4095 + "🎩", 4096, Measure.CHARACTERS) == ("a" * 4095 + "🎩",)


@pytest.mark.parametrize("cluster", [FAMILY, "🇨🇳", "👍🏽", "1️⃣", "e\u0301", "🏴\U000e0067\U000e0062\U000e007f"])
@pytest.mark.parametrize("before", range(86, 100))
def test_a_cluster_at_the_limit_stays_whole(cluster: str, before: int) -> None:
    parts = split_markdown("a" * before + cluster * 3, 100, Measure.UTF16_UNITS)

    assert "".join(parts) == "a" * before + cluster * 3
    assert all((len(part) - part.count("a")) % len(cluster) == 0 for part in parts)


def test_flags_are_cut_between_pairs() -> None:
    assert [is_boundary("🇨🇳🇯🇵", at) for at in range(5)] == [True, False, True, False, True]


def test_halves_of_a_surrogate_pair_are_joined_and_lone_ones_never_leave() -> None:
    assert clean("a\ud83c\udfa9b\ud83c") == "a🎩b\ufffd"
    assert split_markdown("\udfa9", 100, Measure.UTF16_UNITS) == ("\ufffd",)


def test_a_text_that_fits_is_left_alone_and_a_blank_one_is_one_part() -> None:
    assert split_markdown("  a\n", 100, Measure.CHARACTERS) == ("  a\n",)
    assert split_markdown("", 100, Measure.CHARACTERS) == ("",)
    assert len(split_markdown(" \n" * 300, 100, Measure.CHARACTERS)) == 1


def test_a_cluster_longer_than_the_limit_still_ends() -> None:
    parts = split_markdown("e" + "\u0301" * 1000, 64, Measure.CHARACTERS)

    assert "".join(parts) == "e" + "\u0301" * 1000


_words = st.text(alphabet="ab 中。🎩👨‍👩 *`\n", min_size=1, max_size=120).map(lambda text: re.sub("`+", "`", text))
_code = st.text(alphabet="ab=()中🎩 \n", max_size=400)
_fence = st.builds(lambda language, code: f"```{language}\n{code}\n```", st.sampled_from(["", "py", "c++"]), _code)
_quoted = _code.map(lambda code: "\n".join(f"> {line}" for line in f"```js\n{code}\n```".split("\n")))
_documents = st.lists(_words.map(lambda text: f"p{text}") | _fence | _quoted, max_size=6).map("\n\n".join)


@settings(max_examples=300, deadline=None)
@given(_documents, st.integers(64, 300), st.sampled_from(Measure))
def test_every_part_fits_and_is_balanced_and_nothing_is_lost(text: str, limit: int, measure: Measure) -> None:
    parts = split_markdown(text, limit, measure)

    assert all(measure.of(part) <= limit for part in parts)
    assert not text.strip() or all(part.strip() for part in parts)
    assert all(part.count("```") % 2 == 0 for part in parts)
    code = [(block.language, block.text) for block in code_blocks(text)]
    shown = [(block.language, block.text) for part in parts for block in code_blocks(part)]
    assert squeezed("".join(body for _, body in shown)) == squeezed("".join(body for _, body in code))
    assert {language for language, body in shown if body} >= {language for language, body in code if body.strip()}
    plain = re.sub(r"```[a-z+]*|>", "", "\n".join(parts))
    assert squeezed(plain) == squeezed(re.sub(r"```[a-z+]*|>", "", text))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=600), st.integers(64, 200), st.sampled_from(Measure))
def test_whatever_the_text_no_part_is_too_long_and_no_lone_surrogate_leaves(
    text: str, limit: int, measure: Measure
) -> None:
    parts = split_markdown(text, limit, measure)

    assert all(measure.of(part) <= limit for part in parts)
    "".join(parts).encode()
