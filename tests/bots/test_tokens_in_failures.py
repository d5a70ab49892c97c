"""Whatever call fails, and in whatever way: no platform's token is in an error, its history, or a log at debug."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from datetime import datetime
from random import Random
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bots.attached import to_fetch
from bots.slack.adapter import SlackAdapter
from bots.telegram import TelegramAdapter
from kernel.chat import AttachmentKind, Choice, ConversationId, Draft, MessageRef, Notice, Prompt, PromptClosed, Reply
from kernel.errors import ZclawError
from tests.bots.file_server import file_server
from tests.bots.slack.fake import APP_TOKEN, BOT_TOKEN, DM, HurriedClock, Store, fake_slack
from tests.bots.slack.fake import Fault as SlackFault
from tests.bots.telegram.fake_api import TOKEN, Fault, hangs_up, refuses, says, serving

D1 = ConversationId("telegram", "1001")
NO_HOST = "http://no.such.host.invalid"


async def never(_: web.Request) -> web.StreamResponse:
    """A fault: no answer for as long as the server runs."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


class WatchedClock(HurriedClock):
    """Tells when somebody has paused: a poll that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.has_paused = asyncio.Event()

    async def sleep_until(self, at: datetime) -> None:
        """As ever."""
        self.has_paused.set()
        await super().sleep_until(at)


def telegram_calls(adapter: TelegramAdapter) -> list[Callable[[], Awaitable[Any]]]:
    """Everything that the adapter asks the Bot API for, but for its poll."""
    card = Prompt(D1, "查房", "tok", (Choice("done", "完成"),))
    return [
        lambda: adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True),
        lambda: adapter.send(card, "a", key="k", is_doubtful=False, is_last=True),
        lambda: adapter.close(PromptClosed(D1, "tok", "x"), MessageRef(D1, "8")),
        lambda: adapter.notify(Notice(D1, "p1", "1001", "好")),
        lambda: adapter.typing(D1),
        lambda: adapter.show_draft(Draft(D1, "t1", 1, "写着")),
        lambda: adapter.fetch(to_fetch("f1", AttachmentKind.FILE, "a", "", 3)),
        adapter._set_menu,
    ]


async def failing(calls: list[Callable[[], Awaitable[Any]]]) -> list[BaseException]:
    """What the calls raise."""
    found = await asyncio.gather(*(each() for each in calls), return_exceptions=True)
    errors = [each for each in found if isinstance(each, BaseException)]
    for error in errors:
        # A library's error holds the whole request: none may hang on to one of ours.
        link: BaseException | None = error
        while link is not None:
            assert isinstance(link, ZclawError)
            link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return errors


def shown(errors: list[BaseException], caplog: pytest.LogCaptureFixture, logs: list[Any]) -> str:
    """All that anybody could read of it."""
    told = ["".join(traceback.format_exception(error)) + repr(error) for error in errors]
    return "".join(told) + caplog.text + repr(logs)


FAULTS: dict[str, Fault] = {
    "hang-up": hangs_up,
    "time-out": never,
    "page": says("<html>", 500),
    "nonsense": says("x"),
    "500": refuses(500, "no"),
    "409": refuses(409, "can't use getUpdates while webhook is active"),
    "401": refuses(401, "Unauthorized"),
    "429": refuses(429, "slow down", retry_after=3),
}


@pytest.mark.parametrize("fault", [*FAULTS.values(), None], ids=[*FAULTS, "no such host"])
async def test_telegrams_token_is_nowhere(
    fault: Fault | None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.telegram.calls.CALL_TIMEOUT_S", 0.05)
    monkeypatch.setattr("bots.telegram.polling.POLL_TIMEOUT_S", 0.05)
    clock = WatchedClock()
    async with serving() as api:
        adapter = TelegramAdapter(TOKEN, clock=clock, api_url=api.url if fault else NO_HOST)
        every = (
            "sendMessage",
            "editMessageText",
            "answerCallbackQuery",
            "sendChatAction",
            "sendMessageDraft",
            "getFile",
        )
        faults = [fault] * 20 if fault else []
        api.faults = {each: list(faults) for each in (*every, "setMyCommands", "getUpdates", "deleteWebhook")}
        with caplog.at_level(logging.DEBUG), capture_logs() as logs:
            errors = await failing(telegram_calls(adapter))
            polling = asyncio.create_task(adapter.run(Store().deliver))
            paused = asyncio.create_task(clock.has_paused.wait())
            await asyncio.wait([polling, paused], return_when=asyncio.FIRST_COMPLETED, timeout=10)
            paused.cancel()
            polling.cancel()
            errors += [
                each for each in await asyncio.gather(polling, return_exceptions=True) if isinstance(each, ZclawError)
            ]

    assert len(errors) >= 4
    assert TOKEN.partition(":")[2] not in shown(errors, caplog, logs)


SLACK_FAULTS = {
    "hang-up": SlackFault(resets=True),
    "page": SlackFault(status=500, body="<html>"),
    "nonsense": SlackFault(body="x"),
    "500": SlackFault(status=500, error="internal_error"),
    "token": SlackFault(error="invalid_auth"),
    "limit": SlackFault(status=429, retry_after="3", error="ratelimited"),
}


@pytest.mark.parametrize("fault", [*SLACK_FAULTS.values(), None], ids=[*SLACK_FAULTS, "no such host"])
async def test_slacks_tokens_are_nowhere(fault: SlackFault | None, caplog: pytest.LogCaptureFixture) -> None:
    place = ConversationId("slack", DM)
    card = Prompt(place, "查房", "tok", (Choice("done", "完成"),))
    async with fake_slack() as slack:
        url = slack.api_url if fault else f"{NO_HOST}/api/"
        adapter = SlackAdapter(BOT_TOKEN, APP_TOKEN, clock=HurriedClock(), random=Random(1), api_url=url)
        every = ("chat.postMessage", "chat.update", "chat.postEphemeral", "chat.delete", "conversations.history")
        for method in (*every, "users.info", "assistant.threads.setStatus", "apps.connections.open", "auth.test"):
            slack.faults[method] = [fault] * 20 if fault else []
        app_calls = adapter._app_calls
        assert app_calls is not None
        with caplog.at_level(logging.DEBUG), capture_logs() as logs:
            errors = await failing(
                [
                    lambda: adapter.send(Reply(place, "a"), "a", key="k", is_doubtful=False, is_last=True),
                    lambda: adapter.send(card, "a", key="k", is_doubtful=True, is_last=True),
                    lambda: adapter.close(PromptClosed(place, "tok", "x"), MessageRef(place, "8.0")),
                    lambda: adapter.notify(Notice(place, "p1", "UANN", "好")),
                    lambda: adapter.typing(place),
                    lambda: adapter._calls.ask("users.info", {"user": "UANN"}, reads=True),
                    lambda: app_calls.ask("apps.connections.open", {}),
                    lambda: adapter._calls.ask("auth.test", {}),
                ]
            )
            await adapter._calls.close()
            await app_calls.close()

    assert len(errors) >= 6
    assert "canary" not in shown(errors, caplog, logs)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_telegrams_token_is_in_no_file_that_did_not_come(
    fault: Fault, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.downloads.WITHIN_S", 0.3)
    async with serving() as api:
        adapter = TelegramAdapter(TOKEN, clock=HurriedClock(), api_url=api.url)
        api.faults["download"] = [fault]
        with caplog.at_level(logging.DEBUG), capture_logs() as logs:
            errors = await failing([lambda: adapter.fetch(to_fetch("f1", AttachmentKind.FILE, "a", "", 3))])
            await adapter._files.close()
            await adapter._calls.close()

    assert api.downloads
    assert len(errors) == (fault is not FAULTS["nonsense"])  # Any bytes are a file.
    assert TOKEN.partition(":")[2] not in shown(errors, caplog, logs)


@pytest.mark.parametrize("path", ["gone", "limited", "broken", "moved", "login", "endless", "cut", "drips", "silent"])
async def test_slacks_token_is_in_no_file_that_did_not_come(
    path: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.downloads.WITHIN_S", 0.3)
    async with file_server() as server:
        adapter = SlackAdapter(
            BOT_TOKEN, APP_TOKEN, clock=HurriedClock(), random=Random(1), api_url=f"{server.url}/api/"
        )
        server.elsewhere = f"{server.url}/other"
        attachment = to_fetch(f"{server.url}/{path}", AttachmentKind.FILE, "a", "", 3)
        with caplog.at_level(logging.DEBUG), capture_logs() as logs:
            errors = await failing([lambda: adapter.fetch(attachment)])
            await adapter._files.close()

    assert len(errors) == len(server.asked) == 1
    assert "canary" not in shown(errors, caplog, logs)
