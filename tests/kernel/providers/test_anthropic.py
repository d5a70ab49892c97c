from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import Message, Opaque, Role, Stop, Text, ToolCall, Usage
from kernel.providers.anthropic import Anthropic
from kernel.providers.tries import Patience
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.hasty import HastyClock
from tests.twins.model_service import (
    ModelService,
    Page,
    Stream,
    claude_call,
    claude_events,
    claude_stream,
    claude_text,
)

KEY = "sk-ant-canary-0123456789"
MODEL = "claude-sonnet-5-5"
GOOD = claude_stream(claude_events(claude_text("你好", "呀")))
MARK = {"cache_control": {"type": "ephemeral"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.fixture
async def claude(service: ModelService, clock: HastyClock) -> AsyncIterator[Anthropic]:
    patience = Patience(silence=timedelta(seconds=1))
    provider = Anthropic(MODEL, KEY, clock=clock, random=random.Random(1), url=service.url, patience=patience)
    yield provider
    await provider.close()


async def test_a_text_reply_comes_whole_and_in_pieces(service: ModelService, claude: Anthropic) -> None:
    service.answers(GOOD)
    heard: list[str] = []

    reply = await claude.reply(HELLO, heard.append)

    assert reply.message == Message(Role.ASSISTANT, (Text("你好呀"),))
    assert (reply.stop, heard) == (Stop.END, ["你好", "呀"])
    assert reply.usage == Usage(input=1005, output=42, cached=900)
    assert claude.name == "anthropic:claude-sonnet-5-5"


async def test_the_request_is_what_the_api_asks_for(service: ModelService, claude: Anthropic) -> None:
    service.answers(GOOD)

    await claude.reply(request(user("一"), user(" "), user("二"), tools=()))

    [sent] = service.requests
    assert sent.path == "/v1/messages"
    assert sent.headers["anthropic-version"] == "2026-10-21"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": MODEL,
        "max_tokens": 16_000,
        "stream": True,
        "system": [{"type": "text", "text": "你是助手", **MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "一"}, {"type": "text", "text": "二", **MARK}]}
        ],
    }


async def test_the_same_request_is_the_same_bytes(service: ModelService, claude: Anthropic) -> None:
    service.answers(GOOD)

    await claude.reply(request(user("你好"), assistant(call("a")), user(result("a"))))
    await claude.reply(request(user("你好"), assistant(call("a")), user(result("a"))))

    assert service.requests[0].raw == service.requests[1].raw


async def test_blocks_are_chosen_by_type(service: ModelService, claude: Anthropic) -> None:
    """The 5.5 family opens every reply with a thinking block that is mostly empty."""
    thinking = {
        "type": "thinking",
        "thinking": "",
        "signature": "",
        "deltas": [{"type": "signature_delta", "signature": "c2ln+/="}],
    }
    service.answers(claude_stream(claude_events(thinking, claude_text("好"), {"type": "brand_new", "x": "一"})))

    reply = await claude.reply(HELLO)

    assert reply.message.text == "好"
    assert reply.message.parts[0] == Opaque(
        "anthropic", MODEL, '{"type":"thinking","thinking":"","signature":"c2ln+/="}'
    )
    assert reply.message.parts[2] == Opaque("anthropic", MODEL, '{"type":"brand_new","x":"一"}')


async def test_thinking_goes_back_byte_for_byte_and_to_its_model_only(
    service: ModelService, claude: Anthropic, clock: HastyClock
) -> None:
    deltas = [{"type": "thinking_delta", "thinking": "先想\u2028"}, {"type": "thinking_delta", "thinking": "再说 "}]
    deltas.append({"type": "signature_delta", "signature": "c2ln"})
    thinking: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": "", "deltas": deltas}
    redacted = {"type": "redacted_thinking", "data": "b3BhcXVl"}
    events = claude_events(thinking, redacted, claude_call("toolu_1", "weather__get", "{}"), stop="tool_use")
    service.answers(claude_stream(events), GOOD)
    first = await claude.reply(HELLO)
    history = request(*HELLO.messages, first.message, user(result("toolu_1")))

    await claude.reply(history)
    other = Anthropic("claude-opus-5-5", KEY, clock=clock, random=random.Random(1), url=service.url)
    await other.reply(history)
    await other.close()

    sent = service.requests[1].body["messages"][1]["content"]
    assert sent[:2] == [{"type": "thinking", "thinking": "先想\u2028再说 ", "signature": "c2ln"}, redacted]
    assert [block["type"] for block in service.requests[2].body["messages"][1]["content"]] == ["tool_use"]


async def test_thinking_without_signature_goes_back_too(service: ModelService, claude: Anthropic) -> None:
    """Third-party Messages endpoints do not sign, and want it back in a tool loop."""
    thinking = {"type": "thinking", "thinking": "", "deltas": [{"type": "thinking_delta", "thinking": "想"}]}
    events = claude_events(thinking, claude_call("a", "weather_get", "{}"), stop="tool_use")
    service.answers(claude_stream(events), GOOD)
    first = await claude.reply(HELLO)

    await claude.reply(request(*HELLO.messages, first.message, user(result("a"))))

    assert service.requests[1].body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "想"}


