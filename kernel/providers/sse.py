"""Server-sent events out of bytes, for both dialects.

Lines end at LF or CRLF and nowhere else (no service uses the bare CR of the standard): `str.splitlines`, and with it
httpx's `aiter_lines`, would also cut at a U+2028 inside a JSON string.
"""

from __future__ import annotations

from kernel.errors import ProviderFailed

LARGEST_EVENT_BYTES = 8 * 1024 * 1024


class EventReader:
    """Gives the `data` of each event once its blank line is there; an event that the stream ends in was cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Events that are whole now; comments, names of events and blank lines are passed over.

        Raises `ProviderFailed` for an event over 8 MiB.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
                self._size += len(line)
            elif line in (b"", b"\r") and self._data:
                events.append(b"\n".join(self._data))
                self._data, self._size = [], 0
        if self._size + len(self._rest) > LARGEST_EVENT_BYTES:
            raise ProviderFailed("the model's service sent an event over 8 MiB")
        return events
