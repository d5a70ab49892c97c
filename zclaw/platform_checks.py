"""What the doctor asks the platforms: whether they know our tokens, what they let us do, and what time it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from kernel.ports import Clock
from kernel.settings import BotSettings, Secret
from zclaw.findings import Finding, within

TELEGRAM_API: Final = "https://api.telegram.org"
SLACK_API: Final = "https://slack.com/api/"
MOST_SKEW: Final = timedelta(seconds=2)
_ANSWER_WITHIN_S: Final = 6.0
_RECENT: Final = timedelta(hours=1)
_SHORT_SECRET = 16
_NETWORK: Final = "check the network of this machine"

SLACK_SCOPES: Final[Mapping[str, str]] = {
    "chat:write": "it cannot answer",
    "im:history": "it does not hear private messages",
    "app_mentions:read": "it does not hear that it is mentioned in a channel",
    "channels:history": "it does not hear replies in threads of public channels",
    "groups:history": "it does not hear replies in threads of private channels",
    "mpim:history": "it does not hear replies in group conversations",
    "channels:read": "it does not know what public channels are called",
    "groups:read": "it does not know what private channels are called",
    "mpim:read": "it does not know what group conversations are about",
    "users:read": "it knows neither names nor time zones, nor who is a guest",
    "files:read": "it cannot read files and pictures that people send",
    "commands": "`/zclaw …` does nothing (`!…` still works)",
}
"""What the app asks for at Slack, and what does not work without it."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a service said."""

    status: int
    body: Mapping[str, object]
    headers: Mapping[str, str]


class _Unreached(Exception):
    """No answer, or none that can be read; the text says how, and has no address: tokens stand in addresses."""


