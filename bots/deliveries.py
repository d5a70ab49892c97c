"""The way out: deliveries of the outbox, each conversation's in order, many conversations side by side.

What becomes of a part that was sent:

    the platform's answer            the part                          the delivery
    ------------------------------   -------------------------------   ---------------------------------------
    a message id                     out; never sent again             goes on
    RetryLater (surely not sent)     sent again after the pause        waits; other conversations go on
    NotYet (not even asked)          sent again after the pause        waits, and no try is counted
    AnswerLost, the first time       sent once more, marked doubtful   waits
    AnswerLost, when doubtful        taken for sent, id unknown        goes on
      and the adapter can look       looked for, else sent again       waits
    Undeliverable                    never sent again                  failed
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TypeVar, assert_never

import structlog

from bots.adapter import Adapter, AnswerLost, HasPlaces, Undeliverable, WrongToken
from bots.counters import Counters
from bots.drafts import Drafts
from bots.flood import NotYet
from bots.lateness import with_lateness
from bots.masking import Mask, masked
from bots.moves import Moves
from bots.presses import Presses
from bots.typing import Typing
from bots.waiting import first_of
from kernel.chat import ConversationId, MessageRef, Notice, Prompt, PromptClosed, Reply
from kernel.errors import LeaseLost, RetryLater
from kernel.patience import patiently, pause_after
from kernel.ports import LEASE, Clock, Delivery, Outbox

log = structlog.get_logger(__name__)

T = TypeVar("T")

SIDE_BY_SIDE = 32
"""Conversations that are sent to at the same time."""
LOOK_AGAIN = timedelta(seconds=5)
"""How long a missed wake-up can cost."""
_SEND_TIMEOUT = LEASE - timedelta(seconds=3)
_DOUBTFUL_PAUSE = timedelta(seconds=2)
"""What was sent may show on the platform only then."""
_LONGEST_PAUSE = timedelta(minutes=1)
_FINISH_S = 5.0
"""How long what is being sent may take when we are told to stop."""
_MAX_ATTEMPTS = 500
"""With the pauses above: a platform may be away for some eight hours."""
_MAX_BUGS = 3
_NOTICE_TRIES = 3
_WRONG_TOKEN_PAUSE = timedelta(seconds=30)


class Deliveries:
    """Sends what the outbox holds for one platform."""

    def __init__(
        self,
        adapter: Adapter,
        outbox: Outbox,
        clock: Clock,
        *,
        holder: str,
        moves: Moves,
        counters: Counters,
        presses: Presses,
        typing: Typing,
        drafts: Drafts,
        mask: Mask,
    ) -> None:
        self._adapter = adapter
        self._outbox = outbox
        self._clock = clock
        self._holder = holder
        self._moves = moves
        self._counters = counters
        self._presses = presses
        self._typing = typing
        self._drafts = drafts
        self._mask = mask
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self.woken = asyncio.Event()
        """Set by whoever hears that something was put into the outbox."""

    async def run(self) -> None:
        """Send until cancelled; then what is in flight is finished, so that nobody must doubt it."""
        self._is_stopping = False
        try:
            await self._pull()
        finally:
            self._is_stopping = True
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_FINISH_S)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pull(self) -> None:
        slots = asyncio.Semaphore(SIDE_BY_SIDE)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            slots.release()
            self.woken.set()

        while True:
            await slots.acquire()
            self.woken.clear()
            delivery = await self._stored(
                lambda: self._outbox.pull(
                    self._adapter.platform, self._holder, now=self._clock.now(), only=self._places()
                )
            )
            if delivery is None:
                slots.release()
                await self._rest()
                continue
            task = asyncio.create_task(self._conversation(delivery))
            self._tasks.add(task)
            task.add_done_callback(ended)

    async def _rest(self) -> None:
        due = await self._stored(
            lambda: self._outbox.next_due(self._adapter.platform, now=self._clock.now(), only=self._places())
        )
        now = self._clock.now()
        # Never a hot loop, should `pull` and `next_due` see the same line differently for a moment.
        again = max(min(due or now + LOOK_AGAIN, now + LOOK_AGAIN), now + timedelta(milliseconds=50))
        await first_of(self.woken.wait(), self._clock.sleep_until(again))

    def _places(self) -> Collection[ConversationId]:
        return self._adapter.places() if isinstance(self._adapter, HasPlaces) else ()

    async def _conversation(self, delivery: Delivery) -> None:
        following: Delivery | None = delivery
        while following is not None:
            delivery = following
            if self._is_stopping:
                await self._later(delivery, timedelta())
                return
            try:
                following = await self._carry(delivery)
            except LeaseLost:
                log.info("outbox lease lost", delivery=delivery.id)
                return
            except Exception:  # One delivery's boundary: whatever is wrong with it, the loop goes on.
                log.exception("delivery broke", delivery=delivery.id, attempts=delivery.attempts)
                await self._after_bug(delivery)
                return

    async def _after_bug(self, delivery: Delivery) -> None:
        try:
            if delivery.attempts + 1 < _MAX_BUGS:
                await self._later(replace(delivery, is_doubtful=True), pause_after(delivery.attempts + 5))
            else:
                await self._fail(delivery, "it cannot be sent: an error of ours, see the log")
        except LeaseLost:
            log.info("outbox lease lost", delivery=delivery.id)

    async def _carry(self, delivery: Delivery) -> Delivery | None:
        """Send the head; the next delivery of the conversation, None when there is none or it must wait."""
        try:
            match masked(delivery.outbound, self._mask):
                case Reply() | Prompt() as outbound:
                    async with self._drafts.silenced(outbound.conversation):
                        return await self._send(delivery, outbound)
                case PromptClosed() as closed:
                    return await self._close(delivery, closed)
                case Notice() as notice:
                    return await self._notify(delivery, notice)
                case other:
                    assert_never(other)
        except RetryLater as error:
            await self._retry(delivery, error)
        except WrongToken as error:
            # The adapter ends for the same reason; what waits goes out when the operator has put it right.
            await self._retry(delivery, RetryLater(str(error), _WRONG_TOKEN_PAUSE))
        except Undeliverable as error:
            await self._fail(delivery, str(error))
        return None

    async def _send(self, delivery: Delivery, outbound: Reply | Prompt) -> Delivery | None:
        delivery = await self._split(delivery, outbound)
        while len(delivery.refs) < len(delivery.parts):
            was_doubtful = delivery.is_doubtful
            delivery = await self._permit(delivery)
            try:
                ref = await self._send_part(delivery, outbound, is_doubtful=was_doubtful)
            except AnswerLost as error:
                again = error.can_look or not was_doubtful
                log.warning("answer lost", delivery=delivery.id, again=again, why=str(error))
                if again:
                    await self._retry(replace(delivery, is_doubtful=True), error)
                    return None
                ref = None
            except RetryLater as error:
                await self._retry(replace(delivery, is_doubtful=was_doubtful), error)
                return None
            self._typing.spoke(outbound.conversation)
            self._drafts.spoke(outbound.conversation)
            delivery = await self._sent(delivery, ref)
        if isinstance(outbound, Prompt):
            self._presses.asked(outbound)
        return await self._done(delivery)

    async def _split(self, delivery: Delivery, outbound: Reply | Prompt) -> Delivery:
        """Split once; only a late reminder is split again while no part of it is out, as it becomes later yet."""
        said = with_lateness(outbound, self._clock.now())
        if delivery.parts and (delivery.refs or said == outbound):
            return delivery
        parts = self._adapter.split(said)
        return await self._stored(lambda: self._outbox.split(delivery, parts, now=self._clock.now()))

    async def _send_part(self, delivery: Delivery, outbound: Reply | Prompt, *, is_doubtful: bool) -> MessageRef:
        number = len(delivery.refs)

        def send(where: ConversationId) -> Awaitable[MessageRef]:
            return self._adapter.send(
                replace(outbound, conversation=where),
                delivery.parts[number],
                key=key_of(delivery, outbound),
                is_doubtful=is_doubtful,
                is_last=number + 1 == len(delivery.parts),
            )

        return await self._in_time(self._moves.through(outbound.conversation, send))

    async def _close(self, delivery: Delivery, closed: PromptClosed) -> Delivery | None:
        """Every place is tried; an edit may be repeated, so a doubt is only a reason to try again."""
        failed: RetryLater | AnswerLost | None = None
        delivery = await self._permit(delivery)
        for place in delivery.places:
            try:
                await self._in_time(self._adapter.close(closed, place))
            except (RetryLater, AnswerLost) as error:
                failed = error
            except Undeliverable as error:
                log.info("prompt could not be closed", delivery=delivery.id, why=str(error))
            delivery = await self._permit(delivery)
        if failed is not None:
            await self._retry(delivery, failed)
            return None
        return await self._done(delivery)

    async def _notify(self, delivery: Delivery, notice: Notice) -> Delivery | None:
        """An answer that may be there already, or comes too late to be seen, is not worth another try."""
        await self._presses.answered(notice.press)
        if delivery.is_doubtful:
            return await self._done(delivery)
        delivery = await self._permit(delivery)
        try:
            there = replace(notice, conversation=self._moves.there(notice.conversation))
            await self._in_time(self._adapter.notify(there))
        except AnswerLost as error:
            log.info("notice may be lost", delivery=delivery.id, why=str(error))
        except RetryLater:
            if delivery.attempts < _NOTICE_TRIES:
                raise
        return await self._done(delivery)

    async def _in_time(self, call: Awaitable[T]) -> T:
        """`call` within the lease; adapters have time-outs of their own, this is the last one."""
        try:
            async with asyncio.timeout(_SEND_TIMEOUT.total_seconds()):
                return await call
        except TimeoutError:
            raise AnswerLost("no answer in time") from None

    async def _retry(self, delivery: Delivery, error: RetryLater | AnswerLost) -> None:
        if isinstance(error, NotYet):
            log.debug("delivery waits its turn", delivery=delivery.id, pause_s=error.after.total_seconds())
            await self._later(delivery, error.after, tried=False)
            return
        if delivery.attempts >= _MAX_ATTEMPTS:
            await self._fail(delivery, f"given up: {error}")
            return
        told = error.after if isinstance(error, RetryLater) else _DOUBTFUL_PAUSE
        pause = max(told, pause_after(delivery.attempts + 1, _LONGEST_PAUSE))
        log.info("delivery waits", delivery=delivery.id, pause_s=pause.total_seconds(), why=str(error))
        await self._later(delivery, pause)

    # --- the store's side; it may be away for a while

    async def _stored(self, attempt: Callable[[], Awaitable[T]]) -> T:
        return await patiently(self._clock, attempt)

    async def _permit(self, delivery: Delivery) -> Delivery:
        return await self._stored(lambda: self._outbox.sending(delivery, now=self._clock.now()))

    async def _sent(self, delivery: Delivery, ref: MessageRef | None) -> Delivery:
        return await self._stored(lambda: self._outbox.sent(delivery, ref, now=self._clock.now()))

    async def _done(self, delivery: Delivery) -> Delivery | None:
        self._count("done")
        return await self._stored(lambda: self._outbox.done(delivery, now=self._clock.now()))

    async def _later(self, delivery: Delivery, after: timedelta, *, tried: bool = True) -> None:
        self._count("retried" if tried else "slowed")
        await self._stored(lambda: self._outbox.later(delivery, after, now=self._clock.now(), tried=tried))

    async def _fail(self, delivery: Delivery, why: str) -> None:
        self._count("failed")
        log.warning("delivery failed", delivery=delivery.id, conversation=delivery.outbound.conversation, why=why)
        await self._stored(lambda: self._outbox.fail(delivery, why, now=self._clock.now()))

    def _count(self, outcome: str) -> None:
        self._counters.count("delivery", platform=self._adapter.platform, outcome=outcome)


def key_of(delivery: Delivery, outbound: Reply | Prompt) -> str:
    """Names the next part of `delivery` on its platform: the same after a crash, and no other part's anywhere.

    A store that was lost counts its deliveries anew; hence the text, as it was before a word about lateness.
    """
    where = outbound.conversation
    words = (where.platform, where.chat, where.thread, delivery.id, str(len(delivery.refs)), outbound.text)
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:24]
