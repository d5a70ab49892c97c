"""Workers over one memory store, without bots: what is put into the inbox, what stands in the outbox, and kills."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from kernel.access import Access
from kernel.chat import ButtonPress, ConversationId, Inbound, Prompt, Reply, Sender, UserMessage
from kernel.errors import RetryLater
from kernel.messages import Message, Role, Text, ToolResult
from kernel.ports import Item, Lease, Provider, Release, Step
from kernel.providers.scripted import Scripted
from kernel.session import Session
from kernel.settings import AccessRule
from kernel.stores.memory.conversations import MemoryConversations
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from kernel.tools import Tool, ToolRegistry
from tests.twins.clock import JumpingClock
from workers.turns import Actors
from zclaw.wiring.turns import Rules, open_actors

LAPSED = timedelta(seconds=16)
"""A lease that nobody renews is over."""


def chat(name: str = "1") -> ConversationId:
    """A private chat."""
    return ConversationId("twin", name)


class Flaky(MemoryConversations):
    """Conversations whose store is away: what is named in `away` raises so many times, then works."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.away: dict[str, int] = {}
        self.steps: list[Step] = []
        self.raised: list[str] = []
        self.attempts: list[Step] = []
        self.stuck: asyncio.Event | None = None
        """When set, commits get stuck before anything is written, until it is."""

    async def reached(self, count: int) -> None:
        """Return when so many commits have been tried."""
        await until(lambda: len(self.attempts) >= count)

    def _fail(self, name: str) -> None:
        if self.away.get(name, 0) > 0:
            self.away[name] -= 1
            self.raised.append(name)
            raise RetryLater("away", timedelta())

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]:
        self._fail("due")
        return await super().due(lease, now=now)

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        self._fail("commit")
        self.attempts.append(step)
        if self.stuck is not None:
            await self.stuck.wait()
        stored = await super().commit(lease, step, now=now)
        self._fail("answer of commit")
        self.steps.append(step)
        return stored

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        self._fail("release")
        return await super().release(lease, now=now, keep=keep)


@dataclass
class Shift:
    """One store, and as many workers as a test starts."""

    clock: JumpingClock
    memory: Memory
    stores: Stores
    conversations: Flaky
    model: Scripted
    tools: tuple[Tool, ...]
    workers: list[Actors] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def worker(self, *, slots: int = 100, provider: Provider | None = None, fold: bool = True) -> Actors:
        """A worker that has just started."""
        actors = open_actors(
            self.stores,
            provider=provider or self.model,
            registry=ToolRegistry(self.tools),
            clock=self.clock,
            worker=f"w{len(self.workers) + 1}",
            rules=Rules("Asia/Shanghai", fold=fold, access=Access(rule=AccessRule.OPEN)),
            slots=slots,
        )
        self.workers.append(actors)
        return actors

    def drain(self, worker: Actors) -> asyncio.Task[None]:
        """Let it work until nothing is ready."""
        task = asyncio.create_task(worker.drain())
        self._tasks.append(task)
        return task

    async def passes_until(self, task: asyncio.Task[None]) -> None:
        """Time passes until `task` has ended."""
        async with asyncio.timeout(20):
            while not task.done():
                await self.clock.run_to(self.clock.now() + timedelta(seconds=0.1))
        await task

    async def works(self) -> None:
        """A new worker works until nothing is ready."""
        async with asyncio.timeout(20):
            await self.worker().drain()

    async def finish(self, worker: Actors) -> None:
        """Let it work, as long as hints come, until nothing is ready for anybody."""
        async with asyncio.timeout(20):
            while worker.in_flight or (await self.stores.conversations.next_ready(now=self.clock.now())) is not None:
                await worker.drain()

    def order(self) -> list[str]:
        """The chats of all commits so far."""
        return [step.session.conversation.chat for step in self.conversations.steps]

    async def kill(self, worker: Actors) -> None:
        """As kill -9 does: nothing more of it happens, and its leases lapse."""
        tasks = [*worker._tasks]
        worker._is_stopping = True  # Or the end of one conversation would fill its slot again.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.clock.jump(LAPSED)

    async def close(self) -> None:
        """End everything."""
        for worker in self.workers:
            await self.kill(worker)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def puts(self, inbound: Inbound) -> None:
        """Into the inbox, and the holder hears of it at once."""
        await self.stores.conversations.put(inbound, now=self.clock.now())
        for worker in self.workers:
            actor = worker._actors.get(inbound.conversation)
            if actor is not None:
                actor.look()

    async def says(self, text: str, *, where: str = "1", person: str = "1001") -> UserMessage:
        """A person writes."""
        number = next(self._numbers)
        message = UserMessage(f"u{number}", chat(where), Sender(person, "小王"), number, self.clock.now(), text)
        await self.puts(message)
        return message

    async def presses(self, prompt: Prompt, choice: str, *, person: str = "1001") -> None:
        """A person presses."""
        number = next(self._numbers)
        sender = Sender(person, "小王")
        await self.puts(
            ButtonPress(f"u{number}", prompt.conversation, sender, number, self.clock.now(), prompt.token, choice)
        )

    def said(self, where: str = "1") -> list[str]:
        """All replies and prompts so far."""
        parcels = self.memory.lines[chat(where)].parcels
        return [each.outbound.text for each in parcels if isinstance(each.outbound, Reply | Prompt)]

    def card(self, where: str = "1") -> Prompt:
        """The newest prompt."""
        parcels = self.memory.lines[chat(where)].parcels
        return [each.outbound for each in parcels if isinstance(each.outbound, Prompt)][-1]

    def session(self, where: str = "1") -> Session:
        """As it is stored."""
        return self.memory.record(chat(where)).session

    def history(self, where: str = "1") -> list[Message]:
        """As it is stored."""
        return self.memory.record(chat(where)).history

    def tries(self, where: str = "1") -> int:
        """Holders that died in a row."""
        return self.memory.record(chat(where)).tries


def people_said(messages: Sequence[Message]) -> list[str]:
    """The people's words in these messages, without the facts before them."""
    parts = [part.text for each in messages if each.role is Role.USER for part in each.parts if isinstance(part, Text)]
    return [text for text in parts if not text.startswith("[")]


def results(messages: Sequence[Message]) -> list[str]:
    """The tool results in these messages."""
    return [part.text for each in messages for part in each.parts if isinstance(part, ToolResult)]


async def until(claim: Callable[[], bool], rounds: int = 2000) -> None:
    """Let everybody else run until the claim holds."""
    for _ in range(rounds):
        if claim():
            return
        await asyncio.sleep(0)
    assert claim()


@asynccontextmanager
async def shift(*tools: Tool) -> AsyncIterator[Shift]:
    """An empty store and no worker yet."""
    clock = JumpingClock()
    memory = Memory(clock)
    conversations = Flaky(memory)
    stores = replace(memory_stores(clock, memory=memory), conversations=conversations)
    here = Shift(clock, memory, stores, conversations, Scripted(), tools)
    try:
        yield here
    finally:
        await here.close()
