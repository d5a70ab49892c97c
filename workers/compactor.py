"""Makes the history of a conversation short, while nobody speaks there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from kernel.chat import ConversationId
from kernel.compaction import compacted, cut, is_due, summary_request
from kernel.errors import ProviderFailed, ProviderRefused, RetryLater
from kernel.messages import Message
from kernel.ports import Clock, Provider, Spent, Triggers
from kernel.schedule.reading import describe
from kernel.session import Session
from kernel.usage import spent

log = structlog.get_logger()

_SHARE = 0.8
"""Of the window, for the text that is summarised; the rest is for the summary and for counting too few."""
REST = timedelta(minutes=10)
"""Asking for a summary is as dear as the whole history, and would be in vain after every turn."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """What is to take the place of a history of `of` messages; nothing when no summary came."""

    of: int
    messages: tuple[Message, ...]
    used: Spent = field(default_factory=Spent)
    """What writing it used up."""


class Compactor:
    """Writes summaries for all conversations of one process. `window` and `most` as in `kernel.compaction`."""

    def __init__(self, provider: Provider, triggers: Triggers, clock: Clock, *, window: int, most: int) -> None:
        self._provider = provider
        self._triggers = triggers
        self._clock = clock
        self._window = window
        self._most = most
        self._resting: dict[ConversationId, float] = {}
        """Until when, on the boot-time clock, no summary is tried where the last one came to nothing."""

    def is_due(self, conversation: ConversationId, history: Sequence[Message]) -> bool:
        """Whether the history is too long, and a summary is likely to come."""
        is_resting = self._resting.get(conversation, 0) > self._clock.boottime()
        return not is_resting and is_due(history, window=self._window, most=self._most)

    def _rest(self, conversation: ConversationId) -> None:
        now = self._clock.boottime()
        self._resting = {each: until for each, until in self._resting.items() if until > now}
        self._resting[conversation] = now + REST.total_seconds()

    async def shorten(
        self, conversation: ConversationId, history: Sequence[Message], files: Iterable[str]
    ) -> tuple[tuple[Message, ...], Spent]:
        """The shorter history; empty when none came of it: the model was away, refused, or said nothing."""
        taken = cut(history)
        if taken is None:
            self._rest(conversation)
            return (), Spent()
        request = summary_request(taken.old, most_tokens=int(self._window * _SHARE))
        try:
            reply = await self._provider.reply(request)
            known = [*await self._reminders(conversation), *(f"file: {path}" for path in sorted(files))]
        except (ProviderFailed, ProviderRefused, RetryLater) as error:
            log.warning("no summary", conversation=conversation, why=str(error))
            self._rest(conversation)
            return (), Spent()
        words, used = reply.message.text.strip(), spent(reply.by or self._provider.name, reply.usage)
        if not words:
            log.warning("no summary", conversation=conversation, why="the model said nothing")
            self._rest(conversation)
            return (), used
        log.info("history summarised", conversation=conversation, messages=len(taken.old), tokens=reply.usage.output)
        return compacted(words, taken, known), used

    async def _reminders(self, conversation: ConversationId) -> list[str]:
        stored = await self._triggers.list(conversation)
        return [
            f"reminder: {trigger.text}, {describe(trigger.schedule, trigger.zone, trigger.language)}"
            for trigger, _ in stored
        ]


class Upkeep:
    """The compaction of one conversation under its lease; `post` is given what came of it."""

    __slots__ = ("_compactor", "_post", "_task", "_tried")

    def __init__(self, compactor: Compactor | None, post: Callable[[Shortened], None]) -> None:
        self._compactor = compactor
        self._post = post
        self._tried = -1
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """A summary is being written."""
        return self._task is not None and not self._task.done()

    def begin(self, session: Session, history: Sequence[Message], files: Iterable[str]) -> bool:
        """Have a summary written when one is due; whether one is. Never twice for the same history."""
        compactor, of = self._compactor, session.history_length
        if compactor is None or session.turns or of == self._tried:
            return False
        if not compactor.is_due(session.conversation, history):
            return False
        self._tried = of
        self._task = asyncio.create_task(self._shorten(compactor, session, tuple(history), tuple(files)))
        return True

    def stop(self) -> None:
        """Somebody speaks: the summary would come too late."""
        if self._task is not None:
            self._task.cancel()

    async def end(self) -> None:
        """Stop, and return when it has ended."""
        self.stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _shorten(
        self, compactor: Compactor, session: Session, history: Sequence[Message], files: Iterable[str]
    ) -> None:
        messages: tuple[Message, ...] = ()
        used = Spent()
        try:
            messages, used = await compactor.shorten(session.conversation, history, files)
        except Exception:  # The boundary of upkeep: without a summary the conversation goes on as it was.
            log.exception("no summary", conversation=session.conversation)
        finally:
            self._post(Shortened(session.history_length, messages, used))
