"""What the marks are for: most of what a conversation sends again is read from the service's cache."""

from __future__ import annotations

import json

from kernel.messages import Message, ModelRequest, Opaque, ToolCall, ToolWords, by_program
from kernel.providers.anthropic_request import request_body
from kernel.providers.turns import Maker
from tests.twins.clock import JumpingClock
from tests.twins.conversation import SCHEMA, assistant, call, result, user
from tests.twins.prompt_cache import MarkedCache

CLAUDE = Maker("anthropic", "claude-sonnet-5-5")
TOOLS = tuple(ToolWords(f"service.tool_{n}", "Does something with files and people. " * 5, SCHEMA) for n in range(20))
SYSTEM = "You are an assistant in a hospital. " * 60


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
    cache = MarkedCache(JumpingClock())
    counted = [
        cache.take(request_body(ModelRequest(SYSTEM, tuple(messages[:length]), TOOLS), CLAUDE))
        for length in range(1, len(messages) + 1, 2)
    ]
    return sum(each.read for each in counted) / sum(each.sent for each in counted)


def test_four_fifths_of_a_conversation_are_read_from_the_cache() -> None:
    assert share(thirty_messages(1)) >= 0.8


def test_a_message_of_many_calls_does_not_lose_it() -> None:
    """A service looks back over twenty blocks only."""
    assert share(thirty_messages(15)) >= 0.8


def test_a_plan_reads_what_the_plan_before_it_left_there() -> None:
    """What stands behind the tools and the prompt is kept apart for each `tool_choice`."""
    cache = MarkedCache(JumpingClock())
    opening, carry_out = user("帮我看看今天的排班。" * 3), user(by_program("carry it out"))
    loop = [each for n in range(8) for each in (assistant(*_calls(n)), user(*(result(c.id) for c in _calls(n))))]
    before = [opening, assistant("1. 看排班"), carry_out, *loop, assistant("好")]
    cache.take(request_body(ModelRequest(SYSTEM, (opening,), TOOLS, may_call=False), CLAUDE))

    plan = request_body(ModelRequest(SYSTEM, (*before, user("谢谢，那明天呢？")), TOOLS, may_call=False), CLAUDE)

    known = cache.take(request_body(ModelRequest(SYSTEM, (opening,), TOOLS, may_call=False), CLAUDE))
    assert known.read == known.sent
    assert cache.take(plan).read == known.sent


def _calls(n: int) -> list[ToolCall]:
    return [call(f"c{n}_{k}") for k in range(3)]
