"""Triggers, alarms and the ledger, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from kernel.chat import ConversationId, Outbound
from kernel.ports import Alarm, LedgerLine, PromptRecord, Put, TriggerGone, TriggerPut
from kernel.stores import rules
from kernel.stores.memory.state import Memory
from kernel.triggers import Firing, Trigger

_NEVER = datetime.max.replace(tzinfo=UTC)


class MemoryTriggers:
    """The twin of `RedisTriggers`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def list(self, conversation: ConversationId) -> tuple[tuple[Trigger, datetime | None], ...]:
        """See `Triggers.list`."""
        return tuple(each for each in await self.all() if each[0].conversation == conversation)

    async def all(self) -> tuple[tuple[Trigger, datetime | None], ...]:
        """See `Triggers.all`."""
        self._memory.here()
        found = [(trigger, self._memory.due.get(trigger.id)) for trigger in self._memory.triggers.values()]
        return tuple(sorted(found, key=lambda each: (each[1] or _NEVER, each[0].id)))

    async def get(self, trigger: str) -> Trigger | None:
        """See `Triggers.get`."""
        self._memory.here()
        return self._memory.triggers.get(trigger)

    async def due(self, *, now: datetime, limit: int) -> tuple[Firing | tuple[ConversationId, Alarm], ...]:
        """See `Triggers.due`."""
        self._memory.here()
        reached = sorted(((at, str(what)), what) for what, at in self._memory.due.items() if at <= now)[:limit]
        found: list[Firing | tuple[ConversationId, Alarm]] = []
        for (at, _), what in reached:
            if isinstance(what, str):
                found.append(Firing(self._memory.triggers[what], at))
            else:
                found.append((what[0], Alarm(what[1], at)))
        return tuple(found)

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
        memory = self._memory
        memory.here()
        stored = memory.triggers.get(firing.trigger.id)
        if stored is None or stored.revision != firing.trigger.revision or memory.due.get(stored.id) != firing.due:
            return False
        word = rules.proven_outcome(outcome)
        if word is not None and rules.witness(tuple(outbound)) is not None:
            memory.append(outbound, now, (firing, word))
            memory.write_ledger(LedgerLine(stored.id, firing.due, "claimed"))
        else:
            memory.append(outbound, now)
            memory.write_ledger(LedgerLine(stored.id, firing.due, outcome))
        memory.keep_prompts(prompts)
        memory.record(stored.conversation).note(note)
        memory.change_trigger(TriggerGone(stored.id) if next_due is None else TriggerPut(stored, next_due))
        return True

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> Put | None:
        """See `Triggers.ring`."""
        memory = self._memory
        memory.here()
        if alarm.at is None or memory.due.get((conversation, alarm.token)) != alarm.at:
            return None
        memory.set_due((conversation, alarm.token), None)
        return memory.insert(rules.expired(conversation, alarm), now, now)

    async def next_due(self) -> datetime | None:
        """See `Triggers.next_due`."""
        self._memory.here()
        return min(self._memory.due.values(), default=None)

    async def ledger(self, trigger: str) -> tuple[LedgerLine, ...]:
        """See `Triggers.ledger`."""
        self._memory.here()
        lines = self._memory.ledger.get(trigger, {})
        return tuple(lines[due] for due in sorted(lines))

    async def count(self, platform: str) -> int:
        """See `Triggers.count`."""
        self._memory.here()
        return sum(
            trigger.conversation.platform == platform and trigger.id in self._memory.due
            for trigger in self._memory.triggers.values()
        )

    async def wait(self, until: datetime) -> None:
        """See `Triggers.wait`."""
        self._memory.here()
        heard = self._memory.listen("due")
        sleep = asyncio.create_task(self._memory.clock.sleep_until(until))
        try:
            while not sleep.done():
                if min(self._memory.due.values(), default=until) < until:
                    return
                told = asyncio.create_task(heard.get())
                try:
                    await asyncio.wait({sleep, told}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    told.cancel()
        finally:
            sleep.cancel()
            self._memory.stop_listening("due", heard)
