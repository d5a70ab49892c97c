"""The one HTTP server of `zclaw bots`: what platforms send to us, and what whoever watches over us asks.

    POST  an adapter's path   what its `take` says
    GET   /healthz            200 while the store answers and every adapter runs, else 503
    GET   /metrics            numbers for Prometheus
    else                      404 or 405

Anybody may reach it, so nothing is believed: a connection carries one request, and its headers, its body, the work
for it, and how many there are at once all have a bound.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

import structlog
from aiohttp import web

from bots.adapter import HasWebhook, HttpAnswer
from bots.counters import Counters
from kernel.errors import OperatorError
from kernel.settings import ListenAddress

log = structlog.get_logger(__name__)

BODY_LIMIT_BYTES: Final = 1_000_000
"""Telegram's updates are some kB, Slack's interactions up to some hundred."""
HEADERS_WITHIN_S: Final = 10.0
BODY_WITHIN_S: Final = 10.0
ANSWER_WITHIN_S: Final = 25.0
"""Adapters answer long before: Slack counts 3 s."""
MOST_CONNECTIONS: Final = 512
MOST_IN_WORK: Final = 128
"""Telegram opens 40 connections at most."""
_FINISH_WITHIN_S: Final = 2.0
_REST_OF_BODY_S: Final = 2.0
"""Who sent too much is read a little further, so that the answer reaches them."""

HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Health = Callable[[], Awaitable[Mapping[str, bool]]]
"""What must work, by name, and whether it does; soon."""
Metrics = Callable[[], Awaitable[str]]


class Listening:
    """The server while it is entered. Whoever sent a whole request is answered before it is left.

    Entering raises OperatorError when the address cannot be had and `hooks` need it; where only health and metrics
    would be there, it is left out with one warning: several `zclaw bots` of one machine share one address.
    """

    def __init__(
        self,
        address: ListenAddress,
        hooks: Sequence[HasWebhook],
        *,
        health: Health,
        metrics: Metrics,
        counters: Counters,
    ) -> None:
        self._address = address
        self._hooks = {hook.webhook_path: hook for hook in hooks if hook.webhook_path is not None}
        self._health = health
        self._metrics = metrics
        self._counters = counters
        self._in_work = 0
        self._runner: web.ServerRunner | None = None
        self.port: int | None = None
        """Where it listens; None while it does not."""

    async def __aenter__(self) -> Self:
        runner = web.ServerRunner(_Server(self._answer), shutdown_timeout=_FINISH_WITHIN_S)
        await runner.setup()
        host, port = self._address.host, self._address.port
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            await runner.cleanup()
            why = _unusable(error)
            if self._hooks:
                paths = " and ".join(sorted(self._hooks))
                raise OperatorError(f"ZCLAW_LISTEN: {host}:{port} {why}, and {paths} must be heard there.") from None
            log.warning("not listening, no health and no metrics", address=f"{host}:{port}", why=why)
            return self
        self._runner = runner
        self.port = runner.addresses[0][1]
        log.info("listening", address=f"{host}:{self.port}", paths=tuple(sorted(self._hooks)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.port = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = await self._answer_of(request)
        known = request.path in self._hooks or request.path in (HEALTH, METRICS)
        self._counters.count("http", path=request.path if known else "other", status=str(answer.status))
        return _response(answer)

    async def _answer_of(self, request: web.BaseRequest) -> HttpAnswer:
        hook = self._hooks.get(request.path)
        wanted = "POST" if hook is not None else "GET"
        if hook is None and request.path not in (HEALTH, METRICS):
            return HttpAnswer(404)
        if request.method != wanted:
            return HttpAnswer(405)
        if self._in_work >= MOST_IN_WORK:
            return HttpAnswer(503)
        self._in_work += 1
        try:
            if hook is not None:
                return await self._take(hook, request)
            return await (self._healthz() if request.path == HEALTH else self._numbers())
        except Exception:  # The server's boundary: whatever one request met, the next is answered.
            log.exception("request failed", path=request.path)
            return HttpAnswer(500)
        finally:
            self._in_work -= 1

    async def _take(self, hook: HasWebhook, request: web.BaseRequest) -> HttpAnswer:
        if (request.content_length or 0) > BODY_LIMIT_BYTES:
            return HttpAnswer(413)
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                body = await _body(request)
        except TimeoutError:
            return HttpAnswer(408)
        except (web.RequestPayloadError, ConnectionError):
            # Nobody's fault of ours, and who went away in the middle hears no answer.
            return HttpAnswer(400)
        if body is None:
            return HttpAnswer(413)
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await hook.take(headers, body)
        except TimeoutError:
            # Not known to be stored: the platform sends it again.
            return HttpAnswer(503)

    async def _healthz(self) -> HttpAnswer:
        parts = await self._health()
        is_well = all(parts.values())
        body = json.dumps({"ok": is_well, **parts})
        return HttpAnswer(200 if is_well else 503, body, "application/json")

    async def _numbers(self) -> HttpAnswer:
        return HttpAnswer(200, await self._metrics(), METRICS_TYPE)


class _Server(web.Server):
    """aiohttp's, of connections that are bounded in number and time and do not say what runs here."""

    def __call__(self) -> web.RequestHandler:
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            # Counts from the first byte until the headers are whole, for each connection carries one request.
            keepalive_timeout=HEADERS_WITHIN_S,
            lingering_time=_REST_OF_BODY_S,
            # Signatures are made over what was sent; and nothing is unpacked into more than it was.
            auto_decompress=False,
            logger=_silent(),
            access_log=None,  # type: ignore[arg-type]  # (None is how AppRunner switches it off too)
        )


class _Connection(web.RequestHandler):
    __slots__ = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert self._manager is not None
        if len(self._manager.connections) >= MOST_CONNECTIONS and isinstance(transport, asyncio.Transport):
            transport.abort()
            return
        super().connection_made(transport)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        # Of every answer, also of those to what is no HTTP: aiohttp would name itself and its version.
        resp.headers["Server"] = "zclaw"
        return await super().finish_response(request, resp, start_time)


async def _body(request: web.BaseRequest) -> bytes | None:
    """The whole body; None when it is longer than it may be, however it said to be."""
    body = bytearray()
    async for piece in request.content.iter_any():
        body += piece
        if len(body) > BODY_LIMIT_BYTES:
            return None
    return bytes(body)


def _response(answer: HttpAnswer) -> web.Response:
    response = web.Response(
        status=answer.status, body=answer.body.encode(), headers={"Content-Type": _with_charset(answer.content_type)}
    )
    response.force_close()
    return response


def _with_charset(kind: str) -> str:
    return kind if "charset" in kind or kind == "application/json" else f"{kind}; charset=utf-8"


def _silent() -> logging.Logger:
    """For what aiohttp says about requests that cannot be read: it quotes them, and they are nobody's fault of ours."""
    silent = logging.Logger("http")
    silent.addHandler(logging.NullHandler())
    return silent


def _unusable(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "is taken by another program (another `zclaw bots`?): name another port"
        case errno.EACCES | errno.EPERM:
            return "may not be opened by this user: name a port above 1023"
        case errno.EADDRNOTAVAIL:
            return "is no address of this machine: name 127.0.0.1, 0.0.0.0 or one that is"
        case _:
            return "cannot be opened: name an address of this machine, like 127.0.0.1:8377"
