"""Our request as the body of the chat completions dialect."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, assert_never

from kernel.messages import (
    Effort,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolWords,
)
from kernel.providers.chat_manners import Manners, Reasoning, Switch, manners_of
from kernel.providers.names import to_wire
from kernel.providers.turns import NO_PICTURE, Maker, arguments_object, is_without_list, schema_of, wire_turns

_EFFORTS = {Effort.LOW: "low", Effort.MEDIUM: "medium"}
"""`high` for all that is more: the words above it are one service's own."""
_SHORT_ID = 9


def request_body(request: ModelRequest, maker: Maker, manners: Manners | None = None) -> dict[str, Any]:
    """The JSON body of `POST /chat/completions`, streaming."""
    manners = manners or manners_of(maker.model)
    body: dict[str, Any] = {"model": maker.model}
    if manners.limit:
        body[manners.limit] = request.max_tokens
    body["stream"] = True
    if manners.counts_streams:
        body["stream_options"] = {"include_usage": True}
    body.update(_thinking(request, manners.switch))
    if request.tools and manners.takes_tools and not is_without_list(request, takes_no_choice=manners.takes_no_choice):
        body["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            body["tool_choice"] = "none"
    body["messages"] = _messages(request, maker, manners)
    return body


def _thinking(request: ModelRequest, switch: Switch) -> dict[str, Any]:
    wants, effort = request.thinking, request.effort
    match switch:
        case Switch.EFFORT if effort or wants is Thinking.OFF:
            return {"reasoning_effort": _EFFORTS.get(effort or Effort.LOW, "high")}
        case Switch.TYPE if wants is not Thinking.OWN:
            return {"thinking": {"type": "enabled" if wants is Thinking.ON else "disabled"}}
        case Switch.ENABLE if wants is not Thinking.OWN:
            return {"enable_thinking": wants is Thinking.ON}
        case _:
            return {}


def _messages(request: ModelRequest, maker: Maker, manners: Manners) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    prompt = request.system if request.system.strip() else ""
    if prompt and manners.has_system:
        messages.append({"role": "system", "content": prompt})
    shown = request.pictures if manners.shows_pictures else {}
    for message in wire_turns(request.messages, maker, shows=shown):
        messages += _user(message, manners, shown) if message.role is Role.USER else [_assistant(message, manners)]
    if prompt and not manners.has_system:
        first = next((each for each in messages if each["role"] == "user"), None)
        if first:
            said: str | list[dict[str, Any]] = first["content"]
            head = {"type": "text", "text": prompt}
            first["content"] = f"{prompt}\n\n{said}" if isinstance(said, str) else [head, *said]
    return messages


def _tool(tool: ToolWords) -> dict[str, Any]:
    function = {"name": to_wire(tool.name), "description": tool.description, "parameters": schema_of(tool)}
    return {"type": "function", "function": function}


def _user(message: Message, manners: Manners, shown: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Results as messages of their own, then the words."""
    messages: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            content = f"Error: {part.text}" if part.is_error else part.text
            messages.append({"role": "tool", "tool_call_id": _id(part.call, manners), "content": content})
    pictures = any(isinstance(part, Image) for part in message.parts)
    if not message.text and not pictures:
        return messages
    if messages and not manners.takes_words_behind_results:
        messages[-1]["content"] += f"\n\n[The person writes meanwhile:] {message.text or NO_PICTURE}"
        return messages
    if not pictures:
        return [*messages, {"role": "user", "content": message.text}]
    seen = [_seen(part, shown) for part in message.parts if isinstance(part, Text | Image)]
    return [*messages, {"role": "user", "content": seen}]


def _seen(part: Text | Image, shown: Mapping[str, bytes]) -> dict[str, Any]:
    """A picture, or the words beside it."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = b64encode(shown[part.blob]).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{data}"}}


def _assistant(message: Message, manners: Manners) -> dict[str, Any]:
    nothing = None if manners.takes_null else ""
    wire: dict[str, Any] = {"role": "assistant", "content": message.text or nothing}
    if message.calls:
        wire["tool_calls"] = [_call(call, manners) for call in message.calls]
    return {**wire, **_reasoning(message, manners.reasoning)}


def _call(call: ToolCall, manners: Manners) -> dict[str, Any]:
    # As the model wrote them; local servers read them again, and fail for ever over what is no object.
    arguments = call.arguments if arguments_object(call.arguments) else "{}"
    function = {"name": to_wire(call.name), "arguments": arguments}
    return {"id": _id(call.id, manners), "type": "function", "function": function}


def _id(id_: str, manners: Manners) -> str:
    is_short = len(id_) == _SHORT_ID and id_.isascii() and id_.isalnum()
    return id_ if manners.takes_any_id or is_short else sha256(id_.encode()).hexdigest()[:_SHORT_ID]


def _reasoning(message: Message, habit: Reasoning) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for part in message.parts:
        if isinstance(part, Opaque):
            kept.update(json.loads(part.payload))
    match habit:
        case Reasoning.NEVER:
            return {}
        case Reasoning.EVERYWHERE:
            return {"reasoning_content": "", **kept}
        case Reasoning.BACK:
            return kept
        case _:
            assert_never(habit)
