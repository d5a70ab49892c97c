"""The chat completions dialect as it is spoken: its pieces as our reply.

Habits this file knows (DeepSeek, GLM, Qwen, vLLM, Ollama and what calls itself compatible): pieces without index, with
one index for all calls, with id and name null or "" after the first; ids missing or repeated; arguments as an object;
reasoning under `reasoning_content` or `reasoning`, or inside `<think>`; `finish_reason: stop` beside calls.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from kernel.errors import ProviderFailed
from kernel.messages import (
    Message,
    ModelReply,
    ModelRequest,
    Opaque,
    Part,
    Role,
    Stop,
    Text,
    ToolCall,
    ToolWords,
    Usage,
)
from kernel.providers.counts import tokens
from kernel.providers.names import from_wire
from kernel.providers.status import Refusal, Service, error_words
from kernel.providers.thinking_tags import WithoutThinking
from kernel.providers.tries import Ear
from kernel.providers.words import Pieces

PROVIDER = "openai"
_REASONING_FIELDS = ("reasoning_content", "reasoning")

_STOPS = {
    "length": Stop.CUT,
    "content_filter": Stop.REFUSAL,
    "sensitive": Stop.REFUSAL,  # GLM
    "model_context_window_exceeded": Stop.WINDOW,  # GLM
}
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "exceed_context_size_error": 400,
    "insufficient_quota": 402,
    "rate_limit_exceeded": 429,
}
_STATUS_CODES = frozenset({"400", "401", "402", "403", "404", "413", "422", "429"})
"""Errors come inside a 200 stream too, with a word or a number for their kind; anything else counts as 500."""
_FAILED_STOPS = frozenset({"insufficient_system_resource", "network_error"})  # DeepSeek, GLM


@dataclass(slots=True)
class _Open:
    """A call as it grows."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: Pieces = field(default_factory=Pieces)


class Reading:
    """Hears the pieces of one stream; `is_done` after `[DONE]`."""

    def __init__(self, service: Service, request: ModelRequest, ear: Ear, random: random.Random) -> None:
        self._service = service
        self._tools: tuple[ToolWords, ...] = request.tools
        self._ear = ear
        self._random = random
        self._asked = request.messages
        self._text = Pieces()
        self._visible = WithoutThinking()
        self._shown: list[str] = []
        self._reasoning: dict[str, Pieces] = {}
        self._calls: list[_Open] = []
        self._stop: str | None = None
        self._is_refusal = False
        self._usage = Usage()
        self.is_done = False

    def hear(self, data: bytes) -> None:
        """Take in one event. Raises `ProviderFailed` for garbage and errors that pass, else `ProviderRefused`."""
        if self.is_done:
            return
        if data == b"[DONE]":
            self.is_done = True
            return
        try:
            self._take(json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._service.cut("sent an event that cannot be read") from error

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            raise self._error(event)
        if isinstance(usage := event.get("usage"), dict) and usage:
            self._usage = _usage(usage)
        for choice in event.get("choices") or ():
            self._stop = choice.get("finish_reason") or self._stop
            self._grow(choice.get("delta") or {})

    def _grow(self, delta: dict[str, Any]) -> None:
        for name in _REASONING_FIELDS:
            if piece := delta.get(name):
                self._reasoning.setdefault(name, Pieces()).hear(piece)
        if refusal := delta.get("refusal"):
            self._is_refusal = True
            self._say(refusal)
        if content := delta.get("content"):
            self._say(content)
        for piece in delta.get("tool_calls") or ():
            self._grow_call(piece)

    def _say(self, piece: str) -> None:
        shown = self._visible.hear(self._text.hear(piece))
        self._shown.append(shown)
        self._ear.hear(shown)

    def _grow_call(self, piece: dict[str, Any]) -> None:
        function = piece.get("function") or {}
        id_, name = piece.get("id") or "", function.get("name") or ""
        call = self._call_of(piece.get("index"), id_, name)
        call.id = call.id or id_
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments.hear(arguments or "")

    def _call_of(self, index: int | None, id_: str, name: str) -> _Open:
        """The call that a piece belongs to: by index where there is one, else by id, else the latest.

        A piece with a name and another id than the call of its index begins a call: some count every call as 0.
        """
        if index is not None:
            known = next((call for call in reversed(self._calls) if call.index == index), None)
        elif id_:
            known = next((call for call in self._calls if call.id == id_), None)
        else:
            known = self._calls[-1] if self._calls and not name else None
        if known and not (name and id_ and known.id and id_ != known.id):
            return known
        self._calls.append(_Open(index))
        return self._calls[-1]

    def _error(self, event: dict[str, Any]) -> ProviderFailed | Refusal:
        said, kind = error_words(event)
        status = int(kind) if kind in _STATUS_CODES else _STATUS_OF_KIND.get(kind, 500)
        return self._service.error(status, said, kind=kind)

    def reply(self) -> ModelReply:
        """The whole reply. Raises `ProviderFailed` when the stream ended without saying that it was whole."""
        if not self.is_done or self._stop is None or self._stop in _FAILED_STOPS:
            raise self._service.cut("ended its answer in the middle")
        self._ear.hear(rest := self._visible.rest())
        parts: list[Part] = [self._opaque(name) for name in self._reasoning]
        if (text := "".join(self._shown) + rest).strip():
            parts.append(Text(text))
        stop = Stop.REFUSAL if self._is_refusal else _STOPS.get(self._stop, Stop.END)
        # Not before it is needed: for a thousand calls in flight it would be as big as the rest of this.
        taken = {call.id for message in self._asked for call in message.calls} if self._calls else set()
        for call in self._calls:
            is_cut = stop is Stop.REFUSAL or (stop is not Stop.END and call is self._calls[-1])
            name = from_wire(call.name, (tool.name for tool in self._tools))
            parts.append(ToolCall(self._id(call.id, taken), name, call.arguments.text(), is_cut))
        if self._calls and stop is Stop.END:
            stop = Stop.TOOLS
        return ModelReply(Message(Role.ASSISTANT, tuple(parts)), stop, self._usage)

    def _id(self, given: str, taken: set[str]) -> str:
        """The service's id, or one of ours where it gave none or one that is `taken`, as it is from now on."""
        id_ = given
        while not id_ or id_ in taken:
            id_ = f"call_{self._random.getrandbits(96):024x}"
        taken.add(id_)
        return id_

    def _opaque(self, name: str) -> Opaque:
        payload = json.dumps({name: self._reasoning[name].text()}, ensure_ascii=False, separators=(",", ":"))
        return Opaque(PROVIDER, self._service.model, payload)


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = tokens(details.get("cached_tokens")) if isinstance(details, dict) else 0
    cached = cached or tokens(usage.get("prompt_cache_hit_tokens"))
    return Usage(tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens")), cached)
