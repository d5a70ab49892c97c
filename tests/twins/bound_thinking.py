"""Thinking as the strictest services treat it: signed, bound to everything before it, missed where it is gone."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


class BoundThinking:
    """One company's models: `sign` what they think, and `breach` of what comes back."""

    def __init__(self) -> None:
        self._thought_calls: set[str] = set()
        """Ids of calls that a thought led to."""

    def sign(self, body: dict[str, Any], thought: str) -> str:
        """The signature of a thought with which the reply to `body` begins."""
        return f"{body['model']}/{_digest(thought)}/{_before(body, len(body['messages']), 0)}"

    def remember(self, call_ids: list[str]) -> None:
        """The calls of a reply that began with a thought."""
        self._thought_calls.update(call_ids)

    def breach(self, body: dict[str, Any]) -> str | None:
        """The first thing about thinking that is refused, None when nothing."""
        for index, message in enumerate(body["messages"]):
            for position, block in enumerate(message["content"]):
                if block["type"] != "thinking":
                    continue
                model, thought, before = block.get("signature", "").split("/")
                if model != body["model"]:
                    return f"messages.{index}: thinking of {model}"
                if thought != _digest(block["thinking"]):
                    return f"messages.{index}: Invalid `signature` in `thinking` block"
                if before != _before(body, index, position):
                    return f"messages.{index}: The block is bound to a different conversation."
        return self._missing(body)

    def _missing(self, body: dict[str, Any]) -> str | None:
        """A tool loop that goes on shows the thinking it began with, unless the model is told not to think."""
        messages = body["messages"]
        is_loop = any(block["type"] == "tool_result" for block in messages[-1]["content"])
        mode = body.get("thinking", {}).get("type")
        if not is_loop or mode in ("disabled", "between_tools"):
            return None
        blocks = messages[-2]["content"]
        if any(block["type"] == "thinking" for block in blocks):
            return None
        if any(block.get("id") in self._thought_calls for block in blocks):
            return "`thinking` blocks in the latest assistant message cannot be modified."
        return "Expected `thinking`, but found `tool_use`." if mode == "enabled" else None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def _before(body: dict[str, Any], index: int, position: int) -> str:
    """Fingerprint of what stands before a block: prompt, tools, all earlier blocks; cache marks are no part of it."""
    said = [message["content"] for message in body["messages"][:index]]
    if index < len(body["messages"]):
        said.append(body["messages"][index]["content"][:position])
    elif position:
        raise ValueError("only the first block of a reply is signed here")
    else:
        said.append([])
    everything = [body.get("system"), body.get("tools"), said]
    return _digest(json.dumps(_unmarked(everything), sort_keys=True))


def _unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _unmarked(each) for key, each in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(each) for each in value]
        case _:
            return value
