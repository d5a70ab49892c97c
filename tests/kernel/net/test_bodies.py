from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from kernel.errors import AnswerRefused
from kernel.net.bodies import read_body

TEXT = bytes(range(256)) * 40


class Wire:
    """Chunks as they come, and how many were taken."""

    def __init__(self, content: bytes, size: int = 1000) -> None:
        self._chunks = [content[at : at + size] for at in range(0, len(content), size)]
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            self.taken += 1
            yield chunk


def bare(content: bytes) -> bytes:
    """Deflate without any wrapper."""
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(content) + stream.flush()


@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("identity, gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", bare(TEXT)),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_content_is_the_same_however_it_travels(encoding: str, wire: bytes, size: int) -> None:
    assert await read_body(Wire(wire, size), encoding, len(TEXT)) == (TEXT, False)


async def test_plain_content_stops_at_the_cap() -> None:
    wire = Wire(TEXT)

    content, is_cut = await read_body(wire, "", 1500)

    assert (content, is_cut, wire.taken) == (TEXT[:1500], True, 2)


async def test_a_bomb_stops_in_its_first_chunk_before_it_has_grown() -> None:
    wire = Wire(gzip.compress(b"0" * 20_000_000), 10_000)
    tracemalloc.start()

    content, is_cut = await read_body(wire, "gzip", 5_000)

    assert (content, is_cut, wire.taken) == (b"0" * 5_000, True, 1)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


async def test_compressed_content_that_never_grows_stops_too() -> None:
    nothing = zlib.compressobj(wbits=31)
    wire = Wire(nothing.compress(b"") + b"".join(nothing.flush(zlib.Z_SYNC_FLUSH) for _ in range(1)) + EMPTY * 10_000)

    content, is_cut = await read_body(wire, "gzip", 5_000)

    assert (content, is_cut) == (b"", True)
    assert wire.taken <= 6


EMPTY = b"\x00\x00\x00\xff\xff"
"""A stored block of deflate with nothing in it."""


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate, gzip", "br", "zstd", "compress", "gzip, br", "x"])
async def test_encodings_that_nobody_asked_for_are_refused(encoding: str) -> None:
    with pytest.raises(AnswerRefused, match="compressed"):
        await read_body(Wire(gzip.compress(gzip.compress(TEXT))), encoding, 100_000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_damage_is_said(encoding: str) -> None:
    with pytest.raises(AnswerRefused, match="damaged"):
        await read_body(Wire(b"<html>not compressed at all</html>"), encoding, 100_000)


async def test_compressed_content_that_ends_too_early_is_cut() -> None:
    whole = gzip.compress(TEXT)

    content, is_cut = await read_body(Wire(whole[: len(whole) // 2]), "gzip", 100_000)

    assert is_cut
    assert TEXT.startswith(content)


async def test_what_comes_after_the_end_of_compressed_content_is_not_read_as_content() -> None:
    assert await read_body(Wire(gzip.compress(TEXT) + b"more"), "gzip", 100_000) == (TEXT, True)


async def test_an_empty_body_is_whole_whatever_its_encoding() -> None:
    assert await read_body(Wire(b""), "gzip", 100) == (b"", False)
