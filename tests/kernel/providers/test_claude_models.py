from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernel.messages import Effort, Opaque, Thinking
from kernel.providers.anthropic_request import request_body
from kernel.providers.claude_models import abilities_of
from kernel.providers.turns import Maker
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.strict_requests import anthropic_breach

ADAPTIVE = {"type": "adaptive"}
OPUS, SONNET, OLD = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"


def asked(model: str, thinking: Thinking, effort: Effort | None = None, max_tokens: int = 16_000) -> dict[str, Any]:
    """What a request says about thinking."""
    made = replace(HELLO, thinking=thinking, effort=effort, max_tokens=max_tokens)
    body = request_body(made, Maker("anthropic", model))
    assert anthropic_breach(body) is None
    return {key: body[key] for key in ("thinking", "output_config") if key in body}


@pytest.mark.parametrize(
    ("model", "on", "off"),
    [
        ("claude-opus-5-5", ADAPTIVE, {}),
        ("claude-fable-5-2", ADAPTIVE, {}),
        ("claude-sonnet-5-5", ADAPTIVE, {"type": "between_tools"}),
        ("claude-haiku-5-5", ADAPTIVE, {"type": "disabled"}),
        ("claude-fable-5", ADAPTIVE, {}),
        ("claude-opus-5", ADAPTIVE, {"type": "disabled"}),
        ("claude-sonnet-5", ADAPTIVE, {"type": "disabled"}),
        ("claude-opus-4-8", ADAPTIVE, {}),
        ("claude-sonnet-4-6", ADAPTIVE, {}),
        ("claude-opus-4-5-20251101", {"type": "enabled", "budget_tokens": 4000}, {}),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 4000}, {}),
        ("glm-5.1", {"type": "enabled", "budget_tokens": 4000}, {"type": "disabled"}),
        ("claude-opus-9", ADAPTIVE, {}),
    ],
)
def test_each_model_is_told_in_its_own_words(model: str, on: dict[str, Any], off: dict[str, Any]) -> None:
    assert asked(model, Thinking.OWN) == {}
    assert asked(model, Thinking.ON).get("thinking", {}) == on
    assert asked(model, Thinking.OFF).get("thinking", {}) == off


def test_a_model_that_cannot_stop_thinking_thinks_little() -> None:
    assert asked(OPUS, Thinking.OFF) == {"output_config": {"effort": "low"}}
    assert asked(OPUS, Thinking.OFF, Effort.HIGH) == {"output_config": {"effort": "high"}}


@pytest.mark.parametrize(
    ("model", "effort"), [(SONNET, "max"), ("claude-opus-4-5", "high"), ("claude-sonnet-4-6", "high"), (OLD, None)]
)
def test_effort_goes_as_far_as_the_model_does(model: str, effort: str | None) -> None:
    assert asked(model, Thinking.OWN, Effort.MAX).get("output_config") == (effort and {"effort": effort})


def test_a_budget_leaves_room_for_words() -> None:
    assert asked(OLD, Thinking.ON, Effort.MAX, 4_000)["thinking"]["budget_tokens"] == 2_000
    assert asked(OLD, Thinking.ON, Effort.MAX, 2_000) == {}


def test_no_model_is_asked_for_more_tokens_than_it_has() -> None:
    body = request_body(replace(HELLO, max_tokens=100_000), Maker("anthropic", OLD))

    assert body["max_tokens"] == 64_000
    assert abilities_of(SONNET).most_tokens == 128_000


def test_a_loop_that_began_without_thinking_goes_on_without() -> None:
    """A budget is refused there. Models that decide for themselves are not told otherwise."""
    loop = replace(request(user("查"), assistant(call("a")), user(result("a"))), thinking=Thinking.ON)
    thought = Opaque("anthropic", OLD, '{"type":"thinking","thinking":"x","signature":"s"}')
    kept = replace(request(user("查"), assistant(thought, call("a")), user(result("a"))), thinking=Thinking.ON)

    assert "thinking" not in request_body(loop, Maker("anthropic", OLD))
    assert "thinking" in request_body(kept, Maker("anthropic", OLD))
    assert request_body(loop, Maker("anthropic", SONNET))["thinking"] == ADAPTIVE
