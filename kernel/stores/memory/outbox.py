"""Deliveries, leased per conversation, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kernel.chat import ConversationId, Draft, MessageRef, Outbound
from kernel.errors import LeaseLost
from kernel.ports import LEASE, Delivery, LedgerLine
from kernel.stores import rules
from kernel.stores.memory.state import Line, Memory, Parcel


class MemoryOutbox:
    """The twin of `RedisOutbox`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def add(self, outbound: Outbound, *, now: datetime) -> None:
        """See `Outbox.add`."""
        self._memory.here()
        self._memory.append((outbound,), now)

    async def pull(
        self, platform: str, holder: str, *, now: datetime, only: Collection[ConversationId] = ()
    ) -> Delivery | None:
        """See `Outbox.pull`."""
        self._memory.here()
        free = [
            (not line.is_prior, line.free_at, conversation)
            for conversation, line in self._lines(platform, only)
            if line.free_at is not None and line.free_at <= now
        ]
        if not free:
            return None
        line = self._memory.lines[min(free)[2]]
        line.fence += 1
        line.holder, line.until = holder, now + LEASE
        return self._head(line)

    async def next_due(
        self,
        platform: str,
        *,
        now: datetime,  # noqa: ARG002  (the port's)
        only: Collection[ConversationId] = (),
    ) -> datetime | None:
        """See `Outbox.next_due`."""
        self._memory.here()
        lines = [line for _, line in self._lines(platform, only)]
        return min((line.free_at for line in lines if line.free_at is not None), default=None)

    def _lines(self, platform: str, only: Collection[ConversationId]) -> list[tuple[ConversationId, Line]]:
        lines = self._memory.lines.items()
        return [(where, line) for where, line in lines if where.platform == platform and (not only or where in only)]

    async def split(self, delivery: Delivery, parts: Sequence[str], *, now: datetime) -> Delivery:
        """See `Outbox.split`."""
        parcel = self._sending(delivery, now)
        parcel.parts = tuple(parts)
        return replace(delivery, parts=parcel.parts)

    async def sending(self, delivery: Delivery, *, now: datetime) -> Delivery:
        """See `Outbox.sending`."""
        parcel = self._sending(delivery, now)
        parcel.in_flight = True
        return replace(delivery, is_doubtful=False)

    async def sent(self, delivery: Delivery, ref: MessageRef | None, *, now: datetime) -> Delivery:
        """See `Outbox.sent`."""
        parcel = self._sending(delivery, now)
        parcel.in_flight = False
        parcel.refs = (*delivery.refs, ref or rules.unknown_ref(delivery.outbound))
        token = rules.shows(delivery.outbound)
        if ref is not None and token and len(parcel.refs) >= len(delivery.parts):
            prompt = self._memory.prompts.get(token)
            if prompt is not None and ref not in prompt.places:
                self._memory.prompts[token] = replace(prompt, places=(*prompt.places, ref))
        return replace(delivery, refs=parcel.refs, is_doubtful=False)

    async def done(self, delivery: Delivery, *, now: datetime) -> Delivery | None:
        """See `Outbox.done`."""
        line, parcel = self._held(delivery)
        if parcel is not None:
            line.parcels.remove(parcel)
            if parcel.proves is not None:
                firing, word = parcel.proves
                outcome, detail = rules.proof(word, delivery.refs)
                self._memory.write_ledger(LedgerLine(firing.trigger.id, firing.due, outcome, detail))
        if not line.parcels:
            line.holder, line.until = "", None
            return None
        line.until = now + LEASE
        return self._head(line)

    async def later(self, delivery: Delivery, after: timedelta, *, now: datetime, tried: bool = True) -> None:
        """See `Outbox.later`."""
        line, parcel = self._held(delivery)
        if parcel is not None:
            parcel.attempts += tried
            parcel.in_flight = parcel.in_flight and delivery.is_doubtful
        line.not_before = now + after
        line.holder, line.until = "", None

    async def fail(self, delivery: Delivery, why: str, *, now: datetime) -> None:  # noqa: ARG002  (the port's)
        """See `Outbox.fail`."""
        line, parcel = self._held(delivery)
        if parcel is not None:
            line.parcels.remove(parcel)
            if parcel.proves is not None:
                firing = parcel.proves[0]
                self._memory.write_ledger(LedgerLine(firing.trigger.id, firing.due, "failed", rules.clip_note(why)))
        line.holder, line.until = "", None

    async def draft(self, draft: Draft, *, fence: int) -> None:
        """See `Outbox.draft`."""
        self._memory.here()
        now = self._memory.clock.now()
        line = self._memory.lines[draft.conversation]
        if line.draft is not None and line.draft[2] > now:
            known = line.draft[1]
            is_older = fence < line.draft[0] or (
                fence == line.draft[0] and draft.turn == known.turn and draft.sequence <= known.sequence
            )
            if is_older:
                return
        line.draft = (fence, draft, now + rules.DRAFT_LIVES)
        self._memory.tell(f"outbox:{draft.conversation.platform}")

    async def working(self, conversation: ConversationId, *, turn: str) -> None:
        """See `Outbox.working`."""
        self._memory.here()
        self._memory.lines[conversation].working = (turn, self._memory.clock.now() + rules.WORKING_LIVES)
        self._memory.tell(f"outbox:{conversation.platform}")

    async def drafts(self, platform: str) -> tuple[Draft, ...]:
        """See `Outbox.drafts`."""
        self._memory.here()
        now = self._memory.clock.now()
        live = []
        for conversation, line in self._memory.lines.items():
            if conversation.platform != platform:
                continue
            if line.draft is not None and line.draft[2] > now:
                live.append(line.draft[1])
            elif line.working is not None and line.working[1] > now:
                live.append(Draft(conversation, line.working[0], 0))
        return tuple(live)

    async def wakes(self, platform: str) -> AsyncIterator[None]:
        """See `Outbox.wakes`."""
        channel = f"outbox:{platform}"
        heard = self._memory.listen(channel)
        try:
            yield
            while True:
                await heard.get()
                yield
        finally:
            self._memory.stop_listening(channel, heard)

    def _held(self, delivery: Delivery) -> tuple[Line, Parcel | None]:
        """The line and the delivery in it; None when it has left already (the same call again)."""
        self._memory.here()
        line = self._memory.lines[delivery.outbound.conversation]
        if line.fence != delivery.fence:
            raise LeaseLost(f"fence {delivery.fence} has moved on to {line.fence}")
        head = line.parcels[0] if line.parcels else None
        return line, head if head is not None and head.id == delivery.id else None

    def _sending(self, delivery: Delivery, now: datetime) -> Parcel:
        line, parcel = self._held(delivery)
        if parcel is None or not line.holder:
            raise LeaseLost("the delivery has left the outbox")
        line.until = now + LEASE
        return parcel

    def _head(self, line: Line) -> Delivery:
        parcel = line.parcels[0]
        if rules.ends_drafts(parcel.outbound):
            line.draft = line.working = None
        prompt = self._memory.prompts.get(rules.edits(parcel.outbound))
        return Delivery(
            parcel.id,
            parcel.outbound,
            line.fence,
            line.holder,
            parcel.attempts,
            parcel.parts,
            parcel.refs,
            prompt.places if prompt is not None else (),
            parcel.in_flight,
        )
