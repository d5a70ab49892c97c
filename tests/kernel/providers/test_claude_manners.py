"""Messages endpoints of others: each refusal is met once, and what it teaches holds for every later request."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from kernel.errors import ProviderRefused
from kernel.messages import Effort, Message, ModelRequest, Opaque, Role, Stop, Text, Thinking
from kernel.providers.anthropic import Anthropic
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.hasty import HastyClock
from tests.twins.model_service import ModelService, Page, Stream, claude_events, claude_stream, claude_text

MODEL = "glm-5.1"
GOOD = claude_stream(claude_events(claude_text("好")))
UNSIGNED = Opaque("anthropic", MODEL, '{"type":"thinking","thinking":"想"}')
LOOP = request(user("查"), assistant(UNSIGNED, call("a")), user(result("a")))
FULL = replace(LOOP, thinking=Thinking.ON, effort=Effort.HIGH, may_call=False)


def refusal(said: str, status: int = 400) -> Page:
    return Page(status, json.dumps({"error": {"type": "invalid_request_error", "message": said}}))


def claude(service: ModelService, clock: HastyClock, model: str = MODEL) -> Anthropic:
    return Anthropic(model, "sk-canary-0123456789", clock=clock, random=random.Random(1), url=service.url)


@pytest.fixture
async def model(service: ModelService, clock: HastyClock) -> AsyncIterator[Anthropic]:
    made = claude(service, clock)
    yield made
    await made.close()


def marks(body: dict[str, Any]) -> int:
    return json.dumps(body).count("cache_control")


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the first assistant message."""
    content: list[dict[str, Any]] = body["messages"][1]["content"]
    return content


def is_signed(body: dict[str, Any]) -> bool:
    return all("signature" in block for block in blocks(body) if block["type"] == "thinking")


LESSONS: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    "cache marks": ("messages.0.content.0.cache_control: Extra inputs", lambda body: marks(body) == 0),
    "a prompt in blocks": ("system: Input should be a valid string", lambda body: body["system"] == "你是助手"),
    "signature": ("messages.1.content.0.thinking.signature: Field required", is_signed),
    "thinking": ("thinking: Extra inputs are not permitted", lambda body: "thinking" not in body),
    "tool_choice": ("tool_choice.type 'none' is not supported", lambda body: "tools" not in body),
    "most tokens": ("max_tokens: 16000 > 8192, the maximum", lambda body: body["max_tokens"] == 8192),
}


@pytest.mark.parametrize(("said", "is_learned"), LESSONS.values(), ids=LESSONS.keys())
async def test_what_was_refused_once_is_not_sent_again(
    service: ModelService, model: Anthropic, said: str, is_learned: Callable[[Any], bool]
) -> None:
    service.answers(refusal(said), GOOD)

    replies = [await model.reply(FULL) for _ in range(3)]

    assert [reply.message.text for reply in replies] == ["好"] * 3
    assert [is_learned(one.body) for one in service.requests] == [False, True, True, True]


async def test_effort_is_one_of_them(service: ModelService, clock: HastyClock) -> None:
    made = claude(service, clock, "claude-sonnet-5-5")
    service.answers(refusal("output_config: Extra inputs are not permitted"), GOOD)

    for _ in range(2):
        await made.reply(replace(HELLO, effort=Effort.LOW))
    await made.close()

    assert ["output_config" in one.body for one in service.requests] == [True, False, False]


async def test_several_lessons_are_learned_one_after_another(service: ModelService, model: Anthropic) -> None:
    refused: list[str] = []

    def refuse(body: Any) -> Page | None:
        for said, is_learned in LESSONS.values():
            if not is_learned(body):
                refused.append(said)
                return refusal(said)
        return None

    service.own_rules = refuse
    service.answers(GOOD)

    replies = [await model.reply(FULL) for _ in range(3)]

    assert [reply.message.text for reply in replies] == ["好"] * 3
    assert len(refused) == len(set(refused)) == len(LESSONS) - 1  # The prompt in blocks goes with the marks.


async def test_calls_side_by_side_learn_together(service: ModelService, model: Anthropic) -> None:
    service.own_rules = lambda body: refusal("cache_control: not permitted") if marks(body) else None
    service.answers(GOOD)

    await asyncio.gather(*(model.reply(HELLO) for _ in range(4)))
    await model.reply(HELLO)

    assert marks(service.requests[-1].body) == 0


async def test_a_refusal_that_teaches_nothing_is_one(service: ModelService, model: Anthropic) -> None:
    service.answers(refusal("metadata.user_id: too long"), GOOD)

    with pytest.raises(ProviderRefused, match="user_id"):
        await model.reply(FULL)

    assert len(service.requests) == 1


