"""Showing that work goes on: typing in every conversation in which a turn works."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import structlog

from bots.adapter import Adapter
from bots.moves import Moves
from bots.waiting import first_of
from kernel.chat import ConversationId
from kernel.errors import ZclawError
from kernel.patience import patiently
from kernel.ports import Clock, Outbox

log = structlog.get_logger(__name__)

_LOOK_AGAIN = timedelta(seconds=5)
_CALL_TIMEOUT_S = 5.0


class Typing:
    """Types where the store says that a turn works."""

    def __init__(self, adapter: Adapter, outbox: Outbox, clock: Clock, moves: Moves) -> None:
        self._adapter = adapter
        self._outbox = outbox
        self._clock = clock
        self._moves = moves
        self._shown: dict[ConversationId, datetime] = {}
        self.woken = asyncio.Event()
        """Set by whoever hears that drafts have changed."""

    def spoke(self, conversation: ConversationId) -> None:
        """A message of ours went out: the platform took the sign away, and it may have been the last one."""
        self._shown[conversation] = self._clock.now()

    async def run(self) -> None:
        """Type until cancelled."""
        async with asyncio.TaskGroup() as calls:
            while True:
                self.woken.clear()
                drafts = await patiently(self._clock, lambda: self._outbox.drafts(self._adapter.platform))
                now = self._clock.now()
                self._shown = {c: at for c, at in self._shown.items() if at > now - self._adapter.typing_every}
                for conversation in {draft.conversation for draft in drafts}:
                    if conversation not in self._shown:
                        self._shown[conversation] = now
                        calls.create_task(self._type(conversation))
                pause = self._adapter.typing_every if drafts else _LOOK_AGAIN
                again = min([now + pause, *(at + self._adapter.typing_every for at in self._shown.values())])
                await first_of(self.woken.wait(), self._clock.sleep_until(again))

    async def _type(self, conversation: ConversationId) -> None:
        try:
            async with asyncio.timeout(_CALL_TIMEOUT_S):
                await self._adapter.typing(self._moves.there(conversation))
        except (ZclawError, TimeoutError) as error:
            log.debug("typing failed", why=str(error) or type(error).__name__)