async def test_thinking_that_was_cut_is_dropped_whole(service: ModelService, claude: Anthropic) -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    half = {**thinking, "deltas": [{"type": "thinking_delta", "thinking": "没想完"}]}
    service.answers(claude_stream(claude_events(half, stop="max_tokens")))

    reply = await claude.reply(HELLO)

    assert (reply.message.parts, reply.stop) == ((), Stop.CUT)


async def test_calls_and_results_are_mapped_both_ways(service: ModelService, claude: Anthropic) -> None:
    events = claude_events(
        claude_text("我查一下"),
        claude_call("toolu_1", "weather__get", '{"city": "', '北京"}'),
        claude_call("toolu_2", "weather_get"),
        stop="tool_use",
    )
    service.answers(claude_stream(events), GOOD)

    reply = await claude.reply(HELLO)
    answered = user("还有上海", result("toolu_1"), result("toolu_2", "", is_error=True), "快点")
    await claude.reply(request(*HELLO.messages, reply.message, answered))

    assert reply.stop is Stop.TOOLS
    assert reply.message.calls == (
        ToolCall("toolu_1", "weather.get", '{"city": "北京"}'),
        ToolCall("toolu_2", "weather_get", "{}"),
    )
    _, said, heard = service.requests[1].body["messages"]
    assert said["content"][1] == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "weather__get",
        "input": {"city": "北京"},
    }
    assert heard["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "晴"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "(empty)", "is_error": True},
        {"type": "text", "text": "还有上海"},
        {"type": "text", "text": "快点", **MARK},
    ]


async def test_ids_of_another_service_are_written_so_that_they_pass(service: ModelService, claude: Anthropic) -> None:
    service.answers(GOOD)

    await claude.reply(request(user("你好"), assistant(call("functions.f:0")), user(result("functions.f:0"))))

    _, said, heard = service.requests[0].body["messages"]
    assert said["content"][0]["id"] == heard["content"][0]["tool_use_id"]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", Stop.END),
        ("stop_sequence", Stop.END),
        ("max_tokens", Stop.CUT),
        ("pause_turn", Stop.END),
        ("refusal", Stop.REFUSAL),
        ("model_context_window_exceeded", Stop.WINDOW),
        ("a_reason_of_next_year", Stop.END),
    ],
)
async def test_every_stop_reason_has_its_meaning(
    service: ModelService, claude: Anthropic, reason: str, stop: Stop
) -> None:
    service.answers(claude_stream(claude_events(claude_text("好"), stop=reason)))

    assert (await claude.reply(HELLO)).stop is stop


