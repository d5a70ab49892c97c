"""The order in which both dialects want a conversation, made from ours before it is written in either."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from kernel.messages import (
    Image,
    Message,
    ModelReply,
    ModelRequest,
    Opaque,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    ToolWords,
)
from kernel.providers.loops import Sent, close_loops
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


def keep_all(_: Opaque) -> bool:
    """Every kept part may go back to its maker."""
    return True


def keep_none(_: Opaque) -> bool:
    """None may."""
    return False


def wire_turns(
    messages: Iterable[Message],
    maker: Maker,
    *,
    keeps: Callable[[Opaque], bool] = keep_all,
    closes_loops: bool = False,
    shows: Collection[str] = (),
) -> list[Message]:
    """Messages whose roles alternate: neighbours of one role are one; results stand first in their user message.

    Blank texts, opaque parts of other makers or that `keeps` does not want, and messages without anything but opaque
    parts are left out; a picture whose blob is not in `shows` is a marker. `closes_loops`: see
    docs/decisions/0011-failover.md.
    """
    sent = [_sent(message, maker, keeps, shows) for message in messages]
    sent = [each for each in sent if any(not isinstance(part, Opaque) for part in each.message.parts)]
    if closes_loops:
        sent = close_loops(sent)
    turns: list[Message] = []
    for role, run in groupby(sent, key=_role):
        alike = list(run)
        if len(alike) == len(alike[0].message.parts) == 1:
            turns.append(alike[0].message)
            continue
        parts = [part for each in alike for part in each.message.parts]
        turns.append(Message(role, tuple(sorted(parts, key=_not_a_result) if role is Role.USER else parts)))
    return _with_distinct_calls(turns)


def _role(sent: Sent) -> Role:
    return sent.message.role


def _sent(message: Message, maker: Maker, keeps: Callable[[Opaque], bool], shows: Collection[str]) -> Sent:
    clean = (_clean(part, shows) for part in message.parts)
    parts = tuple(part for part in clean if _may_go(part, maker, keeps))
    if parts == message.parts:
        return Sent(message, lost=False)
    had = sum(isinstance(part, Opaque) for part in message.parts)
    return Sent(Message(message.role, parts), had > sum(isinstance(part, Opaque) for part in parts))


def _with_distinct_calls(turns: list[Message]) -> list[Message]:
    """A turn that waited stands behind turns that did not see it, and services that count their ids begin anew."""
    ids = [part.id for turn in turns for part in turn.parts if isinstance(part, ToolCall)]
    if len(set(ids)) == len(ids):
        return turns
    taken: set[str] = set()
    distinct: list[Message] = []
    renamed: dict[str, str] = {}
    for turn in turns:
        if turn.role is Role.ASSISTANT:
            renamed = {call.id: _free(call.id, taken) for call in turn.calls if call.id in taken}
        distinct.append(_renamed(turn, renamed) if renamed else turn)
        taken.update(call.id for call in distinct[-1].calls)
    return distinct


def _free(id_: str, taken: set[str]) -> str:
    return next(new for number in range(2, len(taken) + 3) if (new := f"{id_}-{number}") not in taken)


def _renamed(turn: Message, names: dict[str, str]) -> Message:
    parts: list[Part] = []
    for part in turn.parts:
        match part:
            case ToolCall(id=id_):
                parts.append(replace(part, id=names.get(id_, id_)))
            case ToolResult(call=call):
                parts.append(replace(part, call=names.get(call, call)))
            case _:
                parts.append(part)
    return replace(turn, parts=tuple(parts))


def is_without_list(request: ModelRequest, *, takes_no_choice: bool) -> bool:
    """A plan for a service that cannot be told to call nothing: it sees no tools, so nothing kept fits around it."""
    return bool(request.tools) and not request.may_call and not takes_no_choice


def without_kept(reply: ModelReply) -> ModelReply:
    """The reply without its opaque parts: it was made from a request that no later one begins with."""
    return replace(reply, message=reply.message.without_thinking)


def _clean(part: Part, shows: Collection[str]) -> Part:
    match part:
        case Image(blob) if blob not in shows:
            return Text(NO_PICTURE)
        case ToolResult(call, text, is_error) if not text.strip():
            return ToolResult(call, NO_WORDS, is_error)
        case _:
            return part


def _may_go(part: Part, maker: Maker, keeps: Callable[[Opaque], bool]) -> bool:
    match part:
        case Text(text):
            return bool(text.strip())
        case Opaque(provider, model):
            return (provider, model) == (maker.provider, maker.model) and keeps(part)
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
