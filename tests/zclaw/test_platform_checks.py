from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from aiohttp import web

from kernel.settings import BotSettings, ListenAddress, Secret
from tests.twins.clock import START, JumpingClock
from zclaw.findings import Finding
from zclaw.listen_check import listen_findings
from zclaw.platform_checks import SLACK_SCOPES, platform_findings

TOKEN = "123:canary-telegram"
BOT, APP = "xoxb-canary-bot", "xapp-canary-app"
ME = {"id": 123, "is_bot": True, "username": "ward_bot", "can_join_groups": True, "can_read_all_group_messages": False}
SECRET = Secret("a-secret-that-is-long")


@dataclass(slots=True)
class Services:
    """Telegram and Slack as the doctor meets them; `answers` is by the last word of the path."""

    answers: dict[str, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    scopes: str = ",".join(SLACK_SCOPES)
    ahead: timedelta = timedelta()
    raw: bytes | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, request.headers.get("Authorization", "")))
        method = request.path.rpartition("/")[2]
        status, body = self.answers.get(method, (404, {"ok": False, "error": "unknown_method"}))
        headers = {"X-OAuth-Scopes": self.scopes} if method == "auth.test" and self.scopes else {}
        if status == 302:
            headers["Location"] = f"{self.url}/elsewhere/canary"
        headers["Date"] = format_datetime((START + self.ahead).replace(microsecond=0), usegmt=True)
        return web.Response(status=status, body=self.raw or json.dumps(body).encode(), headers=headers)

    def settings(self, **others: Any) -> BotSettings:
        given: dict[str, Any] = {"telegram_api_url": self.url, "slack_api_url": f"{self.url}/api/", **others}
        return BotSettings(**given)

    def telegram(self, **others: Any) -> BotSettings:
        return self.settings(telegram_bot_token=Secret(TOKEN), **others)

    def slack(self, **others: Any) -> BotSettings:
        app = {"slack_app_token": Secret(APP)} if not others else {}
        return self.settings(slack_bot_token=Secret(BOT), **app, **others)


def knows(
    me: Mapping[str, Any] = ME, hook: Mapping[str, Any] | None = None
) -> dict[str, tuple[int, Mapping[str, Any]]]:
    """What services that know our tokens answer."""
    return {
        "getMe": (200, {"ok": True, "result": me}),
        "getWebhookInfo": (200, {"ok": True, "result": hook or {"url": "", "pending_update_count": 0}}),
        "auth.test": (200, {"ok": True, "user": "zclaw", "team": "Ward 3", "team_id": "T1"}),
        "apps.connections.open": (200, {"ok": True, "url": "wss://canary-ticket"}),
    }


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[Services]:
    runner = web.ServerRunner(web.Server(services.handle))  # type: ignore[arg-type]  # Its requests are enough for us.
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    services.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield services
    finally:
        await runner.cleanup()


async def told(services: Services, settings: Callable[[Services], BotSettings]) -> list[str]:
    """The lines of the findings; none has a token in it."""
    async with serving(services):
        lines = [str(finding) for finding in await platform_findings(settings(services), JumpingClock())]
    assert "canary" not in " ".join(lines)
    return lines


async def test_a_telegram_bot_is_named_and_its_privacy_mode_put_into_words() -> None:
    lines = await told(Services(knows()), Services.telegram)

    assert lines == [
        "[ok] Telegram: @ward_bot; privacy mode is on: "
        "in groups it sees mentions, replies and commands, and needs no more",
        "[ok] Telegram updates: polled",
        "[ok] clock",
    ]


async def test_without_privacy_mode_it_is_shown_more_than_it_needs() -> None:
    me = ME | {"can_read_all_group_messages": True, "can_join_groups": False}

    lines = await told(Services(knows(me)), Services.telegram)

    assert lines[0].startswith("[ !] Telegram: @ward_bot; may not be added to groups")
    assert "privacy mode is off" in lines[0]
    assert "/setprivacy" in lines[0]


@pytest.mark.parametrize("status", [401, 404])
async def test_a_token_that_telegram_does_not_know_is_one_line(status: int) -> None:
    answers = knows() | {"getMe": (status, {"ok": False, "error_code": status, "description": "Unauthorized"})}

    lines = await told(Services(answers), Services.telegram)

    assert lines[0] == "[!!] Telegram: TELEGRAM_BOT_TOKEN is not accepted: copy it again from @BotFather"


