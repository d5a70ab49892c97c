"""Markdown as models write it, as a small tree; cutting it at a platform's limit is `bots.splitting`.

CommonMark with GFM tables and strikethrough, read for chats: raw HTML is ordinary text, a single line break stays
a line break, and emphasis works beside Chinese, Japanese and Korean text (`**注意：**请` is bold in no strict reader).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_inline.state_inline import Delimiter, StateInline
from markdown_it.token import Token

from bots.splitting import clean


class Mark(Enum):
    """How a run of text looks."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strike"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Run:
    """Text with one look; `link` is its address or empty. Line breaks are `\\n`."""

    text: str
    marks: frozenset[Mark] = frozenset()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Ordinary text."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code, without the line break before its closing fence; `language` may be empty."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A block quote."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; `first` is its first number, None when it has bullets. `is_tight`: no blank lines between items."""

    items: tuple[tuple[Block, ...], ...]
    first: int | None
    is_tight: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first row is its header. Every row has as many cells as the header."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""


Block = Paragraph | Heading | CodeBlock | Quote | Listing | Table | Rule


@dataclass(frozen=True, slots=True)
class Document:
    """What `parse` understood, in order."""

    blocks: tuple[Block, ...]


def parse(text: str) -> Document:
    """The tree of `text`; every string is Markdown, so nothing raises. Lone surrogates come out as U+FFFD."""
    tokens = _reader().parse(clean(text))
    return Document(tuple(_blocks(iter(tokens), "")))


def _blocks(tokens: Iterator[Token], until: str) -> Iterator[Block]:
    for token in tokens:
        match token.type:
            case "paragraph_open" | "heading_open":
                runs = _runs(next(tokens).children or [])
                next(tokens)
                yield Paragraph(runs) if token.type == "paragraph_open" else Heading(int(token.tag[1]), runs)
            case "fence" | "code_block":
                yield CodeBlock(_language(token.info), token.content.removesuffix("\n"))
            case "blockquote_open":
                yield Quote(tuple(_blocks(tokens, "blockquote_close")))
            case "bullet_list_open" | "ordered_list_open":
                yield _listing(tokens, token)
            case "table_open":
                yield _table(tokens)
            case "hr":
                yield Rule()
            case _:
                if token.type == until:
                    return


def _listing(tokens: Iterator[Token], opening: Token) -> Listing:
    items: list[tuple[Block, ...]] = []
    is_tight = True
    ordered = opening.type == "ordered_list_open"
    for token in tokens:
        if token.type == "list_item_open":
            inside = list(_until_close(tokens, token.level))
            is_tight &= all(t.hidden for t in inside if t.type == "paragraph_open" and t.level == token.level + 1)
            items.append(tuple(_blocks(iter(inside), "")))
        else:
            break
    return Listing(tuple(items), int(opening.attrs.get("start", 1)) if ordered else None, is_tight)


def _until_close(tokens: Iterator[Token], level: int) -> Iterator[Token]:
    for token in tokens:
        if token.level == level and token.nesting == -1:
            return
        yield token


def _table(tokens: Iterator[Token]) -> Table:
    rows: list[list[tuple[Run, ...]]] = []
    for token in tokens:
        match token.type:
            case "tr_open":
                rows.append([])
            case "inline":
                rows[-1].append(_runs(token.children or []))
            case "table_close":
                break
    return Table(tuple(tuple(row) for row in rows))


_MARKS = {"strong": Mark.BOLD, "em": Mark.ITALIC, "s": Mark.STRIKE}
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def _runs(tokens: Sequence[Token]) -> tuple[Run, ...]:
    runs: list[Run] = []
    marks: list[Mark] = []
    link = ""
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                text, extra = "\n", frozenset[Mark]()
            case "code_inline":
                text, extra = token.content, frozenset({Mark.CODE})
            case "image":
                address = str(token.attrs.get("src", ""))
                runs.append(Run(token.content or address, frozenset(marks), link or address))
                continue
            case "link_open":
                link = str(token.attrs.get("href", ""))
                continue
            case "link_close":
                link = ""
                continue
            case _:
                if token.tag in _MARKS and token.nesting == 1:
                    marks.append(_MARKS[token.tag])
                elif token.tag in _MARKS and token.nesting == -1 and marks:
                    marks.remove(_MARKS[token.tag])
                text, extra = _BREAK.sub("\n", token.content), frozenset[Mark]()
        if text:
            runs.append(Run(text, frozenset(marks) | extra, link))
    return tuple(runs)


def _language(info: str) -> str:
    words = info.split()
    return words[0] if words else ""


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.inline.ruler.at("emphasis", _emphasis)
    return reader


def _emphasis(state: StateInline, silent: bool) -> bool:
    """markdown-it's rule, except that a neighbour in Chinese, Japanese or Korean frees a delimiter as a blank does."""
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    length = state.scanDelims(state.pos, marker == "*").length
    before = state.src[state.pos - 1] if state.pos > 0 else " "
    after = state.src[state.pos + length] if state.pos + length < state.posMax else " "
    left = not isWhiteSpace(ord(after)) and (not _is_punctuation(after) or _frees(before))
    right = not isWhiteSpace(ord(before)) and (not _is_punctuation(before) or _frees(after))
    split_word = marker == "*"
    can_open = left and (split_word or not right or _is_punctuation(before))
    can_close = right and (split_word or not left or _is_punctuation(after))
    for _ in range(length):
        state.push("text", "", 0).content = marker
        state.delimiters.append(
            Delimiter(ord(marker), length, len(state.tokens) - 1, -1, open=can_open, close=can_close)
        )
    state.pos += length
    return True


def _is_punctuation(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)


_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def _frees(char: str) -> bool:
    return isWhiteSpace(ord(char)) or _is_punctuation(char) or _CJK.match(char) is not None
