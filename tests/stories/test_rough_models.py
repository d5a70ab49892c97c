"""Real providers, a real wire, services at their worst: no half call runs, nothing is said twice or forgotten."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from kernel.messages import ModelReply, ModelRequest
from kernel.ports import Provider
from kernel.providers.anthropic import Anthropic
from kernel.providers.openai_compat import OpenAICompatible
from kernel.providers.scripted import Scripted
from kernel.providers.tries import Patience
from tests.twins.hasty import HastyClock
from tests.twins.model_service import (
    ModelService,
    Page,
    Stream,
    chat_pieces,
    chat_stream,
    claude_call,
    claude_events,
    claude_stream,
    claude_text,
    model_service,
)
from tests.twins.tools import Deeds
from tests.twins.world import RULES, World, world
from zclaw.wiring.turns import Rules

PATIENCE = Patience(silence=timedelta(seconds=5))
LAPSED = timedelta(seconds=16)
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
BUSY = {"error": {"type": "server_error", "message": "Overloaded"}}


class Wired(Scripted):
    """Asks a provider over its wire, and remembers what it was asked."""

    def __init__(self, inner: Provider) -> None:
        super().__init__(name=inner.name)
        self._inner = inner

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        self.requests.append(request)
        return await self._inner.reply(request, delta)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of service writes what a story needs."""

    name: str
    make: Callable[[str, HastyClock], Provider]
    says: Callable[..., Stream]
    """Words, in the pieces given."""
    calls: Callable[[str], Stream]
    """A call of `post` with these arguments, whole."""
    cut: dict[str, Callable[[], Stream]]
    """Calls of `post` that end in the middle of their arguments, by how they end."""
    overloaded: Callable[..., Stream]
    """An overload under status 200, behind the pieces of text given."""


def claude(url: str, clock: HastyClock) -> Provider:
    return Anthropic("claude-sonnet-5-5", "KEY", clock=clock, random=random.Random(1), url=url, patience=PATIENCE)


def deepseek(url: str, clock: HastyClock) -> Provider:
    chance = random.Random(1)
    return OpenAICompatible("deepseek-reasoner", "KEY", clock=clock, random=chance, url=f"{url}/v1", patience=PATIENCE)


def chat_call(arguments: str, number: int = 0) -> dict[str, Any]:
    call = {"index": 0, "id": f"call_{number}", "function": {"name": "post", "arguments": arguments}}
    return {"tool_calls": [call]}


HALF = '{"text": "al'
SHORT = '{"text": "al"}'
"""What a service makes of half a call that mends it before it sends it."""
HALF_CLAUDE = claude_events(claude_call("toolu_1", "post", HALF), stop="max_tokens")
HALF_CHAT = chat_pieces(chat_call(HALF), finish="length")
DIALECTS = (
    Dialect(
        "claude",
        claude,
        says=lambda *pieces: claude_stream(claude_events(claude_text(*pieces))),
        calls=lambda arguments: claude_stream(
            claude_events(claude_call("toolu_1", "post", arguments), stop="tool_use")
        ),
        cut={
            "at the limit": lambda: claude_stream(HALF_CLAUDE),
            "at the limit, looking whole": lambda: claude_stream(
                claude_events(claude_call("toolu_1", "post", SHORT), stop="max_tokens")
            ),
            "at the end of the stream": lambda: claude_stream(HALF_CLAUDE[:4]),
            "without a reason": lambda: claude_stream(claude_events(claude_call("toolu_1", "post", HALF), stop=None)),
        },
        overloaded=lambda *pieces: claude_stream(
            [*(claude_events(claude_text(*pieces))[:-3] if pieces else ()), OVERLOADED]
        ),
    ),
    Dialect(
        "chat",
        deepseek,
        says=lambda *pieces: chat_stream(chat_pieces(*({"content": piece} for piece in pieces))),
        calls=lambda arguments: chat_stream(chat_pieces(chat_call(arguments), finish="tool_calls")),
        cut={
            "at the limit": lambda: chat_stream(HALF_CHAT),
            "at the limit, looking whole": lambda: chat_stream(chat_pieces(chat_call(SHORT), finish="length")),
            "at the end of the stream": lambda: chat_stream(HALF_CHAT[:2], is_done=False),
            "without a reason": lambda: chat_stream(chat_pieces(chat_call(HALF), finish=None)),
        },
        overloaded=lambda *pieces: chat_stream(
            [*(chat_pieces(*({"content": piece} for piece in pieces))[:-2] if pieces else ()), BUSY]
        ),
    ),
)
either = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


