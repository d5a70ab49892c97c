"""A Markdown tree as lines of a chat: bullets, numbers, aligned tables, and for each piece how it looks."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from bots.markup import Block, CodeBlock, Document, Heading, Listing, Mark, Paragraph, Quote, Rule, Run, Table


@dataclass(frozen=True, slots=True)
class Span:
    """Text with one look. `code` is the language of a code block (may be empty), None outside of one."""

    text: str
    marks: frozenset[Mark] = frozenset()
    link: str = ""
    code: str | None = None
    is_quote: bool = False


def lay_out(document: Document) -> tuple[Span, ...]:
    """What people read, in order; the texts joined are the message without any look."""
    return tuple(_blocks(document.blocks, "\n\n"))


def _blocks(blocks: Sequence[Block], gap: str) -> Iterator[Span]:
    for number, block in enumerate(blocks):
        if number:
            yield Span(gap)
        yield from _block(block)


def _block(block: Block) -> Iterator[Span]:
    match block:
        case Paragraph(runs):
            yield from map(_span, runs)
        case Heading(_, runs):
            yield from (replace(_span(run), marks=run.marks | {Mark.BOLD}) for run in runs)
        case CodeBlock(language, text):
            yield Span(text, code=language)
        case Quote(blocks):
            yield from (replace(span, is_quote=True) for span in _blocks(blocks, "\n\n"))
        case Listing():
            yield from _listing(block)
        case Table():
            yield Span(_table(block), code="")
        case Rule():
            yield Span("———")
        case _:
            assert_never(block)


def _span(run: Run) -> Span:
    return Span(run.text, run.marks, run.link)


def _listing(listing: Listing) -> Iterator[Span]:
    for number, item in enumerate(listing.items):
        if number:
            yield Span("\n" if listing.is_tight else "\n\n")
        lead = "• " if listing.first is None else f"{listing.first + number}. "
        yield Span(lead)
        indent = "\n" + " " * len(lead)
        for span in _blocks(item, "\n"):
            yield span if span.code is not None else replace(span, text=span.text.replace("\n", indent))


def _table(table: Table) -> str:
    columns = len(table.rows[0])
    rows = [
        [" ".join("".join(run.text for run in cell).split()) for cell in row] + [""] * (columns - len(row))
        for row in table.rows
    ]
    widths = [max(width_of(row[column]) for row in rows) for column in range(columns)]
    lines = [
        " | ".join(cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def width_of(text: str) -> int:
    """How many columns of a fixed-width font `text` takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
