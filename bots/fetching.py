"""What people send with their messages, fetched while the messages wait in their inboxes.

What becomes of a file:

    the adapter's answer                the file
    ---------------------------------   ----------------------------------------------------------
    bytes                               among our blobs
    FileTooLarge, any other refusal     named in the message, not there
    RetryLater, AnswerLost              asked for again after a pause, while the message waits
    no answer while it waits            named in the message, not there
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol, TypeVar

import structlog

from bots.adapter import AnswerLost, FileTooLarge, Undeliverable, WrongToken
from bots.attached import looked_at
from bots.counters import Counters
from bots.ports import BotPorts
from bots.waiting import first_of
from kernel.chat import Attachment, ConversationId, Fetch
from kernel.errors import RetryLater, StoreUnfit
from kernel.patience import patiently, pause_after
from kernel.ports import FETCH_LEASE, Fetching, Put

log = structlog.get_logger(__name__)

T = TypeVar("T")

MESSAGES = 64
"""How many are worked on at once."""
DOWNLOADS = 8
"""At once, of all chats: each may take 20 MB of memory."""
DOWNLOADS_OF_CHAT = 2
"""At once, so that one chat does not hold up others."""
LOOK_AGAIN = timedelta(seconds=2)
"""How soon the work of a process that died is found, once its lease is over."""
_MARGIN = timedelta(seconds=2)
"""Before a message is read anyhow: what is there by then goes into it."""
_FIRST_PAUSE = 4
"""As `pause_after` counts: 0.8 s."""


class FileSource(Protocol):
    """An adapter, as far as files go."""

    @property
    def platform(self) -> str:
        """See `Adapter.platform`."""

    async def fetch(self, attachment: Attachment) -> bytes:
        """See `HasFiles.fetch`."""


class Fetchings:
    """Fetches for one platform. Several processes may; the work of one that dies is taken over."""

    def __init__(self, source: FileSource, ports: BotPorts, counters: Counters) -> None:
        self._source = source
        self._fetches = ports.fetches
        self._blobs = ports.blobs
        self._wakeups = ports.wakeups
        self._clock = ports.clock
        self._counters = counters
        self._downloads = asyncio.Semaphore(DOWNLOADS)
        self._chats: defaultdict[ConversationId, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(DOWNLOADS_OF_CHAT)
        )
        self._busy: defaultdict[ConversationId, int] = defaultdict(int)
        self.woken = asyncio.Event()
        """Set by whoever has put a message with files."""

    async def run(self) -> None:
        """Fetch until cancelled; what is under way then is taken over by another process, or by us next time."""
        slots = asyncio.Semaphore(MESSAGES)
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                self.woken.clear()
                fetching = await self._stored(lambda: self._fetches.take(self._source.platform, now=self._clock.now()))
                if fetching is None:
                    slots.release()
                    await self._rest()
                    continue
                group.create_task(self._carry(fetching)).add_done_callback(lambda _: slots.release())

    async def _rest(self) -> None:
        due = await self._stored(lambda: self._fetches.next_due(self._source.platform))
        now = self._clock.now()
        # Never a hot loop, should `take` and `next_due` see the same message differently for a moment.
        again = max(min(due or now + LOOK_AGAIN, now + LOOK_AGAIN), now + timedelta(milliseconds=50))
        await first_of(self.woken.wait(), self._clock.sleep_until(again))

    async def _carry(self, fetching: Fetching) -> None:
        try:
            await self._complete(fetching)
        except Exception:  # One message's boundary: it is read without its files when its time is over.
            log.exception("files not fetched", update=fetching.message.event)

    async def _complete(self, fetching: Fetching) -> None:
        message = fetching.message
        found: dict[int, Attachment] = {}
        ends = fetching.until - _MARGIN
        await first_of(self._fetch_all(fetching, ends, found), self._hold(fetching), self._clock.sleep_until(ends))
        attachments = tuple(
            found.get(number, _without(each, Fetch.FAILED) if each.fetch is Fetch.WAITING else each)
            for number, each in enumerate(message.attachments)
        )
        complete = replace(message, attachments=attachments)
        put = await self._stored(lambda: self._fetches.complete(fetching, complete, now=self._clock.now()))
        for each in attachments:
            self._counters.count("file", platform=self._source.platform, outcome=each.fetch.value)
        log.info("files fetched", update=message.event, files=[each.fetch.value for each in attachments])
        if put in (Put.HINTED, Put.DUPLICATE):
            await self._hint()

    async def _fetch_all(self, fetching: Fetching, ends: datetime, found: dict[int, Attachment]) -> None:
        where = fetching.message.conversation

        async def fetch(number: int, attachment: Attachment) -> None:
            found[number] = await self._fetch(where, attachment, ends)

        self._busy[where] += 1
        try:
            await asyncio.gather(
                *(fetch(*each) for each in enumerate(fetching.message.attachments) if each[1].fetch is Fetch.WAITING)
            )
        finally:
            self._busy[where] -= 1
            if not self._busy[where]:
                del self._busy[where]
                self._chats.pop(where, None)

    async def _fetch(self, where: ConversationId, attachment: Attachment, ends: datetime) -> Attachment:
        """The attachment with its bytes among our blobs, or why not."""
        failures = 0
        while True:
            try:
                async with self._chats[where], self._downloads:
                    content = await self._source.fetch(attachment)
                    blob = await self._stored(partial(self._blobs.put, content))
                return looked_at(
                    replace(attachment, blob=blob, size_bytes=len(content), source="", fetch=Fetch.DONE), content
                )
            except FileTooLarge:
                return _without(attachment, Fetch.LARGE)
            except (Undeliverable, WrongToken) as error:
                log.warning("file not given", platform=self._source.platform, why=str(error))
                return _without(attachment, Fetch.GONE)
            except StoreUnfit as error:
                log.error("file cannot be kept", why=str(error))
                return _without(attachment, Fetch.FAILED)
            except (RetryLater, AnswerLost) as error:
                failures += 1
                told = error.after if isinstance(error, RetryLater) else timedelta()
                again = self._clock.now() + max(told, pause_after(failures + _FIRST_PAUSE - 1))
                log.info("file not fetched yet", tries=failures, why=str(error))
                if again >= ends:
                    return _without(attachment, Fetch.FAILED)
            except Exception:  # One file's boundary: whatever is wrong with it, the message is read.
                log.exception("file not fetched", platform=self._source.platform)
                return _without(attachment, Fetch.FAILED)
            await self._clock.sleep_until(again)

    async def _hold(self, fetching: Fetching) -> None:
        while True:
            await self._clock.sleep_until(self._clock.now() + FETCH_LEASE / 3)
            await self._stored(lambda: self._fetches.hold(fetching, now=self._clock.now()))

    async def _hint(self) -> None:
        try:
            await self._wakeups.hint()
        except RetryLater as error:
            # It is stored, and workers look every few seconds by themselves.
            log.warning("hint lost", why=str(error))

    async def _stored(self, attempt: Callable[[], Awaitable[T]]) -> T:
        return await patiently(self._clock, attempt)


def _without(attachment: Attachment, why: Fetch) -> Attachment:
    """The attachment that will not come; where it was is nobody's business any more."""
    return replace(attachment, source="", fetch=why)
