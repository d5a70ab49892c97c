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
from kernel.ports import Clock

log = structlog.get_logger(__name__)

ANSWER_WITHIN = timedelta(seconds=1.5)
"""Then a press gets a neutral answer; the real one still follows."""
_NOTIFY_TIMEOUT_S = 10.0
_REMEMBERED = 10_000


class Presses:
    """The presses of this process that nobody has answered yet."""

    def __init__(self, adapter: Adapter, clock: Clock, language: str) -> None:
        self._adapter = adapter
        self._clock = clock
        self._language = language
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

    def answered(self, press: str) -> None:
        """Its `Notice` is being shown: no neutral answer is needed."""
        self._waiting.discard(press)

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
                    answers.create_task(self._answer(press, "press.late"))

    async def _answer(self, press: ButtonPress, key: str) -> None:
        own = self._languages.get(press.token)
        text = texts.say(key, own or texts.language_of("", press.sender.language, self._language))
        try:
            async with asyncio.timeout(_NOTIFY_TIMEOUT_S):
                await self._adapter.notify(Notice(press.conversation, press.press, press.sender.id, text))
        except (ZclawError, TimeoutError) as error:
            log.info("press not answered", why=str(error) or type(error).__name__)
