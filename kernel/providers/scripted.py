"""The twin of a model: answers as told, and refuses what a strict service would refuse.

    model = Scripted()
    model.when("天气", call("get_weather", city="北京"))
    model.when_result("晴", "今天晴")
    model.then("once", ProviderFailed("overloaded"))      # before any rule, in order
    gate = Gate(); model.when("slow", Held("at last", gate)); await gate.reached(); gate.open()

Without anything that fits it says how many messages it saw, and the newest words or results.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from kernel.errors import ProviderRefused
from kernel.messages import (
    JsonValue,
    Message,
    ModelReply,
    ModelRequest,
    Part,
    Role,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from kernel.providers.strict import breaches

PIECE_CHARS = 8


class Gate:
    """Holds replies back until it is opened."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._arrived = asyncio.Condition()
        self._count = 0

    def open(self) -> None:
        """Let go all that wait, and all that come later."""
        self._opened.set()

    async def reached(self, count: int = 1) -> None:
        """Return when `count` replies have come to the gate."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._count >= count)

    async def wait(self) -> None:
        """Return when it is open."""
        async with self._arrived:
            self._count += 1
            self._arrived.notify_all()
        await self._opened.wait()


@dataclass(frozen=True, slots=True)
class Held:
    """`answer`, after `said` was heard and the gate was opened."""

    answer: Answer
    gate: Gate
    said: str = ""


Answer = (
    str
    | ToolCall
    | tuple[Part, ...]
    | ModelReply
    | Exception
    | Held
    | Callable[[ModelRequest], "Answer | Awaitable[Answer]"]
)
"""Words, a call, several parts, a whole reply, an error to raise, a held answer, or what makes one of the request."""


def call(name: str, **arguments: JsonValue) -> ToolCall:
    """A call for an answer; its id is given when it is made."""
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))


@dataclass(slots=True)
class _Rule:
    pattern: re.Pattern[str]
    reads_results: bool
    answers: deque[Answer]

    def next(self) -> Answer:
        return self.answers.popleft() if len(self.answers) > 1 else self.answers[0]


class Scripted:
    """A `Provider`. `requests` are all it was asked; `refusals` what was wrong with those it refused."""

    def __init__(self, *answers: Answer, name: str = "scripted:test") -> None:
        self.requests: list[ModelRequest] = []
        self.refusals: list[str] = []
        self.is_closed = False
        self._name = name
        self._queue: deque[Answer] = deque(answers)
        self._rules: list[_Rule] = []

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    def then(self, *answers: Answer) -> None:
        """Give these next, in order, before any rule."""
        self._queue.extend(answers)

    def when(self, pattern: str, *answers: Answer) -> None:
        """Give these when the newest message's words match; one a time, the last again and again. First rule wins."""
        self._rules.append(_Rule(re.compile(pattern), False, deque(answers)))

    def when_result(self, pattern: str, *answers: Answer) -> None:
        """Likewise when a result in the newest message matches."""
        self._rules.append(_Rule(re.compile(pattern), True, deque(answers)))

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`. Raises `ProviderRefused` for a request that is not pair-clean."""
        self.requests.append(request)
        if wrong := breaches(request):
            self.refusals.extend(wrong)
            raise ProviderRefused(f"{self.name} refuses the request: {wrong[0]}")
        return await self._give(self._choose(request), request, delta or _unheard)

    def _choose(self, request: ModelRequest) -> Answer:
        if self._queue:
            return self._queue.popleft()
        newest = request.messages[-1]
        results = "\n".join(part.text for part in newest.parts if isinstance(part, ToolResult))
        for rule in self._rules:
            read = results if rule.reads_results else newest.text
            if read and rule.pattern.search(read):
                return rule.next()
        return f"saw {len(request.messages)} messages; last: {newest.text or results}"

    async def _give(self, answer: Answer, request: ModelRequest, delta: Callable[[str], None]) -> ModelReply:
        match answer:
            case ModelReply():
                _say(answer.message.text, delta)
                return answer
            case Exception():
                raise answer
            case Held(inner, gate, said):
                _say(said, delta)
                await gate.wait()
                return await self._give(inner, request, delta)
            case str(text):
                return await self._give(self._reply(request, (Text(text),)), request, delta)
            case ToolCall():
                return await self._give(self._reply(request, (answer,)), request, delta)
            case tuple(parts):
                return await self._give(self._reply(request, parts), request, delta)
            case make:
                made = make(request)
                return await self._give(await made if inspect.isawaitable(made) else made, request, delta)

    def _reply(self, request: ModelRequest, parts: tuple[Part, ...]) -> ModelReply:
        taken = {call.id for message in request.messages for call in message.calls}
        named: list[Part] = []
        for part in parts:
            if isinstance(part, ToolCall) and not part.id:
                id_ = next(f"call_{n}" for n in range(1, len(taken) + 2) if f"call_{n}" not in taken)
                taken.add(id_)
                named.append(replace(part, id=id_))
            else:
                named.append(part)
        message = Message(Role.ASSISTANT, tuple(named))
        return ModelReply(message, Stop.TOOLS if message.calls else Stop.END, Usage(input=10, output=5))

    async def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


def _say(text: str, delta: Callable[[str], None]) -> None:
    for start in range(0, len(text), PIECE_CHARS):
        delta(text[start : start + PIECE_CHARS])


def _unheard(_: str) -> None:
    pass
