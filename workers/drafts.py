"""What the model is writing right now, shown while it writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import count

import structlog

from kernel.chat import ConversationId, Draft
from kernel.errors import RetryLater
from kernel.ports import Clock, Outbox

log = structlog.get_logger()

SHOW_EVERY = timedelta(seconds=0.7)
"""Platforms take about one edit a second for each chat."""
_PER_CALL = 100_000
"""Drafts of one model call, at most: their numbers stay in order from call to call."""


class DraftWriter:
    """Writes drafts of one model call; what cannot be stored is dropped, as the whole message follows anyway."""

    __slots__ = (
        *("_clock", "_conversation", "_fence", "_heard", "_numbers", "_outbox", "_pieces", "_shown", "_task", "_turn"),
        "_written",
    )

    def __init__(
        self,
        outbox: Outbox,
        clock: Clock,
        conversation: ConversationId,
        *,
        turn: str,
        effect: int,
        fence: int,
        shown: Callable[[str], str],
    ) -> None:
        """`shown` gives what of the text so far is meant for people; `effect` is the number of the model call."""
        self._outbox = outbox
        self._clock = clock
        self._conversation = conversation
        self._turn = turn
        self._fence = fence
        self._shown = shown
        self._numbers = count(effect * _PER_CALL)
        self._pieces: list[str] = []
        self._written = ""
        self._heard: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    def hear(self, piece: str) -> None:
        """The model has written `piece`. Writing begins with the first: most calls in flight have said nothing yet."""
        self._pieces.append(piece)
        if self._heard is None:
            self._heard = asyncio.Event()
            self._task = asyncio.create_task(self._run(self._heard))
        self._heard.set()

    @property
    def shown(self) -> str:
        """What of the text so far is meant for people."""
        return self._shown("".join(self._pieces)).strip()

    async def rest(self) -> None:
        """Write no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None  # It holds this writer, and both would wait for the next garbage collection.

    async def _run(self, heard: asyncio.Event) -> None:
        """Write what is new, at most every `SHOW_EVERY`, until cancelled; an answer that is whole sooner needs none."""
        while True:
            await heard.wait()
            await self._clock.sleep_until(self._clock.now() + SHOW_EVERY)
            heard.clear()
            await self._write(self._shown("".join(self._pieces)))

    async def clear(self) -> None:
        """What was shown leads to tool calls and is no answer: only the sign of work stays."""
        if self._written:
            await self._write("")

    async def _write(self, text: str) -> None:
        if text == self._written:
            return
        draft = Draft(self._conversation, self._turn, next(self._numbers), text)
        try:
            await self._outbox.draft(draft, fence=self._fence)
        except RetryLater:
            log.debug("draft dropped", conversation=self._conversation)
            return
        self._written = text
