"""A small Slack for these tests: the Web API methods that we call, Socket Mode, and faults on demand."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from aiohttp import WSMsgType, web

from kernel.chat import Heard

BOT_TOKEN = "xoxb-canary-bot"
APP_TOKEN = "xapp-canary-app"
SIGNING_SECRET = "canary-signing-secret"
TEAM = "T1"
BOT_USER = "UBOT"
ANN = "UANN"
BOT = "BBOT"
DM = "DANN"
TEAM_CHANNEL = "C1"
ROOT = "1700000000.000100"
"""When the first message of a thread was written."""


class HurriedClock:
    """Real time for what is measured; pauses are noted and not waited for."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.pauses: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def boottime(self) -> float:
        return self.now().timestamp()

    async def sleep_until(self, at: datetime) -> None:
        left = at - self.now()
        if left > timedelta():
            self.pauses.append(left.total_seconds())
            self.ahead += left
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a call instead of its answer; with `has_effect`, after it took effect."""

    error: str = ""
    status: int = 200
    retry_after: str = ""
    resets: bool = False
    has_effect: bool = False
    body: str | None = None
    needed: str = ""


RESET_BEFORE = Fault(resets=True)
RESET_AFTER = Fault(resets=True, has_effect=True)


def person(user: str = ANN, **changed: Any) -> dict[str, Any]:
    """A user object as `users.info` gives it."""
    profile = {"display_name": "Ann", "real_name": "Ann Lee"}
    return {"id": user, "team_id": TEAM, "tz": "Asia/Shanghai", "locale": "zh-CN", "profile": profile} | changed


@dataclass
class FakeSlack:
    """One workspace. `calls` holds every call as (method, arguments); `posts` what the chat shows, oldest first."""

    url: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    posts: list[dict[str, Any]] = field(default_factory=list)
    users: dict[str, dict[str, Any]] = field(default_factory=lambda: {ANN: person()})
    channels: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {TEAM_CHANNEL: {"id": TEAM_CHANNEL, "name": "查房"}}
    )
    faults: dict[str, list[Fault | None]] = field(default_factory=lambda: defaultdict(list))
    """What becomes of the next calls of a method; None: it is answered."""
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    acks: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: int = 0
    says_hello: bool = True
    stuck: set[str] = field(default_factory=set)
    """Methods that are never answered."""
    slow_s: dict[str, float] = field(default_factory=dict)
    """How long a method takes that does not answer at once."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _numbers: int = 0

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/"

    def called(self, method: str) -> list[dict[str, Any]]:
        return [arguments for name, arguments in self.calls if name == method]

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for the fake to see something."""
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(holds)

    async def send(self, kind: str, payload: object, **more: object) -> str:
        """One envelope to the newest connection; its id."""
        envelope = f"e{self.number()}"
        await self.sockets[-1].send_str(
            json.dumps({"type": kind, "envelope_id": envelope, "payload": payload, "retry_attempt": 0} | more)
        )
        return envelope

    async def acked(self, envelope: str) -> dict[str, Any]:
        await self.until(lambda: envelope in self.acks)
        return self.acks[envelope]

    async def notice(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = dict(request.query)
        if request.can_read_body:
            arguments |= await request.json()
        self.calls.append((method, arguments))
        if method in self.stuck:
            await asyncio.Event().wait()
        await asyncio.sleep(self.slow_s.get(method, 0))
        fault = self.faults[method].pop(0) if self.faults[method] else None
        if fault and not fault.has_effect:
            answer: dict[str, Any] = {}
        elif request.headers.get("Authorization") != f"Bearer {self._token(method)}":
            answer = {"ok": False, "error": "invalid_auth"}
        else:
            answer = {"ok": True} | self._effect(method, arguments)
        await self.notice()
        return self._spoilt(request, fault) if fault else web.json_response(answer)

    def _token(self, method: str) -> str:
        return APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN

    def _effect(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "auth.test":
                return {"team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT}
            case "apps.connections.open":
                return {"url": f"{self.url.replace('http', 'ws')}/link?ticket=canary-ticket"}
            case "users.info":
                return _found("user", self.users.get(arguments["user"]))
            case "conversations.info":
                return _found("channel", self.channels.get(arguments["channel"]))
            case "chat.postMessage":
                post = arguments | {"ts": f"1800000000.{self.number():06}"}
                self.posts.append(post)
                return {"ts": post["ts"], "channel": arguments["channel"]}
            case "chat.update":
                for post in self.posts:
                    if post["ts"] == arguments["ts"]:
                        post.update(arguments)
                return {"ts": arguments["ts"]}
            case "chat.delete":
                self.posts = [post for post in self.posts if post["ts"] != arguments["ts"]]
                return {"ts": arguments["ts"]}
            case "conversations.history" | "conversations.replies":
                return {"messages": list(reversed(self.posts))}
            case _:
                return {}

    def _spoilt(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.resets and request.transport is not None:
            request.transport.abort()
        if fault.body is not None:
            return web.Response(status=fault.status, text=fault.body, content_type="text/html")
        headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        body = {"ok": False, "error": fault.error} | ({"needed": fault.needed} if fault.needed else {})
        return web.json_response(body, status=fault.status, headers=headers)

    async def link(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.opened += 1
        if self.says_hello:
            await socket.send_str(json.dumps({"type": "hello", "num_connections": 1}))
        self.sockets.append(socket)
        await self.notice()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    ack = json.loads(message.data)
                    self.acks[ack["envelope_id"]] = ack
                    await self.notice()
        finally:
            self.sockets.remove(socket)
            await self.notice()
        return socket


def _found(name: str, what: dict[str, Any] | None) -> dict[str, Any]:
    return {"ok": False, "error": f"{name}_not_found"} if what is None else {name: what}


@asynccontextmanager
async def fake_slack() -> AsyncIterator[FakeSlack]:
    """A running fake on a free port."""
    slack = FakeSlack()
    app = web.Application()
    app.router.add_route("*", "/api/{method}", slack.api)
    app.router.add_get("/link", slack.link)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    slack.url = f"http://127.0.0.1:{port}"
    try:
        yield slack
    finally:
        for socket in list(slack.sockets):
            await socket.close()
        await runner.cleanup()


class Store:
    """Where `deliver` puts things: each event once, as the real one does; `close` it and it is away."""

    def __init__(self) -> None:
        self.inbounds: dict[str, Heard] = {}
        self.deliveries = 0
        self.arrivals: asyncio.Queue[str] = asyncio.Queue()
        self._is_there = asyncio.Event()
        self._is_there.set()

    @property
    def all(self) -> list[Heard]:
        return list(self.inbounds.values())

    def go_away(self) -> None:
        self._is_there.clear()

    def come_back(self) -> None:
        self._is_there.set()

    async def deliver(self, inbound: Heard) -> None:
        self.deliveries += 1
        self.arrivals.put_nowait(inbound.event)
        await self._is_there.wait()
        self.inbounds.setdefault(inbound.event, inbound)


def headers(body: bytes, at: datetime, kind: str = "application/json", secret: str = SIGNING_SECRET) -> dict[str, str]:
    """What Slack sends beside `body`; names in lower case, as the server gives them to us."""
    stamp = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"content-type": kind, "x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={digest}"}


FORM = "application/x-www-form-urlencoded"


def form(payload: dict[str, Any]) -> bytes:
    """A slash command, or what `payload` says, as a form."""
    fields = payload if "command" in payload else {"payload": json.dumps(payload)}
    return urlencode(fields).encode()


def in_channel(ts: str = "1700000001.000000", text: str = "hello", **changed: object) -> dict[str, Any]:
    """Ann wrote in the channel."""
    return event(ts, text, **{"channel": TEAM_CHANNEL, "channel_type": "channel"} | changed)


def pair(ts: str = "1700000001.000000", text: str = f"<@{BOT_USER}> hello", **changed: object) -> list[dict[str, Any]]:
    """Ann mentioned the bot in the channel: Slack tells it twice."""
    mention = in_channel(ts, text, type="app_mention", **changed) | {"event_id": f"EvMention{ts}"}
    del mention["event"]["channel_type"]
    return [in_channel(ts, text, **changed), mention]


def told(kind: str, **fields: object) -> dict[str, Any]:
    """Something happened to a channel."""
    inner = {"type": kind, "channel": TEAM_CHANNEL, "event_ts": "1700000020.000000"} | fields
    return {"type": "event_callback", "team_id": TEAM, "event_id": "EvTold", "event": inner}


def event(ts: str = "1700000000.000100", text: str = "hello", **changed: object) -> dict[str, Any]:
    """A message that Ann wrote to the bot, as an `event_callback` payload."""
    inner = {"type": "message", "channel": DM, "channel_type": "im", "user": ANN, "text": text, "ts": ts, "team": TEAM}
    return {"type": "event_callback", "team_id": TEAM, "event_id": f"Ev{ts}", "event": inner | changed}


def press(value: str = "token:done", at: str = "1700000009.000001", **changed: object) -> dict[str, Any]:
    """Ann pressed a button of the message 1700000005.000000."""
    return {
        "type": "block_actions",
        "team": {"id": TEAM},
        "user": {"id": ANN, "team_id": TEAM},
        "channel": {"id": DM},
        "container": {"type": "message", "channel_id": DM, "message_ts": "1700000005.000000"},
        "actions": [{"type": "button", "action_id": "choice-0", "value": value, "action_ts": at}],
    } | changed


def slash(text: str = "status", trigger: str = "11.22.ab", **changed: object) -> dict[str, Any]:
    """Ann typed `/zclaw …`."""
    return {
        "command": "/zclaw",
        "text": text,
        "team_id": TEAM,
        "channel_id": DM,
        "user_id": ANN,
        "trigger_id": trigger,
    } | changed
