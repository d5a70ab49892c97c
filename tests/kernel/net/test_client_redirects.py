from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest

from kernel.errors import AddressRefused, AnswerRefused
from kernel.net.client import GuardedHttp
from kernel.ports import HttpRequest
from tests.kernel.net.conftest import PUBLIC, SHORT, TLS
from tests.twins.net import Names, Redial
from tests.twins.web_server import WebServer


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_redirects_are_followed(http: GuardedHttp, site: WebServer, status: str) -> None:
    site.leads("/go", "http://other.example/there?a=1#b", status)
    site.says("/there", body=b"here")

    reply = await http.send(HttpRequest("http://site.example/go"))

    assert (reply.status, reply.url, reply.content) == (200, "http://other.example/there?a=1", b"here")


@pytest.mark.parametrize("to", ["/there", "there", "./x/../there", "//site.example/there", "http://site.example/there"])
async def test_a_redirect_may_be_relative(http: GuardedHttp, site: WebServer, to: str) -> None:
    site.leads("/go", to)
    site.says("/there", body=b"here")

    assert (await http.send(HttpRequest("http://site.example/go"))).content == b"here"


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
async def test_a_redirect_to_a_chinese_path_asks_for_the_same_bytes(
    http: GuardedHttp, site: WebServer, encoding: str
) -> None:
    there = "/查房".encode(encoding)
    site.leads("/go", there.decode("latin-1"))

    await http.send(HttpRequest("http://site.example/go"))

    assert unquote_to_bytes(site.asked[1].path) == there


@pytest.mark.parametrize(("hops", "is_followed"), [(1, True), (5, True), (6, False), (7, False)])
async def test_five_redirects_are_followed_and_no_more(
    http: GuardedHttp, site: WebServer, hops: int, is_followed: bool
) -> None:
    for hop in range(hops):
        site.leads(f"/{hop}", f"/{hop + 1}")
    site.says(f"/{hops}", body=b"end")

    if is_followed:
        assert (await http.send(HttpRequest("http://site.example/0"))).content == b"end"
    else:
        with pytest.raises(AnswerRefused, match="more than 5"):
            await http.send(HttpRequest("http://site.example/0"))
    assert len(site.asked) == min(hops, 5) + 1


@pytest.mark.parametrize(
    "to",
    [
        *("http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://2130706433:{port}/", "http://[::1]:{port}/"),
        *("//127.0.0.1:{port}/", "http://169.254.169.254/latest/meta-data/", "http://inner.example:{port}/"),
        *("file:///etc/passwd", "gopher://127.0.0.1:{port}/_x", "ftp://site.example/", "javascript:alert(1)"),
        *(
            "http://u:p@127.0.0.1:{port}/",
            "http://site.example:6379/",
            "http://site.example:25/",
            "http://[::1",
        ),
        *("http://site.example/\x01", "data:text/html,x"),
    ],
)
@pytest.mark.parametrize("before", [0, 4])
async def test_no_redirect_leads_inside(traps: Names, site: WebServer, canary: WebServer, to: str, before: int) -> None:
    dial = Redial(site.port)
    http = GuardedHttp(resolve=traps, dial=dial, is_ours=lambda _: False, waits=SHORT, tls=TLS)
    for hop in range(before):
        site.leads(f"/{hop}", f"/{hop + 1}")
    site.leads(f"/{before}", to.format(port=canary.port))

    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://site.example/0"))

    assert (len(dial.dialled), canary.connections) == (before + 1, 0)
    await http.close()


async def test_a_redirect_without_an_address_is_an_answer(http: GuardedHttp, site: WebServer) -> None:
    site.says("/go", "302 Found", b"nowhere")

    reply = await http.send(HttpRequest("http://site.example/go"))

    assert (reply.status, reply.content) == (302, b"nowhere")


async def test_the_content_of_a_redirect_is_not_read(http: GuardedHttp, site: WebServer) -> None:
    site.holds("/go", b"HTTP/1.1 302 Found\r\nlocation: /there\r\n\r\n", b"more to come")
    site.says("/there", body=b"here")

    assert (await http.send(HttpRequest("http://site.example/go"))).content == b"here"


@pytest.mark.parametrize("to", ["http://other.example/x", "http://site.example:8080/x", "http://www.site.example/x"])
@pytest.mark.parametrize("goes_back", [True, False])
async def test_another_origin_gets_no_header_of_the_caller(
    http: GuardedHttp, site: WebServer, names: Names, to: str, goes_back: bool
) -> None:
    names.lead("www.site.example", [PUBLIC])
    site.leads("/go", to)
    site.leads("/x", "http://site.example/end") if goes_back else site.says("/x")
    site.says("/end")
    secrets = {"Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "Cookie": "s=hunter2"}

    await http.send(HttpRequest("http://site.example/go", headers=secrets | {"Accept-Language": "zh"}))

    first, *others = site.asked
    assert first.headers["authorization"] == "Bearer hunter2"
    assert [asked.headers["accept-language"] for asked in others] == ["zh"] * len(others)
    assert others
    assert "hunter2" not in str(others)


async def test_the_same_origin_gets_them_again(http: GuardedHttp, site: WebServer) -> None:
    site.leads("/go", "http://site.example:80/there")
    site.says("/there")

    await http.send(HttpRequest("http://site.example/go", headers={"Authorization": "Bearer k"}))

    assert site.asked[1].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [
        ("301 M", "GET", b""),
        ("302 F", "GET", b""),
        ("303 S", "GET", b""),
        ("307 T", "POST", b"x"),
        ("308 P", "POST", b"x"),
    ],
)
async def test_a_post_goes_on_as_browsers_do(
    http: GuardedHttp, site: WebServer, status: str, method: str, body: bytes
) -> None:
    site.leads("/go", "/there", status)
    site.says("/there")

    await http.send(HttpRequest("http://site.example/go", "POST", {"Content-Type": "text/plain"}, b"x"))

    asked = site.asked[1]
    assert (asked.line, asked.body) == (f"{method} /there HTTP/1.1", body)
    assert ("content-type" in asked.headers) == (body != b"")


@pytest.mark.parametrize("status", ["307 Temporary", "308 Permanent"])
async def test_a_body_is_never_sent_on_to_another_origin(http: GuardedHttp, site: WebServer, status: str) -> None:
    site.leads("/go", "http://other.example/steal", status)

    with pytest.raises(AnswerRefused, match="another host"):
        await http.send(HttpRequest("http://site.example/go", "POST", body=b"hunter2"))

    assert len(site.asked) == 1


async def test_cookies_are_neither_kept_nor_shown(http: GuardedHttp, site: WebServer) -> None:
    site.says("/set", "302 Found", location="/", set_cookie="session=hunter2")
    site.says("/", set_cookie="session=hunter2")

    replies = [await http.send(HttpRequest("http://site.example/set")) for _ in range(2)]

    assert "hunter2" not in str([reply.headers for reply in replies])
    assert all("cookie" not in asked.headers for asked in site.asked)
