"""Markdown as Telegram shows it: plain text, and entities that say where it is bold.

Entities are safer than parse modes: nothing needs escaping, so nothing can be escaped wrongly (aiogram 3.31 leaves
`)` alone in MarkdownV2 addresses). Rules of nesting: Bot API, MessageEntity and "Formatting options".
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from aiogram.types import MessageEntity

from bots.layout import Span, lay_out
from bots.markup import Mark, parse
from bots.splitting import clean, utf16_length

LIMIT = 4096
"""UTF-16 units of a message's text after parsing."""

_MARKS = {Mark.BOLD: "bold", Mark.ITALIC: "italic", Mark.STRIKE: "strikethrough", Mark.CODE: "code"}
_SCHEMES = frozenset({"http", "https", "tg", "mailto", "tel"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message's text, and its entities with offsets in UTF-16 units."""

    text: str
    entities: tuple[MessageEntity, ...] = ()


@dataclass(slots=True)
class _Range:
    """An entity in the making, its ends in characters."""

    kind: str
    extra: str
    start: int
    end: int


def render(markdown: str) -> Rendered:
    """`markdown` for one message; as it was written when it would come out empty or, because of a table, too long."""
    spans = [_shown(span) for span in lay_out(parse(markdown))]
    text = "".join(span.text for span in spans)
    if not text.strip() or utf16_length(text.strip()) > LIMIT:
        return Rendered(clean(markdown).strip())
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    units = [0]
    for char in text:
        units.append(units[-1] + (2 if char > "\uffff" else 1))
    entities = []
    for each in _ranges(spans):
        start, end = max(each.start, first), min(each.end, last)
        if text[start:end].strip():
            entities.append(_entity(each, units[start] - units[first], units[end] - units[start]))
    entities.sort(key=lambda entity: (entity.offset, -entity.length))
    return Rendered(text[first:last], tuple(entities))


def _shown(span: Span) -> Span:
    """With an address that Telegram would not link, written out."""
    if not span.link or _is_linkable(span.link):
        return span
    text = span.text if span.text == span.link else f"{span.text} ({span.link})"
    return Span(text, span.marks, "", span.code, span.is_quote)


def _is_linkable(address: str) -> bool:
    try:
        return urlsplit(address).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _ranges(spans: list[Span]) -> list[_Range]:
    """Neighbours of one kind are one entity, as far as entities still nest and none crosses another's end."""
    done: list[_Range] = []
    stack: list[_Range] = []
    at = 0
    for span in spans:
        kinds = _kinds(span)
        goes_on = [(each.kind, each.extra) in kinds for each in stack]
        del stack[goes_on.index(False) if False in goes_on else len(stack) :]
        open_now = [(each.kind, each.extra) for each in stack]
        opened = [_Range(*kind, at, at) for kind in kinds if kind not in open_now]
        done += opened
        stack += opened
        at += len(span.text)
        for each in stack:
            each.end = at
    return done


def _kinds(span: Span) -> list[tuple[str, str]]:
    if span.code is not None:
        return [("pre", span.code)]
    kinds = [("blockquote", "")] if span.is_quote else []
    if span.link:
        kinds.append(("text_link", span.link))
    elif Mark.CODE in span.marks:
        return [*kinds, ("code", "")]
    return kinds + [(_MARKS[mark], "") for mark in Mark if mark in span.marks and mark is not Mark.CODE]


def _entity(each: _Range, offset: int, length: int) -> MessageEntity:
    match each.kind:
        case "text_link":
            return MessageEntity(type=each.kind, offset=offset, length=length, url=each.extra)
        case "pre" if each.extra:
            return MessageEntity(type=each.kind, offset=offset, length=length, language=each.extra)
        case _:
            return MessageEntity(type=each.kind, offset=offset, length=length)
