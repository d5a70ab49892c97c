"""Deliveries, leased per conversation, in Redis."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from secrets import token_hex
from typing import cast

import structlog

from kernel.chat import ConversationId, Draft, MessageRef, Outbound
from kernel.codec import decode, decode_outbound, encode
from kernel.errors import BadRecord, LeaseLost, RetryLater
from kernel.ports import Delivery
from kernel.stores import keys, rules
from kernel.stores.keys import conversation_of, conversation_piece, encoded
from kernel.stores.redis.connect import Server, answering
from kernel.stores.redis.conversations import LEASE_US, outbound_arguments

log = structlog.get_logger()


class RedisOutbox:
    """`Outbox` over one Redis; any number of adapter processes may share it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._unanswered: dict[str, str] = {}
        """Tickets of pulls whose answer never came, one a platform: used again, so that no line waits for its lapse."""

    async def add(self, outbound: Outbound, *, now: datetime) -> None:
        """See `Outbox.add`."""
        await self._server.run(
            "add",
            conversation_piece(outbound.conversation),
            token_hex(8),
            rules.stamp(now),
            *outbound_arguments(outbound),
        )

    async def pull(
        self, platform: str, holder: str, *, now: datetime, only: Collection[ConversationId] = ()
    ) -> Delivery | None:
        """See `Outbox.pull`."""
        places = [conversation_piece(conversation) for conversation in only]
        while True:
            head = await self._pull(platform, holder, now, places)
            if head is None:
                return None
            if (delivery := await self._opened(head, holder)) is not None:
                return delivery

    async def _pull(self, platform: str, holder: str, now: datetime, places: Sequence[str]) -> object:
        ticket = self._unanswered.pop(platform, None) or token_hex(8)
        try:
            stamp = rules.stamp(now)
            return await self._server.run(
                "pull", encoded(platform), encoded(holder), stamp, LEASE_US, ticket, len(places), *places
            )
        except (RetryLater, asyncio.CancelledError):
            self._unanswered[platform] = ticket
            raise

    async def next_due(
        self,
        platform: str,
        *,
        now: datetime,  # noqa: ARG002  (the port's)
        only: Collection[ConversationId] = (),
    ) -> datetime | None:
        """See `Outbox.next_due`."""
        places = [conversation_piece(conversation) for conversation in only]
        async with answering(), self._server.client.pipeline(transaction=False) as batch:
            for lines in (keys.OUT_FIRST.head + encoded(platform), keys.OUT_READY.head + encoded(platform)):
                if places:
                    batch.zmscore(lines, places)
                else:
                    batch.zrange(lines, 0, 0, withscores=True)
            found = await batch.execute()
        if places:
            scores = [score for scored in found for score in scored if score is not None]
        else:
            scores = [first[0][1] for first in found if first]
        return rules.instant(int(min(scores))) if scores else None

    async def split(self, delivery: Delivery, parts: Sequence[str], *, now: datetime) -> Delivery:
        """See `Outbox.split`."""
        await self._progress(delivery, now, parts=json.dumps(list(parts), ensure_ascii=False))
        return replace(delivery, parts=tuple(parts))

    async def sending(self, delivery: Delivery, *, now: datetime) -> Delivery:
        """See `Outbox.sending`."""
        await self._progress(delivery, now, flight="1")
        return replace(delivery, is_doubtful=False)

    async def sent(self, delivery: Delivery, ref: MessageRef | None, *, now: datetime) -> Delivery:
        """See `Outbox.sent`."""
        refs = (*delivery.refs, ref or rules.unknown_ref(delivery.outbound))
        is_shown = ref is not None and len(refs) >= len(delivery.parts)
        await self._progress(
            delivery,
            now,
            token=rules.shows(delivery.outbound) if is_shown else "",
            ref=encode(refs[-1]),
            flight="",
            refs=json.dumps([encode(each) for each in refs], ensure_ascii=False),
        )
        return replace(delivery, refs=refs, is_doubtful=False)

    async def done(self, delivery: Delivery, *, now: datetime) -> Delivery | None:
        """See `Outbox.done`."""
        outcome, detail = rules.proof("", delivery.refs)
        head = await self._server.run(
            "done", *_place(delivery), rules.stamp(now), LEASE_US, outcome, rules.clip_note(detail)
        )
        _check(head, delivery)
        return await self._opened(head, delivery.holder) if head != "" else None

    async def later(self, delivery: Delivery, after: timedelta, *, now: datetime, tried: bool = True) -> None:
        """See `Outbox.later`."""
        flight = "1" if delivery.is_doubtful else ""
        told = (*_place(delivery), rules.stamp(now + after), flight, int(tried))
        _check(await self._server.run("later", *told), delivery)

    async def fail(self, delivery: Delivery, why: str, *, now: datetime) -> None:  # noqa: ARG002  (the port's)
        """See `Outbox.fail`."""
        _check(await self._server.run("fail", *_place(delivery), rules.clip_note(why)), delivery)

    async def draft(self, draft: Draft, *, fence: int) -> None:
        """See `Outbox.draft`."""
        await self._server.run(
            "draft", conversation_piece(draft.conversation), fence, draft.turn, draft.sequence, draft.text
        )

    async def working(self, conversation: ConversationId, *, turn: str) -> None:
        """See `Outbox.working`."""
        await self._server.run("working", conversation_piece(conversation), turn)

    async def drafts(self, platform: str) -> tuple[Draft, ...]:
        """See `Outbox.drafts`."""
        found = cast(list[tuple[str, str, str, str]], await self._server.run("drafts", encoded(platform)))
        return tuple(Draft(conversation_of(piece), turn, int(sequence), text) for piece, turn, sequence, text in found)

    async def wakes(self, platform: str) -> AsyncIterator[None]:
        """See `Outbox.wakes`."""
        async with aclosing(self._server.heard(keys.OUTBOX_CHANNEL + encoded(platform))) as heard:
            async for _ in heard:
                yield

    async def _opened(self, head: object, holder: str) -> Delivery | None:
        """The delivery, or None when it cannot be read: then it has failed, and its lease is gone."""
        try:
            return _delivery(head, holder)
        except BadRecord as error:
            piece, number, fence, *_ = cast(Sequence[str], head)
            log.error("a delivery cannot be read and has failed", conversation=piece, id=number, why=str(error))
            await self._server.run("fail", piece, fence, number, str(error))
            return None

    async def _progress(
        self, delivery: Delivery, now: datetime, *, token: str = "", ref: str = "", **fields: str
    ) -> None:
        pairs = [piece for pair in fields.items() for piece in pair]
        held = await self._server.run(
            "progress", *_place(delivery), rules.stamp(now), LEASE_US, encoded(token), ref, *pairs
        )
        _check(held, delivery)


def _place(delivery: Delivery) -> tuple[str, int, str]:
    return conversation_piece(delivery.outbound.conversation), delivery.fence, delivery.id


def _check(answer: object, delivery: Delivery) -> None:
    if answer == "lost":
        raise LeaseLost(f"fence {delivery.fence} of the outbox has moved on")


def _delivery(head: object, holder: str) -> Delivery:
    _, number, fence, body, attempts, parts, refs, flight, places = cast(
        tuple[str, str, str, str, str, str, str, str, list[str]], head
    )
    return Delivery(
        number,
        decode_outbound(body),
        int(fence),
        holder,
        int(attempts),
        tuple(json.loads(parts)) if parts else (),
        tuple(decode(MessageRef, ref) for ref in json.loads(refs)) if refs else (),
        tuple(decode(MessageRef, place) for place in places),
        bool(flight),
    )
