"""Inbox, ready set, leases and the one record of each conversation, in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_hex
from typing import assert_never, cast

import structlog

from kernel.chat import ConversationId, Inbound, Outbound
from kernel.codec import decode, decode_inbound, encode
from kernel.errors import BadRecord, LeaseLost, RetryLater
from kernel.messages import Message
from kernel.ports import (
    LEASE,
    MAX_TRIES,
    Checkout,
    Forget,
    ForgetAll,
    Holdings,
    Item,
    Lease,
    MemoryChange,
    PromptRecord,
    Put,
    Release,
    Remember,
    Step,
    TriggerGone,
    TriggerPut,
)
from kernel.session import Session
from kernel.stores import keys, rules
from kernel.stores.keys import conversation_of, conversation_piece, encoded
from kernel.stores.redis.connect import Server, answering
from kernel.stores.redis.memories import shelf_piece
from kernel.stores.redis.spendings import spent_of, sums_of

log = structlog.get_logger()

LEASE_US = LEASE // timedelta(microseconds=1)


class RedisConversations:
    """`Conversations` over one Redis; any number of processes may share it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._unanswered: list[str] = []
        """Tickets of checkouts whose answer never came: used again, so that a lost answer costs no try."""

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> Put:
        """See `Conversations.put`."""
        until = rules.waits_until(inbound, now)
        put = await self._server.run(
            "put",
            f"{encoded(inbound.conversation.platform)}:{encoded(inbound.event)}",
            conversation_piece(inbound.conversation),
            encode(inbound),
            rules.order_of(inbound),
            rules.stamp(now + settle),
            rules.album_of(inbound),
            rules.stamp(until) if until is not None else 0,
            rules.stamp(now),
        )
        return Put(put)

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
        """See `Conversations.checkout`."""
        days = rules.days_around(now)
        ticket = self._unanswered.pop() if self._unanswered else token_hex(8)
        try:
            found = await self._server.run(
                "checkout",
                encoded(worker),
                rules.stamp(now),
                LEASE_US,
                MAX_TRIES,
                int(last_try),
                ticket,
                *(day.isoformat() for day in days),
            )
        except (RetryLater, asyncio.CancelledError):
            self._unanswered.append(ticket)
            raise
        if found is None:
            return None
        piece, fence, tries, session, history, notes, files, zone, spent = cast(
            tuple[str, str, str, str | None, list[str], list[str], list[str], str | None, list[list[str | None]]], found
        )
        conversation = conversation_of(piece)
        return Checkout(
            Lease(conversation, worker, int(fence), int(tries)),
            decode(Session, session) if session is not None else Session(conversation),
            tuple(decode(Message, message[1:]) for message in history),
            tuple(notes),
            dict(zip(files[::2], files[1::2], strict=True)),
            zone,
            {day: spent_of(sums) for day, sums in zip(days, spent, strict=True) if any(sums)},
        )

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]:
        """See `Conversations.due`."""
        piece = conversation_piece(lease.conversation)
        found = _items(cast(list[str], await self._server.run("due", piece, rules.stamp(now))))
        for item, read in found:
            if isinstance(read, BadRecord):
                log.error("an input cannot be read and is parked", conversation=piece, item=item, why=str(read))
                await self._server.run("park", piece, item)
        return _readable(found)

    async def renew(self, lease: Lease, *, now: datetime) -> None:
        """See `Conversations.renew`."""
        held = await self._server.run(
            "renew", conversation_piece(lease.conversation), lease.fence, rules.stamp(now), LEASE_US
        )
        if held == "lost":
            raise LeaseLost(f"fence {lease.fence} has moved on")

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        """See `Conversations.commit`. The same step told again after a lost answer is done once."""
        session = replace(step.session, revision=step.session.revision + 1)
        arguments = _step_arguments(step, session)
        digest = sha256("\0".join(arguments).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        done = await self._server.run(
            "commit",
            conversation_piece(lease.conversation),
            lease.fence,
            step.session.revision,
            digest,
            rules.stamp(now),
            *arguments,
        )
        if done == "lost":
            raise LeaseLost(f"fence {lease.fence} or revision {step.session.revision} has moved on")
        return session

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        """See `Conversations.release`."""
        found = await self._server.run(
            "release",
            conversation_piece(lease.conversation),
            lease.fence,
            rules.stamp(now),
            LEASE_US,
            int(keep),
        )
        if found == "lost":
            raise LeaseLost(f"fence {lease.fence} has moved on")
        return Release(found)

    async def next_ready(self, *, now: datetime) -> datetime | None:  # noqa: ARG002  (the port's)
        """See `Conversations.next_ready`."""
        async with answering():
            first = await self._server.client.zrange(keys.READY.head, 0, 0, withscores=True)
        return rules.instant(int(first[0][1])) if first else None

    async def note(self, conversation: ConversationId, text: str) -> None:
        """See `Conversations.note`."""
        if text:
            await self._server.run("note", conversation_piece(conversation), rules.clip_note(text))

    async def parked(self, conversation: ConversationId) -> tuple[Item, ...]:
        """See `Conversations.parked`."""
        async with answering():
            found = await self._server.client.lrange(keys.PARKED.head + conversation_piece(conversation), 0, -1)
        return _readable(_items([piece for each in cast(list[str], found) for piece in each.split(" ", 1)]))

    async def holdings(self, conversation: ConversationId, *, now: datetime) -> Holdings:
        """See `Conversations.holdings`."""
        piece, since = conversation_piece(conversation), rules.stamp(now - rules.KEEP_OLD_HISTORY)
        ask = self._server.ask
        counts = await asyncio.gather(
            ask("LLEN", keys.HISTORY.head + piece),
            ask("ZCOUNT", keys.OLD_HISTORIES.head + piece, f"({since}", "+inf"),
            ask("HLEN", keys.FILES.head + piece),
            ask("LLEN", keys.PARKED.head + piece),
        )
        return Holdings(*cast(list[int], counts))

    async def wakes(self, worker: str) -> AsyncIterator[ConversationId]:
        """See `Conversations.wakes`."""
        async with aclosing(self._server.heard(keys.WORKER_CHANNEL + encoded(worker))) as heard:
            async for piece in heard:
                if piece is not None:
                    yield conversation_of(piece)


def outbound_arguments(outbound: Outbound) -> list[str]:
    """One delivery as `append_delivery` reads it."""
    return [
        conversation_piece(outbound.conversation),
        encode(outbound),
        str(int(rules.is_prior(outbound))),
        str(int(rules.ends_drafts(outbound))),
        encoded(rules.edits(outbound)),
        str(int(rules.closes(outbound))),
        " ".join(encoded(each.blob) for each in rules.attachments_of(outbound)),
    ]


def prompt_arguments(prompts: Sequence[PromptRecord]) -> list[str]:
    """Prompt records as `keep_prompts` reads them."""
    arguments = [str(len(prompts))]
    for prompt in prompts:
        plain = replace(prompt, places=(), is_open=True)
        places = [encode(place) for place in prompt.places]
        kept_s = int(prompt.kept.total_seconds()) if prompt.kept is not None else 0
        where = conversation_piece(prompt.conversation)
        arguments += [encoded(prompt.token), where, encode(plain), str(kept_s), str(len(places)), *places]
    return arguments


def _step_arguments(step: Step, session: Session) -> list[str]:
    """The step as `commit.lua` reads it, in its order."""
    puts = [change for change in step.triggers if isinstance(change, TriggerPut)]
    gone = [encoded(change.id) for change in step.triggers if isinstance(change, TriggerGone)]
    files = step.files or {}
    arguments = [encode(session), str(session.revision), step.outcome.value, str(int(step.clears_tries))]
    arguments += [*_forgetting_arguments(step)]
    arguments += [str(len(step.taken)), *step.taken, str(len(step.parked)), *step.parked]
    arguments += [str(int(step.new_history)), str(len(step.history))]
    arguments += [("+" if message.may_begin else "-") + encode(message) for message in step.history]
    arguments += [str(rules.keep_from(session)), str(session.history_length)]
    notes = [rules.clip_note(text) for text in step.notes if text]
    arguments += [str(step.notes_used), str(len(notes)), *notes]
    arguments += [str(len(files))]
    for path, blob in files.items():
        arguments += [path, encoded(blob) if blob is not None else ""]
    arguments += [str(len(step.memories))]
    for change in step.memories:
        arguments += [shelf_piece(change.shelf), *_memory_arguments(change)]
    arguments += [str(len(step.spendings))]
    for spending in step.spendings:
        arguments += [encoded(spending.person), spending.day.isoformat(), *sums_of(spending.spent)]
    arguments += [*prompt_arguments(step.prompts), str(len(step.outbound))]
    for outbound in step.outbound:
        arguments += outbound_arguments(outbound)
    arguments += [str(len(puts))]
    for put in puts:
        arguments += [
            encoded(put.trigger.id),
            conversation_piece(put.trigger.conversation),
            encode(put.trigger),
            str(put.trigger.revision),
            str(rules.stamp(put.due)) if put.due is not None else "",
        ]
    arguments += [str(len(gone)), *gone, str(len(step.alarms))]
    for alarm in step.alarms:
        arguments += [encoded(alarm.token), str(rules.stamp(alarm.at)) if alarm.at is not None else ""]
    return arguments


def _forgetting_arguments(step: Step) -> list[str]:
    if step.forgets is None:
        return ["0"]
    spared = [encoded(prompt.token) for prompt in step.prompts]
    return ["1", shelf_piece(step.forgets.shelf), step.forgets.upto, str(len(spared)), *spared]


def _memory_arguments(change: MemoryChange) -> tuple[str, str]:
    match change:
        case Remember(text=text):
            return "keep", text
        case Forget(text=text):
            return "forget", text
        case ForgetAll():
            return "all", ""
        case _:
            assert_never(change)


def _items(found: Sequence[str]) -> list[tuple[str, Inbound | BadRecord]]:
    """Ids and what stands under them, or why it cannot be read."""
    return [(item, _read(body)) for item, body in zip(found[::2], found[1::2], strict=True)]


def _read(body: str) -> Inbound | BadRecord:
    try:
        return decode_inbound(body)
    except BadRecord as error:
        return error


def _readable(found: Sequence[tuple[str, Inbound | BadRecord]]) -> tuple[Item, ...]:
    return tuple(Item(item, read) for item, read in found if not isinstance(read, BadRecord))
