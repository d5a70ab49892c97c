from __future__ import annotations

from datetime import timedelta

import pytest

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.providers.status import Refusal, Service, error_words, message_of

KEY = "sk-canary-0123456789"
SERVICE = Service("api.example.com", "glm-9", "OPENAI_API_KEY", "OPENAI_BASE_URL", KEY)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_tried_again(status: int) -> None:
    error = SERVICE.error(status, "busy", timedelta(seconds=3))

    assert isinstance(error, ProviderFailed)
    assert error.after == timedelta(seconds=3)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (301, "api.example.com sends us to another address (301): check OPENAI_BASE_URL"),
        (400, "api.example.com refuses the request (400): no such thing"),
        (401, "api.example.com does not accept the key (401): check OPENAI_API_KEY"),
        (402, "api.example.com says that this account has no credit left (402): no such thing"),
        (403, "api.example.com does not let this key use glm-9 (403): check OPENAI_API_KEY and ZCLAW_MODEL"),
        (404, "api.example.com knows no model glm-9 (404): check ZCLAW_MODEL and OPENAI_BASE_URL"),
        (413, "api.example.com refuses the request (413): no such thing"),
    ],
)
def test_what_lasts_says_in_one_line_what_to_change(status: int, line: str) -> None:
    error = SERVICE.error(status, "no such thing")

    assert isinstance(error, ProviderRefused)
    assert str(error) == line


@pytest.mark.parametrize("status", [400, 401, 402, 403, 422, 429, 500])
def test_the_key_is_never_quoted(status: int) -> None:
    assert KEY not in str(SERVICE.error(status, f"bad key {KEY}\nsecond\x1b[31m line {KEY}"))
    assert KEY not in repr(SERVICE)


def test_a_key_of_one_letter_does_not_blot_out_what_is_said() -> None:
    error = Service("127.0.0.1", "m", "K", "U", "x").error(400, "max_tokens is too big")

    assert isinstance(error, Refusal)
    assert error.said == "max_tokens is too big"


def test_a_quote_is_one_short_line() -> None:
    said = str(SERVICE.error(400, "a\nb\x00c" + "很长" * 500))

    assert said.isprintable()
    assert len(said) < 300


def test_error_bodies_of_both_dialects_are_read() -> None:
    assert message_of(b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}') == (
        "Overloaded",
        "overloaded_error",
    )
    assert message_of('{"error": {"message": "m", "type": "t", "code": "insufficient_quota"}}') == (
        "m",
        "insufficient_quota",
    )
    assert error_words({"error": "plain"}) == error_words({"message": "plain"}) == ("plain", "")
    assert message_of(b"<html>502</html>") == message_of(b"\xff") == message_of("[]") == ("", "")
