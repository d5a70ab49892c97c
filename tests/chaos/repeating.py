"""What fake platforms have in common: they insist, and know who acknowledged what."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from typing import Any, Protocol

import aiohttp

Json = dict[str, Any]


class Platform(Protocol):
    """One platform over one transport. Whoever uses it waits for `changed` under `came`."""

    name: str
    changed: asyncio.Condition
    retries: int
    """How often something came again because it was not acknowledged."""
    retried: set[object]
    """Names of the updates that did."""
    given_up: set[object]
    """Names of those that nobody ever acknowledged."""

    def settings(self, address: str) -> dict[str, str]:
        """What one more `zclaw bots` needs to be its bot; it listens at `address`."""

    async def is_connected(self, bots: int) -> bool:
        """Whether so many of them came in time."""

    def give(self, update: Json) -> None:
        """It happened: from now on the bots are told, until one acknowledges it or the platform gives up."""

    def repeat(self, update: Json, attempt: int) -> None:
        """The bots are told once more of something, whatever they said to it before."""

    def is_acknowledged(self, update: Json) -> bool:
        """Whether it will not come again by itself."""

    def said(self, person: int, text: str) -> Json:
        """A message of somebody to the bot alone."""

    def malformed(self) -> Json:
        """An update that nobody can understand."""

    def shown(self) -> list[tuple[str, str]]:
        """The answers that people see: place and text."""

    def home(self, person: int) -> str:
        """The place where somebody talks with the bot alone."""


async def came(changed: asyncio.Condition, holds: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Whether the condition on a fake came to hold in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s), changed:
            await changed.wait_for(holds)
    return holds()


def place(chat: object, thread: object) -> str:
    """Where people read something."""
    return f"{chat}/{thread}" if thread else str(chat)


def free_address() -> str:
    """An address of this machine that nobody has just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{found.getsockname()[1]}"


class Repeating(Platform):
    """What both platforms have: tasks that insist, addresses to call, and who acknowledged what."""

    def __init__(self, http: aiohttp.ClientSession, hurry: float) -> None:
        self._http = http
        self._hurry = hurry
        self._tasks: set[asyncio.Task[None]] = set()
        self._addresses: list[str] = []
        self._turns = count()
        self.acknowledged: set[object] = set()
        self.retries = 0
        self.retried: set[object] = set()
        self.given_up: set[object] = set()

    def settings(self, address: str) -> dict[str, str]:
        """See `Platform.settings`."""
        self._addresses.append(address)
        return {"ZCLAW_LISTEN": address}

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """In the background, until it is done or the platform closes."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Insist on nothing any more. Raises what broke."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome

    async def call(self, path: str, body: bytes, headers: Mapping[str, str], within_s: float) -> str:
        """Ask the next process; "" when it answered with 2xx, else why Slack would say that it did not.

        Where nobody listens, what stands before the processes asks the next one.
        """
        turn, many = next(self._turns), len(self._addresses)
        why = ""
        for address in [self._addresses[(turn + each) % many] for each in range(many)]:
            why, is_refused = await self._call(f"http://{address}{path}", body, headers, within_s)
            if not is_refused:
                break
        return why

    async def _call(self, url: str, body: bytes, headers: Mapping[str, str], within_s: float) -> tuple[str, bool]:
        timeout = aiohttp.ClientTimeout(total=within_s)
        try:
            async with self._http.post(url, data=body, headers=headers, timeout=timeout) as told:
                await told.read()
                return "" if told.status < HTTPStatus.MULTIPLE_CHOICES else "http_error", False
        except aiohttp.ClientConnectorError:
            return "connection_failed", True
        except TimeoutError:
            return "http_timeout", False
        except (aiohttp.ClientError, OSError):
            return "connection_failed", False

    async def acknowledge(self, name: object) -> None:
        """It will not come again by itself."""
        self.acknowledged.add(name)
        await self.notice()

    async def notice(self) -> None:
        """Whoever waits looks again."""
        async with self.changed:
            self.changed.notify_all()

    def again(self, name: object) -> None:
        """It comes again now."""
        self.retries += 1
        self.retried.add(name)
