"""What of a model's words is meant for the person: its narration of its own doings, and markers, are not.

Works line by line and leaves code and all other Markdown as they are, but for code blocks that are a call written out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from itertools import islice

_GONE = "\0"
"""Stands where something was taken out."""
_LEFT_ALONE = _GONE + " \t\r>*_-#"
"""What is no line any more when only that is left of it."""
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_INNER = "think|thinking|thought|reasoning|scratchpad|tool_call|tool_calls|tool_result|function_calls|invoke"
_CODE = r"(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)[^`\n]+(?P=ticks)(?!`))"
_BLOCK = (
    rf"<(?P<inner>{_INNER})\b[^>]{{0,200}}>.*?(?:</(?P=inner)\s*>|\Z)"
    r"|<function=[^>\n]{0,200}>.*?(?:</function>|\Z)"
    # What some models write to their own servers: <|tool_call_begin|>, <｜tool▁calls▁end｜>.
    r"|<[|｜]tool[^|｜>\n]{0,60}begin[|｜]>(?:.*<[|｜]tool[^|｜>\n]{0,60}end[|｜]>|.*\Z)"
)
_OURS = (
    r"\[Written by the program\b[^\]]*(?:\]|\Z)"
    r"|\[quoted, not said by the person(?:\]|\Z)"
    r"|^[ \t>*_-]*\[\d{4}-\d\d-\d\d \w{3} \d\d:\d\d [^\]]*(?:\][ \t]*|\Z)"
)
_MARKERS = re.compile(rf"{_CODE}|{_BLOCK}|{_OURS}", re.DOTALL | re.I | re.M)
_STRAY = re.compile(
    rf"{_CODE}|</?(?:{_INNER})\b[^>]{{0,200}}>|<[|｜][^|｜>\n]{{1,60}}[|｜]>",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^\W{0,4}(?:thought|action input|tool call|tool result|function call|思考|工具调用|调用工具|工具结果)\W{0,4}[:：]"
    r"|^\W{0,4}(?:action|行动|动作)\W{0,4}[:：]\W{0,4}[A-Za-z][\w.]*\W*$",
    re.IGNORECASE,
)
_LATER_STEP = re.compile(r"^\W{0,4}(?:action|observation|行动|动作|观察)\W{0,4}[:：]", re.IGNORECASE)
"""Steps only behind another: doctors observe and act, too."""
_BRACKET = re.compile(
    r"^\s*[\[【(（]\s*(?:tool[ _]?(?:use|call|result)|function|calling|using|调用|正在调用|使用工具|工具)",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\b(?:I(?:'ll| will| am going to|'m going to| need to| should| am| 'm|'ve| have)|let me|now|first|next|using|"
    r"calling|use|call|called)\b|我(?:将|会|来|先|要|去|正在|已)|让我|调用|使用|用.{0,30}工具|接下来|首先",
    re.IGNORECASE,
)
_HIDDEN = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]|\\\\(?=_)")
"""What a reader does not see in a name."""
_NAMES = ("name", "tool", "tool_name", "function", "action")
_CALL_INFO = re.compile(r"\s*(?:```|~~~)\s*(?:tool|function)_?(?:code|calls?|use)\b", re.IGNORECASE)
_OBJECT = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_MOST_OBJECTS = 100
"""Of one text are read: each that is broken costs as much time as the text is long."""


def for_people(text: str, tools: Collection[str]) -> str:
    """`text` without narration and markers; `tools` are the names that no line may tell of.

    Gives a prefix of the same words for a prefix of the text, but for what only its end decides, so it may be used on
    a text that is still being written.
    """
    marked = "".join(_without_blocks(text.replace(_GONE, ""), tools))
    lines = marked.split("\n")
    kept = list(_kept(lines, _naming(tools)))
    return "\n".join(kept).strip("\n") if len(kept) < len(lines) else "\n".join(kept)


def _without_blocks(text: str, tools: Collection[str]) -> Iterator[str]:
    """The text without inner blocks and calls written out; what else stands in code blocks is passed on untouched."""
    for part, is_code in _parts(text):
        if is_code:
            yield _GONE + "\n" * part.endswith("\n") if _is_written_call(part, tools) else part
        else:
            marked = _STRAY.sub(_unless_code, _MARKERS.sub(_unless_code, part))
            yield _without_calls(marked, tools) if tools else marked


def _unless_code(found: re.Match[str]) -> str:
    return found[0] if found["code"] else _GONE


def _is_written_call(block: str, tools: Collection[str]) -> bool:
    """Whether a code block is nothing but a call, in JSON or marked as one."""
    if _CALL_INFO.match(block):
        return True
    _, _, content = block.partition("\n")
    return bool(tools) and _written_call(content, len(content) - len(content.lstrip()), tools) > 0


def _without_calls(text: str, tools: Collection[str]) -> str:
    """The text without JSON objects that name a tool."""
    if not any(f'"{name}"' in text for name in tools):
        return text
    at, pieces = 0, list[str]()
    for found in islice(_OBJECT.finditer(text), _MOST_OBJECTS):
        if found.end() < at:
            continue
        end = _written_call(text, found.end(), tools)
        if end:
            pieces += [text[at : found.start()], _GONE]
            at = end
    return "".join([*pieces, text[at:]])


def _written_call(text: str, start: int, tools: Collection[str]) -> int:
    """Where the call that begins at `start` ends, the end of the text when it is not whole yet; 0 when it is none."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        keys, names = "|".join(_NAMES), "|".join(map(re.escape, tools))
        begun = re.compile(rf'[\[{{\s]*"(?:{keys})"\s*:\s*(?:\{{\s*"name"\s*:\s*)?"(?:{names})"').match(text, start)
        return len(text) if begun else 0
    return end if _names_tool(value, tools) else 0


