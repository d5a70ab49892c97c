"""The tools for the conversation's own files: `read_file`, `write_file`, `edit_file`, `list_files`."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

from kernel.builtin.file_text import FileText, decode, encode, kind_of
from kernel.errors import ModelError
from kernel.messages import Concurrency, Json, ToolWords
from kernel.texts import say
from kernel.tools import Approval, Run, Tool, ToolContext, ToolOutcome

PAGE_CHARS = 16_000
"""A page of a file; below `MAX_RESULT_CHARS`, so that nothing is cut out of its middle."""
MAX_WRITTEN_BYTES = 1_000_000
_MAX_LISTED = 80
_MAX_LINES = 2_000_000
"""Twenty million line ends, split, would take 160 MB."""
_MAX_COUNTED = 100
_MAX_PLACES = 10

_PATH = '"path":{"type":"string","description":"Inside this conversation\'s files, like notes/plan.md"}'
_READ_SCHEMA = (
    f'{{"type":"object","properties":{{{_PATH},'
    '"from_line":{"type":"integer","minimum":1,"description":"First line to read; 1 without it"},'
    '"lines":{"type":"integer","minimum":1,"description":"How many lines; as many as fit without it"}},'
    '"required":["path"],"additionalProperties":false}'
)
_WRITE_SCHEMA = (
    f'{{"type":"object","properties":{{{_PATH},"text":{{"type":"string"}}}},'
    '"required":["path","text"],"additionalProperties":false}'
)
_EDIT_SCHEMA = (
    f'{{"type":"object","properties":{{{_PATH},'
    '"old":{"type":"string","description":"Text that occurs exactly once, with its white space"},'
    '"new":{"type":"string","description":"What stands there instead"}},'
    '"required":["path","old","new"],"additionalProperties":false}'
)
_LIST_SCHEMA = (
    '{"type":"object","properties":{"path":{"type":"string","description":"A folder; all files without it"}},'
    '"additionalProperties":false}'
)


def page(path: str, content: bytes, from_line: int = 1, lines: int | None = None) -> str:
    """The file from that line on as the model reads it, with a head that says what it is and how to read on.

    Raises `ModelError` for bytes that are no text, and for a line that is not there.
    """
    found = _text(path, content)
    if found.text.count("\n") > _MAX_LINES:
        raise ModelError(f"{path} has more than {_count(_MAX_LINES, 'line')}; search_files finds what is in it.")
    all_lines = found.lines
    if not all_lines:
        return f"{path} is empty."
    if from_line > len(all_lines):
        raise ModelError(f"{path} has {_count(len(all_lines), 'line')}; line {from_line:,} is not there.")
    shown, size = list[str](), 0
    for line in all_lines[from_line - 1 :][:lines]:
        size += len(line) + 1
        if shown and size > PAGE_CHARS:
            break
        shown.append(_shortened(line))
        if size > PAGE_CHARS:
            break
    last = from_line + len(shown) - 1
    facts = [_count(len(all_lines), "line"), _count(len(content), "byte")]
    facts += [] if found.encoding.startswith("utf-8") else [found.encoding]
    facts += [f"here lines {from_line:,} to {last:,}"] if (from_line, last) != (1, len(all_lines)) else []
    facts += [f"read on with from_line={last + 1}"] if last < len(all_lines) else []
    return f"[{path}: {'; '.join(facts)}; all below is the file]\n" + "\n".join(shown)


def edited(path: str, content: bytes, old: str, new: str) -> tuple[bytes, int]:
    """The file's bytes with `old` replaced, and the line where that was.

    Raises `ModelError` unless `old` occurs exactly once; it says how often it does, and where.
    """
    found = _text(path, content)
    old, new = (words.replace("\r\n", "\n") if found.has_crlf else words for words in (old, new))
    if not old:
        raise ModelError("`old` is empty; write_file makes new files.")
    if old == new:
        raise ModelError("`old` and `new` are the same.")
    places = _places(found.text, old)
    if len(places) != 1:
        raise ModelError(_not_once(path, found.text, old, places))
    at = places[0]
    text = found.text[:at] + new + found.text[at + len(old) :]
    return found.encoded(text), _line_of(found.text, at)


def listing(paths: tuple[str, ...], folder: str) -> str:
    """The paths below the folder, one a line; folders with their numbers where all paths would be too many.

    Raises `ModelError` when there is no such folder.
    """
    name = "/".join(part for part in folder.split("/") if part not in ("", "."))
    head = f"{name}/" if name else ""
    inside = [path for path in paths if path.startswith(head) or path == name]
    if not inside:
        if name:
            raise ModelError(f"There is no file or folder {folder!r}.")
        return "There are no files yet."
    shown = inside
    if len(inside) > _MAX_LISTED:
        branches = Counter(path[len(head) :].partition("/")[::2] for path in inside)
        folders = Counter(branch for branch, rest in branches.elements() if rest)
        shown = [f"{head}{branch}/ ({_count(number, 'file')})" for branch, number in sorted(folders.items())]
        shown += [path for path in inside if "/" not in path[len(head) :]]
    more = [f"… and {len(shown) - _MAX_LISTED} more"] if len(shown) > _MAX_LISTED else []
    return "\n".join([f"{_count(len(inside), 'file')}:", *shown[:_MAX_LISTED], *more])


async def _read(arguments: Json, context: ToolContext) -> ToolOutcome:
    path, first, lines = str(arguments["path"]), arguments.get("from_line", 1), arguments.get("lines")
    assert isinstance(first, int | float)
    assert lines is None or isinstance(lines, int | float)
    content = await context.workspace.read(path)
    wanted = None if lines is None else int(lines)
    return ToolOutcome(await asyncio.to_thread(page, path, content, int(first), wanted))


async def _write(arguments: Json, context: ToolContext) -> ToolOutcome:
    path, content = str(arguments["path"]), encode(str(arguments["text"]))
    if len(content) > MAX_WRITTEN_BYTES:
        raise ModelError(f"The text has {len(content):,} bytes; one file written at once may have 1,000,000.")
    await context.workspace.write(path, content)
    return ToolOutcome(f"{path} is written: {_count(len(content), 'byte')}.")


async def _edit(arguments: Json, context: ToolContext) -> ToolOutcome:
    path, old, new = (str(arguments[name]) for name in ("path", "old", "new"))
    content, line = await asyncio.to_thread(edited, path, await context.workspace.read(path), old, new)
    await context.workspace.write(path, content)
    return ToolOutcome(f"{path} is changed at line {line:,}; it has {_count(len(content), 'byte')} now.")


async def _list(arguments: Json, context: ToolContext) -> ToolOutcome:
    return ToolOutcome(listing(context.workspace.paths(), str(arguments.get("path", ""))))


def _text(path: str, content: bytes) -> FileText:
    found = decode(content)
    if found is None:
        kind = kind_of(content) or "no text in UTF-8, UTF-16 or GB 18030"
        raise ModelError(f"{path} cannot be read as text: it is {kind}, {_count(len(content), 'byte')}.")
    return found


def _shortened(line: str) -> str:
    if len(line) <= PAGE_CHARS:
        return line
    return f"{line[:PAGE_CHARS]}[… this line has {len(line):,} characters; search_files finds what stands further on]"


def _places(text: str, old: str) -> list[int]:
    """Where `old` begins; places that overlap count, for each of them could be meant."""
    places, at = list[int](), text.find(old)
    while at >= 0 and len(places) < _MAX_COUNTED:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _not_once(path: str, text: str, old: str, places: list[int]) -> str:
    if places:
        lines = ", ".join(str(_line_of(text, at)) for at in places[:_MAX_PLACES])
        more = ", …" if len(places) > _MAX_PLACES else ""
        often = f"{len(places)} times{' and more' if len(places) == _MAX_COUNTED else ''}"
        return f"`old` occurs {often} in {path}, at lines {lines}{more}; give more of what surrounds it."
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    near = next((number for number, line in enumerate(text.split("\n"), 1) if first and first in line), None)
    hint = f" Its first line is in line {near:,}, so the rest or the white space differs." if near else ""
    return f"`old` does not occur in {path}.{hint} Read the file and copy the text exactly."


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _tool(words: ToolWords, concurrency: Concurrency, run: Run) -> Tool:
    """A tool that never asks: it reaches nothing but the conversation's own files."""
    return Tool(
        words=words,
        concurrency=lambda _: concurrency,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=30),
        describe=lambda _, language: say(f"does.{words.name}", language),
        run=run,
    )


READ_FILE = _tool(
    ToolWords(
        "read_file",
        f"Reads a text file of this conversation. Long files come in pages of about {PAGE_CHARS:,} characters: "
        "go on with from_line.",
        _READ_SCHEMA,
    ),
    Concurrency.READ_ONLY,
    _read,
)
WRITE_FILE = _tool(
    ToolWords(
        "write_file",
        "Creates a text file of this conversation, or replaces it whole. For a change of a part use edit_file.",
        _WRITE_SCHEMA,
    ),
    Concurrency.EXCLUSIVE,
    _write,
)
EDIT_FILE = _tool(
    ToolWords(
        "edit_file",
        "Replaces `old` by `new` in a text file of this conversation. `old` must occur exactly once.",
        _EDIT_SCHEMA,
    ),
    Concurrency.EXCLUSIVE,
    _edit,
)
LIST_FILES = _tool(
    ToolWords("list_files", "Lists the files of this conversation, all or those below a folder.", _LIST_SCHEMA),
    Concurrency.READ_ONLY,
    _list,
)
