from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from kernel.errors import ModelError, RetryError
from kernel.logs import set_up
from kernel.net.client import GuardedHttp
from kernel.ports import HttpRequest
from tests.kernel.net.conftest import PUBLIC
from tests.twins.net import Redial
from tests.twins.web_server import WebServer, raw


async def test_a_page_is_fetched(http: GuardedHttp, site: WebServer, dial: Redial) -> None:
    site.says("/a", body="你好".encode(), content_type="text/html", X_One="1")

    reply = await http.send(HttpRequest("http://site.example/a?b=c#part"))

    assert (reply.status, reply.url, reply.content) == (200, "http://site.example/a?b=c", "你好".encode())
    assert (reply.headers["content-type"], reply.headers["x-one"], reply.is_cut) == ("text/html", "1", False)
    assert dial.dialled == [(PUBLIC, 80)]
    assert site.asked[0].line == "GET /a?b=c HTTP/1.1"
    assert site.asked[0].headers["host"] == "site.example"
    assert site.asked[0].headers["connection"] == "close"


async def test_what_the_caller_says_arrives(http: GuardedHttp, site: WebServer) -> None:
    site.says("/api", "201 Created", b"{}")
    headers = {"Authorization": "Bearer k", "Content-Type": "application/json", "Accept": "application/json"}

    reply = await http.send(HttpRequest("http://site.example:8080/api", "POST", headers, b'{"a":1}'))

    asked = site.asked[0]
    assert (reply.status, asked.line, asked.body) == (201, "POST /api HTTP/1.1", b'{"a":1}')
    assert asked.headers["host"] == "site.example:8080"
    assert {name: asked.headers[name.lower()] for name in headers} == headers


async def test_an_answer_of_any_status_is_an_answer(http: GuardedHttp, site: WebServer) -> None:
    site.says("/gone", "410 Gone", b"no more")

    reply = await http.send(HttpRequest("http://site.example/gone"))

    assert (reply.status, reply.content) == (410, b"no more")


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nX-Evil: 1"},
        {"X": "a\nb"},
        {"X": "a\0"},
        {"X\r\nX-Evil": "1"},
        {"X Y": "1"},
        {"": "1"},
        {"X:": "1"},
        {"X": "中"},
        {"Host": "127.0.0.1"},
        {"HOST": "127.0.0.1"},
        {"Content-Length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "keep-alive"},
        {"Upgrade": "websocket"},
    ],
)
async def test_headers_that_change_the_request_are_refused(
    http: GuardedHttp, dial: Redial, headers: dict[str, str]
) -> None:
    with pytest.raises(ModelError):
        await http.send(HttpRequest("http://site.example/", headers=headers))

    assert dial.dialled == []


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "GET /x HTTP/1.1\r\n", "", "PURGE"])
async def test_other_methods_are_refused(http: GuardedHttp, dial: Redial, method: str) -> None:
    with pytest.raises(ModelError):
        await http.send(HttpRequest("http://site.example/", method))

    assert dial.dialled == []


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What our processes log while the test runs, from debug on."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level, sys.excepthook, sys.unraisablehook)
    stream = io.StringIO()
    set_up("debug", (), stream)
    yield stream
    root.handlers[:], root.level = before[0], before[1]
    sys.excepthook, sys.unraisablehook = before[2], before[3]
    structlog.reset_defaults()


@pytest.mark.parametrize("page", ["garbage", "silent", "redirect", "inner", "bomb"])
async def test_no_secret_of_the_request_is_in_errors_or_logs(
    http: GuardedHttp, site: WebServer, page: str, lines: io.StringIO
) -> None:
    site.pages["/garbage"] = raw(b"garbage\r\n\r\n")
    site.holds("/silent")
    site.leads("/redirect", "/redirect?key=hunter2")
    site.leads("/inner", "http://127.0.0.1/?key=hunter2")
    site.says("/bomb", body=b"x", content_encoding="gzip, gzip")
    request = HttpRequest(f"http://site.example/{page}?key=hunter2", "POST", {"Authorization": "hunter2"}, b"hunter2")

    with pytest.raises((ModelError, RetryError)) as failed:
        await http.send(request)

    shown = [repr(request), lines.getvalue()]
    error: BaseException | None = failed.value
    while error is not None:
        shown += [str(error), repr(error)]
        error = error.__cause__ or error.__context__
    assert "hunter2" not in "\n".join(shown)


async def test_a_reply_does_not_show_what_it_holds(http: GuardedHttp, site: WebServer) -> None:
    site.says("/", body=b"hunter2", x_key="hunter2")

    assert "hunter2" not in repr(await http.send(HttpRequest("http://site.example/?key=hunter2")))