def _names_tool(value: object, tools: Collection[str]) -> bool:
    if isinstance(value, list):
        return any(_names_tool(each, tools) for each in value)
    if not isinstance(value, dict):
        return False
    named = [value.get(key) for key in _NAMES]
    return any((isinstance(each, str) and each in tools) or _names_tool(each, tools) for each in named)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    part: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if found and not fence:
            if part:
                yield "".join(part), False
            part, fence = [line], found[1]
        elif found and fence == found[1]:
            yield "".join([*part, line]), True
            part, fence = [], ""
        else:
            part.append(line)
    if part:
        yield "".join(part), bool(fence)


def _kept(lines: list[str], naming: re.Pattern[str] | None) -> Iterator[str]:
    """The lines that stay; where some went, one empty line between what is left is enough."""
    fence, last, is_gap, is_stepping = "", "", False, False
    for line in lines:
        found = _FENCE.match(line)
        if found:
            fence = "" if fence == found[1] else fence or found[1]
        if not (fence or found):
            is_step = _STEP.match(line) is not None or (is_stepping and _LATER_STEP.match(line) is not None)
            is_stepping = is_stepping or is_step
            if is_step or _is_narration(line, naming):
                is_gap = True
                continue
        if is_gap and not line.strip() and not last.strip():
            continue
        is_gap, last = False, line
        yield line.replace(_GONE, "")


def _is_narration(line: str, naming: re.Pattern[str] | None) -> bool:
    if _GONE in line and not line.strip(_LEFT_ALONE):
        return True
    if _BRACKET.match(line):
        return True
    found = naming.search(_HIDDEN.sub("", line)) if naming else None
    return found is not None and ("_" in found[0] or _DOING.search(line) is not None)


def _naming(tools: Collection[str]) -> re.Pattern[str] | None:
    """Finds a tool by its name; one that is also a word of every day only as code, as a call or called a tool."""
    plain = [re.escape(name) for name in tools if "_" in name or "." in name]
    common = [re.escape(name) for name in tools if "_" not in name and "." not in name]
    ways = [rf"(?<![\w/.-])(?i:{'|'.join(plain)})(?![\w/-])"] if plain else []
    if common:
        names = "|".join(common)
        ways += [
            rf"`(?:{names})`",
            rf"(?<![\w/.-])(?:{names})\(",
            rf"(?<![\w/.-])(?:{names})[”\"'*]{{0,3}} ?(?:工具|tool\b)",
            rf"(?:工具|\btool) ?[“\"'*]{{0,3}}(?:{names})(?![\w/-])",
        ]
    return re.compile("|".join(ways)) if ways else None
