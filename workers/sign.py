"""The sign that a turn works in a conversation: what adapters show as typing."""

from __future__ import annotations

import asyncio

import structlog

from kernel.chat import ConversationId
from kernel.errors import RetryLater
from kernel.ports import Outbox

log = structlog.get_logger()


class WorkSign:
    """Lapses by itself after 10 s, so it is shown when a turn begins to work and renewed with the lease."""

    __slots__ = ("_conversation", "_outbox", "_showing", "_turn")

    def __init__(self, outbox: Outbox, conversation: ConversationId) -> None:
        self._outbox = outbox
        self._conversation = conversation
        self._turn = ""
        self._showing: asyncio.Task[None] | None = None

    def begin(self, turn: str) -> None:
        """The turn works from now on; nothing waits for the sign."""
        if turn != self._turn:
            self._turn = turn
            self._showing = asyncio.create_task(self.renew())
            self._showing.add_done_callback(self._shown)

    def _shown(self, task: asyncio.Task[None]) -> None:
        """An ended task is as big as one that runs: no conversation keeps it."""
        if self._showing is task:
            self._showing = None

    async def renew(self) -> None:
        """Show it for another 10 s."""
        try:
            await self._outbox.working(self._conversation, turn=self._turn)
        except RetryLater:
            log.debug("not shown as working", conversation=self._conversation)
