"""Models that answer by a rule, behind our own wire code; what their services would read from caches is counted."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import ModelReply, ModelRequest, ToolCall
from kernel.ports import Clock
from kernel.providers import anthropic_wire, openai_wire
from kernel.providers.anthropic_request import request_body as claude_body
from kernel.providers.openai_request import request_body as chat_body
from kernel.providers.status import Service
from kernel.providers.tries import Ear
from kernel.providers.turns import Maker, to_bytes
from tests.twins.bound_thinking import BoundThinking
from tests.twins.model_service import chat_pieces, claude_call, claude_events, claude_text
from tests.twins.prompt_cache import Counted, MarkedCache, SteppedCache
from tests.twins.strict_requests import anthropic_breach, openai_breach

THOUGHT = "先想一想：他们要的是什么，手上有什么，还缺什么。"


@dataclass(frozen=True, slots=True)
class Said:
    """What a model answers."""

    words: str = ""
    calls: tuple[ToolCall, ...] = ()


Rule = Callable[[ModelRequest], Said]


class MeteredModel:
    """A `Provider` for `anthropic:<model>` or `openai:<model>`. `counted` holds every request that was answered."""

    def __init__(self, spec: str, rule: Rule, bound: BoundThinking, clock: Clock) -> None:
        provider, _, model = spec.partition(":")
        self.maker = Maker(provider, model)
        self.is_away = False
        self.refusals: list[str] = []
        self.counted: list[Counted] = []
        self._rule = rule
        self._bound = bound
        self._is_claude = provider == "anthropic"
        self._cache = MarkedCache(clock) if self._is_claude else SteppedCache(clock)
        self._service = Service("twin", model, "KEY", "URL")
        self._reasons = bool(re.search("deepseek|qwen|glm", model))

    @property
    def name(self) -> str:
        """As given."""
        return self.maker.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        if self.is_away:
            raise ProviderFailed("away")
        body = json.loads(to_bytes((claude_body if self._is_claude else chat_body)(request, self.maker)))
        breach = (anthropic_breach(body) or self._bound.breach(body)) if self._is_claude else openai_breach(body)
        if breach:
            self.refusals.append(f"{self.name}: {breach}")
            raise ProviderRefused(breach)
        self.counted.append(self._cache.take(body))
        said = self._rule(request)
        return self._claude(request, body, said) if self._is_claude else self._chat(request, said)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _claude(self, request: ModelRequest, body: dict[str, Any], said: Said) -> ModelReply:
        signed = {"type": "signature_delta", "signature": self._bound.sign(body, THOUGHT)}
        blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": THOUGHT, "signature": "", "deltas": [signed]}]
        if said.words:
            blocks.append(claude_text(said.words))
        blocks += [claude_call(call.id, call.name, call.arguments) for call in said.calls]
        self._bound.remember([call.id for call in said.calls])
        reading = anthropic_wire.Reading(self._service, request.tools, Ear(None))
        for event in claude_events(*blocks, stop="tool_use" if said.calls else "end_turn"):
            reading.hear(json.dumps(event).encode())
        return reading.reply()

    def _chat(self, request: ModelRequest, said: Said) -> ModelReply:
        deltas: list[dict[str, Any]] = [{"reasoning_content": THOUGHT}] if self._reasons else []
        deltas += [{"content": said.words}] if said.words else []
        for number, call in enumerate(said.calls):
            function = {"name": call.name, "arguments": call.arguments}
            deltas.append({"tool_calls": [{"index": number, "id": call.id, "function": function}]})
        reading = openai_wire.Reading(self._service, request, Ear(None), random.Random(1))
        for piece in chat_pieces(*deltas, finish="tool_calls" if said.calls else "stop"):
            reading.hear(json.dumps(piece).encode())
        reading.hear(b"[DONE]")
        return reading.reply()
