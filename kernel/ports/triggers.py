"""Triggers and alarms: what is stored, when it is due, and what became of each due time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kernel.chat import ConversationId, Outbound
from kernel.ports.conversations import Alarm, Put
from kernel.ports.records import PromptRecord
from kernel.triggers import Firing, Trigger


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What became of one due time of a trigger. `outcome`: claimed, delivered, late, unknown, skipped, failed.

    Delivered and late have a message id for proof; unknown was sent, but the platform's answer was lost.
    """

    trigger: str
    due: datetime
    outcome: str
    detail: str = ""


class Triggers(Protocol):
    """Stored triggers, their due times, alarms, and the ledger of what became of each due time."""

    async def list(self, conversation: ConversationId) -> tuple[tuple[Trigger, datetime | None], ...]:
        """The conversation's triggers with their next due time (None: paused or ended), soonest first."""

    async def all(self) -> tuple[tuple[Trigger, datetime | None], ...]:
        """Every trigger there is, likewise; for the operator, as it reads them all."""

    async def get(self, trigger: str) -> Trigger | None:
        """One trigger, None when it is gone."""

    async def due(self, *, now: datetime, limit: int) -> tuple[Firing | tuple[ConversationId, Alarm], ...]:
        """What is due, earliest first: firings, and alarms with their conversation."""

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
        """Claim the due time, append what goes out, store the next due time: one step.

        A trigger without a next due time is removed.
        False, and nothing happened, when the trigger was changed, moved on or is gone.
        """

    async def ring(self, conversation: ConversationId, alarm: Alarm, *, now: datetime) -> Put | None:
        """Put `Expired` for the alarm and remove it: one step; None when it was moved or removed meanwhile."""

    async def next_due(self) -> datetime | None:
        """The earliest due time of all triggers and alarms."""

    async def ledger(self, trigger: str) -> tuple[LedgerLine, ...]:
        """What became of its due times, oldest first (90 days)."""

    async def count(self, platform: str) -> int:
        """How many triggers of the platform wait to fire."""

    async def wait(self, until: datetime) -> None:
        """Return at `until`, or as soon as an earlier due time was stored."""
