"""Thinking as the strictest services treat it: signed, bound to everything before it, missed where it is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any


class BoundThinking:
    """One company's models: `sign` what they think, and `breach` of what comes back."""

    def __init__(self) -> None:
        self._thought_calls: set[str] = set()
        """Ids of calls that a thought led to."""

    def sign(self, body: dict[str, Any], thought: str) -> str:
        """The signature of a thought with which the reply to `body` begins."""
        *_, before = _all_before({**body, "messages": [*body["messages"], {"content": [None]}]})
        return f"{body['model']}/{_digest(thought)}/{before}"

    def remember(self, call_ids: list[str]) -> None:
        """The calls of a reply that began with a thought."""
        self._thought_calls.update(call_ids)

    def breach(self, body: dict[str, Any]) -> str | None:
        """The first thing about thinking that is refused, None when nothing."""
        blocks = ((index, block) for index, message in enumerate(body["messages"]) for block in message["content"])
        for (index, block), was_before in zip(blocks, _all_before(body), strict=True):
            if block["type"] != "thinking":
                continue
            model, thought, before = block.get("signature", "").split("/")
            if model != body["model"]:
                return f"messages.{index}: thinking of {model}"
            if thought != _digest(block["thinking"]):
                return f"messages.{index}: Invalid `signature` in `thinking` block"
            if before != was_before:
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


def _all_before(body: dict[str, Any]) -> Iterator[str]:
    """Of each block a fingerprint of what stands before it: prompt, tools, all earlier blocks; no cache marks."""
    seen = sha256(_wire([body.get("system"), body.get("tools")]))
    for message in body["messages"]:
        seen.update(b"[")
        for block in message["content"]:
            yield seen.hexdigest()[:12]
            seen.update(_wire(block))


def _wire(value: Any) -> bytes:
    return json.dumps(_unmarked(value), sort_keys=True).encode()


def _unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _unmarked(each) for key, each in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(each) for each in value]
        case _:
            return value
