"""The people of a benchmark and their end of the bot: messages go in through the real store, replies come out of it."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from kernel.chat import ConversationId, Reply, Sender, UserMessage
from kernel.clock import SystemClock
from kernel.messages import Message, Role, Text, ToolCall, ToolResult
from kernel.ports import Outcome, Put, Step
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores

PLATFORM = "bench"
HOLDER = "bench-adapter"
TEXT = "帮我看一下 17 床今天的记录，然后说说接下来要注意什么 (chat {chat})"
CALM_ROUNDS = 18
LOOK_AGAIN_S = 1.0
"""What a missed wake-up of the outbox costs at most."""


class Chats:
    """Chats with the bot. Every reply is noted with the moment at which it was pulled."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._numbers = itertools.count(1)
        self._pulled: dict[str, list[tuple[int, str]]] = {}
        self._count = 0
        self._heard = asyncio.Condition()
        self._woken = asyncio.Event()

    async def say(self, chats: range, *, text: str = "") -> None:
        """One message into each chat, all at once, and the hints that the store asks for."""
        await asyncio.gather(*(self._say(chat, text) for chat in chats))

    async def quiet(self, within_s: float) -> None:
        """Return when no conversation has been ready for longer than a dead holder's lease lasts, or time is over."""
        deadline = time.monotonic() + within_s
        calm = 0
        while calm < CALM_ROUNDS and time.monotonic() < deadline:
            ready = await self._stores.conversations.next_ready(now=datetime.now(UTC))
            calm = calm + 1 if ready is None else 0
            await asyncio.sleep(LOOK_AGAIN_S)

    async def history(self, chat: int) -> tuple[Message, ...]:
        """What is stored of the chat. No worker may run."""
        await self._stores.conversations.put(self._message(chat), now=datetime.now(UTC))
        checkout = await self._stores.conversations.checkout("judge", now=datetime.now(UTC), last_try=True)
        assert checkout is not None
        assert checkout.lease.conversation.chat == str(chat)
        return checkout.history

    async def replies(self, count: int, within_s: float) -> dict[str, list[tuple[int, str]]]:
        """What each chat was told since the last call, as (monotonic ns, text).

        Returns once there are `count` replies or time is over.
        """
        try:
            async with asyncio.timeout(within_s), self._heard:
                await self._heard.wait_for(lambda: self._count >= count)
        except TimeoutError:
            pass
        pulled, self._pulled, self._count = self._pulled, {}, 0
        return pulled

    async def remember(self, chats: range, messages: int) -> None:
        """Give each chat a history, through the store's own steps. No worker may run."""
        clock = SystemClock()
        for chat in chats:
            await self._stores.conversations.put(self._message(chat), now=clock.now())
            checkout = await self._stores.conversations.checkout("seed", now=clock.now(), last_try=True)
            assert checkout is not None
            items = await self._stores.conversations.due(checkout.lease, now=clock.now())
            step = Step(
                replace(checkout.session, history_length=messages),
                Outcome.DONE,
                taken=tuple(item.id for item in items),
                history=_history(messages),
            )
            await self._stores.conversations.commit(checkout.lease, step, now=clock.now())
            await self._stores.conversations.release(checkout.lease, now=clock.now(), keep=False)

    async def _say(self, chat: int, text: str) -> None:
        put = await self._stores.conversations.put(self._message(chat, text), now=datetime.now(UTC))
        if put is Put.HINTED:
            await self._stores.wakeups.hint()

    def _message(self, chat: int, text: str = "") -> UserMessage:
        number = next(self._numbers)
        here = ConversationId(PLATFORM, str(chat))
        said = text or TEXT.format(chat=chat)
        return UserMessage(f"{chat}:{number}", here, Sender(str(chat), "李医生"), number, datetime.now(UTC), said)

    async def pull(self) -> None:
        """Take replies out of the outbox as an adapter does; until cancelled."""
        listening = asyncio.create_task(self._listen())
        outbox = self._stores.outbox
        try:
            while True:
                self._woken.clear()
                delivery = await outbox.pull(PLATFORM, HOLDER, now=datetime.now(UTC))
                while delivery is not None:
                    assert isinstance(delivery.outbound, Reply)
                    await self._note(delivery.outbound)
                    delivery = await outbox.done(delivery, now=datetime.now(UTC))
                    delivery = delivery or await outbox.pull(PLATFORM, HOLDER, now=datetime.now(UTC))
                try:
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await self._woken.wait()
                except TimeoutError:
                    pass
        finally:
            listening.cancel()

    async def _note(self, reply: Reply) -> None:
        self._pulled.setdefault(reply.conversation.chat, []).append((time.monotonic_ns(), reply.text))
        self._count += 1
        async with self._heard:
            self._heard.notify_all()

    async def _listen(self) -> None:
        async for _ in self._stores.outbox.wakes(PLATFORM):
            self._woken.set()


@asynccontextmanager
async def chats_over(store_url: str) -> AsyncIterator[Chats]:
    """Chats over the store at that address."""
    stores = await open_stores(store_url, SystemClock())
    chats = Chats(stores)
    pulling = asyncio.create_task(chats.pull())
    try:
        yield chats
    finally:
        pulling.cancel()
        await asyncio.gather(pulling, return_exceptions=True)
        await stores.close()


def _history(messages: int) -> tuple[Message, ...]:
    """Turns of four messages: what a person said, a call, its result, the answer."""
    history: list[Message] = []
    for turn in range(messages // 4):
        call = ToolCall(f"call-{turn}", "look", '{"path":"ward/17.md"}')
        history += [
            Message(Role.USER, (Text("[2026-11-30 Mon 09:00 Asia/Shanghai]"), Text(f"{turn} 查房记录 notes " * 8))),
            Message(Role.ASSISTANT, (call,)),
            Message(Role.USER, (ToolResult(call.id, f"{turn} 体温 37.2, drain removed. " * 12),)),
            Message(Role.ASSISTANT, (Text(f"{turn} 术后恢复顺利 doing well. " * 12),)),
        ]
    return tuple(history)
