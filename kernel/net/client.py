"""The one HTTP client for addresses that others choose: pages, hands, whatever a model or a page names.

It stands on httpx's engine, httpcore, below httpx's own client: that one keeps cookies, logs whole addresses and
leaves no place for a dialer. Every request has a connection of its own, so nothing of one conversation (a login bound
to a connection, a half-read answer) can meet the next one, and nothing is ever sent twice.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import httpcore
import httpx

from kernel.errors import AddressRefused, AnswerRefused, ModelError, NoAnswer
from kernel.net.addresses import Address, is_own
from kernel.net.bodies import ENCODINGS, read_body
from kernel.net.dialing import GuardedDialer, Line, Resolve, SystemResolver, is_about_certificate
from kernel.net.targets import Target, canonical, read_target
from kernel.ports import HttpReply, HttpRequest

MAX_REDIRECTS = 5

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_OURS = frozenset(
    (
        *("host", "content-length", "transfer-encoding", "te", "trailer", "expect", "accept-encoding"),
        *("connection", "keep-alive", "upgrade", "proxy-authorization", "proxy-connection"),
    )
)
"""Headers that say where a message goes and where it ends: a caller's would contradict what was checked."""
_HARMLESS = frozenset(("accept", "accept-language", "user-agent"))
"""What a caller's request may say to an origin that it did not choose."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*\Z")
_USER_AGENT = "Mozilla/5.0 (compatible; zclaw)"


@dataclass(frozen=True, slots=True)
class Waits:
    """How long one step may take: looking a name up, connecting to an address, a pause while sending or reading."""

    look_up: timedelta = timedelta(seconds=5)
    connect: timedelta = timedelta(seconds=5)
    silence: timedelta = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request of a chain of redirects."""

    target: Target
    method: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def after(self, status: int, target: Target) -> _Hop:
        """The hop that a redirect asks for. Raises `AnswerRefused` when it would carry the body to another origin."""
        # 301 and 302 turn a POST into a GET because browsers always did (Fetch Standard, HTTP-redirect fetch).
        drops_body = (status == 303 and self.method != "HEAD") or (status in (301, 302) and self.method == "POST")
        method, body = ("GET", b"") if drops_body else (self.method, self.body)
        if target.origin == self.target.origin:
            return _Hop(target, method, self._without_content() if drops_body else self.headers, body)
        if method not in ("GET", "HEAD"):
            raise AnswerRefused(f"{self.target.host} wants what was sent to go to another host; it was not sent on.")
        kept = {name: value for name, value in self.headers.items() if name.lower() in _HARMLESS}
        return _Hop(target, method, kept, body)

    def _without_content(self) -> Mapping[str, str]:
        return {name: value for name, value in self.headers.items() if not name.lower().startswith("content-")}


