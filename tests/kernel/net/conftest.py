"""What the tests of the guarded client share: a site with a public name, and a listener that nobody may reach."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from kernel.net.client import GuardedHttp, Waits
from tests.twins.net import Names, Redial
from tests.twins.web_server import WebServer, web_server

PUBLIC = "93.184.216.34"
SHORT = Waits(look_up=timedelta(seconds=0.2), connect=timedelta(seconds=0.5), silence=timedelta(seconds=0.15))
TLS = httpx.create_ssl_context(trust_env=False)
"""Made once: reading the certificates takes longer than most tests."""


@pytest.fixture
async def site() -> AsyncIterator[WebServer]:
    """What answers at every public address."""
    async with web_server() as running:
        running.says("/", body=b"welcome")
        yield running


@pytest.fixture
async def canary() -> AsyncIterator[WebServer]:
    """A service of this machine: a connection to it is the harm that the guard is there to keep off."""
    async with web_server() as running:
        running.says("/", body=b"inner secret")
        yield running


@pytest.fixture
def names() -> Names:
    """`site.example` and `other.example` are public; nothing else exists."""
    names = Names()
    names.lead("site.example", [PUBLIC])
    names.lead("other.example", ["93.184.216.35"])
    return names


@pytest.fixture
def traps(names: Names) -> Names:
    """Names that lead inside."""
    names.lead("inner.example", ["127.0.0.1"])
    names.lead("mixed.example", [PUBLIC, "127.0.0.1"])
    names.lead("inner6.example", ["::1"])
    names.lead("mapped.example", ["::ffff:127.0.0.1"])
    names.lead("zone.example", ["fe80::1%lo"])
    names.lead("localhost", ["127.0.0.1"])
    return names


@pytest.fixture
def dial(site: WebServer) -> Redial:
    """Every address leads to the site."""
    return Redial(site.port)


@pytest.fixture
async def http(names: Names, dial: Redial) -> AsyncIterator[GuardedHttp]:
    """The client in this network of our own."""
    http = GuardedHttp(resolve=names, dial=dial, is_ours=lambda _: False, waits=SHORT, tls=TLS)
    yield http
    await http.close()
