from __future__ import annotations

import pytest

from kernel.providers.window import is_too_long


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 1015 tokens > 200 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Range of input length should be [1, 30720]",
        "Your request exceeded model token limit: context window is 128k",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "Please reduce the length of the messages or completion.",
    ],
)
def test_every_way_of_saying_it_is_known(said: str) -> None:
    assert is_too_long(400, said)
    assert not is_too_long(401, said)


@pytest.mark.parametrize("said", ["no such field", "max_tokens: 16000 > 8192", "text content blocks must be non-empty"])
def test_other_refusals_are_something_else(said: str) -> None:
    assert not is_too_long(400, said)


def test_a_kind_or_a_status_is_enough() -> None:
    assert is_too_long(400, "?", "context_length_exceeded")
    assert is_too_long(413, "")
