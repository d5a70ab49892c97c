"""httpx over aiohttp's connections.

httpx's own pool looks through all its connections for every request: 200 requests in flight cost it four times the CPU
(benchmarks/providers.py prints both). Its API, its errors and its way of streaming stay.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from yarl import URL


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sends httpx's requests through one aiohttp session, made at the first request."""

    def __init__(self, *, most_connections: int, rest_s: float, proxy: str | None) -> None:
        self._most_connections = most_connections
        self._rest_s = rest_s
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx. Of its time-outs, `connect` and `read` are kept."""
        timeout: dict[str, float | None] = request.extensions.get("timeout", {})
        try:
            response = await self._the_session().request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers.multi_items(),
                data=await request.aread() or None,
                allow_redirects=False,
                proxy=self._proxy,
                timeout=aiohttp.ClientTimeout(sock_connect=timeout.get("connect"), sock_read=timeout.get("read")),
            )
        except _ERRORS as error:
            raise _httpx_error(error, request) from error
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response, request),
            request=request,
        )

    def _the_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._most_connections, keepalive_timeout=self._rest_s)
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # httpx does it.
            )
        return self._session

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session:
            await self._session.close()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse, request: httpx.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except _ERRORS as error:
            raise _httpx_error(error, self._request) from error

    async def aclose(self) -> None:
        """Give the connection back when the body was read to its end, else close it."""
        self._response.release()


_ERRORS = (aiohttp.ClientError, OSError)


def _httpx_error(error: Exception, request: httpx.Request) -> httpx.TransportError:
    """What httpx's own transport would raise."""
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(str(error), request=request)
        case aiohttp.ServerTimeoutError():
            return httpx.ReadTimeout(str(error), request=request)
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(str(error), request=request)
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return httpx.UnsupportedProtocol(str(error), request=request)
        case _:
            return httpx.ReadError(str(error) or type(error).__name__, request=request)


def client(url: str, *, connect_s: float, most_connections: int = 1000, rest_s: float = 30.0) -> httpx.AsyncClient:
    """An httpx client over aiohttp for the host of `url`, with no time-out but that of connecting.

    Callers time silence themselves.
    """
    return httpx.AsyncClient(
        transport=AiohttpTransport(most_connections=most_connections, rest_s=rest_s, proxy=_proxy_for(url)),
        timeout=httpx.Timeout(None, connect=connect_s),
        follow_redirects=False,  # A key would go along to wherever a redirect points.
    )


def _proxy_for(url: str) -> str | None:
    """The proxy that the system sets for `url`. aiohttp's `trust_env` would ask twice a request, in a thread."""
    address = httpx.URL(url)
    return None if proxy_bypass(address.host) else getproxies().get(address.scheme)
