"""What strict services refuse, checked on the bodies they get; shares nothing with the code that writes them."""

from __future__ import annotations

import json
import re
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


ANTHROPIC_FIELDS = {
    *("model", "max_tokens", "stream", "system", "tools", "messages"),
    *("thinking", "output_config", "tool_choice"),
}
EFFORTS = ("low", "medium", "high", "xhigh", "max")


def anthropic_breach(body: dict[str, Any]) -> str | None:
    """The first thing that `POST /v1/messages` would refuse, None when nothing."""
    messages = body["messages"]
    if unknown := body.keys() - ANTHROPIC_FIELDS:
        return f"{sorted(unknown)[0]}: Extra inputs are not permitted"
    if wrong := _settings_breach(body) or _marks_breach(body):
        return wrong
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    asked: list[str] = []
    used: set[str] = set()
    for index, message in enumerate(messages):
        if index and message["role"] == messages[index - 1]["role"]:
            return f"messages.{index}: roles must alternate"
        blocks = message["content"]
        if wrong := next((why for block in blocks if (why := _block_breach(block, message["role"]))), None):
            return f"messages.{index}: {wrong}"
        kinds = [block["type"] for block in blocks]
        if message["role"] == "user":
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if sorted(answered) != sorted(asked) or kinds[: len(answered)] != ["tool_result"] * len(answered):
                return f"messages.{index}: tool_use ids without tool_result blocks immediately after"
        elif "thinking" in kinds and kinds[0] not in ("thinking", "redacted_thinking"):
            return f"messages.{index}: the first block must be `thinking` or `redacted_thinking`"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(used | {*asked}) < len(used) + len(asked):
            return f"messages.{index}: `tool_use` ids must be unique"
        used.update(asked)
    if messages[-1]["role"] != "user":
        return "This model does not support assistant message prefill."
    return _names_breach([tool["name"] for tool in body.get("tools", [])])


def _settings_breach(body: dict[str, Any]) -> str | None:
    if "tool_choice" in body and "tools" not in body:
        return "tool_choice: tool_choice may only be specified while providing tools."
    if body.get("output_config", {"effort": "low"}) not in [{"effort": effort} for effort in EFFORTS]:
        return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    match body.get("thinking"):
        case None | {"type": "adaptive" | "disabled" | "between_tools"}:
            return None
        case {"type": "enabled", "budget_tokens": int(budget)} if 1024 <= budget < body["max_tokens"]:
            return None
        case other:
            return f"thinking: {other}"


def _marks_breach(body: dict[str, Any]) -> str | None:
    """Cache marks: at most four, of one kind; also that the prompt is text or blocks of text."""
    system = body.get("system", "x")
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    if not blocks or not all(block["type"] == "text" and block["text"].strip() for block in blocks):
        return "system: text content blocks must be non-empty"
    blocks = [*blocks, *body.get("tools", []), *(each for one in body["messages"] for each in one["content"])]
    marks = [block["cache_control"] for block in blocks if "cache_control" in block]
    if any(mark != {"type": "ephemeral"} for mark in marks):
        return "cache_control.type: Input should be 'ephemeral'"
    return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}." if len(marks) > 4 else None


def _block_breach(block: dict[str, Any], role: str) -> str | None:
    match block:
        case {"type": "text", "text": str(text)} if text.strip():
            return None
        case {"type": "tool_use", "id": str(id_), "name": str(name), "input": dict()} if role == "assistant":
            return None if NAME.fullmatch(id_) and NAME.fullmatch(name) else "tool_use: String should match pattern"
        case {"type": "tool_result", "tool_use_id": str(), "content": str(text)} if text.strip() and role == "user":
            return None
        case {"type": "thinking", "thinking": str()} | {"type": "redacted_thinking", "data": str()}:
            fits = role == "assistant" and "cache_control" not in block
            return None if fits else "thinking blocks can only be in `assistant` messages, unmarked"
        case _:
            return f"a block that is not allowed: {json.dumps(block)[:80]}"


def openai_breach(body: dict[str, Any]) -> str | None:
    """The first thing that a strict `POST /chat/completions` would refuse, None when nothing."""
    asked: list[str] = []
    for index, message in enumerate(body["messages"]):
        if asked and message["role"] != "tool":
            return "An assistant message with 'tool_calls' must be followed by tool messages"
        match message:
            case {"role": "system" | "user", "content": str(content)} if content.strip():
                pass
            case {"role": "tool", "tool_call_id": str(id_), "content": str(content)} if content:
                if id_ not in asked:
                    return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                asked.remove(id_)
            case {"role": "assistant", "tool_calls": list(calls)} if calls:
                asked = [call["id"] for call in calls]
                if len(set(asked)) < len(asked) or not all(asked):
                    return "Duplicate or missing tool call id"
                if not all(isinstance(call["function"]["arguments"], str) for call in calls):
                    return "Invalid type for arguments: expected a string"
                if wrong := next((call for call in calls if not NAME.fullmatch(call["function"]["name"])), None):
                    return f"Invalid function.name: {wrong['function']['name']}"
            case {"role": "assistant", "content": str(content)} if content.strip():
                pass
            case _:
                return f"Invalid value for messages[{index}]"
        if index and message["role"] == body["messages"][index - 1]["role"] != "tool":
            return "Conversation roles must alternate"  # The templates of Mistral and Gemma.
    if asked:
        return "An assistant message with 'tool_calls' must be followed by tool messages"
    if body.get("tools") == []:
        return "Invalid 'tools': empty array"
    return _names_breach([tool["function"]["name"] for tool in body.get("tools", [])])


def _names_breach(names: list[str]) -> str | None:
    if wrong := next((name for name in names if not NAME.fullmatch(name)), None):
        return f"tools: name {wrong!r} should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
    return "tools: Tool names must be unique." if len(set(names)) < len(names) else None
