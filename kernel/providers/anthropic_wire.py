"""Anthropic's Messages dialect: its events as our reply."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from kernel.errors import ProviderFailed
from kernel.messages import Message, ModelReply, Opaque, Part, Role, Stop, Text, ToolCall, ToolWords, Usage
from kernel.providers.counts import tokens
from kernel.providers.names import from_wire
from kernel.providers.status import Refusal, Service, error_words
from kernel.providers.tries import Ear
from kernel.providers.turns import arguments_object
from kernel.providers.words import Pieces

PROVIDER = "anthropic"

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.CUT,
    "pause_turn": Stop.PAUSE,
    "refusal": Stop.REFUSAL,
    "model_context_window_exceeded": Stop.WINDOW,
}
_OURS = frozenset({"text", "tool_use", "thinking", "redacted_thinking"})
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Error events come inside a 200 stream; an unknown type counts as 500."""


@dataclass(slots=True)
class _Open:
    """A content block as it grows: its first event, and the pieces that came after."""

    start: dict[str, Any]
    text: Pieces = field(default_factory=Pieces)
    signature: str = ""
    is_closed: bool = False


class Reading:
    """Hears the events of one stream; `is_done` after `message_stop`."""

    def __init__(self, service: Service, tools: tuple[ToolWords, ...], ear: Ear) -> None:
        self._service = service
        self._tools = tools
        self._ear = ear
        self._blocks: dict[int, _Open] = {}
        self._stop: str | None = None
        self._usage: dict[str, int] = {}
        self.is_done = False

    def hear(self, data: bytes) -> None:
        """Take in one event. Raises `ProviderFailed` for garbage and errors that pass, else `ProviderRefused`."""
        if self.is_done:
            return
        try:
            self._take(json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._service.cut("sent an event that cannot be read") from error

    def _take(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "message_start":
                self._count(event["message"].get("usage"))
            case "content_block_start":
                self._open(event["index"], event["content_block"])
            case "content_block_delta":
                self._grow(self._blocks[event["index"]], event["delta"])
            case "content_block_stop":
                self._blocks[event["index"]].is_closed = True
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._count(event.get("usage"))
            case "message_stop":
                self.is_done = True
            case "error":
                raise self._error(event)
            case _:
                pass  # ping, and kinds that do not exist yet: the protocol asks to pass them over.

    def _open(self, index: int, start: dict[str, Any]) -> None:
        if not isinstance(start["type"], str) or index in self._blocks:
            raise ValueError("a content block without type, or a second one of that number")
        had_text = any(block.start["type"] == "text" for block in self._blocks.values())
        self._blocks[index] = _Open(start)
        if start["type"] == "text":
            if had_text:
                self._ear.hear("\n")  # As `Message.text` joins them.
            self._ear.hear(self._blocks[index].text.hear(start.get("text") or ""))

    def _grow(self, block: _Open, delta: dict[str, Any]) -> None:
        match delta["type"]:
            case "text_delta":
                self._ear.hear(block.text.hear(delta["text"]))
            case "input_json_delta":
                block.text.hear(delta["partial_json"])
            case "thinking_delta":
                block.text.hear(delta["thinking"])
            case "signature_delta":
                block.signature += delta["signature"]
            case _:
                pass

    def _count(self, usage: object) -> None:
        """Counts in later events are totals, not additions."""
        if isinstance(usage, dict):
            self._usage.update({key: tokens(count) for key, count in usage.items() if isinstance(count, int)})

    def _error(self, event: dict[str, Any]) -> ProviderFailed | Refusal:
        said, kind = error_words(event)
        return self._service.error(_STATUS_OF_TYPE.get(kind, 500), said, kind=kind)

    def reply(self) -> ModelReply:
        """The whole reply. Raises `ProviderFailed` when the stream ended without saying that it was whole."""
        if not self.is_done or self._stop is None:
            raise self._service.cut("ended its answer in the middle")
        stop = _STOPS.get(self._stop, Stop.END)
        parts: list[Part] = []
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        for block in blocks:
            is_last_of_cut = block is blocks[-1] and stop in (Stop.CUT, Stop.WINDOW)
            is_cut = is_last_of_cut or not block.is_closed or stop is Stop.REFUSAL
            parts.extend(self._part(block, is_cut=is_cut))
        if stop is Stop.PAUSE and all(block.start["type"] in _OURS for block in blocks):
            stop = Stop.END  # Nothing of the service's own is under way: sent back it would be a prefill, and refused.
        if stop in (Stop.END, Stop.TOOLS):
            stop = Stop.TOOLS if any(isinstance(part, ToolCall) for part in parts) else Stop.END
        return ModelReply(Message(Role.ASSISTANT, tuple(parts)), stop, self._total())

    def _part(self, block: _Open, *, is_cut: bool) -> list[Part]:
        text = block.text.text()
        match block.start["type"]:
            case "text":
                return [Text(text)] if text.strip() else []
            case "tool_use":
                name = from_wire(block.start["name"], (tool.name for tool in self._tools))
                # A closed call without a piece of input has the input it started with: `{}` for a tool without any.
                if block.is_closed and not text.strip():
                    text = json.dumps(block.start.get("input") or {}, ensure_ascii=False)
                return [ToolCall(block.start["id"], name, text, is_cut)]
            case "thinking":
                kept = {**block.start, "thinking": (block.start.get("thinking") or "") + text}
                if signature := (block.start.get("signature") or "") + block.signature:
                    kept["signature"] = signature
                # Cut before its signature, or nothing at all: sent back it would be refused for ever.
                is_lost = not signature and (is_cut or not kept["thinking"])
                return [] if is_lost else [self._opaque(kept)]
            case _:
                return [self._opaque({**block.start, "input": arguments_object(text)} if text else block.start)]

    def _opaque(self, block: dict[str, Any]) -> Opaque:
        return Opaque(PROVIDER, self._service.model, json.dumps(block, ensure_ascii=False, separators=(",", ":")))

    def _total(self) -> Usage:
        """`input` is the whole prompt: Anthropic counts what it read from its cache, or put there, apart."""
        cached = self._usage.get("cache_read_input_tokens", 0)
        new = self._usage.get("input_tokens", 0) + self._usage.get("cache_creation_input_tokens", 0)
        return Usage(input=new + cached, output=self._usage.get("output_tokens", 0), cached=cached)
