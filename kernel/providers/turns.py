"""The order in which both dialects want a conversation, made from ours before it is written in either."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kernel.messages import Image, Message, Opaque, Part, Role, Text, ToolResult, ToolWords
from kernel.providers.words import mend

NO_PICTURE = "[a picture that cannot be shown here]"
NO_WORDS = "(empty)"
"""Stands for the text of a result that has none: providers refuse empty text, most of all in error results."""


@dataclass(frozen=True, slots=True)
class Maker:
    """The provider and model that an `Opaque` must come from to be sent."""

    provider: str
    model: str

    @property
    def name(self) -> str:
        """As in the `Provider` port: `anthropic:<model>`."""
        return f"{self.provider}:{self.model}"


def wire_turns(messages: Iterable[Message], maker: Maker) -> list[Message]:
    """Messages whose roles alternate: neighbours of one role are one; results stand first in their user message.

    Blank texts, opaque parts of other makers, and messages without anything but opaque parts are left out; a picture
    is a marker.
    """
    turns: list[tuple[Role, list[Part]]] = []
    for message in messages:
        parts = [part for part in map(_clean, message.parts) if _may_go(part, maker)]
        if all(isinstance(part, Opaque) for part in parts):
            continue
        if turns and turns[-1][0] is message.role:
            turns[-1][1].extend(parts)
        else:
            turns.append((message.role, parts))
    return [Message(role, tuple(sorted(parts, key=_not_a_result))) for role, parts in turns]


def _clean(part: Part) -> Part:
    match part:
        case Image():
            return Text(NO_PICTURE)
        case ToolResult(call, text, is_error) if not text.strip():
            return ToolResult(call, NO_WORDS, is_error)
        case _:
            return part


def _may_go(part: Part, maker: Maker) -> bool:
    match part:
        case Text(text):
            return bool(text.strip())
        case Opaque(provider, model):
            return (provider, model) == (maker.provider, maker.model)
        case _:
            return True


def _not_a_result(part: Part) -> bool:
    return not isinstance(part, ToolResult)


@lru_cache(maxsize=1024)
def schema_of(tool: ToolWords) -> dict[str, Any]:
    """The tool's schema as JSON; not to be changed by the caller (it is kept)."""
    schema: dict[str, Any] = json.loads(tool.schema)
    return schema


def arguments_object(arguments: str) -> dict[str, Any]:
    """The arguments as the JSON object a provider wants back; `{}` when the model wrote something else.

    Anthropic itself reads broken arguments as `{}`. NaN and Infinity, which Python reads and JSON forbids, are broken.
    """
    try:
        parsed = json.loads(arguments)
        json.dumps(parsed, allow_nan=False)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def to_bytes(body: dict[str, Any]) -> bytes:
    """The body of a request: the same bytes for the same values, keys in the order in which they were put in."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # Half a character somewhere, mostly an escape inside a call's arguments.
        return mend(text).encode()
