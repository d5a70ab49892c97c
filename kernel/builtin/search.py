"""The tool `search_files`: a regular expression over the conversation's files.

RE2 and not a backtracking engine: its time is linear in the text and a pattern's memory has a bound, while
`((((x{100}){100}){100}){100})` alone, merely compiled, takes all memory with others. Linear can still be slow
(a thousand states at every byte), so the text goes in pieces and the search ends when its time is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from kernel.builtin.file_text import decode, encode
from kernel.errors import ModelError
from kernel.messages import Concurrency, Json, ToolWords
from kernel.texts import say
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome

PATIENCE = timedelta(seconds=5)
MAX_HITS = 50
MAX_PATTERN_CHARS = 500
MAX_SEARCHED_BYTES = 5_000_000
"""Larger files are left out, and named."""
_PIECE_BYTES = 16_384
_PATTERN_MEMORY = 1 << 20
_LINE_BYTES = 300
_MAX_SHOWN_CHARS = 15_000

_DESCRIPTION = (
    "Searches the text files of this conversation, line by line, with a regular expression (RE2: no look-around, "
    "no back-references; (?i) ignores case; \\p{Han} is a Chinese character). Gives path, line number and the lines "
    f"around, {MAX_HITS} matches at most."
)
_SCHEMA = (
    '{"type":"object","properties":{"pattern":{"type":"string"},'
    '"path":{"type":"string","description":"A folder or one file; everything without it"}},'
    '"required":["pattern"],"additionalProperties":false}'
)


@dataclass
class _Found:
    """What a search has come to so far."""

    blocks: list[str] = field(default_factory=list)
    hits: int = 0
    chars: int = 0
    binary: int = 0
    large: list[str] = field(default_factory=list)
    is_full: bool = False
    is_late: bool = False

    def add(self, path: str, text: bytes, hits: dict[int, int]) -> None:
        """Keep the matching lines of one file (number to byte position), each with the lines around it."""
        lines, block, last = text.removesuffix(b"\n").split(b"\n"), [path], 0
        for number, position in hits.items():
            for near in range(max(number - 1, last + 1, 1), number + 1):
                block += ["  --"] if last and near > last + 1 else []
                column = position - text.rfind(b"\n", 0, position) - 1 if near == number else 0
                block.append(f"  {near}{':' if near == number else '-'} {_excerpt(lines[near - 1], column)}")
                last = near
            self.hits += 1
            if number < len(lines) and number + 1 not in hits:
                block.append(f"  {number + 1}- {_excerpt(lines[number], 0)}")
                last = number + 1
            self.chars += sum(len(line) for line in block[-3:])
            if self.hits >= MAX_HITS or self.chars > _MAX_SHOWN_CHARS:
                self.is_full = True
                break
        self.blocks.append("\n".join(block))


def compiled(pattern: str) -> object:
    """The pattern, ready for UTF-8 bytes. Raises `ModelError` for one that RE2 refuses, with its reason."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise ModelError(f"A pattern has 1 to {MAX_PATTERN_CHARS} characters.")
    # Most workers never search: 2 MB less until they do. It comes without types; what crosses it is bytes and numbers.
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.never_capture = True
    options.max_mem = _PATTERN_MEMORY
    try:
        return re2.compile(b"(?m)" + encode(pattern), options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise ModelError(f"The pattern is not understood: {reason}. It is RE2 syntax.") from error


def search_tool(patience: timedelta = PATIENCE) -> Tool:
    """The tool; a search that takes longer than `patience` gives what it has found by then."""

    async def run(arguments: Json, context: ToolContext) -> ToolOutcome:
        pattern, folder = compiled(str(arguments["pattern"])), str(arguments.get("path", ""))
        paths = _scope(context.workspace.paths(), folder)
        found = _Found()
        try:
            async with asyncio.timeout(patience.total_seconds()):
                for path in paths:
                    await _search(pattern, path, await context.workspace.read(path), found)
                    if found.is_full:
                        break
        except TimeoutError:
            found.is_late = True
        return ToolOutcome(_told(found, len(paths)))

    return Tool(
        words=ToolWords("search_files", _DESCRIPTION, _SCHEMA),
        concurrency=lambda _: Concurrency.READ_ONLY,
        approval=lambda _: Approval.NEVER,
        timeout=patience + timedelta(seconds=25),
        describe=lambda _, language: say("does.search_files", language),
        run=run,
    )


def _scope(paths: tuple[str, ...], folder: str) -> list[str]:
    name = "/".join(part for part in folder.split("/") if part not in ("", "."))
    inside = [path for path in paths if not name or path == name or path.startswith(f"{name}/")]
    if name and not inside:
        raise ModelError(f"There is no file or folder {folder!r}.")
    return inside


async def _search(pattern: object, path: str, content: bytes, found: _Found) -> None:
    if len(content) > MAX_SEARCHED_BYTES:
        found.large.append(path)
        return
    text = await asyncio.to_thread(decode, content)
    if text is None:
        found.binary += 1
        return
    searched, hits, first, at = text.text.encode("utf-8", "replace"), dict[int, int](), 1, 0
    for piece in _pieces(searched):
        for number, position in await asyncio.to_thread(_matching_lines, pattern, piece, first):
            hits.setdefault(number, at + position)
        first, at = first + piece.count(b"\n"), at + len(piece)
        if len(hits) >= MAX_HITS:
            break
    if hits:
        found.add(path, searched, hits)


def _pieces(text: bytes) -> Iterator[bytes]:
    """The text in pieces that end with a line, or in the middle of one that is longer than a piece."""
    at = 0
    while at < len(text):
        end = text.rfind(b"\n", at, at + _PIECE_BYTES) + 1
        end = end or at + _PIECE_BYTES
        yield text[at:end]
        at = end


def _matching_lines(pattern: object, piece: bytes, first: int) -> list[tuple[int, int]]:
    """Numbers of the lines that match with the bytes where; `first` is the number of the piece's first line."""
    hits, at, number = list[tuple[int, int]](), 0, first
    while at < len(piece) and len(hits) < MAX_HITS:
        match = pattern.search(piece, at)  # type: ignore[attr-defined]  # Of a library without types.
        if match is None or match.start() >= len(piece):
            break
        number += piece.count(b"\n", at, match.start())
        hits.append((number, match.start()))
        at = piece.find(b"\n", match.start()) + 1 or len(piece)
        number += 1
    return hits


def _excerpt(line: bytes, at: int) -> str:
    """The line; of a long one what stands around byte `at`."""
    if len(line) <= _LINE_BYTES:
        return line.decode("utf-8", "replace")
    start = max(0, at - _LINE_BYTES // 3)
    part = line[start : start + _LINE_BYTES].decode("utf-8", "ignore")
    return f"{'…' if start else ''}{part}… (line of {len(line):,} bytes)"


def _told(found: _Found, files: int) -> str:
    notes = []
    if found.is_full:
        notes.append("There may be more: narrow the pattern or the path.")
    if found.is_late:
        notes.append("The time for a search was over before all was searched: simplify the pattern or narrow the path.")
    if found.large:
        notes.append(f"Left out as larger than {MAX_SEARCHED_BYTES // 1_000_000} MB: {', '.join(found.large[:5])}.")
    if found.binary:
        notes.append(f"Left out as no text: {found.binary}.")
    head = f"{found.hits} matching line{'' if found.hits == 1 else 's'} in {len(found.blocks)} of {files} files."
    return "\n".join([" ".join([head, *notes]), *found.blocks])
