"""Services that call themselves OpenAI-compatible: each refusal is met once, and what it teaches holds afterwards."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kernel.errors import ProviderRefused
from kernel.messages import Effort, Message, ModelRequest, Opaque, Role, Stop, Text, Thinking
from kernel.providers.chat_manners import manners_of
from kernel.providers.openai_compat import OpenAICompatible
from kernel.providers.openai_request import request_body
from kernel.providers.turns import Maker
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.hasty import HastyClock
from tests.twins.model_service import ModelService, Page, chat_pieces, chat_stream
from tests.twins.strict_requests import openai_breach

GOOD = chat_stream(chat_pieces({"content": "好"}))
MODEL = "qwen3:8b"
KEPT = Opaque("openai", MODEL, '{"reasoning_content":"想"}')
LOOP = request(user("查"), assistant(KEPT, call("call_a")), user(result("call_a"), "快点"))
FULL = replace(LOOP, thinking=Thinking.ON, may_call=False)


def refusal(said: str, code: str = "invalid_request_error", status: int = 400) -> Page:
    return Page(status, json.dumps({"error": {"message": said, "type": "invalid_request_error", "code": code}}))


def chat(service: ModelService, clock: HastyClock, model: str = MODEL) -> OpenAICompatible:
    return OpenAICompatible(model, clock=clock, random=random.Random(1), url=service.url)


def sent(message: int, key: str) -> Callable[[Any], Any]:
    return lambda body: body["messages"][message].get(key)


LESSONS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name of the limit": (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        lambda body: "max_completion_tokens" in body,
    ),
    "no limit": ("max_tokens must be at most 4096", lambda body: "max_tokens" not in body),
    "room for the reply": (
        "maximum context length is 8192 tokens. However, you requested 16500 (16000 in the completion)",
        lambda body: "max_tokens" not in body,
    ),
    "stream_options": ("Unknown field: stream_options", lambda body: "stream_options" not in body),
    "tool_choice": ("tool_choice 'none' is not supported", lambda body: "tools" not in body),
    "tools": ("registry.ollama.ai/library/x does not support tools", lambda body: "tools" not in body),
    "tools (vLLM)": (
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        lambda body: "tools" not in body,
    ),
    "switch": ("Unrecognized request argument supplied: enable_thinking", lambda body: "enable_thinking" not in body),
    "system role": ("System role not supported", lambda body: body["messages"][0]["content"] == "你是助手\n\n查"),
    "reasoning": (
        "Extra inputs: messages.2.reasoning_content",
        lambda body: sent(2, "reasoning_content")(body) is None,
    ),
    "content": (
        "Invalid value for 'content': expected a string, got null",
        lambda body: sent(2, "content")(body) == "",
    ),
    "ids": (
        "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9.",
        lambda body: len(sent(3, "tool_call_id")(body)) == 9,
    ),
    "words behind results": (
        "Unexpected role 'user' after role 'tool'",
        lambda body: body["messages"][-1]["role"] == "tool" and "快点" in body["messages"][-1]["content"],
    ),
}


@pytest.mark.parametrize(("said", "is_learned"), LESSONS.values(), ids=LESSONS.keys())
async def test_what_was_refused_once_is_not_sent_again(
    service: ModelService, clock: HastyClock, said: str, is_learned: Callable[[Any], bool]
) -> None:
    model = chat(service, clock)
    service.answers(refusal(said), GOOD)

    replies = [await model.reply(FULL) for _ in range(3)]
    await model.close()

    assert [reply.message.text for reply in replies] == ["好"] * 3
    assert [is_learned(one.body) for one in service.requests] == [False, True, True, True]


@pytest.mark.parametrize(
    "said",
    [
        "Missing `reasoning_content` field in the assistant message at message index 1.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ],
)
async def test_a_service_that_misses_reasoning_gets_the_field_on_every_reply(
    service: ModelService, clock: HastyClock, said: str
) -> None:
    model = chat(service, clock)
    service.answers(refusal(said), GOOD)

    reply = await model.reply(request(user("查"), assistant(call("a")), user(result("a")), assistant("好"), user("?")))
    await model.close()

    assert reply.message.text == "好"
    asked = [[each for each in one.body["messages"] if each["role"] == "assistant"] for one in service.requests]
    assert [["reasoning_content" in each for each in replies] for replies in asked] == [[False] * 2, [True] * 2]


async def test_the_same_refusal_twice_ends_the_call(service: ModelService, clock: HastyClock) -> None:
    model = chat(service, clock)
    service.answers(refusal("Unknown field: stream_options"))

    with pytest.raises(ProviderRefused, match="stream_options"):
        await model.reply(HELLO)
    await model.close()

    assert len(service.requests) == 2


async def test_reasoning_of_a_plan_without_a_list_is_not_kept(service: ModelService, clock: HastyClock) -> None:
    model = chat(service, clock)
    service.answers(
        refusal("tool_choice: unsupported"), chat_stream(chat_pieces({"reasoning": "想"}, {"content": "先"}))
    )

    reply = await model.reply(FULL)
    await model.close()

    assert reply.message == Message(Role.ASSISTANT, (Text("先"),))


@pytest.mark.parametrize(
    ("said", "code", "status"),
    [
        (
            "maximum context length is 8192 tokens. However, your messages resulted in 9000",
            "context_length_exceeded",
            400,
        ),
        ("the request exceeds the available context size", "exceed_context_size_error", 400),
        ("Range of input length should be [1, 30720]", "InvalidParameter", 400),
        ("This model's maximum context length is 8192 tokens", "400", 400),
        ("Request Entity Too Large", "", 413),
    ],
)
async def test_what_does_not_fit_is_said_and_not_raised(
    service: ModelService, clock: HastyClock, said: str, code: str, status: int
) -> None:
    model = chat(service, clock)
    service.answers(refusal(said, code, status))

    reply = await model.reply(HELLO)
    await model.close()

    assert (reply.stop, reply.message.parts, len(service.requests)) == (Stop.WINDOW, (), 1)


def body_of(model: str, asked: ModelRequest) -> dict[str, Any]:
    body = request_body(asked, Maker("openai", model))
    assert openai_breach(body) is None
    return body


@pytest.mark.parametrize(
    ("model", "on", "off"),
    [
        ("gpt-5.2", {"reasoning_effort": "high"}, {"reasoning_effort": "low"}),
        ("deepseek-v4", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("glm-5.1", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("qwen3-max", {"enable_thinking": True}, {"enable_thinking": False}),
        ("deepseek-r1", {}, {}),
        ("llama-9", {}, {}),
    ],
)
def test_each_model_is_told_in_its_own_words(model: str, on: dict[str, Any], off: dict[str, Any]) -> None:
    def told(asked: ModelRequest) -> dict[str, Any]:
        body = body_of(model, asked)
        return {key: body[key] for key in ("reasoning_effort", "thinking", "enable_thinking") if key in body}

    assert told(HELLO) == {}
    assert told(replace(HELLO, thinking=Thinking.ON, effort=Effort.MAX)) == on
    assert told(replace(HELLO, thinking=Thinking.OFF)) == off


def test_newer_models_have_another_name_for_the_limit() -> None:
    assert [manners_of(model).limit for model in ("gpt-5.2", "o4-mini", "gpt-4o", "gpt-oss:20b")] == [
        "max_completion_tokens",
        "max_completion_tokens",
        "max_tokens",
        "max_tokens",
    ]


@pytest.mark.parametrize("written", ["", "{", "[1]", "null", "```json\n{}\n```", '"x"'])
def test_arguments_that_are_no_object_go_back_as_an_empty_one(written: str) -> None:
    """Local servers read them again, and fail over what is none in every later request."""
    asked = request(user("查"), assistant(call("a", arguments=written)), user(result("a")))

    assert body_of("m", asked)["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_plan_sees_the_tools_and_may_call_none() -> None:
    plan, work = body_of("m", replace(HELLO, may_call=False)), body_of("m", HELLO)

    assert (plan["tool_choice"], plan["tools"]) == ("none", work["tools"])
    assert "tool_choice" not in work
