"""Markdown becomes text with entities that Telegram takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.splitting import utf16_length
from bots.telegram.entities import LIMIT, Rendered, render


def marked(rendered: Rendered) -> list[tuple[str, str]]:
    """Each entity with the text it covers."""
    units = rendered.text.encode("utf-16-le")
    return [
        (each.type, units[2 * each.offset : 2 * (each.offset + each.length)].decode("utf-16-le"))
        for each in rendered.entities
    ]


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("plain", "plain", []),
        ("**b *i* b**", "b i b", [("bold", "b i b"), ("italic", "i")]),
        ("🎩 **b**", "🎩 b", [("bold", "b")]),
        ("**`c`** d", "c d", [("code", "c")]),
        ("# T\n\nx", "T\n\nx", [("bold", "T")]),
        ("```py\na\n```", "a", [("pre", "a")]),
        ("> a\n> b", "a\nb", [("blockquote", "a\nb")]),
        ("- a\n- b\n  - c", "• a\n• b\n  • c", []),
        ("2. a\n3. b", "2. a\n3. b", []),
        ("[t](https://a.example/x_(y))", "t", [("text_link", "t")]),
        ("[t](ftp://a.example)", "t (ftp://a.example)", []),
        ("[t](a.md)", "t (a.md)", []),
        ("| 名 | b |\n|-|-|\n| 1 | 22 |", "名 | b\n---+---\n1  | 22", [("pre", "名 | b\n---+---\n1  | 22")]),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", []),
        ("[r]: http://a.example", "[r]: http://a.example", []),
        ("  \n ", "", []),
    ],
)
def test_rendering(markdown: str, text: str, entities: list[tuple[str, str]]) -> None:
    rendered = render(markdown)

    assert rendered.text == text
    assert marked(rendered) == entities


def test_a_table_too_wide_for_one_message_is_sent_as_it_was_written() -> None:
    markdown = "| a | b |\n|---|---|\n" + f"| {'x' * 300} | y |\n" + "| 1 | 2 |\n" * 60

    rendered = render(markdown)

    assert rendered.text == markdown.strip()
    assert rendered.entities == ()


_markdown = st.text(alphabet="ab中🎩*_`~>#-1.|[]() \n", max_size=200) | st.text(st.characters(), max_size=100)


@settings(max_examples=300, deadline=None)
@given(_markdown)
def test_entities_lie_in_the_text_nest_and_cut_no_character(markdown: str) -> None:
    rendered = render(markdown)

    length = utf16_length(rendered.text)
    assert length <= LIMIT
    assert rendered.text == rendered.text.strip()
    spans = [(each.offset, each.offset + each.length, each.type) for each in rendered.entities]
    assert all(0 <= start < end <= length for start, end, _ in spans)
    assert all(covered.strip() for _, covered in marked(rendered))
    for start, end, kind in spans:
        for other_start, other_end, other in spans:
            if (start, end, kind) != (other_start, other_end, other) and max(start, other_start) < min(end, other_end):
                assert (start <= other_start and other_end <= end) or (other_start <= start and end <= other_end)
                assert not {"pre"} & {kind, other}


def test_entities_never_cross() -> None:
    assert marked(render("*a **b***__c _d___")) == [
        ("italic", "a b"),
        ("bold", "b"),
        ("bold", "c d"),
        ("italic", "d"),
    ]
