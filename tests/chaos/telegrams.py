"""A fake Telegram in front of real bots: answers who polls, or calls a webhook and repeats what was not taken.

A webhook is called as Telegram's Bot API server does it: of one chat the next update waits for the one before.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from datetime import UTC, datetime
from itertools import count
from typing import Any

import aiohttp
from aiohttp import web

from tests.bots.telegram import fake_api
from tests.bots.telegram.fake_api import FakeApi
from tests.chaos.repeating import Json, Repeating, came, place

SECRET = "a-webhook-secret-of-chaos"
PROOF = "X-Telegram-Bot-Api-Secret-Token"
CONNECTIONS = 40
"""Calls of a webhook at once: what the bot asked Telegram for."""
CALL_WITHIN_S = 60.0
LONGEST_PAUSE_S = 60.0


class Telegram(Repeating):
    """See `Platform`."""

    def __init__(self, api: FakeApi, http: aiohttp.ClientSession, hurry: float) -> None:
        super().__init__(http, hurry)
        self.api = api
        self.changed = api.changed
        self._numbers = count(1)

    def settings(self, address: str) -> dict[str, str]:
        return super().settings(address) | {"TELEGRAM_BOT_TOKEN": fake_api.TOKEN, "TELEGRAM_API_URL": self.api.url}

    def said(self, person: int, text: str) -> Json:
        chat = {"id": 1000 + person, "type": "private", "first_name": "A"}
        return self.message(person, chat, text)

    def number(self) -> int:
        """Of the next update."""
        return next(self._numbers)

    def message(self, person: int, chat: Json, text: str, **more: Any) -> Json:
        """Somebody wrote there just now."""
        number = self.number()
        sender = {"id": 1000 + person, "is_bot": False, "first_name": "A", "language_code": "en"}
        now = int(datetime.now(UTC).timestamp())
        return {
            "update_id": number,
            "message": {"message_id": number, "date": now, "chat": chat, "from": sender, "text": text} | more,
        }

    def malformed(self) -> Json:
        return {"update_id": self.number(), "message": {"message_id": "seven", "chat": [], "date": None}}

    def shown(self) -> list[tuple[str, str]]:
        calls = self.api.of("sendMessage")
        return [(place(call["chat_id"], call.get("message_thread_id")), str(call["text"])) for call in calls]

    def home(self, person: int) -> str:
        return str(1000 + person)


class TelegramPolling(Telegram):
    """Answers one process that asks."""

    name = "telegram polling"

    def __init__(self, api: FakeApi, http: aiohttp.ClientSession, hurry: float) -> None:
        super().__init__(api, http, hurry)
        self._forgotten: list[Json] = []

    async def is_connected(self, bots: int) -> bool:
        """Of several one polls, and all have said who they are."""
        return await came(self.changed, lambda: bool(self.api.of("getUpdates")) and len(self.api.of("getMe")) >= bots)

    def give(self, update: Json) -> None:
        self.start(self.api.adds(update))

    def repeat(self, update: Json, attempt: int) -> None:
        """As if the offset behind it had been forgotten."""
        self._forgotten.append(update)
        self.api.faults.setdefault("getUpdates", []).append(self._brings_back)

    async def _brings_back(self, _: web.Request) -> web.StreamResponse:
        found, self._forgotten = self._forgotten, []
        return fake_api.success(found)

    def is_acknowledged(self, update: Json) -> bool:
        return bool(update["update_id"] < self.api.offset)


class TelegramWebhook(Telegram):
    """Calls, up to 40 times at once; of one chat the next is told when the one before it was taken."""

    name = "telegram webhook"

    def __init__(self, api: FakeApi, http: aiohttp.ClientSession, hurry: float) -> None:
        super().__init__(api, http, hurry)
        self._connections = asyncio.Semaphore(CONNECTIONS)
        self._waiting: dict[str, deque[Json]] = {}

    def settings(self, address: str) -> dict[str, str]:
        where = {"TELEGRAM_WEBHOOK_URL": "https://bot.example/telegram", "TELEGRAM_WEBHOOK_SECRET": SECRET}
        return super().settings(address) | where

    async def is_connected(self, bots: int) -> bool:
        return await came(self.changed, lambda: len(self.api.of("setWebhook")) >= bots)

    def give(self, update: Json) -> None:
        chat = json.dumps(next((each.get("chat") for each in update.values() if isinstance(each, dict)), None))
        if chat in self._waiting:
            self._waiting[chat].append(update)
            return
        self._waiting[chat] = deque([update])
        self.start(self._tell_all(chat))

    async def _tell_all(self, chat: str) -> None:
        while self._waiting[chat]:
            await self._insist(self._waiting[chat][0])
            self._waiting[chat].popleft()
        del self._waiting[chat]

    async def _insist(self, update: Json) -> None:
        pause = 1.0
        while await self._tell(update):
            self.again(update["update_id"])
            await asyncio.sleep(pause * self._hurry)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        await self.acknowledge(update["update_id"])

    async def _tell(self, update: Json) -> str:
        headers = {"Content-Type": "application/json", PROOF: SECRET}
        async with self._connections:
            return await self.call("/telegram", json.dumps(update).encode(), headers, CALL_WITHIN_S)

    def repeat(self, update: Json, attempt: int) -> None:
        self.start(self._once_more(update))

    async def _once_more(self, update: Json) -> None:
        await self._tell(update)

    def is_acknowledged(self, update: Json) -> bool:
        return update["update_id"] in self.acknowledged
