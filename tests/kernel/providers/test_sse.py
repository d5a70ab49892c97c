from __future__ import annotations

import pytest

from kernel.errors import ProviderFailed
from kernel.providers.sse import EventReader

STREAM = (
    b": comment\n\n\n"
    b'event: x\ndata: {"a": "\xe2\x80\xa8"}\n\n'
    b"data:1\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n"
    b"id: 7\nretry: 5\n\ndata: [DONE]\n\ndata: cut"
)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_events_are_the_same_however_the_bytes_arrive(size: int) -> None:
    """A U+2028 inside a string is no line end; an event without its blank line was cut."""
    reader = EventReader()

    events = [one for start in range(0, len(STREAM), size) for one in reader.feed(STREAM[start : start + size])]

    assert events == [b'{"a": "\xe2\x80\xa8"}', b"1\n2", b"3", b"[DONE]"]


def test_an_event_without_end_is_given_up() -> None:
    reader = EventReader()
    reader.feed(b"data: " + b"x" * 8_000_000)

    with pytest.raises(ProviderFailed, match="8 MiB"):
        reader.feed(b"x" * 1_000_000)