@dataclass
class Line:
    """An installation whose model answers over a wire."""

    here: World
    service: ModelService
    clock: HastyClock

    @property
    def bodies(self) -> list[Any]:
        """What the service was sent."""
        return [received.body for received in self.service.requests]


@asynccontextmanager
async def wired(
    make: Callable[[str, HastyClock], Provider], deeds: Deeds, *, rules: Rules = RULES, **kind: Any
) -> AsyncIterator[Line]:
    """A running one with the tool `post`; nothing strict services refuse may have been sent when it ends."""
    clock = HastyClock()
    async with model_service() as service, world(tools=[deeds.tool("post", **kind)], rules=rules) as here:
        provider = make(service.url, clock)
        here.model = Wired(provider)
        await here.restart()
        try:
            yield Line(here, service, clock)
            assert service.refusals == []
        finally:
            await here.stop()
            await provider.close()


# --- cut off -----------------------------------------------------------------------------------------------------


@either
@pytest.mark.parametrize(
    "how", ["at the limit", "at the limit, looking whole", "at the end of the stream", "without a reason"]
)
async def test_a_call_that_was_cut_in_its_arguments_does_not_run_and_the_person_is_answered(
    dialect: Dialect, how: str
) -> None:
    deeds = Deeds()
    async with wired(dialect.make, deeds) as line:
        line.service.answers(dialect.cut[how](), dialect.says("发不了，内容太长。"))

        line.here.platform.says("发推")

        await line.here.platform.sees("发不了")
        assert deeds.done == []
        assert len(line.service.requests) == 2
        assert len(line.here.platform.shown) == 1


@either
async def test_a_model_whose_calls_are_always_cut_is_asked_a_few_times_and_the_person_hears_of_it(
    dialect: Dialect,
) -> None:
    deeds = Deeds()
    async with wired(dialect.make, deeds) as line:
        line.service.answers(dialect.cut["at the limit"]())

        line.here.platform.says("发推")

        await line.here.platform.sees(lambda shown: bool(shown.text))
        assert deeds.done == []
        assert len(line.service.requests) <= 4
        line.service.answers(dialect.says("在的。"))
        line.here.platform.says("在吗")
        await line.here.platform.sees("在的。")


# --- overloaded --------------------------------------------------------------------------------------------------


@either
async def test_an_overload_before_the_first_word_is_waited_out_and_nobody_sees_it(dialect: Dialect) -> None:
    async with wired(dialect.make, Deeds()) as line:
        line.service.answers(dialect.overloaded(), dialect.overloaded(), dialect.says("你好！"))

        line.here.platform.says("你好")

        await line.here.platform.sees("你好！")
        assert [shown.text for shown in line.here.platform.shown] == ["你好！"]
        assert len(line.clock.pauses) == 2
        assert line.clock.pauses[0] < line.clock.pauses[1]


@either
async def test_an_overload_in_the_middle_of_an_answer_leaves_one_message_without_doubled_text(
    dialect: Dialect,
) -> None:
    half = ["今天上午有三台手术，第一台在八点，", "第二台在十点，第三台在十一点半，请提前准备好，"]
    async with wired(dialect.make, Deeds()) as line:
        line.service.answers(dialect.overloaded(*half), dialect.says(*half, "别迟到。"))

        line.here.platform.says("今天的手术？")

        await line.here.platform.sees("别迟到")
        assert [shown.text for shown in line.here.platform.shown] == ["".join([*half, "别迟到。"])]
        assert len(line.service.requests) == 2


# --- thoughts that must come back --------------------------------------------------------------------------------


class Reasoner:
    """A service that refuses a request in which a reply of its own comes back without its reasoning."""

    def __init__(self, service: ModelService) -> None:
        self._service = service
        self._numbers = 0
        self.missed: list[str] = []
        self.came_back = 0
        service.own_rules = self._rules

    def answers(self, *deltas: dict[str, Any]) -> None:
        """The next replies, each with a thought of its own before it."""
        thoughts = [{"reasoning_content": f"想法 {self._numbers + number}"} for number in range(len(deltas))]
        self._numbers += len(deltas)
        finishes = ["tool_calls" if "tool_calls" in delta else "stop" for delta in deltas]
        replies = zip(thoughts, deltas, finishes, strict=True)
        self._service.answers(
            *(chat_stream(chat_pieces(thought, delta, finish=finish)) for thought, delta, finish in replies)
        )

    def _rules(self, body: Any) -> Page | None:
        for message in body["messages"]:
            if message["role"] != "assistant" or not self._is_mine(message):
                continue
            if "reasoning_content" not in message:
                self.missed.append(json.dumps(message, ensure_ascii=False))
                why = "The `reasoning_content` in the thinking mode must be passed back to the API."
                return Page(400, json.dumps({"error": {"message": why, "type": "invalid_request_error"}}))
            self.came_back += bool(message["reasoning_content"])
        return None

    @staticmethod
    def _is_mine(message: dict[str, Any]) -> bool:
        """All that it said thought of something; the program's own words behind a summary did not."""
        return "tool_calls" in message or "好了" in message["content"]


