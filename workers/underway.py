"""The effects of one conversation that are under way: started after their commit, each ends as a piece of mail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial

import structlog

from kernel.chat import ConversationId
from kernel.errors import LeaseLost
from kernel.loop import Effect, RunCall
from kernel.patience import patiently
from kernel.ports import Clock
from kernel.session import Ending
from kernel.session_events import Broken
from workers.effects import Done, failed, stopped
from workers.tenure import Tenure

log = structlog.get_logger()


class Signal(Enum):
    """Mail without content."""

    LOOK = "look"
    """Something may be due in the inbox."""
    HAND_BACK = "hand back"
    """The process ends; give the conversation back."""
    LOST = "lost"
    """The lease is gone, or an effect found its permit void."""


@dataclass(frozen=True, slots=True)
class Over:
    """The effect ended and nothing comes of it."""

    effect: Effect


Work = Callable[[], Awaitable[Done]]


class Underway:
    """Effects by what they are; `post` is given what came of each, once."""

    __slots__ = ("_clock", "_conversation", "_post", "_tasks", "_tenure")

    def __init__(
        self, conversation: ConversationId, tenure: Tenure, clock: Clock, post: Callable[[Done | Over | Signal], None]
    ) -> None:
        self._conversation = conversation
        self._tenure = tenure
        self._clock = clock
        self._post = post
        self._tasks: dict[Effect, asyncio.Task[Done | Signal]] = {}

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __contains__(self, effect: object) -> bool:
        return effect in self._tasks

    def __iter__(self) -> Iterator[Effect]:
        return iter(tuple(self._tasks))

    def start(self, effect: Effect, work: Work) -> None:
        """Begin `work`, which is what `effect` means."""
        task = self._tasks[effect] = asyncio.create_task(self._perform(effect, work))
        task.add_done_callback(partial(self._ended, effect))

    def forget(self, effect: Effect) -> None:
        """Its mail has been read."""
        self._tasks.pop(effect, None)

    def cancel(self, effect: Effect) -> None:
        """Break off what the session no longer waits for. A claimed call keeps its place until its outcome is known."""
        task = self._tasks[effect]
        if not task.cancelling():
            task.cancel()

    async def break_off(self) -> None:
        """Cancel everything, and return when it has ended; the mail of each is there then."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _perform(self, effect: Effect, work: Work) -> Done | Signal:
        try:
            if not self._tenure.has_permit():
                await patiently(self._clock, self._tenure.refresh)
            return await work()
        except LeaseLost:
            return Signal.LOST
        except Exception:  # The boundary of an effect: its turn ends with words, the conversation goes on.
            log.exception("effect broke", conversation=self._conversation)
            return failed(effect) if isinstance(effect, RunCall) else Done(effect, Broken(effect.turn, Ending.FAILED))

    def _ended(self, effect: Effect, task: asyncio.Task[Done | Signal]) -> None:
        """What came of the effect becomes mail, also when it was cancelled before it began."""
        if not task.cancelled():
            self._post(task.result())
        elif not task.cancelling() and isinstance(effect, RunCall):
            # The tool cancelled itself; made again, it would do so for ever.
            self._post(failed(effect))
        elif isinstance(effect, RunCall) and effect.claim:
            self._post(stopped(effect))
        else:
            # What only reads, or asks the model, is made again by whoever goes on.
            self._post(Over(effect))
