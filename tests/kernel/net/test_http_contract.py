"""What every `Http` does, the real one and the twin."""

from __future__ import annotations

from typing import Protocol

import pytest

from kernel.errors import AddressRefused, AnswerRefused
from kernel.net.client import GuardedHttp
from kernel.ports import Http, HttpRequest
from tests.twins.http import TwinHttp
from tests.twins.web_server import WebServer

BASE = "http://site.example"


class Web(Protocol):
    """An `Http` and the site that it can reach."""

    http: Http

    def says(self, path: str, body: bytes) -> None: ...

    def leads(self, path: str, to: str) -> None: ...


class RealWeb:
    def __init__(self, http: GuardedHttp, site: WebServer) -> None:
        self.http: Http = http
        self._site = site

    def says(self, path: str, body: bytes) -> None:
        self._site.says(path, body=body)

    def leads(self, path: str, to: str) -> None:
        self._site.leads(path, to)


class TwinWeb:
    def __init__(self) -> None:
        self._twin = TwinHttp()
        self.http: Http = self._twin

    def says(self, path: str, body: bytes) -> None:
        self._twin.says(BASE + path, body)

    def leads(self, path: str, to: str) -> None:
        self._twin.leads(BASE + path, to)


@pytest.fixture(params=["real", "twin"])
def web(request: pytest.FixtureRequest, http: GuardedHttp, site: WebServer) -> Web:
    return RealWeb(http, site) if request.param == "real" else TwinWeb()


async def test_the_answer_says_where_it_came_from_in_the_end(web: Web) -> None:
    web.leads("/go", "/there?a=1#part")
    web.says("/there" if isinstance(web, RealWeb) else "/there?a=1", b"here")

    reply = await web.http.send(HttpRequest(f"{BASE}/go"))

    assert (reply.status, reply.url, reply.content, reply.is_cut) == (200, f"{BASE}/there?a=1", b"here", False)


async def test_the_answer_is_cut_at_the_cap(web: Web) -> None:
    web.says("/", b"0123456789")

    cut = await web.http.send(HttpRequest(f"{BASE}/", cap_bytes=9))
    whole = await web.http.send(HttpRequest(f"{BASE}/", cap_bytes=10))

    assert (cut.content, cut.is_cut, whole.is_cut) == (b"012345678", True, False)


async def test_six_redirects_are_one_too_many(web: Web) -> None:
    for hop in range(6):
        web.leads(f"/{hop}", f"/{hop + 1}")
    web.says("/6", b"end")

    assert (await web.http.send(HttpRequest(f"{BASE}/1"))).content == b"end"
    with pytest.raises(AnswerRefused):
        await web.http.send(HttpRequest(f"{BASE}/0"))


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://127.0.0.1/", "http://2130706433/", "http://u:p@x.example/"]
)
async def test_what_must_not_be_asked_is_refused_directly_and_behind_a_redirect(web: Web, url: str) -> None:
    web.leads("/go", url)

    for each in (url, f"{BASE}/go"):
        with pytest.raises(AddressRefused):
            await web.http.send(HttpRequest(each))


async def test_a_host_that_does_not_exist_is_said(web: Web) -> None:
    with pytest.raises(AnswerRefused):
        await web.http.send(HttpRequest("http://nowhere.example/"))
