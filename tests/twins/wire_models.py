"""Models behind our own wire code, without a wire: what a service would get is judged, what it would send is read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import ModelReply, ModelRequest
from kernel.providers import anthropic_wire, openai_wire
from kernel.providers.anthropic_request import request_body as claude_body
from kernel.providers.chat_manners import Reasoning, manners_of
from kernel.providers.openai_request import request_body as chat_body
from kernel.providers.status import Service
from kernel.providers.tries import Ear
from kernel.providers.turns import Maker, to_bytes
from tests.twins.bound_thinking import BoundThinking
from tests.twins.model_service import chat_pieces, claude_call, claude_events, claude_text
from tests.twins.strict_requests import anthropic_breach, openai_breach


class WireModel:
    """A `Provider`: strict about the body it would get, random in what it answers. `refusals` must stay empty."""

    def __init__(self, spec: str, chance: random.Random, bound: BoundThinking) -> None:
        provider, _, model = spec.partition(":")
        self.maker = Maker(provider, model)
        self.is_away = False
        self.refusals: list[str] = []
        self.requests = 0
        self._chance = chance
        self._bound = bound
        self._service = Service("twin", model, "KEY", "URL")

    @property
    def name(self) -> str:
        """As given."""
        return self.maker.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        if self.is_away:
            raise ProviderFailed("away")
        self.requests += 1
        is_claude = self.maker.provider == "anthropic"
        body = json.loads(to_bytes((claude_body if is_claude else chat_body)(request, self.maker)))
        breach = self._claude_breach(body) if is_claude else self._chat_breach(body)
        if breach:
            self.refusals.append(f"{self.name}: {breach}")
            raise ProviderRefused(breach)
        return self._claude(request, body) if is_claude else self._chat(request, body)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _claude_breach(self, body: dict[str, Any]) -> str | None:
        return anthropic_breach(body) or self._bound.breach(body)

    def _chat_breach(self, body: dict[str, Any]) -> str | None:
        if breach := openai_breach(body):
            return breach
        wants_back = manners_of(self.maker.model).reasoning is Reasoning.EVERYWHERE
        for message in body["messages"]:
            if wants_back and message["role"] == "assistant" and "reasoning_content" not in message:
                return "The `reasoning_content` in the thinking mode must be passed back to the API."
        return None

    def _claude(self, request: ModelRequest, body: dict[str, Any]) -> ModelReply:
        blocks: list[dict[str, Any]] = []
        thinks = self._chance.random() < 0.8
        if thinks:
            thought = self._chance.choice(["", "先想一想"])
            signed = {"type": "signature_delta", "signature": self._bound.sign(body, thought)}
            blocks.append({"type": "thinking", "thinking": thought, "signature": "", "deltas": [signed]})
        if self._chance.random() < 0.7:
            blocks.append(claude_text(self._chance.choice(["好", " ", "我查一下"])))
        ids = self._ids(request, "toolu_")
        blocks += [claude_call(id_, "weather__get", self._arguments()) for id_ in ids]
        if thinks:
            self._bound.remember(ids)
        stop = "tool_use" if ids else self._chance.choice(["end_turn", "end_turn", "max_tokens", "refusal"])
        reading = anthropic_wire.Reading(self._service, request.tools, Ear(None))
        for event in claude_events(*blocks, stop=stop):
            reading.hear(json.dumps(event).encode())
        return reading.reply()

    def _chat(self, request: ModelRequest, body: dict[str, Any]) -> ModelReply:
        deltas: list[dict[str, Any]] = []
        if self._chance.random() < 0.6:
            deltas.append({"reasoning_content": "想"})
        if self._chance.random() < 0.7:
            deltas.append({"content": self._chance.choice(["好", "  ", "我查一下"])})
        ids = self._ids(request, self._chance.choice(["call_", "functions.f:"]))
        given = self._chance.choice([ids, [""] * len(ids), ["same"] * len(ids)])
        for number, id_ in enumerate(given):
            function = {"name": "weather__get", "arguments": self._arguments()}
            deltas.append({"tool_calls": [{"index": number, "id": id_, "function": function}]})
        finish = self._chance.choice(["stop", "tool_calls"]) if ids else self._chance.choice(["stop", "length"])
        reading = openai_wire.Reading(self._service, request, Ear(None), self._chance)
        for piece in chat_pieces(*deltas, finish=finish):
            reading.hear(json.dumps(piece).encode())
        reading.hear(b"[DONE]")
        return reading.reply()

    def _ids(self, request: ModelRequest, start: str) -> list[str]:
        if not request.may_call or self._chance.random() < 0.45:
            return []
        return [f"{start}{self._chance.getrandbits(64):x}" for _ in range(self._chance.choice([1, 1, 2, 3]))]

    def _arguments(self) -> str:
        return self._chance.choice(['{"city": "北京"}', "{}", "", '{"ci', "[1]", r'{"a": "\ud83c"}'])
