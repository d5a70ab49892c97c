"""Markdown cut into parts that fit a platform's limit, each of which can be read on its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


class Measure(Enum):
    """What a platform's limit counts."""

    CHARACTERS = "characters"
    UTF16_UNITS = "utf16_units"

    def of(self, text: str) -> int:
        """The length of `text`."""
        match self:
            case Measure.CHARACTERS:
                return len(text)
            case Measure.UTF16_UNITS:
                return utf16_length(text)


def utf16_length(text: str) -> int:
    """How many UTF-16 code units `text` takes; a lone surrogate counts as one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def clean(text: str) -> str:
    """`text` with surrogate pairs joined, lone surrogates and NUL as U+FFFD, and `\\n` as the only line end."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def split_markdown(text: str, limit: int, measure: Measure) -> tuple[str, ...]:
    """`text` in order, in parts of at most `limit` (>= 64); at least one, none blank unless `text` is.

    A code block that is cut is closed at the end of one part and opened again, language kept, at the start of the
    next; a table that is cut between rows gets its header again. Cuts are made between blocks where possible, then
    between lines, sentences, words, and at last anywhere but inside a character that people see as one. Without those
    fences and headers the parts joined are `clean(text)`, up to white space at cuts outside code.
    """
    rest = clean(text)
    parts: list[str] = []
    while len(rest) > limit or measure.of(rest) > limit:
        part, rest = _cut(rest, limit, measure)
        if part.strip():
            parts.append(part)
    if rest.strip() or not parts:
        parts.append(rest)
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code block in the source: its content's offsets, and what opens it again and closes it."""

    start: int
    end: int
    stop: int
    """Where its closing line ends."""
    opening: str
    closing: str
    quote: str
    """What each of its lines begins with when it stands in a block quote."""
    indent: int
    """How far its lines are moved in by the list it stands in."""

    def holds(self, cut: int) -> bool:
        return self.start < cut < self.end

    def is_over_at(self, text: str, cut: int) -> bool:
        """Only the closing line, or blank lines and it, would be left of it after `cut`."""
        return self.start < cut <= self.end and not text[cut : self.end].strip("> \t\n")


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a table in the source, and what makes them one."""

    start: int
    end: int
    header: str

    def stops_cut(self, cut: int) -> bool:
        """Its header would stand alone, or be cut itself."""
        return self.start - len(self.header) < cut <= self.start

    def holds(self, cut: int) -> bool:
        return self.start < cut < self.end


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a cut may be made; a lower `rank` is a better one."""

    rank: int
    offset: int


_LINE_RANK = 8
_CODE_RANK = 9


