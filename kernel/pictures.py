"""What a picture's first bytes say of it, and whether models take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST_BYTES: Final = 3_500_000
"""Of a picture that is shown to a model: in base64 it stays below Anthropic's 5 MB."""
MOST_SIDE: Final = 8000
"""Pixels; Anthropic refuses the whole request for a larger one."""
_JPEG_SIZES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD8)})


@dataclass(frozen=True, slots=True)
class Picture:
    """One of the four kinds that models take; sides in pixels."""

    mime: str
    width: int
    height: int


def picture_of(content: bytes) -> Picture | None:
    """The JPEG, PNG, GIF or WebP that these bytes begin; None for everything else, and for what is damaged."""
    try:
        mime, (width, height) = _read(content)
    except (IndexError, ValueError):
        return None
    return Picture(mime, width, height) if width > 0 and height > 0 else None


def can_be_shown(content: bytes) -> bool:
    """Whether models take it: a picture, and neither too heavy nor too large."""
    picture = picture_of(content)
    return picture is not None and len(content) <= MOST_BYTES and max(picture.width, picture.height) <= MOST_SIDE


def _read(content: bytes) -> tuple[str, tuple[int, int]]:
    """Raises IndexError and ValueError."""
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg(content)
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
        return "image/png", (_big(content, 16, 4), _big(content, 20, 4))
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif", (_little(content, 6, 2), _little(content, 8, 2))
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp", _webp(content)
    raise ValueError("no picture")


def _jpeg(content: bytes) -> tuple[int, int]:
    """From the first segment that tells the size; segments follow each other, each with its length."""
    at = 2
    while True:
        if content[at] != 0xFF:
            raise ValueError("no segment")
        mark = content[at + 1]
        if mark == 0xFF:
            at += 1
        elif mark in _JPEG_BARE:
            at += 2
        elif mark in _JPEG_SIZES:
            return _big(content, at + 7, 2), _big(content, at + 5, 2)
        else:
            at += 2 + max(_big(content, at + 2, 2), 2)


def _webp(content: bytes) -> tuple[int, int]:
    match content[12:16]:
        case b"VP8X":
            return _little(content, 24, 3) + 1, _little(content, 27, 3) + 1
        case b"VP8L":
            bits = _little(content, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(content, 26, 2) & 0x3FFF, _little(content, 28, 2) & 0x3FFF
        case _:
            raise ValueError("no WebP that we know")


def _big(content: bytes, at: int, count: int) -> int:
    return int.from_bytes(_piece(content, at, count), "big")


def _little(content: bytes, at: int, count: int) -> int:
    return int.from_bytes(_piece(content, at, count), "little")


def _piece(content: bytes, at: int, count: int) -> bytes:
    piece = content[at : at + count]
    if len(piece) != count:
        raise ValueError("cut off")
    return piece
