"""The event loop of the turns, in a thread of its own: the main thread belongs to RQ and to signals."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from functools import partial
from threading import Thread
from types import TracebackType
from typing import Any, Protocol, Self

import structlog

from kernel.errors import RetryError

_DRAIN_WITHIN_S = 120.0
"""A drain ends by itself after 60 s; one that hangs must not keep its slot for ever."""
_HAND_BACK_S = 3.0
"""After the grace, what is cancelled gets so long to give its leases back."""
_CLOSE_S = 5.0
"""After that, `open_turns` gets so long to close what it opened."""

log = structlog.get_logger(__name__)


class Turns(Protocol):
    """What a worker carries; both run on the worker's event loop."""

    async def drain(self) -> None:
        """Take ready conversations until nothing is ready or 60 s are over. Several run at once."""

    async def stop(self) -> None:
        """Begin nothing new, return when all turns are done. Cancelled: hand back what is left, at once."""


OpenTurns = Callable[[], AbstractAsyncContextManager[Turns]]
Ended = Callable[[BaseException | None], None]
"""Hears once how a drain ended, on the loop: None, also when it was cancelled, or its error. Must not block."""


class TurnLoop:
    """Runs drains until it is told to finish; a context manager around the thread.

    Entering returns when the turns are open, and raises what opening them raised. Told to finish before that, it
    gives up opening and has ended when entering returns.
    """

    def __init__(self, open_turns: OpenTurns, *, grace: timedelta) -> None:
        self._open_turns = open_turns
        self._grace = grace
        self._thread = Thread(target=self._run, name="turns", daemon=True)
        self._opened: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drains: set[asyncio.Task[None]] = set()
        self._due = math.inf
        self.is_clean = False
        """True after the end when every turn was finished or handed back."""

    def __enter__(self) -> Self:
        self._thread.start()
        self._opened.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        self.hurry()
        self.wait(max(0.0, self._due - time.monotonic()))

    @property
    def is_open(self) -> bool:
        """Whether opening is over, one way or the other."""
        return self._opened.done()

    @property
    def is_alive(self) -> bool:
        """Whether it can still run drains."""
        return self._thread.is_alive()

    def begin(self, ended: Ended) -> None:
        """Start one drain. From any thread."""
        self._call(partial(self._begin, ended))

    def finish(self) -> None:
        """Begin the end: `Turns.stop`, the grace, then the hand-back. From any thread; idempotent."""
        self._end_within(self._grace.total_seconds())
        self._call(self._finish)

    def hurry(self) -> None:
        """End the grace now. From any thread and from signal handlers; before `finish` it leaves no grace at all."""
        self._end_within(0)
        self._call(self._hurrying.set)

    def wait(self, timeout_s: float) -> bool:
        """Whether it ended within that time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def is_overdue(self) -> bool:
        """Whether it should have ended by now: something blocks the loop, waiting longer is of no use."""
        return time.monotonic() > self._due

    def _end_within(self, grace_s: float) -> None:
        self._due = min(self._due, time.monotonic() + grace_s + _HAND_BACK_S + _CLOSE_S)

    def _call(self, what: Callable[[], object]) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop has ended meanwhile: nothing is left to be told.
                self._loop.call_soon_threadsafe(what)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except asyncio.CancelledError:  # By `_finish`, while opening.
            self.is_clean = True
            self._opened.set_result(None)
        except BaseException as error:  # The boundary of the thread: the main thread must hear of it.
            if self._opened.done():
                log.exception("turns broke")
            else:
                self._opened.set_exception(error)

    async def _live(self) -> None:
        self._main = asyncio.current_task()
        self._finishing = asyncio.Event()
        self._hurrying = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        async with self._open_turns() as turns:
            self._turns = turns
            self._opened.set_result(None)
            await self._finishing.wait()
            is_clean = await self._end(turns)
        self.is_clean = is_clean

    def _finish(self) -> None:
        if self._opened.done():
            self._finishing.set()
        elif self._main is not None:
            self._main.cancel()

    def _begin(self, ended: Ended) -> None:
        task = asyncio.create_task(self._drain(), name="drain")
        self._drains.add(task)
        task.add_done_callback(partial(self._drained, ended))

    async def _drain(self) -> None:
        async with asyncio.timeout(_DRAIN_WITHIN_S):
            await self._turns.drain()

    def _drained(self, ended: Ended, task: asyncio.Task[None]) -> None:
        self._drains.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, RetryError):
            log.warning("drain ended early", why=str(error))
        elif error is not None:
            log.error("drain failed", exc_info=error)
        ended(error)

    async def _end(self, turns: Turns) -> bool:
        stop = asyncio.create_task(turns.stop(), name="stop")
        last = {stop, *self._drains}
        ended = asyncio.create_task(asyncio.wait(last), name="ended")
        hurry = asyncio.create_task(self._hurrying.wait(), name="hurry")
        either: set[asyncio.Task[Any]] = {ended, hurry}
        await asyncio.wait(either, timeout=self._grace.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
        for task in either:
            task.cancel()
        if not all(task.done() for task in last):
            log.info("handing turns back", drains=len(self._drains))
            for task in last:
                task.cancel()
            await asyncio.wait(last, timeout=_HAND_BACK_S)
        if not stop.done():
            return False
        if not stop.cancelled() and (error := stop.exception()) is not None:
            log.error("turns did not stop cleanly", exc_info=error)
            return False
        return True
