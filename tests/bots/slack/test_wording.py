"""Nothing that a model or a person wrote becomes a control sequence; everything fits."""

from __future__ import annotations

import pytest

from bots.slack.wording import (
    LABEL_LIMIT,
    MARKDOWN_LIMIT,
    TEXT_LIMIT,
    clipped_markdown,
    escaped,
    harmless_markdown,
    label,
    parts_of,
    preview,
)

PINGS = ["<!channel>", "<!here|here>", "<!everyone>", "<@U2>", "<#C1|x>", "<!subteam^S1>", "<https://evil|bank>"]


@pytest.mark.parametrize("ping", PINGS)
def test_no_control_sequence_survives(ping: str) -> None:
    text = f"if a < b && c > d {ping} `{ping}`\n```\n{ping}\n```"

    assert "<" not in harmless_markdown(text)
    assert "<" not in escaped(text)
    assert "<" not in preview(text)


def test_markdown_stays_markdown() -> None:
    text = "> a quote\n\n**bold** [link](https://a.example/?x=1&y=2) a && b"

    assert harmless_markdown(text) == text


def test_what_is_escaped_reads_as_it_was_written() -> None:
    assert escaped("a < b && c > d &lt;") == "a &lt; b &amp;&amp; c &gt; d &amp;lt;"


@pytest.mark.parametrize("limit", range(8, 40))
def test_a_preview_never_ends_inside_an_entity(limit: int) -> None:
    cut = preview("<>&" * 30, limit)

    assert len(cut) <= limit
    assert cut.endswith("…")
    assert cut.rstrip("…").count("&") == cut.count(";")


@pytest.mark.parametrize(
    "text",
    [
        "查房记录。" * 8_000,
        "<" * 30_000,
        "&" * 50_000,
        "word " * 9_000,
        "```\n" + "a < b\n" * 6_000 + "```",
        "😀" * 20_000,
    ],
)
def test_every_part_fits_after_escaping_and_nothing_is_lost(text: str) -> None:
    parts = parts_of(text)

    assert all(len(harmless_markdown(part)) <= MARKDOWN_LIMIT for part in parts)
    assert all(len(escaped(part)) <= TEXT_LIMIT for part in parts)
    letters = [each for each in "".join(parts) if not each.isspace() and each != "`"]
    assert letters == [each for each in text if not each.isspace() and each != "`"]


def test_a_short_text_is_one_part_as_it_is() -> None:
    assert parts_of("你好 **there**") == ("你好 **there**",)


def test_what_must_fit_into_one_block_is_cut() -> None:
    assert len(clipped_markdown("<" * 30_000)) <= MARKDOWN_LIMIT
    assert clipped_markdown("short <") == "short &lt;"


def test_a_button_always_has_a_face_that_fits() -> None:
    assert label(" \n ") == "…"
    assert label("完成\nnow") == "完成 now"
    assert len(label("x" * 200)) == LABEL_LIMIT
