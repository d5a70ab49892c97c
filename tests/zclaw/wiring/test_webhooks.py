"""What comes to our own address from the network, with both real adapters behind it (T15)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from bots.listening import BODY_LIMIT_BYTES
from kernel.clock import SystemClock
from kernel.settings import AccessRule, BotSettings, ListenAddress, Secret
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.bots.slack import fake as slack
from tests.bots.slack.fake import fake_slack
from tests.bots.telegram import fake_api as telegram
from zclaw.wiring.bots import adapters_for, carry

SECRET = "a-webhook-secret-of-tests"
PROOF = "x-telegram-bot-api-secret-token"


@dataclass(slots=True)
class Door:
    """Both platforms call this server; `texts` is what was stored."""

    url: str
    http: aiohttp.ClientSession
    memory: Memory

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> int:
        async with self.http.post(self.url + path, data=body, headers=headers) as answer:
            assert "aiohttp" not in str(answer.headers)
            return answer.status

    async def telegram(self, update: dict[str, Any], secret: str | None = SECRET) -> int:
        proof = {PROOF: secret} if secret is not None else {}
        return await self.post("/telegram", json.dumps(update).encode(), {"content-type": "application/json", **proof})

    @property
    def texts(self) -> list[str]:
        items = [entry.item.inbound for record in self.memory.records.values() for entry in record.inbox]
        return sorted(str(getattr(inbound, "text", "")) for inbound in items)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    clock = SystemClock()
    memory = Memory(clock)
    stores = memory_stores(clock, memory=memory)
    async with telegram.serving() as api, fake_slack() as workspace, aiohttp.ClientSession() as http:
        settings = BotSettings(
            listen=ListenAddress("127.0.0.1", 0),
            access=AccessRule.OPEN,
            telegram_bot_token=Secret(telegram.TOKEN),
            telegram_api_url=api.url,
            telegram_webhook_url="http://127.0.0.1:1/telegram",
            telegram_webhook_secret=Secret(SECRET),
            slack_bot_token=Secret(slack.BOT_TOKEN),
            slack_signing_secret=Secret(slack.SIGNING_SECRET),
            slack_api_url=workspace.api_url,
        )
        with capture_logs() as logs:
            task = asyncio.create_task(carry(adapters_for(settings, stores, clock), stores, settings, clock))
            await api.until(lambda: bool(api.of("setWebhook")))
            await workspace.until(lambda: bool(workspace.called("auth.test")))
            address = next(line["address"] for line in logs if line["event"] == "listening")
            door = Door(f"http://{address}", http, memory)
            async with asyncio.timeout(5):
                # Slack's adapter takes what is signed once it knows who it is there.
                while await door.post("/slack/events", *signed(slack.told("tokens_revoked"))) == 503:
                    await asyncio.wait([task], timeout=0.01)
        yield door
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def said(text: str = "你好", update: int = 5) -> dict[str, Any]:
    person = {"id": 1001, "is_bot": False, "first_name": "王"}
    chat = {"id": 1001, "type": "private", "first_name": "王"}
    message = {"message_id": update, "date": 1796000400, "chat": chat, "from": person, "text": text}
    return {"update_id": update, "message": message}


def signed(event: dict[str, Any], *, old: timedelta = timedelta(), **more: Any) -> tuple[bytes, dict[str, str]]:
    body = json.dumps(event).encode()
    return body, slack.headers(body, SystemClock().now() - old, **more)


async def test_who_knows_the_secret_is_heard_once_however_often_they_say_it(door: Door) -> None:
    codes = [await door.telegram(said("你好")) for _ in range(100)]

    assert (set(codes), door.texts) == ({200}, ["你好"])


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET + "x", SECRET[:-1], SECRET.upper()])
async def test_who_does_not_know_it_has_no_effect(door: Door, secret: str | None) -> None:
    code = await door.telegram(said(), secret)

    assert (code, door.texts) == (401, [])


async def test_what_slack_signed_is_heard_once_however_often_it_comes(door: Door) -> None:
    request = signed(slack.event(text="早上好"))

    codes = [await door.post("/slack/events", *request) for _ in range(20)]

    assert (set(codes), door.texts) == ({200}, ["早上好"])


@pytest.mark.parametrize(
    "spoil",
    ["nothing signed", "another secret", "old", "ahead", "body changed", "time changed", "no time"],
)
async def test_what_slack_did_not_sign_just_now_has_no_effect(door: Door, spoil: str) -> None:
    old = {"old": timedelta(seconds=301), "ahead": timedelta(seconds=-301)}.get(spoil, timedelta())
    more = {"secret": "another"} if spoil == "another secret" else {}
    body, headers = signed(slack.event(text="早上好"), old=old, **more)
    match spoil:
        case "nothing signed":
            headers = {"content-type": "application/json"}
        case "body changed":
            body = body.replace(slack.ANN.encode(), b"UBNN")
        case "time changed":
            headers["x-slack-request-timestamp"] = str(int(headers["x-slack-request-timestamp"]) + 1)
        case "no time":
            del headers["x-slack-request-timestamp"]

    code = await door.post("/slack/events", body, headers)

    assert (code, door.texts) == (401, [])


async def test_a_body_over_the_limit_is_refused_whoever_sends_it(door: Door) -> None:
    body = b'{"update_id":5,' + b" " * BODY_LIMIT_BYTES + b'"x":1}'

    async def pieces() -> AsyncIterator[bytes]:
        yield body

    async with door.http.post(f"{door.url}/telegram", data=pieces(), headers={PROOF: SECRET}) as answer:
        code = answer.status

    assert (code, door.texts) == (413, [])


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"\xff\xfe", b"{" * 5000, b'{"update_id":"x"}', b'{"update_id":1e999}']
)
async def test_what_cannot_be_understood_stops_nothing(door: Door, body: bytes) -> None:
    headers = slack.headers(body, SystemClock().now())

    codes = [await door.post("/telegram", body, {PROOF: SECRET}), await door.post("/slack/events", body, headers)]

    assert all(code < 500 for code in codes)
    assert [await door.telegram(said()), door.texts] == [200, ["你好"]]


async def test_while_the_store_is_away_nothing_is_acknowledged_and_all_of_it_comes_again(door: Door) -> None:
    request = signed(slack.event(text="早上好"))
    door.memory.is_away = True
    away = await door.post("/slack/events", *request)
    door.memory.is_away = False

    back = await door.post("/slack/events", *request)

    assert (away, back) == (503, 200)
    assert door.texts == ["早上好"]