HOOK_URL = "https://bot.example/telegram"


@pytest.mark.parametrize(
    ("wanted", "hook", "said"),
    [
        (None, {"url": "https://old.example/canary"}, r"\[ !\] .*polled: Telegram calls old.example instead"),
        (HOOK_URL, {"url": ""}, r"\[ !\] .*webhook to bot.example: Telegram does not know it yet"),
        (HOOK_URL, {"url": HOOK_URL}, r"\[ok\] .*webhook to bot.example"),
        (
            HOOK_URL,
            {
                "url": HOOK_URL,
                "pending_update_count": 7,
                "last_error_date": int(START.timestamp()) - 60,
                "last_error_message": "Connection refused",
            },
            r"\[!!\] .*does not get through \(Connection refused; 7 wait\): check the proxy",
        ),
        (
            HOOK_URL,
            {"url": HOOK_URL, "last_error_date": int(START.timestamp()) - 7200, "last_error_message": "old"},
            r"\[ok\] .*webhook to bot.example",
        ),
    ],
)
async def test_how_updates_come_is_said(wanted: str | None, hook: Mapping[str, Any], said: str) -> None:
    lines = await told(
        Services(knows(hook=hook)),
        lambda services: services.telegram(telegram_webhook_url=wanted, telegram_webhook_secret=SECRET),
    )

    assert re.match(said, lines[1]), lines[1]


async def test_a_webhook_secret_that_can_be_guessed_is_said_to_be_short() -> None:
    lines = await told(
        Services(knows(hook={"url": HOOK_URL})),
        lambda services: services.telegram(telegram_webhook_url=HOOK_URL, telegram_webhook_secret=Secret("short")),
    )

    assert "[ !]" in lines[1]
    assert "TELEGRAM_WEBHOOK_SECRET is short" in lines[1]


async def test_slack_names_the_app_and_the_workspace_and_misses_nothing() -> None:
    services = Services(knows())

    lines = await told(services, Services.slack)

    assert lines == [
        "[ok] Slack: @zclaw in Ward 3",
        f"[ok] Slack scopes: all {len(SLACK_SCOPES)}",
        "[ok] Slack, Socket Mode",
        "[ok] clock",
    ]
    assert sorted(services.asked) == [
        ("/api/apps.connections.open", f"Bearer {APP}"),
        ("/api/auth.test", f"Bearer {BOT}"),
    ]


@pytest.mark.parametrize("scope", SLACK_SCOPES)
async def test_a_missing_scope_is_named_with_what_does_not_work_without_it(scope: str) -> None:
    scopes = ", ".join(each for each in SLACK_SCOPES if each != scope)

    lines = await told(Services(knows(), scopes=scopes), Services.slack)

    problems = [line for line in lines if line.startswith("[!!]")]
    assert problems == [
        f"[!!] Slack scope {scope}: without it {SLACK_SCOPES[scope]}: "
        "add it at OAuth & Permissions and install the app again"
    ]


async def test_a_signing_secret_cannot_be_proven_and_that_is_said() -> None:
    lines = await told(Services(knows()), lambda services: services.slack(slack_signing_secret=SECRET))

    assert "[--] Slack, signing secret: not looked at, for only a request of Slack's own can prove it" in lines
    assert not any("Socket Mode" in line for line in lines)


@pytest.mark.parametrize(
    ("method", "error", "said"),
    [
        ("auth.test", "token_revoked", "[!!] Slack: SLACK_BOT_TOKEN is not accepted (token_revoked): install the app"),
        ("apps.connections.open", "invalid_auth", "SLACK_APP_TOKEN is not accepted (invalid_auth): make a new"),
        ("apps.connections.open", "missing_scope", "SLACK_APP_TOKEN needs connections:write"),
        ("apps.connections.open", "forbidden_team", "Socket Mode is off: switch it on"),
        ("auth.test", "<b>canary & more</b>", "SLACK_BOT_TOKEN is not accepted (HTTP 200)"),
    ],
)
async def test_what_slack_refuses_is_said_with_what_to_do(method: str, error: str, said: str) -> None:
    lines = await told(Services(knows() | {method: (200, {"ok": False, "error": error})}), Services.slack)

    assert [line for line in lines if said in line], lines


