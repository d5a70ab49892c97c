"""The webhook: nobody without the secret gets in, and 200 is said only of what is stored (X15, T15)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bots.adapter import HasWebhook
from bots.telegram import TelegramAdapter
from bots.telegram.webhook import BODY_LIMIT_BYTES
from kernel.chat import Heard
from kernel.errors import BadSettings, RetryLater, StoreRefuses
from tests.bots.telegram.fake_api import TOKEN, FakeApi, hangs_up, refuses
from tests.bots.telegram.test_adapter import Hurrying, Inbox
from tests.bots.telegram.test_updates import message
from tests.twins.clock import JumpingClock

URL = "https://bot.example/telegram"
SECRET = "s3cret_Canary-1"
PROVEN = {"x-telegram-bot-api-secret-token": SECRET}
UPDATE = json.dumps(message(text="你好")).encode()


@asynccontextmanager
async def called(api: FakeApi, inbox: Inbox) -> AsyncIterator[TelegramAdapter]:
    """A bot that has told Telegram where to call."""
    adapter = TelegramAdapter(TOKEN, clock=Hurrying(), api_url=api.url, webhook_url=URL, webhook_secret=SECRET)
    task = asyncio.create_task(adapter.run(inbox.deliver))
    try:
        await api.until(lambda: bool(api.of("setWebhook")))
        yield adapter
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_telegram_is_told_where_and_how_to_call_and_nobody_polls(api: FakeApi) -> None:
    async with called(api, Inbox()) as adapter:
        assert isinstance(adapter, HasWebhook)
        assert adapter.webhook_path == "/telegram"

    assert api.of("setWebhook") == [
        {
            "url": URL,
            "secret_token": SECRET,
            "allowed_updates": ["message", "callback_query", "my_chat_member"],
            "max_connections": 40,
        }
    ]
    assert api.of("getUpdates") == []


async def test_a_webhook_that_cannot_be_set_is_set_later(api: FakeApi) -> None:
    api.faults["setWebhook"] = [hangs_up, refuses(500, "no"), refuses(400, "Bad Request: bad webhook"), hangs_up]
    async with called(api, Inbox()):
        await api.until(lambda: len(api.of("setWebhook")) == 5)


async def test_what_telegram_brings_is_answered_when_it_is_stored(api: FakeApi) -> None:
    inbox = Inbox()
    inbox.open.clear()
    async with called(api, inbox) as adapter:
        taking = asyncio.create_task(adapter.take(PROVEN, UPDATE))
        await inbox.tried.wait()
        was_done = taking.done()
        inbox.open.set()
        answer = await taking

    assert not was_done
    assert answer.status == 200
    assert [each.event for each in inbox.got] == ["telegram:4242:5"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-telegram-bot-api-secret-token": ""},
        {"x-telegram-bot-api-secret-token": SECRET.lower()},
        {"x-telegram-bot-api-secret-token": SECRET + "x"},
        {"x-telegram-bot-api-secret-token": SECRET[:-1]},
        {"x-telegram-bot-api-secret-token": "密\udcff"},
        {"X-Telegram-Bot-Api-Secret": SECRET},
    ],
)
@pytest.mark.parametrize("body", [UPDATE, b"x" * (BODY_LIMIT_BYTES + 1), b"{"])
async def test_who_does_not_prove_themselves_hears_401_and_nothing_happens(
    api: FakeApi, headers: dict[str, str], body: bytes
) -> None:
    inbox = Inbox()
    async with called(api, inbox) as adapter:
        with capture_logs() as logs:
            answer = await adapter.take(headers, body)

    assert answer.status == 401
    assert inbox.got == []
    assert SECRET not in repr(logs)


async def test_a_body_over_a_megabyte_is_not_read(api: FakeApi) -> None:
    inbox = Inbox()
    padded = json.dumps(message(text="x" * BODY_LIMIT_BYTES)).encode()
    async with called(api, inbox) as adapter:
        answer = await adapter.take(PROVEN, padded)

    assert answer.status == 413
    assert inbox.got == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"5", b"[]", b'{"update_id": "x"}', b'{"update_id": 5}', b"1" * 9000],
)
async def test_what_cannot_be_understood_is_recorded_and_does_not_come_again(api: FakeApi, body: bytes) -> None:
    """M26: refused it would come for ever."""
    inbox = Inbox()
    async with called(api, inbox) as adapter:
        with capture_logs() as logs:
            answer = await adapter.take(PROVEN, body)

    assert answer.status == 200
    assert inbox.got == []
    assert {each["event"] for each in logs} <= {"update unreadable", "update skipped"}
    assert logs


@pytest.mark.parametrize("error", [RetryLater("away", timedelta(seconds=1)), StoreRefuses("no"), ValueError("a bug")])
async def test_what_cannot_be_stored_comes_again(api: FakeApi, error: Exception) -> None:
    class Refusing(Inbox):
        async def deliver(self, inbound: Heard) -> None:
            raise error

    async with called(api, Refusing()) as adapter:
        answer = await adapter.take(PROVEN, UPDATE)

    assert answer.status == 503


async def test_a_store_that_stays_away_does_not_hold_telegrams_connection(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.telegram.webhook.STORE_WITHIN_S", 0.05)
    inbox = Inbox()
    inbox.open.clear()
    async with called(api, inbox) as adapter:
        first = await adapter.take(PROVEN, UPDATE)
        inbox.open.set()
        again = await adapter.take(PROVEN, UPDATE)

    assert (first.status, again.status) == (503, 200)
    assert len(inbox.got) == 1


async def test_a_bot_that_does_not_run_takes_nothing(api: FakeApi) -> None:
    inbox = Inbox()
    before = TelegramAdapter(TOKEN, clock=JumpingClock(), api_url=api.url, webhook_url=URL, webhook_secret=SECRET)
    async with called(api, inbox) as adapter:
        pass

    assert (await before.take(PROVEN, UPDATE)).status == 503
    assert (await adapter.take(PROVEN, UPDATE)).status == 503
    assert inbox.got == []


async def test_a_bot_that_polls_is_not_called() -> None:
    adapter = TelegramAdapter(TOKEN, clock=JumpingClock())

    assert adapter.webhook_path is None
    assert (await adapter.take(PROVEN, UPDATE)).status == 404


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        (URL, None),
        (URL, ""),
        (URL, "a b"),
        (URL, "密"),
        (URL, "x" * 257),
        ("https://bot.example/", SECRET),
        ("https://bot.example/telegram/x", SECRET),
        ("http://[", SECRET),
    ],
)
def test_a_webhook_that_anybody_could_call_or_nobody_serves_is_refused_at_start(url: str, secret: str | None) -> None:
    with pytest.raises(BadSettings) as caught:
        TelegramAdapter(TOKEN, clock=JumpingClock(), webhook_url=url, webhook_secret=secret)

    assert "TELEGRAM_WEBHOOK" in str(caught.value)
    assert not secret or secret not in str(caught.value)
