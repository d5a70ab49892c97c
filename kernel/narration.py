"""What of a model's words is meant for the person: its narration of its own doings, and markers, are not.

Works line by line and leaves code blocks and all other Markdown as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_GONE = "\0"
"""Stands where something was taken out."""
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_INNER = "think|thinking|thought|reasoning|scratchpad|tool_call|tool_calls|tool_result|function_calls|invoke"
_BLOCK = re.compile(rf"<({_INNER})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_STRAY = re.compile(rf"</?(?:{_INNER})\b[^>]*>", re.IGNORECASE)
_STEP = re.compile(
    r"^\W{0,4}(?:thought|action|action input|observation|tool call|tool result|function call|"
    r"思考|行动|动作|观察|工具调用|调用工具|工具结果)\W{0,4}[:：]",
    re.IGNORECASE,
)
_BRACKET = re.compile(
    r"^\s*[\[【(（]\s*(?:written by the program|tool[ _]?(?:use|call|result)|function|calling|using|"
    r"调用|正在调用|使用工具|工具)",
    re.IGNORECASE,
)
_FACTS = re.compile(r"^\s*\[\d{4}-\d\d-\d\d \w{3} \d\d:\d\d ")
_DOING = re.compile(
    r"\b(?:I(?:'ll| will| am going to|'m going to| need to| should| am| 'm|'ve| have)|let me|now|first|next|using|"
    r"calling|use|call|called)\b|我(?:将|会|来|先|要|去|正在|已)|让我|调用|使用|用.{0,6}工具|接下来|首先",
    re.IGNORECASE,
)


def for_people(text: str, tools: Collection[str]) -> str:
    """`text` without narration and markers; `tools` are the names that no line may tell of.

    Gives a prefix of the same words for a prefix of the text, but for what only its end decides, so it may be used on
    a text that is still being written.
    """
    marked = "".join(_without_blocks(text.replace(_GONE, "")))
    lines = marked.split("\n")
    kept = list(_kept(lines, _naming(tools)))
    return "\n".join(kept).strip("\n") if len(kept) < len(lines) else "\n".join(kept)


def _without_blocks(text: str) -> Iterator[str]:
    """The text without inner blocks; what stands in code blocks is passed on untouched."""
    for part, is_code in _parts(text):
        yield part if is_code else _STRAY.sub(_GONE, _BLOCK.sub(_GONE, part))


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
    fence, last, is_gap = "", "", False
    for line in lines:
        found = _FENCE.match(line)
        if found:
            fence = "" if fence == found[1] else fence or found[1]
        if not (fence or found) and _is_narration(line, naming):
            is_gap = True
            continue
        if is_gap and not line.strip() and not last.strip():
            continue
        is_gap, last = False, line
        yield line.replace(_GONE, "")


def _is_narration(line: str, naming: re.Pattern[str] | None) -> bool:
    if _GONE in line and not line.strip(_GONE + " \t\r"):
        return True
    if _STEP.match(line) or _BRACKET.match(line) or _FACTS.match(line):
        return True
    found = naming.search(line) if naming else None
    return found is not None and ("_" in found[0] or _DOING.search(line) is not None)


def _naming(tools: Collection[str]) -> re.Pattern[str] | None:
    """Finds a tool by its name; one that is also a word of every day only as code or as a call."""
    plain = [re.escape(name) for name in tools if "_" in name or "." in name]
    common = [re.escape(name) for name in tools if "_" not in name and "." not in name]
    ways = [rf"(?<![\w/.-])(?:{'|'.join(plain)})(?![\w/-])"] if plain else []
    if common:
        names = "|".join(common)
        ways += [rf"`(?:{names})`", rf"(?<![\w/.-])(?:{names})\("]
    return re.compile("|".join(ways)) if ways else None
