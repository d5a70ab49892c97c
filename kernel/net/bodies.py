"""Content as it comes, decompressed in small steps: what a body grows to is known before it is held."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from kernel.errors import AnswerRefused

ENCODINGS = "gzip, deflate"
"""What is asked for (`accept-encoding`) and understood."""


async def read_body(chunks: AsyncIterable[bytes], encoding: str, cap_bytes: int) -> tuple[bytes, bool]:
    """The body's first `cap_bytes` bytes, decompressed, and whether there was more.

    Stops reading as soon as either the wire or the content has given more than `cap_bytes`.
    Raises `AnswerRefused` for an encoding that we did not ask for, for two on top of each other (nobody but bombs
    sends them), and for damage.
    """
    inflate = _inflater(encoding)
    content = bytearray()
    wire = 0
    async for chunk in chunks:
        wire += len(chunk)
        content += inflate(chunk, cap_bytes + 1 - len(content)) if inflate else chunk
        if max(wire, len(content)) > cap_bytes:
            return bytes(content[:cap_bytes]), True
    return bytes(content), inflate is not None and wire > 0 and not inflate.is_done


class _Inflate:
    """gzip, zlib or bare deflate, told apart by their first two bytes: servers call the last two the same."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._head = b""
        self._stream: zlib._Decompress | None = None

    @property
    def is_done(self) -> bool:
        """The content has come to its end, and nothing came after it."""
        return self._stream is not None and self._stream.eof and not self._stream.unused_data

    def __call__(self, chunk: bytes, most: int) -> bytes:
        """What the chunk adds to the content, at most `most` bytes of it."""
        if self._stream is None:
            self._head += chunk
            if len(self._head) < 2:
                return b""
            chunk, self._head = self._head, b""
            self._stream = zlib.decompressobj(self._window(chunk))
        try:
            return self._stream.decompress(chunk, most)
        except zlib.error as error:
            raise AnswerRefused("The content is damaged: it cannot be decompressed.") from error

    def _window(self, head: bytes) -> int:
        if self._is_gzip:
            return zlib.MAX_WBITS | 16
        is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


def _inflater(encoding: str) -> _Inflate | None:
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    match names:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return _Inflate(is_gzip=True)
        case ["deflate"]:
            return _Inflate(is_gzip=False)
        case _:
            raise AnswerRefused("The content is compressed in a way that is not understood.")
