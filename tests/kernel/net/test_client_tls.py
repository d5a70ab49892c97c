from __future__ import annotations

import asyncio
import ssl
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from kernel.errors import AnswerRefused, NoAnswer
from kernel.net.client import GuardedHttp
from kernel.ports import HttpRequest
from tests.kernel.net.conftest import PUBLIC, SHORT, TLS
from tests.twins.net import Names, Redial
from tests.twins.web_server import web_server

CERTS = Path(__file__).parent / "certs"


def server_tls(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTS / f"{name}.pem")
    return context


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTS / "ca.pem"))


async def ask_tls(url: str, cert: str, tls: ssl.SSLContext, names: Names) -> tuple[bytes, Redial, list[str | None]]:
    """What came over TLS, what was dialled, and the names that the server was asked for."""
    asked_for: list[str | None] = []
    context = server_tls(cert)
    context.sni_callback = lambda _, name, __: asked_for.append(name)
    async with web_server(context) as site:
        site.says("/", body=b"safe")
        dial = Redial(site.port)
        http = GuardedHttp(resolve=names, dial=dial, is_ours=lambda _: False, tls=tls, waits=SHORT)
        try:
            return (await http.send(HttpRequest(url))).content, dial, asked_for
        finally:
            await http.close()


async def test_the_certificate_is_asked_for_and_checked_by_name_though_a_number_is_dialled(names: Names) -> None:
    content, dial, asked_for = await ask_tls("https://site.example/", "site", trusting(), names)

    assert (content, dial.dialled, asked_for) == (b"safe", [(PUBLIC, 443)], ["site.example"])


@pytest.mark.parametrize(
    ("url", "cert", "tls"),
    [
        ("https://other.example/", "site", trusting),
        (f"https://{PUBLIC}/", "site", trusting),
        ("https://site.example/", "expired", trusting),
        ("https://site.example/", "site", lambda: httpx.create_ssl_context(trust_env=False)),
    ],
)
async def test_a_certificate_that_does_not_fit_is_refused(
    url: str, cert: str, tls: type[ssl.SSLContext], names: Names
) -> None:
    with pytest.raises(AnswerRefused, match="certificate cannot be trusted"):
        await ask_tls(url, cert, tls(), names)


async def test_the_client_trusts_no_certificate_that_only_the_environment_names(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTS / "ca.pem"))
    async with web_server(server_tls("site")) as site:
        http = GuardedHttp(resolve=names, dial=Redial(site.port), is_ours=lambda _: False, waits=SHORT)

        with pytest.raises(AnswerRefused, match="certificate"):
            await http.send(HttpRequest("https://site.example/"))
        await http.close()


async def test_a_server_without_tls_is_no_answer_to_https(names: Names) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as plain:
        dial = Redial(plain.sockets[0].getsockname()[1])
        http = GuardedHttp(resolve=names, dial=dial, is_ours=lambda _: False, waits=SHORT, tls=TLS)

        with pytest.raises(NoAnswer, match="no connection"):
            await http.send(HttpRequest("https://site.example/"))
        await http.close()


async def test_a_handshake_that_never_ends_is_given_up_and_its_connection_let_go(names: Names) -> None:
    met, left = asyncio.Event(), asyncio.Event()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.set()
        await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(meet, "127.0.0.1", 0) as mute:
        dial = Redial(mute.sockets[0].getsockname()[1])
        http = GuardedHttp(resolve=names, dial=dial, is_ours=lambda _: False)

        with pytest.raises(NoAnswer):
            await http.send(HttpRequest("https://site.example/", timeout=timedelta(seconds=0.3)))

        assert met.is_set()
        await asyncio.wait_for(left.wait(), 5)
        await http.close()
