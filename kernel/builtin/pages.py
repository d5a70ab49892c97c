"""What stands on a page, from the bytes that came: title and text, whatever they claim to be and however they lie.

HTML becomes Markdown by html-to-markdown: MIT, no dependencies, native, releases the interpreter while it works and
takes an address to make links whole. With 100,000 elements in each other markdownify ends in a recursion error and
selectolax takes half a minute; trafilatura brings more than a dozen packages; html2text is GPL.
"""

from __future__ import annotations

import codecs
import html
import re
from dataclasses import dataclass

from kernel.errors import ModelError

MAX_TITLE_CHARS = 200
_MAX_DEPTH = 200
"""Deeper elements are left out: without a bound, 1 MB of quotes in quotes takes 1.4 GB of memory."""

_ENCODINGS = frozenset(
    (
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "gb18030", "big5", "big5hkscs", "shift_jis", "cp932", "euc_jp"),
        *("iso2022_jp", "euc_kr", "cp949", "koi8-r", "koi8-u", "cp874", "mac-roman"),
        *(f"cp125{page}" for page in range(9)),
        *(f"iso8859-{part}" for part in (*range(2, 12), *range(13, 17))),
    )
)
"""Python's names of what the Encoding Standard lets a page be written in. Others (zlib, rot13) are no writing."""
_STANDS_FOR = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}
"""What pages mean when they say it (Encoding Standard, names and labels)."""
_READS_AS_UTF_8 = frozenset(("utf-16", "utf-16-le", "utf-16-be", "iso2022_jp"))
"""Made of bytes that are UTF-8 too, so they come first where they are said."""
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_LABEL = r"charset\s*=\s*[\"']?\s*([\w-]{1,40})"
_META = re.compile(rb"<meta[^>]{0,300}?" + _LABEL.encode(), re.IGNORECASE)
_WIDE = re.compile(r"\b(col|row)span\s*=\s*[\"']?\s*\d{3,}", re.IGNORECASE)
"""Cells over a hundred columns; a table of such cells grows a hundredfold on its way to Markdown."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees and a model reads: controls, turned writing, tags."""

_MAGIC = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "an archive or an office document"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image or a recording"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a person would read: one line of title, empty when there is none, and the text."""

    title: str
    text: str


def read_page(content: bytes, content_type: str, url: str, *, is_cut: bool = False) -> Page:
    """The page that the bytes hold: HTML as Markdown with whole links, JSON and other text as it is.

    Raises `ModelError` for what is no text, and for HTML that cannot be read. Takes a second of CPU for the worst
    megabyte: run it beside the event loop.
    """
    said = content_type.lower()
    if kind := _not_text(content, said):
        raise ModelError(f"This is {kind}, which cannot be read here. A page with the same content may exist.")
    text = decode(content, said, is_cut=is_cut)
    if not _is_html(text, said):
        return Page("", _readable(text))
    return Page(_title(text), _readable(_markdown(text, url)))


def decode(content: bytes, content_type: str, *, is_cut: bool = False) -> str:
    """The text in the encoding that fits best, whatever was said.

    UTF-8 that reads as such is UTF-8; then come what the header and the page say, then Chinese, then Western Europe.
    With `is_cut` a character broken at the end is left out.
    """
    for mark, name in _BOMS:
        if content.startswith(mark):
            return _decoded(content[len(mark) :], name, is_cut=is_cut)
    labels = [match[1] for match in [re.search(_LABEL, content_type)] if match]
    labels += [match[1].decode("ascii", "replace") for match in [_META.search(content[:4096])] if match]
    said = [name for name in map(_encoding, labels) if name]
    # Western European fits anything, and servers say it without looking: it comes last, but keeps Chinese off.
    chinese = ["gb18030"] if "cp1252" not in said else []
    guesses = ["utf-8", *(name for name in said if name != "cp1252"), *chinese]
    for name in sorted(guesses, key=lambda name: name not in _READS_AS_UTF_8):
        text = _decoded(content, name, is_cut=is_cut)
        if text.count("\ufffd") * 1000 <= len(text):
            return text
    return _decoded(content, "utf-8" if "utf-8" in said else "cp1252", is_cut=is_cut)


def _decoded(content: bytes, name: str, *, is_cut: bool) -> str:
    return codecs.getincrementaldecoder(name)("replace").decode(content, final=not is_cut)


def _encoding(label: str) -> str | None:
    """Python's name for a page's word; None for words that name no writing."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _STANDS_FOR.get(name, name)
    return name if name in _ENCODINGS else None


def _not_text(content: bytes, said: str) -> str | None:
    """What the content is when it is no text, as a noun."""
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    is_wide = "utf-16" in said or content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "a file that is no text" if b"\0" in content[:4096] and not is_wide else None


def _is_html(text: str, said: str) -> bool:
    return "html" in said.partition(";")[0] or text[:500].lstrip().lower().startswith(("<!doctype html", "<html"))


def _markdown(text: str, url: str) -> str:
    # Most workers never read a page: 3 MB less until they do.
    from html_to_markdown import (  # noqa: PLC0415
        ConversionError,
        ConversionOptions,
        PreprocessingOptions,
        convert,
    )

    options = ConversionOptions(
        base_url=url,
        extract_metadata=False,
        skip_images=True,
        max_depth=_MAX_DEPTH,
        # Whole sites stand inside one form.
        preprocessing=PreprocessingOptions(remove_navigation=True, remove_forms=False),
    )
    try:
        return convert(_WIDE.sub(r"\1span=1", text), options).content or ""
    except ConversionError as error:
        raise ModelError("The page is built in a way that cannot be read.") from error


def _title(text: str) -> str:
    """By hand, as it is the same for every page; a pattern would go over a page of opened titles again and again."""
    head = text[:100_000]
    lower = head.lower()
    start = lower.find(">", lower.find("<title") + 1) + 1
    end = lower.find("</title", start)
    if "<title" not in lower or start == 0 or end < 0:
        return ""
    return " ".join(_readable(html.unescape(head[start:end])).split())[:MAX_TITLE_CHARS]


def _readable(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"\n{3,}", "\n\n", _UNSEEN.sub("", lines)).strip()