async def test_a_pause_goes_on_where_the_service_has_something_under_way(
    service: ModelService, claude: Anthropic
) -> None:
    """A reply of words alone, sent back as the last message, would be refused."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    service.answers(claude_stream(claude_events(claude_text("好"), search, stop="pause_turn")))

    assert (await claude.reply(HELLO)).stop is Stop.PAUSE


async def test_calls_decide_whether_there_is_something_to_do(service: ModelService, claude: Anthropic) -> None:
    without = claude_stream(claude_events(claude_text("好"), stop="tool_use"))
    beside = claude_stream(claude_events(claude_call("a", "weather_get", "{}"), stop="end_turn"))
    service.answers(without, beside)

    assert [(await claude.reply(HELLO)).stop for _ in range(2)] == [Stop.END, Stop.TOOLS]


async def test_a_call_that_max_tokens_cut_never_runs(service: ModelService, claude: Anthropic) -> None:
    calls = [claude_call("a", "weather_get", '{"city": "北京"}'), claude_call("b", "weather_get", '{"city": "上')]
    service.answers(claude_stream(claude_events(*calls, stop="max_tokens")))

    reply = await claude.reply(HELLO)

    assert reply.stop is Stop.CUT
    assert [(one.id, one.arguments, one.is_cut) for one in reply.message.calls] == [
        ("a", '{"city": "北京"}', False),
        ("b", '{"city": "上', True),
    ]


async def test_a_call_whose_block_was_not_closed_never_runs(service: ModelService, claude: Anthropic) -> None:
    events = claude_events(claude_call("a", "weather_get", "{}"), stop="tool_use")
    service.answers(claude_stream(event for event in events if event["type"] != "content_block_stop"))

    assert [one.is_cut for one in (await claude.reply(HELLO)).message.calls] == [True]


CALL_EVENTS = claude_events(claude_call("a", "weather_get", '{"to": "al', 'ice"}'), stop="tool_use")
TEXT_EVENTS = claude_events(claude_text("一", "二", "三"))
CUTS = {
    "no message_stop": claude_stream(TEXT_EVENTS[:-1]),
    "no stop reason": claude_stream(claude_events(claude_text("一"), stop=None)),
    "cut inside arguments": claude_stream(CALL_EVENTS[:4]),
    "nothing at all": claude_stream([]),
    "reset in the middle": claude_stream(TEXT_EVENTS[:4], end="reset"),
    "silence in the middle": claude_stream(TEXT_EVENTS[:4], end="open"),
    "overload in the stream": claude_stream([*TEXT_EVENTS[:2], OVERLOADED]),
    "overload as first event": claude_stream([OVERLOADED]),
    "error of an unknown kind": claude_stream([{"type": "error", "error": {"type": "new", "message": "?"}}]),
    "error that is no object": claude_stream([{"type": "error", "error": "?"}]),
    "garbage": Stream((b'event: content_block_delta\ndata: {"type": "content_bl\n\n',)),
    "not UTF-8": Stream((b"data: \xff\xfe\n\n",)),
    "no object": Stream((b"data: 7\n\n", b"data: []\n\n")),
    "a delta of no block": claude_stream(event for event in TEXT_EVENTS if event["type"] != "content_block_start"),
    "a block twice": claude_stream([*TEXT_EVENTS[:2], *TEXT_EVENTS[1:]]),
    "a page": Page(200, "<html>captive portal</html>"),
    "other JSON": Page(200, '{"ok": true}'),
}


@pytest.mark.parametrize("answer", CUTS.values(), ids=CUTS.keys())
async def test_what_is_no_whole_answer_is_tried_again(
    service: ModelService, claude: Anthropic, clock: HastyClock, answer: Page | Stream
) -> None:
    service.answers(answer, GOOD)

    reply = await claude.reply(HELLO)

    assert reply.message.text == "你好呀"
    assert clock.pauses  # Once, or again when a busy machine was silent for a second.


async def test_text_that_was_heard_is_never_doubled(service: ModelService, claude: Anthropic) -> None:
    service.answers(claude_stream([*TEXT_EVENTS[:4], OVERLOADED]), GOOD)
    heard: list[str] = []

    reply = await claude.reply(HELLO, heard.append)

    assert (reply.message.text, heard) == ("你好呀", ["一"])
    assert len(service.requests) == 2


async def test_a_half_character_is_held_back_until_it_is_whole(service: ModelService, claude: Anthropic) -> None:
    service.answers(claude_stream(claude_events(claude_text("帽\ud83c", "\udfa9"), claude_text("子"))))
    heard: list[str] = []

    reply = await claude.reply(HELLO, heard.append)

    assert reply.message.text == "".join(heard) == "帽🎩\n子"


async def test_a_stream_that_stays_open_after_its_end_is_not_waited_for(
    service: ModelService, clock: HastyClock
) -> None:
    """Silence would be borne for two minutes."""
    claude = Anthropic(MODEL, KEY, clock=clock, random=random.Random(1), url=service.url)
    service.answers(claude_stream(claude_events(claude_text("好")), end="open"))

    async with asyncio.timeout(10):
        assert (await claude.reply(HELLO)).message.text == "好"

    await claude.close()


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_busy_service_is_tried_six_times(
    service: ModelService, claude: Anthropic, clock: HastyClock, status: int
) -> None:
    service.answers(Page(status, json.dumps(OVERLOADED), {"retry-after": "2"}))

    with pytest.raises(ProviderFailed) as failed:
        await claude.reply(HELLO)

    assert len(service.requests) == 6
    assert failed.value.after == timedelta(seconds=2)
    assert all(pause >= timedelta(seconds=2) for pause in clock.pauses)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 307])
async def test_a_refusal_is_not_tried_again_and_holds_no_key(
    service: ModelService, claude: Anthropic, status: int
) -> None:
    """A redirect is one too: the key would go along to wherever it points."""
    body = json.dumps({"type": "error", "error": {"type": "x", "message": f"bad {KEY}\nline"}})
    service.answers(Page(status, body, {"location": f"{service.url}/elsewhere"}))

    with pytest.raises(ProviderRefused) as refused:
        await claude.reply(HELLO)

    assert len(service.requests) == 1
    assert KEY not in str(refused.value)
    assert str(refused.value).isprintable()


async def test_a_refusal_inside_the_stream_is_one(service: ModelService, claude: Anthropic) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
    service.answers(claude_stream([error]))

    with pytest.raises(ProviderRefused, match="too long"):
        await claude.reply(HELLO)


async def test_nobody_listening_is_a_failure_that_passes(clock: HastyClock) -> None:
    provider = Anthropic(MODEL, KEY, clock=clock, random=random.Random(1), url="http://127.0.0.1:9")

    with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1"):
        await provider.reply(HELLO)

    await provider.close()


async def test_a_cancelled_call_lets_go_of_its_stream(service: ModelService, clock: HastyClock) -> None:
    provider = Anthropic(MODEL, KEY, clock=clock, random=random.Random(1), url=service.url)
    service.answers(claude_stream(TEXT_EVENTS[:4], end="open"))
    running = asyncio.create_task(provider.reply(HELLO))
    await service.in_stream.wait()

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(service.left.wait(), 5)
    await provider.close()


async def test_the_environment_of_the_process_changes_nothing(
    service: ModelService, clock: HastyClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "other")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other")
    service.answers(GOOD)
    provider = Anthropic(MODEL, KEY, clock=clock, random=random.Random(1), url=service.url)

    await provider.reply(HELLO)
    await provider.close()

    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"
