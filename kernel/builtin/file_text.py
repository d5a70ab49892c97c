"""The text of a file: which bytes are text at all, in which encoding, and how to put it back the same way."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from kernel.errors import ModelError

_KINDS = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive (docx, xlsx and pptx are such)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"OggS", "an Ogg sound file"),
    (b"ID3", "an MP3 sound file"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class FileText:
    """Decoded text with `\\n` as line end; `encoding` and `has_crlf` say how the file itself writes it."""

    text: str
    encoding: str
    has_crlf: bool

    @property
    def lines(self) -> list[str]:
        """Its lines; a line end at the very end opens no further line."""
        return self.text.removesuffix("\n").split("\n") if self.text else []

    def encoded(self, text: str) -> bytes:
        """`text` as this file would write it. Raises `ModelError` when its encoding cannot."""
        return encode(text.replace("\n", "\r\n") if self.has_crlf else text, self.encoding)


def decode(content: bytes) -> FileText | None:
    """The text in the bytes (UTF-8, UTF-16 with its mark, GB 18030); None when they are no text."""
    if kind_of(content) is not None:
        return None
    for encoding in _candidates(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _CONTROLS.search(text):
            has_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
            return FileText(text.replace("\r\n", "\n") if has_crlf else text, encoding, has_crlf)
    return None


def encode(text: str, encoding: str = "utf-8") -> bytes:
    """The bytes of the text. Raises `ModelError` for what the encoding has no bytes for."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise ModelError(
            f"Character {error.start + 1} of the text cannot be stored: it is half of a pair (a lone surrogate)."
        ) from error


def kind_of(content: bytes) -> str | None:
    """What well-known thing that is no text the bytes are; None for all others."""
    return next((kind for start, kind in _KINDS if content.startswith(start)), None)


def _candidates(content: bytes) -> tuple[str, ...]:
    if content.startswith(codecs.BOM_UTF8):
        return ("utf-8-sig",)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    return ("utf-8", "gb18030")
