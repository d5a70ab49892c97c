from __future__ import annotations

import asyncio
import gzip
from datetime import timedelta

import pytest

from kernel.errors import NoAnswer, RetryError
from kernel.net.client import GuardedHttp
from kernel.ports import HttpRequest
from tests.twins.net import Names, Redial
from tests.twins.web_server import WebServer, endless, raw

OK = b"HTTP/1.1 200 OK\r\n"


async def test_a_body_without_end_is_cut(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/"] = endless(OK + b"\r\n", b"x" * 10_000)

    reply = await http.send(HttpRequest("http://site.example/", cap_bytes=25_000))

    assert (reply.content, reply.is_cut) == (b"x" * 25_000, True)


async def test_a_chunked_body_without_end_is_cut(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/"] = endless(OK + b"transfer-encoding: chunked\r\n\r\n", b"3\r\nabc\r\n")

    reply = await http.send(HttpRequest("http://site.example/", cap_bytes=1_000))

    assert (len(reply.content), reply.is_cut) == (1_000, True)


async def test_a_body_of_exactly_the_cap_is_whole(http: GuardedHttp, site: WebServer) -> None:
    site.says("/", body=b"x" * 1_000)

    assert not (await http.send(HttpRequest("http://site.example/", cap_bytes=1_000))).is_cut
    assert (await http.send(HttpRequest("http://site.example/", cap_bytes=999))).is_cut


async def test_a_bomb_is_cut_at_what_it_grows_to(http: GuardedHttp, site: WebServer) -> None:
    site.says("/", body=gzip.compress(b"0" * 20_000_000), content_encoding="gzip")

    reply = await http.send(HttpRequest("http://site.example/", cap_bytes=100_000))

    assert (reply.content, reply.is_cut) == (b"0" * 100_000, True)


async def test_compressed_content_is_asked_for_and_understood(http: GuardedHttp, site: WebServer) -> None:
    site.says("/", body=gzip.compress(b"small"), content_encoding="gzip")

    assert (await http.send(HttpRequest("http://site.example/"))).content == b"small"
    assert site.asked[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("said", "body"), [(b"10", b"short"), (b"-5", b"x"), (b"5, 6", b"hello"), (b"99999999999999999999", b"x")]
)
async def test_a_length_that_lies_is_no_answer(http: GuardedHttp, site: WebServer, said: bytes, body: bytes) -> None:
    site.pages["/"] = raw(OK + b"content-length: " + said + b"\r\n\r\n" + body)

    with pytest.raises(NoAnswer):
        await http.send(HttpRequest("http://site.example/"))


async def test_what_comes_after_the_said_length_is_not_content(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/"] = raw(OK + b"content-length: 5\r\n\r\nhello and more")

    assert (await http.send(HttpRequest("http://site.example/"))).content == b"hello"


async def test_one_answer_cannot_stand_in_for_the_next(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/"] = raw(OK + b"content-length: 1\r\n\r\nx" + OK + b"content-length: 5\r\n\r\nother")
    site.says("/next", body=b"mine")

    await http.send(HttpRequest("http://site.example/"))

    assert (await http.send(HttpRequest("http://site.example/next"))).content == b"mine"
    assert site.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 banana\r\n\r\n",
        OK + b"broken header\r\n\r\n",
        OK + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
        OK + b"x: y\r\n" * 30_000 + b"\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\nZZ\r\nx\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhe",
        b"+PONG\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
)
async def test_what_is_no_proper_http_is_no_answer(http: GuardedHttp, site: WebServer, answer: bytes) -> None:
    site.pages["/"] = raw(answer)

    with pytest.raises(NoAnswer, match=r"^site\.example: the answer broke off or is no proper HTTP\.$"):
        await http.send(HttpRequest("http://site.example/"))


@pytest.mark.parametrize("pieces", [(), (OK,), (OK + b"\r\n", b"half"), (OK + b"content-length: 9\r\n\r\n", b"half")])
async def test_silence_is_given_up(http: GuardedHttp, site: WebServer, pieces: tuple[bytes, ...]) -> None:
    site.holds("/", *pieces)

    with pytest.raises(NoAnswer, match="nothing came for too long"):
        async with asyncio.timeout(5):
            await http.send(HttpRequest("http://site.example/"))


@pytest.mark.parametrize("head", [OK, OK + b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
async def test_an_answer_that_drips_ends_with_the_whole_time(http: GuardedHttp, site: WebServer, head: bytes) -> None:
    piece = head if b"100" in head else b"x: y\r\n"
    site.drips("/", head, piece, every_s=0.05)

    with pytest.raises(NoAnswer, match=r"longer than 0\.25 s"):
        async with asyncio.timeout(5):
            await http.send(HttpRequest("http://site.example/", timeout=timedelta(seconds=0.25)))


async def test_the_whole_time_counts_redirects_in(http: GuardedHttp, site: WebServer) -> None:
    site.leads("/0", "/1")
    site.drips("/1", OK + b"\r\n", b"x", every_s=0.05)

    with pytest.raises(NoAnswer, match=r"longer than 0\.25 s"):
        async with asyncio.timeout(5):
            await http.send(HttpRequest("http://site.example/0", timeout=timedelta(seconds=0.25)))


async def test_an_upgrade_nobody_asked_for_is_not_taken(http: GuardedHttp, site: WebServer) -> None:
    site.holds("/", b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello")

    with pytest.raises(NoAnswer):
        await http.send(HttpRequest("http://site.example/"))


async def test_nothing_is_sent_twice(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/post"] = raw(b"")

    with pytest.raises(RetryError):
        await http.send(HttpRequest("http://site.example/post", "POST", body=b"x"))

    assert len(site.asked) == 1


async def test_a_head_has_no_content(http: GuardedHttp, site: WebServer) -> None:
    site.pages["/"] = raw(OK + b"content-length: 1000000\r\n\r\n")

    reply = await http.send(HttpRequest("http://site.example/", "HEAD"))

    assert (reply.status, reply.content, reply.is_cut) == (200, b"", False)


async def test_an_exchange_that_is_broken_off_ends_its_connection(
    http: GuardedHttp, names: Names, dial: Redial
) -> None:
    met, left = asyncio.Event(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.set()
        await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as slow:
        dial.port = slow.sockets[0].getsockname()[1]
        asking = asyncio.create_task(http.send(HttpRequest("http://site.example/")))
        await met.wait()
        asking.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(left.wait(), 5)
