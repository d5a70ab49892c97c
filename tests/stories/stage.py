"""A model that writes aloud, tools on a stand-in, and the whole product around them in one of the places."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from bots.driver import Driver
from bots.layout import width_of
from kernel.access import Access
from kernel.builtin.clarify import ask_clarification
from kernel.builtin.task import task
from kernel.messages import Concurrency, Json, ModelReply, ModelRequest, Part, Text, ToolCall, ToolResult, ToolWords
from kernel.ports import Clock
from kernel.providers.scripted import Scripted
from kernel.settings import AccessRule
from kernel.stores.memory.stores import memory_stores
from kernel.stores.memory.wakeups import MemoryWakeups
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome, ToolRegistry
from tests.stories.places import Opening, Place
from tests.twins.clock import START
from workers.turns import Actors
from zclaw.wiring.bot_ports import bot_ports
from zclaw.wiring.turns import Rules, open_actors

PACE = 5
UNSEEN_AFTER = timedelta(seconds=2)
"""What was not shown while it was written for so long will not be."""
ACCESS = Access(rule=AccessRule.OPEN)


class QuickClock:
    """Time that runs by itself, but faster: platforms are real servers, and pauses are not worth their seconds."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    def now(self) -> datetime:
        return START + timedelta(seconds=self.boottime())

    def boottime(self) -> float:
        return (self._loop.time() - self._began) * PACE

    async def sleep_until(self, at: datetime) -> None:
        await asyncio.sleep((at - self.now()).total_seconds() / PACE)


@dataclass(frozen=True, slots=True)
class Says:
    """What the model says and calls at once; `seen` of it must be shown before it has ended."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    seen: str = ""


class Talker:
    """A `Provider` that says the lines of a script, piece by piece; the last piece waits for what must be seen."""

    name = "scripted:talker"

    def __init__(self, place: Place, clock: Clock, lines: Sequence[Says]) -> None:
        self._place = place
        self._clock = clock
        self._lines = deque(lines)
        self._calls = [call for line in lines for call in line.calls]
        self.twin = Scripted(*map(_parts, lines))

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        line = self._lines.popleft()
        reply = await self.twin.reply(request)
        if delta is not None and line.text:
            for at in range(0, len(line.text) - 1, 8):
                delta(line.text[at : min(at + 8, len(line.text) - 1)])
            await self._until_seen(line.seen)
            delta(line.text[-1])
        return reply

    async def _until_seen(self, words: str) -> None:
        if words and width_of(words) >= self._place.draft_columns:
            await self._place.until(lambda: any(words in draft for draft in self._place.drafts()))
        else:
            await self._clock.sleep_until(self._clock.now() + UNSEEN_AFTER)

    def tools(self) -> set[str]:
        """What the tools on offer are called."""
        return {words.name for request in self.twin.requests for words in request.tools}

    def inner(self) -> set[str]:
        """Every text in the arguments of its calls, and every line of the results that it read."""
        given = {text for call in self._calls for text in json.loads(call.arguments).values() if isinstance(text, str)}
        messages = [message for request in self.twin.requests for message in request.messages]
        read = [part.text for message in messages for part in message.parts if isinstance(part, ToolResult)]
        return given | {line for text in read for line in text.splitlines() if line.strip()}

    def is_done(self) -> bool:
        """Whether every line was said and no request was refused."""
        return not self._lines and not self.twin.refusals

    async def close(self) -> None:
        await self.twin.close()


def _parts(line: Says) -> tuple[Part, ...]:
    return (Text(line.text), *line.calls) if line.text else line.calls


@asynccontextmanager
async def stage(opening: Opening, *lines: Says) -> AsyncIterator[tuple[Place, Talker]]:
    """The product in one place, with a model that says `lines`. Raises when a part of it broke."""
    clock = QuickClock()
    stores = memory_stores(clock)
    async with opening(clock) as place:
        model = Talker(place, clock, lines)
        driver = Driver(
            place.adapter,
            access=ACCESS,
            ports=bot_ports(stores, clock),
            holder="bot",
            language="auto",
        )
        actors = open_actors(
            stores,
            provider=model,
            registry=ToolRegistry(stand_ins()),
            clock=clock,
            worker="w",
            rules=Rules("Asia/Shanghai", access=ACCESS),
        )
        assert isinstance(stores.wakeups, MemoryWakeups)
        parts = (driver.run(), actors.serve(), _hints(stores.wakeups, actors))
        running = [asyncio.ensure_future(part) for part in parts]
        try:
            yield place, model
        finally:
            for each in (*running, *actors._tasks):
                each.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error


async def _hints(wakeups: MemoryWakeups, actors: Actors) -> None:
    async with asyncio.TaskGroup() as drains:
        while True:
            await wakeups.hinted()
            drains.create_task(_drain(actors))


async def _drain(actors: Actors) -> None:
    await actors.drain()


def assert_nothing_inner(place: Place, model: Talker, *, but: Collection[str] = ()) -> None:
    """No tool's name, argument or raw result ever reached the platform, but for what a card must show."""
    received = place.received()
    told = [name for name in model.tools() if re.search(rf"(?<!\w){name}(?!\w)", received)]
    leaked = [words for words in model.inner() - set(but) if words in received]
    assert (told, leaked) == ([], [])
    assert model.is_done()
    assert not any(words in draft for words in but for draft in place.drafts())


# --- tools on a stand-in

FOUND = {
    "tencent ARG-71 results": "RES-71 00700.HK revenue=192869 yoy=0.15\nRES-72 https://hits.example/71 score=0.93",
    "rates ARG-73 CNY HKD": "RES-73 CNY/HKD 1.0931",
    "TABLE-74": "RES-74 rows=[12, 15, 19] mean=15.3",
}


def stand_ins() -> Iterator[Tool]:
    """The tools of these stories; two of them ask."""
    yield _tool("search_web", Concurrency.READ_ONLY, Approval.NEVER, _search)
    yield _tool("publish_notice", Concurrency.EXCLUSIVE, Approval.ASK, _deed)
    yield _tool("open_record", Concurrency.READ_ONLY, Approval.ASK, _deed)
    yield from (ask_clarification(), task())


def _tool(
    name: str,
    concurrency: Concurrency,
    approval: Approval,
    run: Callable[[Json], str],
) -> Tool:
    texts = {"type": "object", "properties": {"what": {"type": "string"}, "where": {"type": "string"}}}

    async def answer(arguments: Json, _: ToolContext) -> ToolOutcome:
        return ToolOutcome(run(arguments))

    return Tool(
        words=ToolWords(name, f"Does {name}.", json.dumps(texts | {"required": ["what"]})),
        concurrency=lambda _: concurrency,
        approval=lambda _: approval,
        timeout=timedelta(seconds=30),
        describe=lambda arguments, _: str(arguments["what"]),
        run=answer,
    )


def _search(arguments: Json) -> str:
    return FOUND[str(arguments["what"])]


def _deed(arguments: Json) -> str:
    return f"RES-80 accepted by {arguments['where']}\nRES-81 id=90417"
