"""What every role does around its own work: a name, a beat, and an end when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from kernel.errors import OperatorError, RetryLater, first_error
from kernel.ports import Beats, Clock

BEAT_EVERY_S = 5.0
_GOODBYE_S = 1.0


def this_host() -> str:
    """The host as processes name it; a container is one."""
    return socket.gethostname()


def process_name() -> str:
    """Tells processes apart, on several machines too."""
    return f"{this_host()}-{os.getpid()}"


async def beat(beats: Beats, role: str, process: str, clock: Clock) -> None:
    """Say every few seconds that this process lives, until cancelled; then that it has ended."""
    try:
        while True:
            with contextlib.suppress(RetryLater):
                await beats.beat(role, process, now=clock.now())
            await asyncio.sleep(BEAT_EVERY_S)
    finally:
        await sign_off(beats, role, process)


async def sign_off(beats: Beats, role: str, process: str) -> None:
    """Say that this process ended as it should: nobody misses it then."""
    with contextlib.suppress(RetryLater, TimeoutError):  # Without it the beat lapses by itself.
        async with asyncio.timeout(_GOODBYE_S):
            await beats.end(role, process)


def until_told(live: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run `live` in an event loop until it ends, or SIGTERM or SIGINT cancels it; the exit code.

    Raises what `live` raised; of a group the first error that the operator must act on, else the group.
    """

    async def listen() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await live()

    try:
        asyncio.run(listen())
    except asyncio.CancelledError:
        return 0
    except BaseExceptionGroup as group:
        said = group.subgroup((OperatorError, RetryLater))
        raise first_error(said or group) from None
    return 0
