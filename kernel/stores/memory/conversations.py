"""Inbox, ready set, leases and records, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

from kernel.chat import ConversationId, Inbound
from kernel.errors import LeaseLost
from kernel.ports import (
    LEASE,
    MAX_TRIES,
    Checkout,
    Holdings,
    Item,
    Lease,
    Outcome,
    Put,
    Release,
    Step,
)
from kernel.session import Session
from kernel.stores import rules
from kernel.stores.memory.state import Memory, Record
from kernel.stores.memory.wiping import wipe


class MemoryConversations:
    """The twin of `RedisConversations`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._committed: dict[ConversationId, tuple[Lease, Step, Session]] = {}
        """The last commit of each conversation: told again, it is answered again."""

    async def put(self, inbound: Inbound, *, now: datetime, settle: timedelta = timedelta()) -> Put:
        """See `Conversations.put`."""
        self._memory.here()
        event = (inbound.conversation.platform, inbound.event)
        known = self._memory.seen.get(event)
        if known is not None and now - known < rules.REMEMBER_EVENTS:
            return Put.DUPLICATE
        self._memory.seen[event] = now
        return self._memory.insert(inbound, now + settle, now)

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
        """See `Conversations.checkout`."""
        self._memory.here()
        ready = [
            (record.free_at, conversation)
            for conversation, record in self._memory.records.items()
            if record.free_at is not None and record.free_at <= now and (last_try or record.tries + 1 != MAX_TRIES)
        ]
        if not ready:
            return None
        conversation = min(ready)[1]
        record = self._memory.records[conversation]
        record.fence += 1
        record.tries += 1
        record.worker, record.until = worker, now + LEASE
        return Checkout(
            Lease(conversation, worker, record.fence, record.tries),
            record.session,
            tuple(record.history),
            tuple(record.notes),
            dict(record.files),
            record.zone,
            {
                day: spent
                for day in rules.days_around(now)
                if (spent := self._memory.spent.get((conversation.platform, conversation.chat, day)))
            },
        )

    async def due(self, lease: Lease, *, now: datetime) -> tuple[Item, ...]:
        """See `Conversations.due`."""
        self._memory.here()
        record = self._memory.record(lease.conversation)
        return tuple(entry.item for entry in record.inbox if entry.ready_at <= now)

    async def renew(self, lease: Lease, *, now: datetime) -> None:
        """See `Conversations.renew`."""
        record = self._held(lease)
        if not record.worker:
            raise LeaseLost("the conversation has been released")
        record.until = now + LEASE

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        """See `Conversations.commit`."""
        record = self._held(lease)
        if record.session.revision != step.session.revision:
            told = self._committed.get(lease.conversation)
            if told is not None and told[0] == lease and told[1] == step:
                return told[2]
            raise LeaseLost("the session has been changed since it was read")
        session = replace(step.session, revision=step.session.revision + 1)
        if step.forgets is not None:
            wipe(self._memory, lease.conversation, step.forgets, {prompt.token for prompt in step.prompts})
        self._write(record, step, session, now)
        if step.clears_tries:
            record.tries = 0
        record.run_since = now if step.outcome is Outcome.RUN else None
        memory = self._memory
        memory.keep_prompts(step.prompts)
        memory.append(step.outbound, now)
        for change in step.triggers:
            memory.change_trigger(change)
        for memory_change in step.memories:
            memory.remember(memory_change)
        for spending in step.spendings:
            memory.spend(lease.conversation, spending)
        for alarm in step.alarms:
            memory.set_alarm(lease.conversation, alarm)
        self._committed[lease.conversation] = (lease, step, session)
        return session

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        """See `Conversations.release`."""
        record = self._held(lease)
        record.tries = 0
        if keep and record.worker and record.work_at is not None and record.work_at <= now:
            record.until = now + LEASE
            return Release.AGAIN
        record.worker, record.until = "", None
        return Release.IDLE if record.work_at is None else Release.HINT

    async def next_ready(self, *, now: datetime) -> datetime | None:  # noqa: ARG002  (the port's)
        """See `Conversations.next_ready`."""
        self._memory.here()
        times = (record.free_at for record in self._memory.records.values())
        return min((at for at in times if at is not None), default=None)

    async def note(self, conversation: ConversationId, text: str) -> None:
        """See `Conversations.note`."""
        self._memory.here()
        record = self._memory.record(conversation)
        if record.notes[-1:] != [rules.clip_note(text)]:
            record.note(text)

    async def parked(self, conversation: ConversationId) -> tuple[Item, ...]:
        """See `Conversations.parked`."""
        self._memory.here()
        return tuple(self._memory.record(conversation).parked)

    async def holdings(self, conversation: ConversationId, *, now: datetime) -> Holdings:
        """See `Conversations.holdings`."""
        self._memory.here()
        record = self._memory.record(conversation)
        since = now - rules.KEEP_OLD_HISTORY
        olds = sum(began > since for began, _ in record.old_histories)
        return Holdings(len(record.history), olds, len(record.files), len(record.parked))

    async def wakes(self, worker: str) -> AsyncIterator[ConversationId]:
        """See `Conversations.wakes`."""
        channel = f"worker:{worker}"
        heard = self._memory.listen(channel)
        try:
            while True:
                if (conversation := await heard.get()) is not None:
                    yield conversation
        finally:
            self._memory.stop_listening(channel, heard)

    def _held(self, lease: Lease) -> Record:
        self._memory.here()
        record = self._memory.record(lease.conversation)
        if record.fence != lease.fence:
            raise LeaseLost(f"fence {lease.fence} has moved on to {record.fence}")
        return record

    def _write(self, record: Record, step: Step, session: Session, now: datetime) -> None:
        record.session = session
        gone = {*step.taken, *step.parked}
        record.parked.extend(entry.item for entry in record.inbox if entry.item.id in step.parked)
        record.parked = record.parked[-rules.MAX_PARKED :]
        record.inbox = [entry for entry in record.inbox if entry.item.id not in gone]
        if step.new_history:
            if record.history:
                record.old_histories.append((now, record.history))
            record.history = []
        record.history.extend(step.history)
        _cut(record)
        record.notes = record.notes[step.notes_used :]
        for text in step.notes:
            record.note(text)
        for path, blob in (step.files or {}).items():
            if blob is None:
                record.files.pop(path, None)
            else:
                record.files[path] = blob


def _cut(record: Record) -> None:
    """Drop the oldest messages once there are too many, at a place where a history may begin."""
    first = record.session.history_length - len(record.history)
    surplus = rules.keep_from(record.session) - first
    if first < 0 or surplus <= rules.HISTORY_SLACK:
        return
    for number in range(surplus, len(record.history)):
        if record.history[number].may_begin:
            del record.history[:number]
            return
