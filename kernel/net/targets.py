"""What an address in words asks for: checked, and in one spelling, so that what was checked is what is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import httpx

from kernel.errors import AddressRefused
from kernel.net.addresses import numeric

MAX_URL_CHARS = 8_000
"""What common servers take; signed addresses of stores of files are half as long."""

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_][a-z0-9_-]{0,62}(\.[a-z0-9_][a-z0-9_-]{0,62})*\Z")
_NUMBER_LIKE = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
"""A last label that resolvers and browsers read as part of an IPv4 address (URL Standard, "ends in a number")."""

_WEB_BELOW_1024 = frozenset((80, 443))
_NOT_WEB = frozenset(
    (
        # The Fetch Standard's blocked ports from 1024 on …
        *(1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566),
        *(6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
        # … and stores that take a line of text for an order: Redis and its kin, memcached.
        *(6379, 6380, 16379, 26379, 11211),
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `host` is lower-case ASCII, an IPv6 address without brackets; the port is always given."""

    url: httpx.URL = field(repr=False)
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.url.scheme, self.host, self.port


def read_target(text: str, allow: frozenset[tuple[str, int]], base: Target | None = None) -> Target:
    """The target that `text` names, relative to `base` when there is one (a redirect).

    Raises `AddressRefused` for what no public page needs: other schemes, names and passwords, odd spellings of
    numbers, ports of other services. `allow` lifts the rule of ports, for exactly its hosts and ports.
    """
    if len(text) > MAX_URL_CHARS:
        raise AddressRefused(f"The address is longer than {MAX_URL_CHARS} characters.")
    try:
        url = httpx.URL(text) if base is None else base.url.join(text)
    except (httpx.InvalidURL, ValueError, TypeError):
        # Not chained: the library's words quote the address, and it may hold a secret.
        raise AddressRefused("This is not a web address. Write it as https://host/path.") from None
    if url.scheme not in ("http", "https"):
        raise AddressRefused("Only http and https addresses can be fetched. Write it as https://host/path.")
    if url.userinfo:
        raise AddressRefused("An address with a user name or password in it is not fetched.")
    host = _host(url.raw_host.decode("ascii"))
    port = url.port if url.port is not None else {"http": 80, "https": 443}[url.scheme]
    if (host, port) not in allow and not _is_web(port):
        raise AddressRefused(f"Port {port} does not belong to web pages and is not fetched.")
    return Target(url, host, port)


def canonical(host: str) -> str:
    """The spelling in which a host is compared. Raises `AddressRefused` for what can be no host."""
    return _host(host.lower().removeprefix("[").removesuffix("]"))


def _host(host: str) -> str:
    address = numeric(host)
    if address is not None:
        return str(address)
    if _NUMBER_LIKE.match(host.rpartition(".")[2]):
        raise AddressRefused("A numeric host must be four plain decimal numbers, like 192.0.2.1.")
    if not _NAME.match(host):
        raise AddressRefused("The host is not written as a plain name, like example.com.")
    return host


def _is_web(port: int) -> bool:
    """Below 1024 only the web's own two: there are mail, names, logins. Above lives everything, so only a few go."""
    return port in _WEB_BELOW_1024 or (1024 <= port <= 65_535 and port not in _NOT_WEB)
