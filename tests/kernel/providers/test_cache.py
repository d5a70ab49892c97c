"""What the marks are for: most of what a conversation sends again is read from the service's cache."""

from __future__ import annotations

import json
from typing import Any

from kernel.messages import Message, ModelRequest, Opaque, ToolCall, ToolWords
from kernel.providers.anthropic_request import request_body
from kernel.providers.turns import Maker
from tests.twins.conversation import SCHEMA, assistant, call, result, user

CLAUDE = Maker("anthropic", "claude-sonnet-5-5")
TOOLS = tuple(ToolWords(f"service.tool_{n}", "Does something with files and people. " * 5, SCHEMA) for n in range(20))
SYSTEM = "You are an assistant in a hospital. " * 60
LOOK_BACK = 20
"""Blocks before a mark in which a service looks for what it knows (Anthropic, prompt caching)."""


class Cache:
    """Of one service: knows the beginnings that were marked."""

    def __init__(self) -> None:
        self.sent = 0
        self.read = 0
        self._known: set[str] = set()

    def take(self, body: dict[str, Any]) -> None:
        """Count a request, in characters."""
        blocks = [*body["tools"], *body["system"], *(block for one in body["messages"] for block in one["content"])]
        bare = [json.dumps({**block, "cache_control": None}) for block in blocks]
        marked = [number for number, block in enumerate(blocks) if "cache_control" in block]
        begins = ["".join(bare[: number + 1]) for number in range(len(bare))]
        near = {number - back for number in marked for back in range(LOOK_BACK) if number >= back}
        self.sent += len(begins[-1])
        self.read += max((len(begins[number]) for number in near if begins[number] in self._known), default=0)
        self._known |= {begins[number] for number in marked}


def thirty_messages(calls_each: int) -> list[Message]:
    messages: list[Message] = []
    while len(messages) < 30:
        n = len(messages)
        thought = Opaque(
            "anthropic", CLAUDE.model, json.dumps({"type": "thinking", "thinking": "", "signature": f"s{n}"})
        )
        calls: list[ToolCall] = [call(f"c{n}_{k}") for k in range(calls_each)]
        results = user(*(result(one.id, "晴，23 度，微风。" * 4) for one in calls))
        messages += [
            user("帮我看看今天的排班，然后告诉大家。" * 3),
            assistant(thought, *calls),
            results,
            assistant(thought, "好" * 80),
        ]
    return messages


def share(messages: list[Message]) -> float:
    cache = Cache()
    for length in range(1, len(messages) + 1, 2):
        cache.take(request_body(ModelRequest(SYSTEM, tuple(messages[:length]), TOOLS), CLAUDE))
    return cache.read / cache.sent


def test_four_fifths_of_a_conversation_are_read_from_the_cache() -> None:
    assert share(thirty_messages(1)) >= 0.8


def test_a_message_of_many_calls_does_not_lose_it() -> None:
    """A service looks back over twenty blocks only."""
    assert share(thirty_messages(15)) >= 0.8
