"""Presses whose answer is due: whoever pressed hears something within a second and a half."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime, timedelta

import structlog

from bots.adapter import Adapter
from kernel import texts
from kernel.chat import ButtonPress, Notice, Prompt
from kernel.errors import ZclawError
from kernel.ports import Clock, Locks

log = structlog.get_logger(__name__)

ANSWER_WITHIN = timedelta(seconds=1.5)
"""Then a press gets a neutral answer; the real one still follows."""
_NOTIFY_TIMEOUT_S = 10.0
_TOLD_WITHIN_S = 1.0
_REMEMBERED = 10_000


class Presses:
    """The presses of this process that nobody has answered yet, in no other process either; `holder` names this one."""

    def __init__(self, adapter: Adapter, clock: Clock, language: str, locks: Locks, holder: str) -> None:
        self._adapter = adapter
        self._clock = clock
        self._language = language
        self._locks = locks
        self._holder = holder
        self._waiting: set[str] = set()
        self._languages: OrderedDict[str, str] = OrderedDict()
        self._due: asyncio.Queue[tuple[datetime, ButtonPress]] = asyncio.Queue()

    def asked(self, prompt: Prompt) -> None:
        """`prompt` is out: its presses are answered in its language, and not in that of a person's app."""
        self._languages[prompt.token] = prompt.language
        if len(self._languages) > _REMEMBERED:
            self._languages.popitem(last=False)

    def arrived(self, press: ButtonPress) -> None:
        """From now on the press waits for `answered`."""
        if press.press and press.press not in self._waiting:
            self._waiting.add(press.press)
            self._due.put_nowait((self._clock.now() + ANSWER_WITHIN, press))

    async def answered(self, press: str) -> None:
        """Its `Notice` is being shown: no neutral answer is needed, and the process where it arrived hears so."""
        self._waiting.discard(press)
        await self._is_ours(press)

    async def failed(self, press: ButtonPress) -> None:
        """It could not be stored: the person is asked to press again."""
        self._waiting.discard(press.press)
        await self._answer(press, "press.failed")

    async def run(self) -> None:
        """Answer what waits too long, until cancelled."""
        async with asyncio.TaskGroup() as answers:
            while True:
                due, press = await self._due.get()
                await self._clock.sleep_until(due)
                if press.press in self._waiting:
                    self._waiting.discard(press.press)
                    answers.create_task(self._late(press))

    async def _late(self, press: ButtonPress) -> None:
        if await self._is_ours(press.press):
            await self._answer(press, "press.late")

    async def _is_ours(self, press: str) -> bool:
        """Whether no other process has answered it just now; while the store does not tell, none has."""
        try:
            async with asyncio.timeout(_TOLD_WITHIN_S):
                return await self._locks.take(
                    f"press:{self._adapter.platform}:{press}", self._holder, now=self._clock.now()
                )
        except (ZclawError, TimeoutError):
            return True

    async def _answer(self, press: ButtonPress, key: str) -> None:
        own = self._languages.get(press.token)
        text = texts.say(key, own or texts.language_of("", press.sender.language, self._language))
        try:
            async with asyncio.timeout(_NOTIFY_TIMEOUT_S):
                await self._adapter.notify(Notice(press.conversation, press.press, press.sender.id, text))
        except (ZclawError, TimeoutError) as error:
            log.info("press not answered", why=str(error) or type(error).__name__)
