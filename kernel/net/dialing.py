"""Connections to checked addresses: looking a name up, checking what it gives and connecting are one act.

httpcore asks its network backend for every connection it makes, so nothing above this file can reach an address that
was not checked, and no second look-up lies between the check and the connection (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpcore

from kernel.errors import AddressRefused, AnswerRefused, NoAnswer
from kernel.net.addresses import Address, is_own, is_public, numeric

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""All numeric addresses of a name, the best first; raises `socket.gaierror`."""

MOST_TRIED = 3
"""Addresses of one name that are tried; more would only spend the time."""


class SystemResolver:
    """This machine's resolver, in threads of its own: names that hang do not hold up anything but look-ups."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> Sequence[str]:
        """All numeric addresses of `host`, in the order the system prefers; raises `socket.gaierror`."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
        return tuple(dict.fromkeys(found))

    def close(self) -> None:
        """Wait for nobody: a look-up that hangs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> list[str]:
    return [str(place[0]) for *_, place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class GuardedDialer(httpcore.AsyncNetworkBackend):
    """Connects to a host by name or number, if every one of its addresses is public or the host and port are allowed.

    Raises, for the client to pass on, `AddressRefused`, `AnswerRefused` (no such host) and `NoAnswer`; and
    httpcore's errors when a checked address cannot be reached.
    """

    def __init__(
        self,
        resolve: Resolve,
        *,
        allow: frozenset[tuple[str, int]],
        patience: timedelta,
        dial: httpcore.AsyncNetworkBackend,
        is_ours: Callable[[Address], bool] = is_own,
    ) -> None:
        self._resolve = resolve
        self._allow = allow
        self._patience = patience
        self._dial = dial
        self._is_ours = is_ours

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first of the host's checked addresses that takes it."""
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in (await self._checked(host, port))[:MOST_TRIED]:
            try:
                return await self._dial.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        assert failure is not None  # `_checked` gives at least one address.
        raise failure

    async def _checked(self, host: str, port: int) -> list[Address]:
        """The host's addresses, at least one, all fit to be asked."""
        literal = numeric(host)
        addresses = [literal] if literal is not None else await self._addresses(host)
        # All of them: one private address among public ones is a trap, not a choice.
        if (host, port) in self._allow or all(self._is_fit(address) for address in addresses):
            return addresses
        raise AddressRefused(f"{host}: that address is not public.")

    def _is_fit(self, address: Address) -> bool:
        return is_public(address) and not self._is_ours(address)

    async def _addresses(self, host: str) -> list[Address]:
        try:
            async with asyncio.timeout(self._patience.total_seconds()):
                found = await self._resolve(host)
        except TimeoutError as error:
            raise NoAnswer(f"{host}: looking up the name took too long.") from error
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise NoAnswer(f"{host}: the name cannot be looked up just now.") from error
            raise AnswerRefused(f"{host}: there is no host of that name.") from error
        except UnicodeError as error:  # getaddrinfo puts names through the idna codec, which refuses some.
            raise AnswerRefused(f"{host}: there is no host of that name.") from error
        addresses = [numeric(each) for each in found]
        known = [address for address in addresses if address is not None]
        if not known or len(known) < len(addresses):
            raise AnswerRefused(f"{host}: the name leads to no address.")
        return known


class Line(httpcore.AsyncNetworkBackend):
    """The connections of one exchange, so that they end with it: a handshake that is broken off leaves its open."""

    def __init__(self, dialer: httpcore.AsyncNetworkBackend) -> None:
        self._dialer = dialer
        self._open: list[httpcore.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection as the dialer makes it."""
        stream = await self._dialer.connect_tcp(host, port, timeout, local_address, socket_options)
        self._open.append(stream)
        return stream

    async def close(self) -> None:
        """Close them all, whatever state they are in."""
        for stream in self._open:
            await stream.aclose()


def is_about_certificate(error: httpcore.ConnectError) -> bool:
    """The connection was refused by us: the certificate is not one for the host, or nobody we trust vouches for it."""
    return isinstance(error.__cause__, ssl.SSLCertVerificationError)
