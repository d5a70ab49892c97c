"""Triggers, alarms and the ledger, in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import cast

import structlog

from kernel.chat import ConversationId, Outbound
from kernel.codec import decode, encode
from kernel.errors import BadRecord
from kernel.ports import Alarm, Clock, LedgerLine, PromptRecord, Put
from kernel.stores import keys, rules
from kernel.stores.keys import conversation_of, conversation_piece, decoded, encoded
from kernel.stores.redis.connect import Server, answering
from kernel.stores.redis.conversations import outbound_arguments, prompt_arguments
from kernel.triggers import Firing, Trigger

log = structlog.get_logger()

LOOK_AGAIN = timedelta(hours=1)
"""When a trigger that could not be read is looked at again: a newer version may be running by then."""
_NEVER = datetime.max.replace(tzinfo=UTC)


class RedisTriggers:
    """`Triggers` over one Redis; several schedulers may share it."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock

    async def list(self, conversation: ConversationId) -> tuple[tuple[Trigger, datetime | None], ...]:
        """See `Triggers.list`."""
        found = cast(Sequence[tuple[str, str]], await self._server.run("triggers", conversation_piece(conversation)))
        return _soonest_first((record, int(due) if due else None) for record, due in found)

    async def all(self) -> tuple[tuple[Trigger, datetime | None], ...]:
        """See `Triggers.all`."""
        head = keys.TRIGGER.head
        found: list[tuple[str, int | None]] = []
        async with answering():
            async for key in self._server.client.scan_iter(match=head + "*", count=500):
                record = await self._server.client.hget(key, "record")
                due = await self._server.client.zscore(keys.DUE.head, "t:" + str(key).removeprefix(head))
                if record is not None:
                    found.append((str(record), int(due) if due is not None else None))
        return _soonest_first(found)

    async def get(self, trigger: str) -> Trigger | None:
        """See `Triggers.get`."""
        async with answering():
            record = await self._server.client.hget(keys.TRIGGER.of(trigger), "record")
        return decode(Trigger, str(record)) if record is not None else None

    async def due(self, *, now: datetime, limit: int) -> tuple[Firing | tuple[ConversationId, Alarm], ...]:
        """See `Triggers.due`."""
        found = cast(Sequence[tuple[str, str, str]], await self._server.run("dues", rules.stamp(now), limit))
        due: list[Firing | tuple[ConversationId, Alarm]] = []
        for record, member, at in found:
            try:
                due.append(_due(record, member, at))
            except BadRecord as error:
                # One that cannot be read must not keep all others from firing.
                log.error("a trigger cannot be read and is put off", trigger=member, why=str(error))
                await self._server.run("postpone", member, at, rules.stamp(now + LOOK_AGAIN))
        return tuple(due)

    async def fire(
        self,
        firing: Firing,
        next_due: datetime | None,
        outbound: Sequence[Outbound],
        prompts: Sequence[PromptRecord] = (),
        *,
        outcome: str,
        note: str = "",
        now: datetime,
    ) -> bool:
        """See `Triggers.fire`."""
        word = rules.proven_outcome(outcome)
        proof = rules.witness(tuple(outbound)) if word is not None else None
        fired = await self._server.run(
            "fire",
            encoded(firing.trigger.id),
            firing.trigger.revision,
            rules.stamp(firing.due),
            rules.stamp(next_due) if next_due is not None else "",
            conversation_piece(firing.trigger.conversation),
            outcome,
            word or "",
            rules.clip_note(note),
            rules.stamp(now),
            *prompt_arguments(prompts),
            proof + 1 if proof is not None else 0,
            len(outbound),
            *(argument for each in outbound for argument in outbound_arguments(each)),
        )
        return fired == "fired"

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> Put | None:
        """See `Triggers.ring`."""
        if alarm.at is None:
            return None
        inbound = rules.expired(conversation, alarm)
        put = await self._server.run(
            "ring",
            conversation_piece(conversation),
            encoded(alarm.token),
            rules.stamp(alarm.at),
            encode(inbound),
            rules.stamp(now),
        )
        return Put(put) if put != "" else None

    async def next_due(self) -> datetime | None:
        """See `Triggers.next_due`."""
        async with answering():
            first = await self._server.client.zrange(keys.DUE.head, 0, 0, withscores=True)
        return rules.instant(int(first[0][1])) if first else None

    async def ledger(self, trigger: str) -> tuple[LedgerLine, ...]:
        """See `Triggers.ledger`."""
        async with answering():
            lines = await self._server.client.zrange(keys.LEDGER.of(trigger), 0, -1)
        return tuple(_ledger_line(trigger, str(line)) for line in lines)

    async def count(self, platform: str) -> int:
        """See `Triggers.count`."""
        async with answering():
            return int(await self._server.client.scard(keys.WAITING.of(platform)))

    async def wait(self, until: datetime) -> None:
        """See `Triggers.wait`."""
        async with aclosing(self._server.heard(keys.DUE_CHANNEL)) as heard:
            earlier = asyncio.create_task(self._earlier(heard, until))
            sleep = asyncio.create_task(self._clock.sleep_until(until))
            try:
                await asyncio.wait({earlier, sleep}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                earlier.cancel()
                sleep.cancel()
                # They must have ended before `heard` can be closed.
                await asyncio.wait({earlier, sleep})
            if not earlier.cancelled():
                earlier.result()

    async def _earlier(self, heard: AsyncGenerator[str | None, None], until: datetime) -> None:
        """Return when something earlier than `until` is stored; it listens before it looks, so nothing slips by."""
        async for told in heard:
            due = await self.next_due() if told is None else rules.instant(int(told))
            if due is not None and due < until:
                return


def _soonest_first(found: Iterable[tuple[str, int | None]]) -> tuple[tuple[Trigger, datetime | None], ...]:
    """Those that can be read: one of a newer version must not take a chat's commands and all other reminders along."""
    triggers: list[tuple[Trigger, datetime | None]] = []
    for record, due in found:
        try:
            triggers.append((decode(Trigger, record), rules.instant(due) if due is not None else None))
        except BadRecord as error:
            log.error("a trigger cannot be read and is not listed", why=str(error))
    return tuple(sorted(triggers, key=lambda each: (each[1] or _NEVER, each[0].id)))


def _due(record: str, member: str, due: str) -> Firing | tuple[ConversationId, Alarm]:
    at = rules.instant(int(due))
    if member.startswith("t:"):
        return Firing(decode(Trigger, record), at)
    piece, _, token = member.removeprefix("x:").partition("|")
    return conversation_of(piece), Alarm(decoded(token), at)


def _ledger_line(trigger: str, line: str) -> LedgerLine:
    due, outcome, detail = line.split("|", 2)
    return LedgerLine(trigger, rules.instant(int(due)), outcome, detail)
