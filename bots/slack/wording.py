"""Text on its way to and from Slack: control sequences made harmless, entities read back, limits kept.

Slack reads `<!channel>`, `<@U…>`, `<#C…>` and `<address|label>` as commands wherever it meets them, in a `markdown`
block too; an entity is shown as its character and not read again. So every `<` of ours goes out as `&lt;`. In a
`markdown` block `&` and `>` stay: `&amp;` would break addresses, `>` alone opens nothing but a quote.
"""

from __future__ import annotations

import re
from typing import Final

from bots.splitting import Measure, clean, split_markdown, utf16_length
from kernel.chat import command_of

MARKDOWN_LIMIT: Final = 12_000
"""Characters in all `markdown` blocks of one message."""
TEXT_LIMIT: Final = 40_000
UPDATE_TEXT_LIMIT: Final = 4_000
"""`chat.update` refuses longer `text`."""
PREVIEW_LIMIT: Final = 3_000
"""Of the `text` beside blocks: notifications and screen readers use it, the message shows the blocks."""
LABEL_LIMIT: Final = 75

_SPLITS: Final = (11_500, 5_700, 2_900)
"""Limits to try: text full of `<` grows fourfold when it is escaped, and then fits at the last one."""

_CONTROL: Final = re.compile(r"<([^<>\n]*)>")
_SHOUTED: Final = re.compile(r"[!！](?=[A-Za-z])")  # a Chinese keyboard gives the full-width sign


def escaped(text: str) -> str:
    """`text` for a `text` field: shown literally, notifies nobody."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def harmless_markdown(text: str) -> str:
    """Markdown for a `markdown` block in which nothing is a mention, a broadcast or a disguised link."""
    return clean(text).replace("<", "&lt;")


def markdown_block(text: str) -> dict[str, object]:
    """The block that shows `text`, harmless."""
    return {"type": "markdown", "text": harmless_markdown(text)}


def preview(text: str, limit: int = PREVIEW_LIMIT) -> str:
    """The beginning of `text`, escaped, at most `limit` characters."""
    whole = escaped(text)
    if len(whole) <= limit:
        return whole
    cut = whole[: limit - 1]
    entity = cut.rfind("&")
    if entity >= 0 and ";" not in cut[entity:]:
        cut = cut[:entity]
    return cut + "…"


def clipped_markdown(text: str) -> str:
    """As much of `text` as one `markdown` block holds, made harmless."""
    if len(harmless_markdown(text)) <= MARKDOWN_LIMIT:
        return harmless_markdown(text)
    return harmless_markdown(split_markdown(text, _SPLITS[-1], Measure.UTF16_UNITS)[0]) + "\n…"


def parts_of(text: str) -> tuple[str, ...]:
    """Markdown for one message each, so that each still fits after escaping."""
    *larger, smallest = _SPLITS
    for limit in larger:
        parts = split_markdown(text, limit, Measure.UTF16_UNITS)
        if all(_fits(part) for part in parts):
            return parts
    return split_markdown(text, smallest, Measure.UTF16_UNITS)


def _fits(part: str) -> bool:
    return utf16_length(harmless_markdown(part)) <= MARKDOWN_LIMIT and utf16_length(escaped(part)) <= TEXT_LIMIT


def label(text: str) -> str:
    """`text` as the face of a button; never empty."""
    line = " ".join(clean(text).split()) or "…"
    return line if len(line) <= LABEL_LIMIT else line[: LABEL_LIMIT - 1] + "…"


def read(text: str) -> str:
    """What a person wrote, from Slack's encoding: links and mentions as plain words, entities as characters."""
    words = _CONTROL.sub(_spoken, clean(text))
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def _spoken(found: re.Match[str]) -> str:
    target, _, shown = found[1].partition("|")
    match target[:1]:
        case "@":
            return f"@{shown or target[1:]}"
        case "#":
            return f"#{shown or target[1:]}"
        case "!":
            return shown or f"@{target[1:].partition('^')[0]}"
        case _:
            bare = target.removeprefix("mailto:").removeprefix("tel:")
            return f"{shown} ({bare})" if shown and shown not in (target, bare) else bare


def as_command(text: str) -> str:
    """`text` with `!stop` spelled `/stop`, because Slack sends no slash commands from threads; other text as it is."""
    spelled = _SHOUTED.sub("/", text, count=1) if _SHOUTED.match(text) else text
    return spelled if command_of(spelled) else text
