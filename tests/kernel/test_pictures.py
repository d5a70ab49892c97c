"""What the first bytes of a picture say."""

from __future__ import annotations

import random
import struct

import pytest

from kernel.pictures import MOST_BYTES, MOST_SIDE, Picture, can_be_shown, picture_of


def png(width: int = 3, height: int = 2) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0" + b"\0" * 20


def jpeg(width: int = 3, height: int = 2) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 40) + b"Exif\0\0" + b"\xff\xc0" * 16
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\1\x11\0"
    return b"\xff\xd8" + exif + frame + b"\xff\xd9"


GIF = b"GIF89a" + struct.pack("<HH", 3, 2) + b"\0\0\0;"
VP8X = b"RIFF\0\0\0\0WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + b"\2\0\0" + b"\1\0\0"
VP8L = b"RIFF\0\0\0\0WEBPVP8L" + struct.pack("<I", 10) + b"\x2f" + struct.pack("<I", 2 | 1 << 14)
VP8 = b"RIFF\0\0\0\0WEBPVP8 " + struct.pack("<I", 10) + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 3, 2)


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (GIF, "image/gif"),
        (VP8X, "image/webp"),
        (VP8L, "image/webp"),
        (VP8, "image/webp"),
    ],
)
def test_kind_and_sides_are_read(content: bytes, mime: str) -> None:
    assert picture_of(content) == Picture(mime, 3, 2)


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff", b"%PDF-1.7", b"RIFF\0\0\0\0WAVEfmt ", png(0), png()[:20]])
def test_anything_else_is_no_picture(content: bytes) -> None:
    assert picture_of(content) is None


def test_what_models_refuse_is_not_shown_to_them() -> None:
    assert can_be_shown(png(MOST_SIDE, MOST_SIDE))
    assert not can_be_shown(png(MOST_SIDE + 1))
    assert not can_be_shown(png() + bytes(MOST_BYTES))
    assert not can_be_shown(b"<svg/>")


def test_damaged_pictures_raise_nothing() -> None:
    dice = random.Random(5)
    for whole in (png(), jpeg(), GIF, VP8X, VP8L, VP8):
        for _ in range(500):
            damaged = bytearray(whole[: dice.randrange(2, len(whole) + 1)])
            for _ in range(dice.randrange(3)):
                damaged[dice.randrange(len(damaged))] = dice.randrange(256)
            picture_of(bytes(damaged))