class _Services:
    """Asks over HTTP, and remembers how far the clocks of the others are from ours."""

    def __init__(self, http: aiohttp.ClientSession, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self.skews: dict[str, timedelta] = {}
        """By host: how far our clock is ahead of theirs."""

    async def ask(self, url: str, token: Secret | None = None) -> _Reply:
        """The answer to a POST without content. Raises `_Unreached`."""
        headers = {"Authorization": f"Bearer {token.reveal()}"} if token else {}
        before = self._clock.now()
        try:
            async with self._http.post(url, headers=headers, allow_redirects=False) as answer:
                after = self._clock.now()
                body = await answer.json(content_type=None)
        except TimeoutError:
            raise _Unreached("no answer in time") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _Unreached(type(error).__name__) from None
        except ValueError:
            raise _Unreached("an answer that is none of its own: is there something in between?") from None
        if not isinstance(body, dict):
            raise _Unreached("an answer that is none of its own: is there something in between?")
        self._note_time(urlsplit(url).hostname or "", answer.headers.get("Date", ""), before, after)
        return _Reply(answer.status, body, {name.lower(): value for name, value in answer.headers.items()})

    def _note_time(self, host: str, date: str, before: datetime, after: datetime) -> None:
        try:
            said = parsedate_to_datetime(date).replace(tzinfo=UTC)
        except ValueError:
            return
        # It was said between `before` and `after`, and cut to whole seconds.
        earliest, latest = before - said - timedelta(seconds=1), after - said
        self.skews[host] = max(earliest, timedelta()) or min(latest, timedelta())


async def platform_findings(settings: BotSettings, clock: Clock) -> list[Finding]:
    """One finding for each thing that the platforms say; nothing where no platform is set. No token is in any."""
    timeout = aiohttp.ClientTimeout(total=_ANSWER_WITHIN_S)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as http:
        services = _Services(http, clock)
        looks = []
        if settings.telegram_bot_token:
            looks.append(within("Telegram", _telegram(services, settings, clock.now()), _NETWORK))
        if settings.slack_bot_token:
            looks.append(within("Slack", _slack(services, settings), _NETWORK))
        if settings.slack_app_token:
            looks.append(within("Slack, Socket Mode", _socket_mode(services, settings), _NETWORK))
        found = [finding for part in await asyncio.gather(*looks) for finding in part]
    return [*found, _clock_finding(services.skews)] if looks else []


async def _telegram(services: _Services, settings: BotSettings, now: datetime) -> Sequence[Finding]:
    assert settings.telegram_bot_token is not None
    root = (settings.telegram_api_url or TELEGRAM_API).rstrip("/")
    bot = f"{root}/bot{settings.telegram_bot_token.reveal()}"
    try:
        me, hook = await asyncio.gather(services.ask(f"{bot}/getMe"), services.ask(f"{bot}/getWebhookInfo"))
    except _Unreached as error:
        where = urlsplit(root).hostname
        return [Finding("Telegram", f"{where} is not reached ({error}): check the network, or TELEGRAM_API_URL")]
    if me.status in (401, 404):
        return [Finding("Telegram", "TELEGRAM_BOT_TOKEN is not accepted: copy it again from @BotFather")]
    user = _object(me.body.get("result"))
    if not user:
        return [Finding("Telegram", f"it answers {me.status} to getMe: try again later")]
    return [_bot_finding(user), _webhook_finding(_object(hook.body.get("result")), settings, now)]


def _bot_finding(user: Mapping[str, object]) -> Finding:
    about = f"Telegram: @{user.get('username')}"
    if user.get("can_join_groups") is False:
        about += "; may not be added to groups (@BotFather, /setjoingroups)"
    if user.get("can_read_all_group_messages"):
        advice = "privacy mode is off, so Telegram shows it all that groups write; it reads only what is meant for it"
        return Finding(about, advice=f"{advice}: switch it on at @BotFather, /setprivacy, and add the bot anew")
    return Finding(f"{about}; privacy mode is on: in groups it sees mentions, replies and commands, and needs no more")


def _webhook_finding(hook: Mapping[str, object], settings: BotSettings, now: datetime) -> Finding:
    there, wanted = str(hook.get("url") or ""), settings.telegram_webhook_url or ""
    if not wanted:
        host = urlsplit(there).hostname
        advice = f"Telegram calls {host} instead: `zclaw bots` ends that when it starts" if there else ""
        return Finding("Telegram updates: polled", advice=advice)
    about = f"Telegram updates: by webhook to {urlsplit(wanted).hostname}"
    if there != wanted:
        return Finding(about, advice="Telegram does not know it yet: `zclaw bots` tells it when it starts")
    failed_at = hook.get("last_error_date")
    if isinstance(failed_at, int) and now - datetime.fromtimestamp(failed_at, UTC) < _RECENT:
        why = str(hook.get("last_error_message"))[:200]
        waiting = hook.get("pending_update_count")
        return Finding(
            about, f"Telegram does not get through ({why}; {waiting} wait): check the proxy in front of ZCLAW_LISTEN"
        )
    secret = settings.telegram_webhook_secret
    if secret is not None and len(secret.reveal()) < _SHORT_SECRET:
        return Finding(about, advice=f"TELEGRAM_WEBHOOK_SECRET is short: take {_SHORT_SECRET} letters or more")
    return Finding(about)


async def _slack(services: _Services, settings: BotSettings) -> Sequence[Finding]:
    root = settings.slack_api_url or SLACK_API
    try:
        reply = await services.ask(f"{root}auth.test", settings.slack_bot_token)
    except _Unreached as error:
        where = urlsplit(root).hostname
        return [Finding("Slack", f"{where} is not reached ({error}): check the network, or SLACK_API_URL")]
    if not reply.body.get("ok"):
        return [Finding("Slack", f"SLACK_BOT_TOKEN is not accepted ({_code(reply)}): install the app again")]
    found = [Finding(f"Slack: @{reply.body.get('user')} in {reply.body.get('team')}")]
    if not settings.slack_app_token:
        told = "for only a request of Slack's own can prove it"
        found.append(Finding("Slack, signing secret", unseen=told))
    granted = {scope.strip() for scope in reply.headers.get("x-oauth-scopes", "").split(",") if scope.strip()}
    if not granted:
        return [*found, Finding("Slack scopes", unseen="for Slack does not say which it gave")]
    missing = [scope for scope in SLACK_SCOPES if scope not in granted]
    how = "add it at OAuth & Permissions and install the app again"
    found += [Finding(f"Slack scope {scope}", f"without it {SLACK_SCOPES[scope]}: {how}") for scope in missing]
    return found if missing else [*found, Finding(f"Slack scopes: all {len(SLACK_SCOPES)}")]


async def _socket_mode(services: _Services, settings: BotSettings) -> Sequence[Finding]:
    """Asks for an address to connect to, and leaves it at that."""
    about = "Slack, Socket Mode"
    try:
        reply = await services.ask(
            f"{settings.slack_api_url or SLACK_API}apps.connections.open", settings.slack_app_token
        )
    except _Unreached as error:
        return [Finding(about, f"not reached ({error}): check the network, or SLACK_API_URL")]
    if reply.body.get("ok"):
        return [Finding(about)]
    match _code(reply):
        case "missing_scope":
            how = "SLACK_APP_TOKEN needs connections:write: make a new app-level token"
        case "forbidden_team" | "socket_mode_not_enabled":
            how = "Socket Mode is off: switch it on in the settings of the app"
        case code:
            how = f"SLACK_APP_TOKEN is not accepted ({code}): make a new app-level token with connections:write"
    return [Finding(about, how)]


def _clock_finding(skews: Mapping[str, timedelta]) -> Finding:
    if not skews:
        return Finding("clock", unseen="for nobody told the time")
    host, skew = max(skews.items(), key=lambda each: abs(each[1]))
    if abs(skew) <= MOST_SKEW:
        return Finding("clock")
    word = "ahead of" if skew > timedelta() else "behind"
    return Finding("clock", f"{abs(skew).total_seconds():.0f} s {word} {host}: let this machine set its clock by NTP")


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _code(reply: _Reply) -> str:
    """Slack's word for what is wrong; a word of somebody in between is not repeated."""
    code = str(reply.body.get("error"))
    return code if code.replace("_", "").isalnum() and len(code) <= 40 else f"HTTP {reply.status}"
