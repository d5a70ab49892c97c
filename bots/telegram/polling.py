"""Long polling: asked again and again, by one process at a time, with an offset that moves only after the write.

We read `getUpdates` ourselves: aiogram moves its offset before or whatever a handler did, and an update it cannot
parse would stop it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import aiohttp
import structlog
from aiogram.client.telegram import TelegramAPIServer

from bots.telegram.calls import wrong_token
from bots.telegram.updates import WANTED
from kernel.errors import ZclawError
from kernel.patience import patiently, pause_after
from kernel.ports import Clock, Locks

log = structlog.get_logger(__name__)

POLL = timedelta(seconds=8)
"""How long Telegram may hold a `getUpdates`; with the time-out below shorter than a lock is held."""
POLL_TIMEOUT_S = POLL.total_seconds() + 3
LOOK_AGAIN = timedelta(seconds=2)
"""How often who stands by looks whether it is their turn."""
LONGEST_PAUSE = timedelta(seconds=30)
_CONFLICT_PAUSE = timedelta(seconds=5)
_LEAVE_WITHIN_S = 2.0


class PollTurns:
    """Whose turn it is to poll for one bot. Without `locks` it is always ours."""

    def __init__(self, bot: str, clock: Clock, locks: Locks | None, holder: str) -> None:
        self._name = f"poll:{bot}"
        self._clock = clock
        self._locks = locks
        self._holder = holder
        self._is_ours = locks is None

    async def wait(self) -> None:
        """Return when we may poll once more; until then others do. Waits for a store that is away."""
        if self._locks is None:
            return
        locks = self._locks
        while True:
            is_ours = await patiently(self._clock, lambda: locks.take(self._name, self._holder, now=self._clock.now()))
            if is_ours is not self._is_ours:
                log.info("telegram polled by us" if is_ours else "telegram polled by another process")
            self._is_ours = is_ours
            if is_ours:
                return
            await self._clock.sleep_until(self._clock.now() + LOOK_AGAIN)

    async def leave(self) -> None:
        """Let another process poll at once. Never raises: what we hold lapses by itself too."""
        if self._locks is None:
            return
        try:
            async with asyncio.timeout(_LEAVE_WITHIN_S):
                await self._locks.leave(self._name, self._holder)
        except (ZclawError, TimeoutError) as error:
            log.info("poll lock lapses by itself", why=str(error) or type(error).__name__)


class _PollFailed(Exception):
    """`getUpdates` gave nothing; try again after `after`, or after the usual pause."""

    def __init__(self, why: str, after: timedelta | None = None) -> None:
        super().__init__(why)
        self.after = after


class Polling:
    """Asks for updates and hands each to `take_in`, which returns when it is stored or means nothing to us."""

    def __init__(
        self,
        token: str,
        server: TelegramAPIServer,
        clock: Clock,
        turns: PollTurns,
        take_in: Callable[[object], Awaitable[None]],
    ) -> None:
        self._poll_url = server.api_url(token, "getUpdates")
        self._webhook_url = server.api_url(token, "deleteWebhook")
        self._clock = clock
        self._turns = turns
        self._take_in = take_in

    async def run(self) -> None:
        """Poll until cancelled. Raises `WrongToken`; everything else is retried with back-off."""
        timeout = aiohttp.ClientTimeout(total=POLL_TIMEOUT_S, sock_connect=POLL_TIMEOUT_S / 2)
        try:
            # A pool of its own, so that slow sends never starve the poll nor the poll them.
            async with aiohttp.ClientSession(timeout=timeout) as http:
                await self._poll(http)
        finally:
            await self._turns.leave()

    async def _poll(self, http: aiohttp.ClientSession) -> None:
        offset: int | None = None
        failures = 0
        while True:
            await self._turns.wait()
            try:
                updates = await self._get_updates(http, offset)
                numbers = [await self._bring_in(raw) for raw in updates]
                if numbers and all(number is None for number in numbers):
                    # Unconfirmed they would come again at once, for ever.
                    raise _PollFailed("updates without numbers")
            except _PollFailed as failure:
                failures += 1
                pause = failure.after or pause_after(failures + 2, LONGEST_PAUSE)
                log.warning("telegram poll failed", why=str(failure), pause_s=pause.total_seconds())
                await self._clock.sleep_until(self._clock.now() + pause)
                continue
            failures = 0
            offset = next((number for number in reversed(numbers) if number is not None), offset)

    async def _bring_in(self, raw: object) -> int | None:
        """Take in one update; the offset that acknowledges it."""
        await self._take_in(raw)
        number = raw.get("update_id") if isinstance(raw, dict) else None
        return number + 1 if isinstance(number, int) else None

    async def _get_updates(self, http: aiohttp.ClientSession, offset: int | None) -> Sequence[object]:
        question: dict[str, object] = {"timeout": int(POLL.total_seconds()), "allowed_updates": list(WANTED)}
        if offset is not None:
            question["offset"] = offset
        try:
            async with http.post(self._poll_url, json=question) as response:
                status = response.status
                answer = json.loads(await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as error:
            why = type(error).__name__
        else:
            result = answer.get("result") if isinstance(answer, dict) and answer.get("ok") is True else None
            if isinstance(result, list):
                return result
            await self._explain(http, status, answer)
            why = f"HTTP {status}"
        # Outside the handler: the library's error may hold the address, the token in it.
        raise _PollFailed(why)

    async def _explain(self, http: aiohttp.ClientSession, status: int, answer: object) -> None:
        """Raise what Telegram's refusal means, where it means something particular."""
        details = answer if isinstance(answer, dict) else {}
        if status in (401, 404):
            raise wrong_token()
        if status == 409 and "webhook" in str(details.get("description", "")):
            await self._delete_webhook(http)
            raise _PollFailed("a webhook was set; it is removed now")
        if status == 409:
            raise _PollFailed("another process polls with this token", _CONFLICT_PAUSE)
        parameters = details.get("parameters")
        after = parameters.get("retry_after") if isinstance(parameters, dict) else None
        if isinstance(after, int):
            raise _PollFailed("Telegram limits us", timedelta(seconds=after))

    async def _delete_webhook(self, http: aiohttp.ClientSession) -> None:
        try:
            async with http.post(self._webhook_url, json={}) as response:
                await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("webhook not removed", why=type(error).__name__)
