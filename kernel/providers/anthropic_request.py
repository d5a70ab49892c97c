"""Our request as the body of Anthropic's Messages dialect."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, assert_never

from kernel.messages import (
    Image,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolResult,
    ToolWords,
    is_by_program,
)
from kernel.providers.claude_manners import PROPER, Manners
from kernel.providers.claude_models import abilities_of, thinking_of
from kernel.providers.loops import loop_without_thinking
from kernel.providers.names import to_wire
from kernel.providers.turns import Maker, arguments_object, is_without_list, keep_all, keep_none, schema_of, wire_turns

MOST_MARKS = 4
"""More cache marks are refused."""
_MARK = {"type": "ephemeral"}
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NO_THOUGHT = {"type": "thinking", "thinking": "", "signature": ""}


def most_tokens(request: ModelRequest, model: str, manners: Manners) -> int:
    """How many tokens the reply may have: what was asked for, as far as the model goes."""
    return min(request.max_tokens, abilities_of(model).most_tokens, manners.most_tokens or request.max_tokens)


def request_body(
    request: ModelRequest,
    maker: Maker,
    manners: Manners = PROPER,
    keeps: Callable[[Opaque], bool] = keep_all,
) -> dict[str, Any]:
    """The JSON body of `POST /v1/messages`, streaming.

    The same prefix gives the same bytes: what stood in the last request stands in this one, but for the cache marks,
    which are no part of what is cached or bound.
    """
    able = abilities_of(maker.model)
    no_list = is_without_list(request, takes_no_choice=manners.takes_no_choice)
    shown = request.pictures if manners.shows_pictures else {}
    keeps = keep_none if no_list else keeps
    turns = wire_turns(request.messages, maker, keeps=keeps, closes_loops=True, shows=shown)
    max_tokens = most_tokens(request, maker.model, manners)
    body: dict[str, Any] = {"model": maker.model, "max_tokens": max_tokens, "stream": True}
    fields = thinking_of(request, able, max_tokens, may_ask=not loop_without_thinking(turns))
    if "thinking" in fields and manners.takes_thinking:
        body["thinking"] = fields["thinking"]
    if "output_config" in fields and manners.takes_effort:
        body["output_config"] = fields["output_config"]
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system}] if manners.marks_cache else request.system
    if request.tools and not no_list:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            body["tool_choice"] = {"type": "none"}
    body["messages"] = [_message(turn, manners, shown) for turn in turns]
    if manners.marks_cache:
        _mark(body, may_call=request.may_call)
    return body


def _mark(body: dict[str, Any], *, may_call: bool) -> None:
    """Mark what later requests begin with: the tools, the prompt, and the ends of the two newest user messages.

    The last but one is where the request before this one ended: a service looks back from a mark over 20 blocks only,
    and a message may bring more. A plan looks for the plan before it as well: messages are kept apart for each
    `tool_choice` (Anthropic, prompt caching), and that one ended where the turn before began. The mark of the tools
    gives way then: what it kept is near enough to the prompt's to be found.
    """
    ends: list[dict[str, Any]] = []
    if tools := body.get("tools"):
        ends.append(tools[-1])
    if system := body.get("system"):
        ends.append(system[-1])
    said = [message for message in body["messages"] if message["role"] == "user"]
    newest = said[-2:]
    before = None if may_call else next((message for message in reversed(said[:-1]) if _opens_turn(message)), None)
    if before is not None and before is not newest[0]:
        newest.insert(0, before)
    ends += [message["content"][-1] for message in newest]
    for block in ends[-MOST_MARKS:]:
        block["cache_control"] = _MARK


def _opens_turn(message: dict[str, Any]) -> bool:
    """A person's words that answer no call, and no word of the program such as the one behind a plan."""
    first = message["content"][0]
    return first["type"] == "text" and not is_by_program(first["text"])


def _tool(tool: ToolWords) -> dict[str, Any]:
    return {"name": to_wire(tool.name), "description": tool.description, "input_schema": schema_of(tool)}


def _message(message: Message, manners: Manners, shown: Mapping[str, bytes]) -> dict[str, Any]:
    blocks = [_block(part, manners, shown) for part in message.parts]
    if manners.opens_with_thinking and message.calls and blocks[0]["type"] not in ("thinking", "redacted_thinking"):
        blocks.insert(0, dict(_NO_THOUGHT))
    return {"role": message.role.value, "content": blocks}


def _block(part: Part, manners: Manners, shown: Mapping[str, bytes]) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolCall(id, name, arguments):
            input_ = arguments_object(arguments)
            return {"type": "tool_use", "id": _call_id(id), "name": to_wire(name), "input": input_}
        case ToolResult(call, text, is_error):
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _call_id(call), "content": text}
            return {**block, "is_error": True} if is_error else block
        case Opaque(payload=payload):
            kept: dict[str, Any] = json.loads(payload)
            is_unsigned = kept.get("type") == "thinking" and "signature" not in kept
            return {**kept, "signature": ""} if is_unsigned and manners.signs_blank else kept
        case Image(blob, mime):
            data = b64encode(shown[blob]).decode()
            return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
        case _:
            assert_never(part)


def _call_id(id_: str) -> str:
    """The id as it is; ids of other services that hold characters refused here (`functions.f:0`) become digests."""
    return id_ if _CALL_ID.fullmatch(id_) else f"call_{sha256(id_.encode()).hexdigest()[:24]}"
