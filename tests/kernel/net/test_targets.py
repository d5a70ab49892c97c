from __future__ import annotations

import re

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import AddressRefused
from kernel.net.addresses import numeric
from kernel.net.targets import MAX_URL_CHARS, canonical, read_target

NOBODY: frozenset[tuple[str, int]] = frozenset()


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://example.com", "example.com", 80),
        ("HTTPS://Example.COM/A?b=c#d", "example.com", 443),
        ("https://example.com:8443/", "example.com", 8443),
        ("http://93.184.216.34/", "93.184.216.34", 80),
        ("http://[2606:4700:0:0::1111]:8080/", "2606:4700::1111", 8080),
        ("https://例子.测试/路径", "xn--fsqu00a.xn--0zwm56d", 443),
        ("http://a_b.example/", "a_b.example", 80),
    ],
)
def test_a_target_has_one_spelling(text: str, host: str, port: int) -> None:
    target = read_target(text, NOBODY)

    assert (target.host, target.port) == (host, port)


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 8000, 8080, 8443, 9000, 65_535])
def test_ports_of_the_web_are_asked(port: int) -> None:
    assert read_target(f"http://example.com:{port}/", NOBODY).port == port


@pytest.mark.parametrize("port", [1, 21, 22, 23, 25, 53, 110, 143, 389, 445, 587, 993, 1723, 6000, 6379, 6667, 11211])
def test_ports_of_other_services_are_not(port: int) -> None:
    with pytest.raises(AddressRefused, match=str(port)):
        read_target(f"http://example.com:{port}/", NOBODY)


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "x", "80x"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(AddressRefused):
        read_target(f"http://example.com:{port}/", NOBODY)


def test_an_exception_lifts_the_rule_of_ports_for_its_host_alone() -> None:
    allow = frozenset({("example.com", 25)})

    assert read_target("http://example.com:25/", allow).port == 25
    with pytest.raises(AddressRefused):
        read_target("http://www.example.com:25/", allow)
    with pytest.raises(AddressRefused):
        read_target("http://example.com:22/", allow)


@pytest.mark.parametrize(
    "text",
    [
        *("file:///etc/passwd", "gopher://example.com/_x", "ftp://example.com/", "dict://example.com:1/", "data:,x"),
        *("javascript:alert(1)", "ws://example.com/", "example.com", "//example.com/", "/etc/passwd", "", "http:"),
        *("http://", "http:///example.com/", "http:example.com", "http:/example.com", "http:\\\\example.com\\"),
        *("view-source:http://example.com/", "jar:http://example.com!/", "http+unix://%2Frun%2Fs/"),
    ],
)
def test_what_is_no_web_address_is_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        read_target(text, NOBODY)


@pytest.mark.parametrize(
    "text",
    [
        "http://example.com/\r\nX-Evil: 1",
        "http://example.com/ HTTP/1.1\r\nHost: evil\r\n\r\n",
        "http://example.com\r\n@evil/",
        "http://example.com/\nx",
        "http://example.com/\x00",
        "http://exa\tmple.com/",
        "http://example.com/\x7f",
    ],
)
def test_an_address_cannot_smuggle_lines_into_the_request(text: str) -> None:
    with pytest.raises(AddressRefused):
        read_target(text, NOBODY)


@given(
    st.sampled_from(["", "http://", "https://a.example/", "http://[", "//", "http://a.example:"]),
    st.text(
        st.sampled_from("aZ0.:/@[]%\\?#&=+-_ \r\n\t\x00xn１。中é\u200b\U000e0041\ud800") | st.characters(), max_size=40
    ),
)
def test_any_text_is_a_target_in_one_plain_spelling_or_refused(head: str, tail: str) -> None:
    base = read_target("http://base.example/x", NOBODY)
    for within in (None, base):
        try:
            target = read_target(head + tail, NOBODY, within)
        except AddressRefused:
            continue
        h11.Request(method="GET", target=target.url.raw_path, headers=[(b"host", target.url.netloc)])
        assert numeric(target.host) or re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", target.host)
        assert read_target(str(target.url), NOBODY).host == target.host
        assert 0 < target.port < 65_536


def test_spaces_in_a_path_are_quoted_and_cannot_end_the_request_line() -> None:
    assert read_target("http://example.com/a b HTTP/1.1", NOBODY).url.raw_path == b"/a%20b%20HTTP/1.1"


def test_an_address_longer_than_servers_take_is_refused() -> None:
    with pytest.raises(AddressRefused, match="longer"):
        read_target("http://example.com/" + "a" * MAX_URL_CHARS, NOBODY)


@pytest.mark.parametrize(
    "text", ["http://example.com:hunter2@evil/", "http://u:hunter2@example.com/", "http://exa mple.com/hunter2"]
)
def test_a_refusal_does_not_quote_the_address(text: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        read_target(text, NOBODY)

    error: BaseException | None = refused.value
    while error is not None:
        assert "hunter2" not in f"{error} {error!r}"
        error = error.__cause__


def test_a_target_does_not_show_its_path() -> None:
    assert "hunter2" not in repr(read_target("http://example.com/?key=hunter2", NOBODY))


@pytest.mark.parametrize(
    ("host", "same"),
    [("Example.COM", "example.com"), ("[::1]", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("127.0.0.1", "127.0.0.1")],
)
def test_exceptions_may_be_written_in_any_plain_spelling(host: str, same: str) -> None:
    assert canonical(host) == same