async def test_reasoning_comes_back_with_every_reply_after_a_restart_and_after_a_summary() -> None:
    deeds = Deeds()
    rules = replace(RULES, most_past=24)
    async with wired(deepseek, deeds, rules=rules) as line:
        reasoner = Reasoner(line.service)
        for number in range(12):
            # Also the summary that may be asked for in between is one of the answers.
            reasoner.answers(chat_call('{"text": "x"}', number), {"content": f"第 {number} 次好了"})
            line.here.platform.says(f"发推 {number}")
            await line.here.platform.sees(f"第 {number} 次好了")
            if number % 4 == 3:
                await line.here.restart(after=LAPSED)

        assert any("You write the summary" in str(body) for body in line.bodies)
        assert reasoner.missed == []
        assert reasoner.came_back > 12
        assert len(deeds.done) == 24


class Signer:
    """A service that takes its thinking blocks back byte for byte or not at all, and wants those of an open loop."""

    def __init__(self, service: ModelService) -> None:
        self._service = service
        self.signed: list[dict[str, Any]] = []
        self.wrong: list[Any] = []
        self.came_back = 0
        service.own_rules = self._rules

    def answers(self, *blocks: dict[str, Any]) -> None:
        """The next replies, each behind a thought; every other thought shows no words."""
        replies = []
        for block in blocks:
            number = len(self.signed)
            words = f"想\u2028 {number} " if number % 2 else ""
            self.signed.append({"type": "thinking", "thinking": words, "signature": f"c2ln+/{number}="})
            deltas = [{"type": "thinking_delta", "thinking": words}] if words else []
            deltas.append({"type": "signature_delta", "signature": f"c2ln+/{number}="})
            thought = {"type": "thinking", "thinking": "", "signature": "", "deltas": deltas}
            stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
            replies.append(claude_stream(claude_events(thought, block, stop=stop)))
        self._service.answers(*replies)

    def _rules(self, body: Any) -> Page | None:
        blocks = [block for message in body["messages"] for block in message["content"]]
        thoughts = [block for block in blocks if block["type"] == "thinking"]
        is_loop = any(block["type"] == "tool_result" for block in body["messages"][-1]["content"])
        is_bare = is_loop and body["messages"][-2]["content"][0]["type"] != "thinking"
        self.came_back += len(thoughts)
        if is_bare or any(thought not in self.signed for thought in thoughts):
            self.wrong.append(body)
            why = "messages.1.content.0: Invalid `signature` in `thinking` block"
            return Page(400, json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": why}}))
        return None


async def test_thinking_comes_back_byte_for_byte_or_not_at_all_after_restarts_and_when_the_past_is_cut() -> None:
    deeds = Deeds()
    rules = replace(RULES, most_past=24)
    async with wired(claude, deeds, rules=rules) as line:
        signer = Signer(line.service)
        for number in range(12):
            signer.answers(claude_call(f"toolu_{number}", "post", '{"text": "x"}'), claude_text(f"第 {number} 次好了"))
            line.here.platform.says(f"发推 {number}")
            await line.here.platform.sees(f"第 {number} 次好了")
            if number % 4 == 3:
                await line.here.restart(after=LAPSED)

        assert any("You write the summary" in str(body) for body in line.bodies)
        assert signer.wrong == []
        assert signer.came_back > 12
        assert len(deeds.done) == 24


async def test_a_loop_that_a_power_cut_interrupted_goes_on_with_the_thinking_it_began_with() -> None:
    deeds = Deeds()
    async with wired(claude, deeds, held=True) as line:
        signer = Signer(line.service)
        signer.answers(claude_call("toolu_1", "post", '{"text": "x"}'), claude_text("可能已经发出。"))
        line.here.platform.says("发推")
        await deeds.begun.get()

        await line.here.restart(after=LAPSED)

        await line.here.platform.sees("可能已经发出。")
        assert signer.wrong == []
        assert signer.came_back == 1
