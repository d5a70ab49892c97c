"""A driver on a bench: a platform whose answers are scripted, stores in memory, a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bots.driver import Driver
from bots.limits import SpeechLimits
from bots.masking import Mask
from kernel.access import Access
from kernel.chat import (
    ButtonPress,
    ConversationId,
    Draft,
    Heard,
    MessageRef,
    Notice,
    Outbound,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.ports import Deliver
from kernel.settings import PlatformId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.twins.clock import JumpingClock
from zclaw.wiring.bot_ports import bot_ports

U1, STRANGER = Sender("1001", "小王", "zh"), Sender("2002", "Mallory", "en")
D1, D2 = ConversationId("fake", "1"), ConversationId("fake", "2")


class Broken(Exception):
    """No error of ours."""


@dataclass
class FakeAdapter:
    """A platform whose answers are scripted: `answers[text]` are raised one after the other, then it is sent."""

    answers: dict[str, list[Exception]] = field(default_factory=dict)
    crashes: list[Exception] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    tries: list[tuple[str, bool]] = field(default_factory=list)
    """Of each part that was asked for: its key, and whether it was doubtful."""
    sent: list[tuple[str, str, bool]] = field(default_factory=list)
    closed: list[tuple[str, str]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    typed: list[tuple[str, datetime]] = field(default_factory=list)
    hold: asyncio.Event | None = None
    clock: JumpingClock = field(default_factory=JumpingClock)
    updates: asyncio.Queue[Heard | None] = field(default_factory=asyncio.Queue)
    acknowledged: list[str] = field(default_factory=list)

    platform = "fake"
    typing_every = timedelta(seconds=4)

    async def run(self, deliver: Deliver) -> None:
        if self.crashes:
            raise self.crashes.pop(0)
        while (inbound := await self.updates.get()) is not None:
            await deliver(inbound)
            self.acknowledged.append(inbound.event)

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        if outbound.text == "unsplittable":
            raise Broken
        return tuple(outbound.text.split("/"))

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        self.asked.append(part)
        self.tries.append((key, is_doubtful))
        if self.hold is not None:
            await self.hold.wait()
        self._answer(part)
        self.sent.append((outbound.conversation.chat, part, is_last))
        return MessageRef(outbound.conversation, f"m{len(self.sent)}")

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        self._answer(closed.text)
        self.closed.append((place.id, closed.text))

    async def notify(self, notice: Notice) -> None:
        self._answer(notice.text)
        self.notices.append(notice)

    async def typing(self, conversation: ConversationId) -> None:
        self.typed.append((conversation.chat, self.clock.now()))

    def _answer(self, text: str) -> None:
        if self.answers.get(text):
            raise self.answers[text].pop(0)


@dataclass
class DraftingAdapter(FakeAdapter):
    """A platform that shows drafts; `draft_answers` are raised one after the other."""

    drafts: list[tuple[str, str, datetime]] = field(default_factory=list)
    """What was asked for: chat, text, when."""
    dropped: list[str] = field(default_factory=list)
    draft_answers: list[Exception] = field(default_factory=list)
    visible: dict[str, str] = field(default_factory=dict)
    """What a person sees being written, by chat."""
    draft_hold: asyncio.Event | None = None
    sent_one: asyncio.Event = field(default_factory=asyncio.Event)

    draft_every = timedelta(seconds=1)

    async def show_draft(self, draft: Draft) -> None:
        self.drafts.append((draft.conversation.chat, draft.text, self.clock.now()))
        if self.draft_hold is not None:
            await self.draft_hold.wait()
        if self.draft_answers:
            raise self.draft_answers.pop(0)
        self.visible[draft.conversation.chat] = draft.text

    async def drop_draft(self, conversation: ConversationId) -> None:
        self.dropped.append(conversation.chat)
        self.visible.pop(conversation.chat, None)

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        ref = await FakeAdapter.send(self, outbound, part, key=key, is_doubtful=is_doubtful, is_last=is_last)
        self.visible.pop(outbound.conversation.chat, None)
        self.sent_one.set()
        return ref


@dataclass
class Bench:
    clock: JumpingClock
    memory: Memory
    adapter: FakeAdapter
    driver: Driver
    events: int = 0

    def __post_init__(self) -> None:
        self.stores = memory_stores(self.clock, memory=self.memory)

    async def passes(self, seconds: float = 0) -> None:
        await self.clock.run_to(self.clock.now() + timedelta(seconds=seconds), turns=60)

    def message(self, text: str, sender: Sender = U1, where: ConversationId = D1, event: str = "") -> UserMessage:
        self.events += 1
        return UserMessage(event or f"e{self.events}", where, sender, self.events, self.clock.now(), text)

    def press(self, sender: Sender = U1) -> ButtonPress:
        self.events += 1
        return ButtonPress(f"e{self.events}", D1, sender, self.events, self.clock.now(), "tok", "done", press="p1")

    async def comes(self, *inbounds: Heard) -> None:
        for inbound in inbounds:
            self.adapter.updates.put_nowait(inbound)
        await self.passes()

    async def goes(self, *outbounds: Outbound) -> None:
        for outbound in outbounds:
            await self.stores.outbox.add(outbound, now=self.clock.now())
        await self.passes()

    async def writes(
        self, text: str, sequence: int, *, turn: str = "t1", where: ConversationId = D1, fence: int = 1
    ) -> None:
        """A worker writes a draft."""
        await self.stores.outbox.draft(Draft(where, turn, sequence, text), fence=fence)
        await self.passes(0.3)

    def inbox(self, where: ConversationId = D1) -> list[str]:
        record = self.memory.records.get(where)
        items = [entry.item.inbound for entry in record.inbox] if record else []
        return [each.text if isinstance(each, UserMessage) else "press" for each in items]

    def waiting(self) -> int:
        return sum(len(line.parcels) for line in self.memory.lines.values())

    @property
    def texts(self) -> list[str]:
        return [text for _, text, _ in self.adapter.sent]


LET_IN = Access(allow=frozenset({PlatformId("fake", "1001")}))


def build(
    clock: JumpingClock,
    memory: Memory,
    adapter: FakeAdapter,
    mask: Mask = str,
    *,
    access: Access = LET_IN,
    limits: SpeechLimits | None = None,
) -> Bench:
    stores = memory_stores(clock, memory=memory)
    adapter.clock = clock
    driver = Driver(
        adapter,
        access=access,
        ports=bot_ports(stores, clock),
        holder="bot",
        language="auto",
        limits=limits,
        mask=mask,
    )
    bench = Bench(clock, memory, adapter, driver)
    bench.stores = stores
    return bench


@asynccontextmanager
async def running(
    adapter: FakeAdapter | None = None,
    mask: Mask = str,
    *,
    access: Access = LET_IN,
    limits: SpeechLimits | None = None,
    memory: Memory | None = None,
) -> AsyncIterator[Bench]:
    clock = memory.clock if memory is not None and isinstance(memory.clock, JumpingClock) else JumpingClock()
    bench = build(clock, memory or Memory(clock), adapter or FakeAdapter(), mask, access=access, limits=limits)
    task = asyncio.create_task(bench.driver.run())
    await bench.passes()
    try:
        yield bench
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
