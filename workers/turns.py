"""The conversations that one worker process works for: takes ready ones into free slots, one actor each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

import structlog

from kernel.chat import ConversationId
from kernel.errors import BadRecord, LeaseLost, RetryLater
from kernel.ports import Checkout, Clock, Conversations, Release, Wakeups
from workers.actor import Actor

log = structlog.get_logger()

JOB_LASTS = timedelta(seconds=60)
"""A hint's job ends after this, so that it never looks abandoned."""
LOOK_EVERY = timedelta(seconds=5)
"""The longest sleep between two looks at the ready set: what a lost hint costs."""
HAND_BACK_S = 2.5
"""How long breaking off and giving back may take at the very end."""
RETRY_S = 0.5
MOST_AT_ONCE = 32
"""So many conversations are asked for side by side when many are ready: one by one, a busy loop starves new ones."""


class Actors:
    """Takes conversations and lets actors work for them, until stopped."""

    def __init__(
        self,
        conversations: Conversations,
        wakeups: Wakeups,
        new_actor: Callable[[Checkout, float], Actor],
        clock: Clock,
        *,
        worker: str,
        slots: int,
    ) -> None:
        self._conversations = conversations
        self._wakeups = wakeups
        self._new_actor = new_actor
        self._clock = clock
        self._worker = worker
        self._slots = slots
        self._actors: dict[ConversationId, Actor] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._looked = asyncio.Event()
        self._hinted = asyncio.Event()
        self._is_stopping = False
        self._filling = asyncio.Lock()
        self._is_refill_due = False

    async def serve(self) -> None:
        """Pass on what is put into held conversations, and look for ready ones without any hint; until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._sweep())

    async def drain(self) -> None:
        """The RQ job: take what is ready; end when nothing is left to take, or after 60 s."""
        await self._wakeups.unflag()
        self._hinted.set()
        ends = self._clock.boottime() + JOB_LASTS.total_seconds()
        await self._fill()
        while self._tasks and not self._is_stopping and self._clock.boottime() < ends:
            self._looked.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, ends - self._clock.boottime())):
                    await self._looked.wait()

    async def stop(self) -> None:
        """Begin nothing new and return when all conversations are given back. Cancelled: give them back at once."""
        self._is_stopping = True
        self._looked.set()
        try:
            async with self._filling:  # What is being taken right now is still worked for.
                pass
            while self._tasks:
                await asyncio.wait(self._tasks)
        except asyncio.CancelledError:
            for actor in list(self._actors.values()):
                actor.hand_back()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=HAND_BACK_S)
            raise

    @property
    def in_flight(self) -> int:
        """How many conversations are held right now."""
        return len(self._tasks)

    async def _fill(self) -> None:
        """Lease ready conversations while slots are free; push a hint when more are ready than fit."""
        async with self._filling:
            await self._take_ready()

    async def _refill(self) -> None:
        """The same for whoever frees a slot: one look serves all who free one before it begins."""
        if self._is_refill_due:
            return
        self._is_refill_due = True
        try:
            await self._filling.acquire()
        finally:
            self._is_refill_due = False
        try:
            await self._take_ready()
        except RetryLater:
            log.warning("ready set waits for redis")
        finally:
            self._filling.release()

    async def _take_ready(self) -> None:
        """Take one, then twice as many side by side, as long as all that are asked for come."""
        width = 1
        while not self._is_stopping:
            now = self._clock.now()
            room = self._slots - len(self._tasks)
            if room <= 0:
                ready = await self._conversations.next_ready(now=now)
                if ready is not None and ready <= now:
                    await self._wakeups.hint()
                return
            width = min(width, room)
            if not await self._take(width, now):
                return
            width = min(2 * width, MOST_AT_ONCE)

    async def _take(self, width: int, now: datetime) -> bool:
        """Ask for `width` conversations and start an actor for each that comes; whether all came."""
        last_try = not any(actor.is_last_try for actor in self._actors.values())
        asked_at = self._clock.boottime()
        found = await asyncio.gather(
            # At most one is on its last try, so that a third death tells whose fault it was.
            *(
                self._conversations.checkout(self._worker, now=now, last_try=last_try and number == 0)
                for number in range(width)
            ),
            return_exceptions=True,
        )
        for each in found:
            match each:
                case Checkout():
                    self._start(each, asked_at)
                case BadRecord():
                    # Its lease lapses by itself; whoever reads the log must act, everybody else goes on.
                    log.error("conversation unreadable", why=str(each))
        for each in found:
            if isinstance(each, BaseException) and not isinstance(each, BadRecord):
                raise each
        return None not in found

    def _start(self, checkout: Checkout, asked_at: float) -> None:
        actor = self._new_actor(checkout, asked_at)
        self._actors[checkout.lease.conversation] = actor
        task = asyncio.create_task(self._work(checkout.lease.conversation, actor))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def _work(self, conversation: ConversationId, actor: Actor) -> None:
        released = Release.IDLE
        try:
            released = await actor.run()
        except LeaseLost:
            log.warning("lease lost", conversation=conversation)
        except Exception:  # The boundary of one conversation: its lease lapses, and its tries are counted.
            log.exception("conversation broke", conversation=conversation, tries=actor.lease.tries)
        finally:
            if self._actors.get(conversation) is actor:
                del self._actors[conversation]
        if not self._is_stopping:
            await self._refill()
        elif released is Release.HINT:
            with suppress(RetryLater):  # Whoever looks next finds it without a hint.
                await self._wakeups.hint()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._looked.set()

    async def _listen(self) -> None:
        while True:
            try:
                async for conversation in self._conversations.wakes(self._worker):
                    actor = self._actors.get(conversation)
                    if actor is not None:
                        actor.look()
            except RetryLater:
                log.warning("wakes wait for redis")
                await asyncio.sleep(RETRY_S)

    async def _sweep(self) -> None:
        while True:
            await self._try_fill()
            latest = self._clock.now() + LOOK_EVERY
            is_hinted = True
            while is_hinted:
                self._hinted.clear()
                is_hinted = await self._is_hinted_before(await self._next_look(latest))

    async def _next_look(self, latest: datetime) -> datetime:
        now = self._clock.now()
        try:
            ready = await self._conversations.next_ready(now=now)
        except RetryLater:
            ready = now + timedelta(seconds=RETRY_S)
        # What is ready but could not be taken (no free slot, a last try) is looked at again by whoever frees one.
        return min(ready, latest) if ready is not None and ready > now else latest

    async def _is_hinted_before(self, at: datetime) -> bool:
        """Sleep until `at`, or until a hint comes: what it tells of may become ready later, and still before `at`."""
        sleep = asyncio.create_task(self._clock.sleep_until(at))
        hint = asyncio.create_task(self._hinted.wait())
        try:
            done, _ = await asyncio.wait((sleep, hint), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            hint.cancel()
        return sleep not in done

    async def _try_fill(self) -> None:
        try:
            await self._fill()
        except RetryLater:
            log.warning("ready set waits for redis")