async def test_a_token_is_not_carried_on_to_where_somebody_in_between_points() -> None:
    services = Services(knows() | {"auth.test": (302, {}), "getMe": (302, {})})

    lines = await told(
        services, lambda services: services.slack(telegram_bot_token=Secret(TOKEN), slack_signing_secret=SECRET)
    )

    assert [line[:4] for line in lines[:2]] == ["[!!]", "[!!]"]
    assert not any("elsewhere" in path for path, _ in services.asked)


@pytest.mark.parametrize("raw", [b"<html>canary</html>", b"[]", b"\xff\xfe"])
async def test_what_stands_in_between_is_not_taken_for_the_platform(raw: bytes) -> None:
    lines = await told(Services(knows(), raw=raw), Services.telegram)

    assert lines[0].startswith("[!!] Telegram: 127.0.0.1 is not reached (an answer that is none of its own")


async def test_a_platform_that_is_not_there_is_said_to_be_so() -> None:
    settings = BotSettings(
        telegram_bot_token=Secret(TOKEN),
        telegram_api_url="http://127.0.0.1:9",
        slack_bot_token=Secret(BOT),
        slack_app_token=Secret(APP),
        slack_api_url="http://127.0.0.1:9/api/",
    )

    lines = [str(finding) for finding in await platform_findings(settings, JumpingClock())]

    assert [line[:4] for line in lines] == ["[!!]", "[!!]", "[!!]", "[--]"]
    assert "canary" not in " ".join(lines)


async def test_a_platform_that_does_not_answer_costs_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zclaw.findings.CHECK_WITHIN_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings = BotSettings(telegram_bot_token=Secret(TOKEN), telegram_api_url=url)

        lines = [str(finding) for finding in await platform_findings(settings, JumpingClock())]

    assert lines[0] == "[!!] Telegram: no answer within 0 s: check the network of this machine"


@pytest.mark.parametrize(
    ("ahead_s", "said"),
    [
        (0, "[ok] clock"),
        (2, "[ok] clock"),
        (-3, "[ok] clock"),  # What they say is cut to whole seconds.
        (4, "[!!] clock: 4 s behind 127.0.0.1: let this machine set its clock by NTP"),
        (-90, "[!!] clock: 89 s ahead of 127.0.0.1: let this machine set its clock by NTP"),
    ],
)
async def test_a_clock_that_is_wrong_is_told_by_the_platforms(ahead_s: int, said: str) -> None:
    lines = await told(Services(knows(), ahead=timedelta(seconds=ahead_s)), Services.telegram)

    assert lines[-1] == said


async def test_where_no_platform_is_set_nobody_is_asked() -> None:
    assert await platform_findings(BotSettings(), JumpingClock()) == []


# --- the address of our own server


@asynccontextmanager
async def answering(status: int, body: str, kind: str = "application/json") -> AsyncIterator[ListenAddress]:
    async def handle(_request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text=body, content_type=kind)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield ListenAddress("127.0.0.1", runner.addresses[0][1])
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (200, '{"ok": true}', "application/json", "[ok] HTTP at {}: answers"),
        (503, '{"ok": false}', "application/json", "[!!] HTTP at {}: answers: it is not well"),
        (200, "welcome", "text/html", "[!!] HTTP at {}: another program is there"),
        (200, "[]", "application/json", "[!!] HTTP at {}: another program is there"),
        (200, "3", "application/json", "[!!] HTTP at {}: another program is there"),
    ],
)
async def test_who_answers_at_our_address_is_told(status: int, body: str, kind: str, said: str) -> None:
    async with answering(status, body, kind) as address:
        (finding,) = await listen_findings(address)

    assert str(finding).startswith(said.format(f"{address.host}:{address.port}"))


async def test_an_address_that_anybody_reaches_is_advised_against() -> None:
    async with answering(200, '{"ok": true}') as address:
        (finding,) = await listen_findings(ListenAddress("0.0.0.0", address.port))

    assert "behind a proxy on this machine 127.0.0.1 is enough" in finding.advice


async def test_an_address_that_is_free_is_fine_and_one_that_cannot_be_had_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    free = await listen_findings(ListenAddress("127.0.0.1", port))
    elsewhere = await listen_findings(ListenAddress("192.0.2.1", port))

    assert list(free) == [Finding(f"HTTP at 127.0.0.1:{port}: free")]
    assert elsewhere[0].problem
