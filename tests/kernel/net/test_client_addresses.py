from __future__ import annotations

import asyncio
import ipaddress

import pytest

from kernel.errors import AddressRefused, AnswerRefused, ModelError, NoAnswer
from kernel.net.client import GuardedHttp
from kernel.ports import HttpRequest
from tests.kernel.net.conftest import PUBLIC, SHORT, TLS
from tests.twins.net import Names, Redial
from tests.twins.web_server import WebServer, web_server

SPELLINGS = (
    *("127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "0", "0.0.0.0", "2130706433", "017700000001", "0x7f000001"),
    *("0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "0177.0.0.01", "127.0.0.1.", "127.000.000.001", "127.0.0.1%00"),
    *("１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "127.0.0.%31"),
    *("localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "ｌｏｃａｌｈｏｓｔ", "loc\u00adalhost", "loc%61lhost"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::1%25lo]"),
    *("[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::1]", "[2001:0:7f00:1::1]", "[fe80::1]", "[fec0::1]"),
    *(
        "[fd00:ec2::254]",
        "[ff02::1]",
        "169.254.169.254",
        "169.254.170.2",
        "0xa9fea9fe",
        "2852039166",
        "100.100.100.200",
    ),
    *("192.0.0.192", "168.63.129.16", "10.0.0.1", "10.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "224.0.0.1"),
    *("255.255.255.255", "240.0.0.1", "198.18.0.1", "u@127.0.0.1", "u:p@127.0.0.1", "site.example@127.0.0.1"),
    *("site.example%40127.0.0.1", "site.example:80@127.0.0.1", "site.example\\@127.0.0.1", "127.0.0.1\\.site.example"),
    *("inner.example", "mixed.example", "inner6.example", "mapped.example", "zone.example", "INNER.example"),
)


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_inner_address_is_dialled(host: str, traps: Names, canary: WebServer) -> None:
    dial = Redial(canary.port)
    http = GuardedHttp(resolve=traps, dial=dial, is_ours=lambda _: False, waits=SHORT, tls=TLS)

    with pytest.raises(ModelError) as refused:
        await http.send(HttpRequest(f"http://{host}:{canary.port}/"))

    assert isinstance(refused.value, AddressRefused | AnswerRefused)
    assert (dial.dialled, canary.connections) == ([], 0)
    await http.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "127.1", "2130706433", "ip6-localhost"])
async def test_this_machines_own_resolver_and_sockets_change_nothing(host: str, canary: WebServer) -> None:
    http = GuardedHttp(waits=SHORT, tls=TLS)

    with pytest.raises(ModelError):
        await http.send(HttpRequest(f"http://{host}:{canary.port}/"))

    assert canary.connections == 0
    await http.close()


def test_there_are_enough_spellings() -> None:
    assert len(set(SPELLINGS)) >= 40


@pytest.mark.parametrize("host", ["10.0.0.7", "inner.example", "mixed.example"])
async def test_a_refusal_names_the_host_as_it_was_asked_and_nothing_that_was_found(host: str, traps: Names) -> None:
    http = GuardedHttp(resolve=traps, dial=Redial(9), waits=SHORT, tls=TLS)

    with pytest.raises(AddressRefused) as refused:
        await http.send(HttpRequest(f"http://{host}/secret-path"))

    assert str(refused.value) == f"{host}: that address is not public."
    await http.close()


async def test_an_address_of_this_machine_is_refused_even_when_it_is_public(names: Names, site: WebServer) -> None:
    dial = Redial(site.port)
    ours = ipaddress.ip_address(PUBLIC)
    http = GuardedHttp(resolve=names, dial=dial, is_ours=lambda address: address == ours, waits=SHORT, tls=TLS)

    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://site.example/"))
    assert (await http.send(HttpRequest("http://other.example/"))).content == b"welcome"

    assert dial.dialled == [("93.184.216.35", 80)]
    await http.close()


async def test_the_checked_address_is_dialled_and_no_second_look_up_made(
    http: GuardedHttp, names: Names, dial: Redial
) -> None:
    names.lead("rebind.example", [PUBLIC], ["127.0.0.1"])

    assert (await http.send(HttpRequest("http://rebind.example/"))).content == b"welcome"
    assert (names.looked_up, dial.dialled) == (["rebind.example"], [(PUBLIC, 80)])

    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://rebind.example/"))
    assert dial.dialled == [(PUBLIC, 80)]


async def test_a_name_that_turns_inward_between_two_hops_is_refused(
    http: GuardedHttp, site: WebServer, names: Names, dial: Redial
) -> None:
    names.lead("rebind.example", [PUBLIC], ["127.0.0.1"])
    site.leads("/go", "/")

    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://rebind.example/go"))

    assert len(dial.dialled) == 1


async def test_the_next_address_is_tried_when_one_is_dead(http: GuardedHttp, names: Names, dial: Redial) -> None:
    names.lead("twice.example", ["2606:4700::1111", PUBLIC])
    dial.dead.add("2606:4700::1111")

    assert (await http.send(HttpRequest("http://twice.example/"))).status == 200
    assert [address for address, _ in dial.dialled] == ["2606:4700::1111", PUBLIC]


async def test_a_host_with_no_living_address_may_live_later(http: GuardedHttp, names: Names, dial: Redial) -> None:
    names.lead("dead.example", [PUBLIC])
    dial.dead.add(PUBLIC)

    with pytest.raises(NoAnswer, match=r"^dead\.example: no connection\.$"):
        await http.send(HttpRequest("http://dead.example/"))


async def test_a_name_that_does_not_exist_is_said(http: GuardedHttp) -> None:
    with pytest.raises(AnswerRefused, match="no host of that name"):
        await http.send(HttpRequest("http://nowhere.example/"))


@pytest.mark.parametrize("answer", [[], ["no number"], [PUBLIC, "no number"]])
async def test_a_name_that_leads_to_no_address_is_said(http: GuardedHttp, names: Names, answer: list[str]) -> None:
    names.lead("empty.example", answer)

    with pytest.raises(AnswerRefused, match="no address"):
        await http.send(HttpRequest("http://empty.example/"))


async def test_a_look_up_that_hangs_is_given_up(dial: Redial) -> None:
    async def hang(_: str) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError

    http = GuardedHttp(resolve=hang, dial=dial, waits=SHORT, tls=TLS)

    with pytest.raises(NoAnswer, match="looking up"):
        await http.send(HttpRequest("http://site.example/"))
    await http.close()


async def test_proxies_of_the_environment_are_not_used(
    http: GuardedHttp, canary: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, canary.url)

    assert (await http.send(HttpRequest("http://site.example/"))).content == b"welcome"
    assert canary.connections == 0


async def test_an_exception_opens_its_host_and_port(canary: WebServer) -> None:
    http = GuardedHttp(allow=frozenset({("127.0.0.1", canary.port)}), waits=SHORT, tls=TLS)

    assert (await http.send(HttpRequest(canary.url))).content == b"inner secret"
    await http.close()


@pytest.mark.parametrize(
    "url", ["http://localhost:{}/", "http://127.0.0.2:{}/", "http://[::1]:{}/", "http://127.1:{}/"]
)
async def test_an_exception_opens_no_other_name_of_the_same_place(url: str, canary: WebServer) -> None:
    http = GuardedHttp(allow=frozenset({("127.0.0.1", canary.port)}), waits=SHORT, tls=TLS)

    with pytest.raises(AddressRefused):
        await http.send(HttpRequest(url.format(canary.port)))

    assert canary.connections == 0
    await http.close()


async def test_an_exception_for_a_name_opens_the_inner_address_behind_it(names: Names, canary: WebServer) -> None:
    names.lead("wiki.inner", ["10.0.0.9"])
    http = GuardedHttp(
        allow=frozenset({("Wiki.Inner", 80)}), resolve=names, dial=Redial(canary.port), waits=SHORT, tls=TLS
    )

    assert (await http.send(HttpRequest("http://wiki.inner/"))).content == b"inner secret"
    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://10.0.0.9/"))
    with pytest.raises(AddressRefused):
        await http.send(HttpRequest("http://wiki.inner:8080/"))
    await http.close()


async def test_an_allowed_place_cannot_send_on_to_another_inner_one(canary: WebServer) -> None:
    async with web_server() as allowed:
        http = GuardedHttp(allow=frozenset({("127.0.0.1", allowed.port)}), waits=SHORT, tls=TLS)
        allowed.leads("/go", f"http://127.0.0.1:{canary.port}/")

        with pytest.raises(AddressRefused, match="leads to another address"):
            await http.send(HttpRequest(f"{allowed.url}/go"))

        assert canary.connections == 0
        await http.close()
