"""Socket Mode: one connection that is always wanted, envelopes in, acknowledgements out.

slack_sdk's own client answers on whichever connection is open then, keeps a dead one when a reconnect fails, and
pauses without jitter; hence this loop. A connection that Slack wants to replace is read until it closes, but no
longer than `LINGER`, beside its successor: nothing sent meanwhile is missed and none stays behind.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final

import aiohttp
import structlog

from bots.slack.calls import Calls, Refused
from bots.slack.payloads import as_text
from kernel.errors import RetryError, RetryLater
from kernel.ports import Clock

log = structlog.get_logger(__name__)

ACK_WITHIN: Final = timedelta(seconds=2.8)
"""Slack counts 3 s. Later it has given the envelope up and will send the event again: that one is acknowledged."""
LINGER: Final = timedelta(seconds=15)
HELLO_WITHIN: Final = timedelta(seconds=10)
STEADY: Final = timedelta(seconds=10)
"""A connection that lasted this long was no failure."""
MAX_PAUSE_S: Final = 15.0
MAX_ANSWERING: Final = 2_000
"""Envelopes in work at once; more are left for Slack to send again."""
_HEARTBEAT_S: Final = 15.0
_CLOSE_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Ack:
    """How an envelope is answered: what its sender is shown at once, and what is done right after."""

    payload: Mapping[str, object] | None = None
    after: Callable[[], Awaitable[None]] | None = None


Take = Callable[[object, bool], Awaitable[Ack]]
"""Takes a payload and whether Slack sends it again when it is not acknowledged; returns when it is stored."""


@dataclass(slots=True)
class _Link:
    """One connection. `is_over`: a successor is wanted."""

    socket: aiohttp.ClientWebSocketResponse
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: bool = False
    """Slack asked for the successor in good order."""


class Socket:
    """Keeps the bot connected and hands every envelope to `take`."""

    def __init__(self, calls: Calls, take: Take, clock: Clock, random: Random) -> None:
        self._calls = calls
        self._take = take
        self._clock = clock
        self._random = random
        self._answering = 0

    async def run(self) -> None:
        """Stay connected until cancelled. Raises a group with `WrongToken`; everything else is tried again."""
        failures = 0
        async with asyncio.TaskGroup() as tasks:
            while True:
                began = self._clock.boottime()
                after = timedelta()
                try:
                    link = _Link(await self._connect())
                except (RetryError, Refused, aiohttp.ClientError, OSError, TimeoutError) as error:
                    failures += 1
                    after = error.after if isinstance(error, RetryLater) else after
                    why = str(error) if isinstance(error, Refused) else type(error).__name__
                    log.warning("slack is not reached", error=why, failures=failures)
                else:
                    tasks.create_task(self._read(link, tasks))
                    await link.is_over.wait()
                    has_lasted = self._clock.boottime() - began >= STEADY.total_seconds()
                    failures = 0 if has_lasted or link.was_asked else failures + 1
                if failures:
                    pause = max(jittered_pause(failures, self._random), after)
                    await self._clock.sleep_until(self._clock.now() + pause)

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        answer = await self._calls.ask("apps.connections.open", {})
        session = self._calls.session()
        async with asyncio.timeout(HELLO_WITHIN.total_seconds()):
            return await session.ws_connect(
                str(answer.get("url") or ""),
                heartbeat=_HEARTBEAT_S,
                timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_S),
                proxy=self._calls.proxy,
            )

    async def _read(self, link: _Link, tasks: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(HELLO_WITHIN.total_seconds()) as limit:
                async for message in link.socket:
                    frame = _frame(message)
                    match frame.get("type"):
                        case "hello":
                            log.info("slack connected")
                            limit.reschedule(None)
                        case "disconnect":
                            self._leave(link, frame)
                            limit.reschedule(loop.time() + LINGER.total_seconds())
                        case _ if as_text(frame.get("envelope_id")):
                            self._accept(link, frame, tasks)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            log.debug("slack connection ended", error=type(error).__name__)
        finally:
            link.is_over.set()
            await link.socket.close()

    def _leave(self, link: _Link, frame: Mapping[str, object]) -> None:
        reason = frame.get("reason")
        if reason == "link_disabled":
            log.error("Socket Mode is switched off in the settings of the Slack app")
        link.was_asked = reason in ("warning", "refresh_requested")
        log.info("slack asks to reconnect", reason=str(reason)[:40])
        link.is_over.set()

    def _accept(self, link: _Link, frame: Mapping[str, object], tasks: asyncio.TaskGroup) -> None:
        if self._answering >= MAX_ANSWERING:
            log.warning("too many envelopes in work", limit=MAX_ANSWERING)
            return
        self._answering += 1
        tasks.create_task(self._answer(link, frame))

    async def _answer(self, link: _Link, frame: Mapping[str, object]) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            ack = await self._take(frame.get("payload"), frame.get("type") == "events_api")
            if loop.time() - began > ACK_WITHIN.total_seconds():
                log.info("stored too late to acknowledge", after_s=round(loop.time() - began, 1))
            elif not link.socket.closed:
                said = {"envelope_id": frame["envelope_id"], "payload": ack.payload}
                await link.socket.send_str(json.dumps({name: word for name, word in said.items() if word}))
            if ack.after is not None:
                await ack.after()
        except (aiohttp.ClientError, OSError) as error:
            log.info("not acknowledged, the connection broke", error=type(error).__name__)
        except Exception:  # Boundary: one envelope. It is not acknowledged and comes again; the others go on.
            log.exception("envelope not taken")
        finally:
            self._answering -= 1


def _frame(message: aiohttp.WSMessage) -> Mapping[str, object]:
    if message.type is not aiohttp.WSMsgType.TEXT:
        return {}
    try:
        frame = json.loads(message.data)
    except ValueError:
        frame = None
    if not isinstance(frame, dict):
        log.warning("frame not understood")
        return {}
    return frame


def jittered_pause(failures: int, random: Random) -> timedelta:
    """How long to wait after so many failures in a row: doubling, up to half of it by chance, at most 15 s."""
    longest = min(2.0 ** min(failures - 1, 10), MAX_PAUSE_S)
    return timedelta(seconds=longest * random.uniform(0.5, 1.0))