def _cut(text: str, limit: int, measure: Measure) -> tuple[str, str]:
    """The first part of `text`, and what is left: Markdown that can be read on its own."""
    reach = _reach(text, limit, measure)
    # Only as much is parsed as can matter, so that a long text costs time in proportion to its length.
    places, fences, tables = _outline(text[: reach + limit // 4], limit, measure)
    floor = reach // 3
    fits = [
        place
        for place in places
        if floor < place.offset <= reach
        and ((fence := _at(fences, place.offset)) is None or _closes(text, place.offset, fence, limit, measure))
    ]
    if fits:
        cut = min(fits, key=lambda place: (place.rank, -place.offset)).offset
    else:
        fence = next((fence for fence in fences if fence.start < reach <= fence.stop), None)
        if fence is not None:
            floor = max(floor, fence.start)
            reach = min(_reach(text, limit - measure.of(fence.closing) - 1, measure), fence.end - 2)
        cut = _in_line(text, floor, reach)
    fence = _at(fences, cut)
    if fence is None:
        is_between_lines = text[cut - 1] == "\n"
        header = next((table.header for table in tables if is_between_lines and table.holds(cut)), "")
        return text[:cut].rstrip(), header + _BLANK_LINES.sub("", text[cut:], count=1)
    rest = _moved_out(text[cut:], fence) if fence.indent else text[cut:]
    if text[cut - 1] == "\n":
        return text[:cut] + fence.closing, fence.opening + rest
    return f"{text[:cut]}\n{fence.closing}", fence.opening + fence.quote + rest


def _moved_out(text: str, fence: _Fence) -> str:
    """`text`, which begins inside `fence`, with the fence's lines where they stand outside the list."""
    marker = fence.closing.strip()
    end = re.compile(rf"^[ \t]*{marker}{marker[0]}*[ \t]*$", re.MULTILINE).search(text)
    inside = text[: end.end()] if end else text
    return re.sub(rf"^ {{1,{fence.indent}}}", "", inside, flags=re.MULTILINE) + text[len(inside) :]


_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


def _reach(text: str, limit: int, measure: Measure) -> int:
    """The largest offset (or one less) whose text is within `limit`."""
    end = min(len(text), limit)
    while (over := measure.of(text[:end]) - limit) > 0:
        end -= max(1, over // 2)
    return end


def _at(fences: Sequence[_Fence], cut: int) -> _Fence | None:
    return next((fence for fence in fences if fence.holds(cut)), None)


def _closes(text: str, cut: int, fence: _Fence, limit: int, measure: Measure) -> bool:
    return measure.of(text[:cut]) + measure.of(fence.closing) <= limit


def _outline(text: str, limit: int, measure: Measure) -> tuple[list[_Place], list[_Fence], list[_Table]]:
    """Every line of `text` as a place to cut, its code blocks, and its tables."""
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    ranks: dict[int, int] = {}
    fences: list[_Fence] = []
    tables: list[_Table] = []
    heading_end = -1
    for token in _outliner().parse(text):
        if token.map is None or token.type == "inline":
            continue
        line, end = token.map
        rank = _LINE_RANK - 1 if line == heading_end else min(token.level, _LINE_RANK - 1)
        ranks[starts[line]] = min(rank, ranks.get(starts[line], _LINE_RANK))
        if token.type == "heading_open":
            heading_end = _after_blank(text, starts, end)
        if token.type == "fence":
            fence = _fence(text, starts, token)
            if measure.of(fence.opening) + measure.of(fence.closing) <= limit // 4:
                fences.append(fence)
        if token.type == "table_open" and token.level == 0:
            header = text[starts[line] : starts[line + 2]]
            if measure.of(header) <= limit // 4:
                tables.append(_Table(starts[line + 2], starts[end], header))
    places = [
        _Place(_CODE_RANK if _at(fences, offset) else ranks.get(offset, _LINE_RANK), offset)
        for offset in starts[1:-1]
        if not any(fence.start == offset or fence.is_over_at(text, offset) for fence in fences)
        and not any(table.stops_cut(offset) for table in tables)
    ]
    return places, fences, tables


def _after_blank(text: str, starts: Sequence[int], line: int) -> int:
    while line < len(starts) - 1 and not text[starts[line] : starts[line + 1]].strip():
        line += 1
    return line


def _fence(text: str, starts: Sequence[int], token: Token) -> _Fence:
    assert token.map is not None
    first, end = token.map
    line = text[starts[first] : starts[first + 1]]
    # Inside a list the marker of the item becomes blanks; a quote's `>` stays, each line of the code has it too.
    before = re.sub(r"[^>\s]", " ", line[: line.index(token.markup)])
    quote = before if ">" in before else ""
    language = (token.info.split() or [""])[0]
    content_end = starts[end]
    last = text[starts[end - 1] : starts[end]]
    if end - 1 > first and last.strip(" \t\n>").startswith(token.markup):
        content_end = starts[end - 1]
    return _Fence(
        start=starts[first + 1],
        end=content_end,
        stop=starts[end],
        opening=f"{quote}{token.markup}{language}\n",
        closing=f"{before}{token.markup}",
        quote=quote,
        indent=0 if quote else len(before),
    )


_STOPS = (re.compile(r"[。！？；…]+[”’」』）]*|[.!?;](?=\s)"), re.compile(r"\s+"), re.compile(r"[，、：,:）)]"))


def _in_line(text: str, floor: int, reach: int) -> int:
    """Where to cut inside a line: after a sentence, else a word, else a clause, else between characters."""
    for stops in _STOPS:
        ends = [match.end() for match in stops.finditer(text, floor, reach)][-64:]
        for end in reversed(ends):
            if _is_outside_markup(text, end):
                return end
    cut = reach
    while cut > floor and not is_boundary(text, cut):
        cut -= 1
    return cut if cut > floor else reach


def _is_outside_markup(text: str, cut: int) -> bool:
    line = text[text.rfind("\n", 0, cut) + 1 : cut]
    return not (line.count("`") % 2 or line.count("**") % 2 or line.rfind("](") > line.rfind(")"))


def is_boundary(text: str, at: int) -> bool:
    """Whether a cut at `at` breaks no character that people see as one (of UAX 29, the parts that chats meet)."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\u200d" or after == "\u200d" or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    if "\u1160" <= after <= "\u11ff":
        return False
    if _is_flag(before) and _is_flag(after):
        run = at
        while run > 0 and _is_flag(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 0
    return True


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


@cache
def _outliner() -> MarkdownIt:
    outliner = MarkdownIt("commonmark", {"html": False}).enable("table")
    outliner.core.ruler.disable("inline")
    return outliner
