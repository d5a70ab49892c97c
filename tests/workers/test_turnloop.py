"""The event loop beside RQ, without RQ."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from queue import SimpleQueue

import pytest

from kernel.errors import BadSettings
from workers import turnloop
from workers.turnloop import TurnLoop, Turns

LONG = timedelta(seconds=60)
BRIEF = timedelta(milliseconds=50)


class Script:
    """Turns whose every step is given; `seen` is what happened."""

    def __init__(self, *, drain: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]) -> None:
        self._drain = drain
        self._stop = stop
        self.seen: SimpleQueue[str] = SimpleQueue()

    async def drain(self) -> None:
        await self._drain()

    async def stop(self) -> None:
        try:
            await self._stop()
        except asyncio.CancelledError:
            self.seen.put("handed back")
            raise
        self.seen.put("stopped")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Turns]:
        thread = threading.current_thread()
        yield self
        assert threading.current_thread() is thread
        self.seen.put("closed")

    def story(self) -> list[str]:
        return [self.seen.get_nowait() for _ in range(self.seen.qsize())]


async def at_once() -> None:
    pass


async def never() -> None:
    await asyncio.Event().wait()


async def fail() -> None:
    raise ValueError("broken")


def ended(loop: TurnLoop) -> SimpleQueue[BaseException | None]:
    """Begin a drain; its end arrives in the queue."""
    ends: SimpleQueue[BaseException | None] = SimpleQueue()
    loop.begin(ends.put)
    return ends


def test_a_drain_runs_and_its_end_is_told() -> None:
    with TurnLoop(Script(drain=at_once, stop=at_once).open, grace=LONG) as loop:
        assert ended(loop).get(timeout=5) is None


def test_an_error_of_a_drain_is_told_and_the_loop_goes_on() -> None:
    with TurnLoop(Script(drain=fail, stop=at_once).open, grace=LONG) as loop:
        assert isinstance(ended(loop).get(timeout=5), ValueError)
        assert isinstance(ended(loop).get(timeout=5), ValueError)


def test_a_drain_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnloop, "_DRAIN_WITHIN_S", 0.01)

    with TurnLoop(Script(drain=never, stop=at_once).open, grace=LONG) as loop:
        assert isinstance(ended(loop).get(timeout=5), TimeoutError)


def test_the_end_waits_for_drains_and_closes_what_was_opened() -> None:
    go = threading.Event()

    async def wait() -> None:
        await asyncio.to_thread(go.wait)

    script = Script(drain=wait, stop=at_once)
    with TurnLoop(script.open, grace=LONG) as loop:
        ends = ended(loop)
        loop.finish()
        assert script.seen.get(timeout=5) == "stopped"
        assert loop.is_alive
        go.set()

        assert loop.wait(5)

    assert ends.get_nowait() is None
    assert script.story() == ["closed"]
    assert loop.is_clean


def test_after_the_grace_turns_are_told_to_hand_back() -> None:
    script = Script(drain=never, stop=never)
    with TurnLoop(script.open, grace=BRIEF) as loop:
        ends = ended(loop)
        loop.finish()

        assert loop.wait(5)

    assert ends.get_nowait() is None
    assert script.story() == ["handed back", "closed"]
    assert loop.is_clean


def test_hurry_ends_the_grace() -> None:
    script = Script(drain=never, stop=never)
    with TurnLoop(script.open, grace=LONG) as loop:
        loop.finish()
        loop.hurry()

        assert loop.wait(5)

    assert script.story() == ["handed back", "closed"]


def test_a_stop_that_fails_is_not_clean() -> None:
    with TurnLoop(Script(drain=at_once, stop=fail).open, grace=LONG) as loop:
        loop.finish()

        assert loop.wait(5)

    assert not loop.is_clean


def test_a_hand_back_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnloop, "_HAND_BACK_S", 0.05)
    freed = asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await freed.wait()

    with TurnLoop(Script(drain=at_once, stop=stubborn).open, grace=BRIEF) as loop:
        loop.finish()

        assert loop.wait(5)

    assert not loop.is_clean


def test_a_blocked_loop_is_overdue_rather_than_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnloop, "_HAND_BACK_S", 0.02)
    monkeypatch.setattr(turnloop, "_CLOSE_S", 0.02)
    unblock = threading.Event()

    async def block() -> None:
        unblock.wait()

    with TurnLoop(Script(drain=block, stop=at_once).open, grace=BRIEF) as loop:
        loop.begin(lambda _: None)
        loop.finish()

        assert not loop.wait(0.3)
        assert loop.is_overdue
        unblock.set()
        assert loop.wait(5)


def test_what_opening_raises_reaches_the_caller() -> None:
    class Unset:
        async def __aenter__(self) -> Turns:
            raise BadSettings("Set ANTHROPIC_API_KEY.")

        async def __aexit__(self, *_: object) -> None: ...

    with pytest.raises(BadSettings, match="ANTHROPIC_API_KEY"), TurnLoop(Unset, grace=LONG):
        pass


def test_told_to_finish_while_opening_it_gives_up() -> None:
    opening = threading.Event()

    class Slow:
        async def __aenter__(self) -> Turns:
            opening.set()
            await never()
            raise AssertionError

        async def __aexit__(self, *_: object) -> None: ...

    loop = TurnLoop(Slow, grace=LONG)

    def interrupt() -> None:
        opening.wait()
        loop.finish()

    threading.Thread(target=interrupt).start()
    with loop:
        assert loop.wait(5)

    assert loop.is_clean


def test_turns_that_break_end_the_loop() -> None:
    @asynccontextmanager
    async def brittle() -> AsyncIterator[Turns]:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())
            yield Script(drain=at_once, stop=at_once)

    with TurnLoop(brittle, grace=LONG) as loop:
        assert loop.wait(5)

    assert not loop.is_clean