class GuardedHttp:
    """`Http` over the network: only public addresses, each hop and each resolved address checked and pinned.

    `allow` are exceptions for exactly these hosts (as they are written in addresses) and ports. Proxies and
    certificates that the environment names are not used. One for a process; `close` it.
    """

    def __init__(
        self,
        *,
        allow: frozenset[tuple[str, int]] = frozenset(),
        waits: Waits = Waits(),
        resolve: Resolve | None = None,
        dial: httpcore.AsyncNetworkBackend | None = None,
        is_ours: Callable[[Address], bool] = is_own,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = frozenset((canonical(host), port) for host, port in allow)
        self._waits = waits
        self._resolver = SystemResolver()
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._dialer = GuardedDialer(
            resolve or self._resolver,
            allow=self._allow,
            patience=waits.look_up,
            dial=dial or httpcore.AnyIOBackend(),
            is_ours=is_ours,
        )

    async def close(self) -> None:
        """Let go of the threads that look names up."""
        self._resolver.close()

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `Http.send`."""
        _check(request)
        target = read_target(request.url, self._allow)
        hop = _Hop(target, request.method, request.headers, request.body)
        try:
            async with asyncio.timeout(request.timeout.total_seconds()):
                return await self._follow(hop, request.cap_bytes)
        except TimeoutError as error:
            seconds = request.timeout.total_seconds()
            raise NoAnswer(f"{target.host}: the answer took longer than {seconds:g} s.") from error

    async def _follow(self, hop: _Hop, cap_bytes: int) -> HttpReply:
        reply = await self._ask(hop, cap_bytes)
        for _ in range(MAX_REDIRECTS):
            location = _location(reply)
            if location is None:
                return reply
            try:
                hop = hop.after(reply.status, read_target(location, self._allow, base=hop.target))
                reply = await self._ask(hop, cap_bytes)
            except AddressRefused as error:
                raise AddressRefused(f"It leads to another address, which is not fetched. {error}") from error
        if _location(reply) is None:
            return reply
        raise AnswerRefused(f"It leads from address to address more than {MAX_REDIRECTS} times.")

    async def _ask(self, hop: _Hop, cap_bytes: int) -> HttpReply:
        """The answer to one hop; the content of a redirect is not read. Raises our errors only."""
        try:
            return await self._exchange(hop, cap_bytes)
        except httpcore.TimeoutException as error:
            raise NoAnswer(f"{hop.target.host}: nothing came for too long.") from error
        except httpcore.ConnectError as error:
            if is_about_certificate(error):
                raise AnswerRefused(f"{hop.target.host}: its certificate cannot be trusted.") from error
            raise NoAnswer(f"{hop.target.host}: no connection.") from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise NoAnswer(f"{hop.target.host}: the answer broke off or is no proper HTTP.") from error

    async def _exchange(self, hop: _Hop, cap_bytes: int) -> HttpReply:
        connect, silence = self._waits.connect.total_seconds(), self._waits.silence.total_seconds()
        url = hop.target.url
        question = httpcore.Request(
            hop.method,
            httpcore.URL(scheme=url.raw_scheme, host=hop.target.host, port=hop.target.port, target=url.raw_path),
            headers=_headers(hop),
            content=hop.body,
            extensions={"timeout": {"connect": connect, "read": silence, "write": silence}},
        )
        line = Line(self._dialer)
        connection = httpcore.AsyncHTTPConnection(question.url.origin, self._tls, network_backend=line)
        try:
            answer = await connection.handle_async_request(question)
            reply = HttpReply(answer.status, str(url.copy_with(fragment=None)), _read_headers(answer.headers), b"")
            if hop.method == "HEAD" or _location(reply) is not None:
                return reply
            encoding = reply.headers.get("content-encoding", "")
            content, is_cut = await read_body(answer.aiter_stream(), encoding, cap_bytes)
            return HttpReply(reply.status, reply.url, reply.headers, content, is_cut)
        finally:
            await line.close()  # What was not read is not wanted.


def _check(request: HttpRequest) -> None:
    """Raises `ModelError` for a method or header that could say more than one request."""
    if request.method not in _METHODS:
        raise ModelError(f"The method must be one of {', '.join(sorted(_METHODS))}.")
    for name, value in request.headers.items():
        if not _HEADER_NAME.match(name) or name.lower() in _OURS:
            raise ModelError("One of the headers has a name that may not be set.")
        if not _HEADER_VALUE.match(value):
            raise ModelError(f"The header {name.lower()} has a value with characters that no header may hold.")


def _headers(hop: _Hop) -> list[tuple[bytes, bytes]]:
    given = {name.lower(): value for name, value in hop.headers.items()}
    ours = {"host": hop.target.url.netloc.decode("ascii"), "accept-encoding": ENCODINGS, "connection": "close"}
    if hop.body or hop.method in ("POST", "PUT", "PATCH"):
        ours["content-length"] = str(len(hop.body))
    headers = {"user-agent": _USER_AGENT, "accept": "*/*", **given, **ours}
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]


def _read_headers(raw: list[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("ascii").lower()
        if key not in ("set-cookie", "set-cookie2"):
            said = value.decode("latin-1")
            headers[key] = f"{headers[key]}, {said}" if key in headers else said
    return headers


def _location(reply: HttpReply) -> str | None:
    """Where the answer sends the asker; None when it is the last.

    Bytes beyond ASCII are quoted one by one, as browsers do: nobody says what encoding they are in.
    """
    if reply.status not in (301, 302, 303, 307, 308):
        return None
    return re.sub(r"[\x80-\xff]", lambda byte: f"%{ord(byte[0]):02X}", reply.headers.get("location", "")) or None