async def test_the_same_refusal_twice_ends_the_call(service: ModelService, model: Anthropic) -> None:
    service.answers(refusal("cache_control: not permitted"))

    with pytest.raises(ProviderRefused, match="cache_control"):
        await model.reply(HELLO)

    assert len(service.requests) == 2


async def test_deepseek_gets_a_thought_before_every_call(service: ModelService, clock: HastyClock) -> None:
    """Also before calls that another model made: without one it refuses."""
    made = claude(service, clock, "deepseek-chat")
    service.answers(GOOD)

    await made.reply(LOOP)
    await made.close()

    assert [block["type"] for block in blocks(service.requests[0].body)] == ["thinking", "tool_use"]


async def test_others_that_want_one_say_so(service: ModelService, model: Anthropic) -> None:
    service.answers(refusal("The `content[].thinking` in the thinking mode must be passed back to the API."), GOOD)

    await model.reply(request(user("查"), assistant(call("a")), user(result("a"))))

    assert [block["type"] for block in blocks(service.requests[1].body)] == ["thinking", "tool_use"]


async def test_a_plan_sees_the_tools_and_may_call_none(service: ModelService, model: Anthropic) -> None:
    service.answers(GOOD)

    await model.reply(replace(HELLO, may_call=False))
    await model.reply(HELLO)

    plan, work = (one.body for one in service.requests)
    assert (plan["tool_choice"], plan["tools"]) == ({"type": "none"}, work["tools"])
    assert "tool_choice" not in work


async def test_thinking_of_a_plan_without_a_list_is_not_kept(service: ModelService, model: Anthropic) -> None:
    """It is bound to a request without tools, and no later one is that."""
    thinking = {"type": "thinking", "thinking": "想", "signature": "s"}
    service.answers(refusal("tool_choice: unknown"), claude_stream(claude_events(thinking, claude_text("先查"))))

    reply = await model.reply(FULL)

    assert reply.message == Message(Role.ASSISTANT, (Text("先查"),))
    assert "thinking" not in [block["type"] for block in blocks(service.requests[1].body)]


def repeating(number: int) -> ModelRequest:
    history = [user("开始")]
    for n in range(number):
        history += [assistant(call(f"a{n}")), user(result(f"a{n}"))]
    return request(*history)


async def test_marks_stand_where_the_next_request_begins(service: ModelService, model: Anthropic) -> None:
    """At tools, prompt, and the ends of this request and the one before."""
    service.answers(GOOD)

    for number in (1, 2, 3):
        await model.reply(repeating(number))

    bodies = [one.body for one in service.requests]
    assert [marks(body) for body in bodies] == [4, 4, 4]
    for before, after in pairwise(bodies):
        assert unmarked(after["messages"][: len(before["messages"])]) == unmarked(before["messages"])
        assert "cache_control" in after["messages"][len(before["messages"]) - 1]["content"][-1]
        assert (after["tools"], after["system"]) == (before["tools"], before["system"])


def unmarked(value: Any) -> Any:
    return json.loads(json.dumps(value).replace(', "cache_control": {"type": "ephemeral"}', ""))


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
CUT_OFF = {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}}


@pytest.mark.parametrize("answer", [refusal(TOO_LONG), Page(413, "too big"), claude_stream([CUT_OFF])])
async def test_what_does_not_fit_is_said_and_not_raised(
    service: ModelService, model: Anthropic, answer: Page | Stream
) -> None:
    service.answers(answer)

    reply = await model.reply(HELLO)

    assert (reply.stop, reply.message.parts, reply.by) == (Stop.WINDOW, (), "anthropic:glm-5.1")
    assert len(service.requests) == 1


async def test_thinking_that_its_own_service_refuses_is_never_sent_again(
    service: ModelService, clock: HastyClock
) -> None:
    """Else the chat would be refused for ever."""
    made = claude(service, clock, "claude-sonnet-5-5")
    thoughts = [
        Opaque("anthropic", "claude-sonnet-5-5", json.dumps({"type": "thinking", "thinking": "", "signature": s}))
        for s in ("one", "two")
    ]
    history = request(user("一"), assistant(thoughts[0], "二"), user("三"))
    service.answers(refusal("messages.1.content.0: Invalid `signature` in `thinking` block"), GOOD)

    await made.reply(history)
    await made.reply(request(*history.messages, assistant(thoughts[1], "四"), user("五")))
    await made.close()

    kept = [json.dumps(one.body).count('"signature"') for one in service.requests]
    assert kept == [1, 0, 1]
