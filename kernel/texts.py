"""Sentences for people: said in their language, their own words shown as they are."""

from __future__ import annotations

import re
from typing import Final

from kernel.sentences import SENTENCES

LANGUAGES: Final = ("zh", "en")

_ADDRESS = re.compile(r"(https?://[^\s<>*`~|\[\]\\]+)")
_MARK = re.compile(r"([\\`*_\[\]~|])")
_OPENING = re.compile(r"^(\s*)([#>+=-]|\d{1,9}(?=[.)]))", re.MULTILINE)
_ENTITY = re.compile(r"&(?=#?\w+;)")


def say(key: str, language: str, **fields: str) -> str:
    """The sentence `key` in `language` (`zh`, else English), Markdown; `fields` are filled in as they are.

    What people or models wrote goes through `verbatim` first.
    """
    chinese, english = SENTENCES[key]
    return (chinese if language == "zh" else english).format(**fields)


def verbatim(words: str) -> str:
    """Markdown that shows `words` as they are: `2*3*4` keeps its stars, `[here](https://…)` is no link."""
    pieces = _ADDRESS.split(words)
    return "".join(piece if number % 2 else _escaped(piece) for number, piece in enumerate(pieces))


def _escaped(words: str) -> str:
    """Slack takes every `<` for its own, so brackets become entities, which all renderers show as characters."""
    marked = _MARK.sub(r"\\\1", _ENTITY.sub("&amp;", words)).replace("<", "&lt;")
    return _OPENING.sub(_opening, marked)


def _opening(found: re.Match[str]) -> str:
    """A sign that would open a list, a heading or a quote; of a number it is the dot behind it that does."""
    space, sign = found.groups()
    return f"{space}{sign}\\" if sign.isdigit() else f"{space}\\{sign}"


def keys() -> tuple[str, ...]:
    """Every key there is."""
    return tuple(SENTENCES)


def language_of(text: str, known: str | None = None, setting: str = "auto") -> str:
    """The language to answer in: the operator's `setting`, else that of the words, else what is `known`, else zh."""
    if setting in LANGUAGES:
        return setting
    return written_in(text) or (known if known in LANGUAGES else "zh")


def written_in(text: str) -> str | None:
    """The language that the words themselves show: zh, en, or None for a command, numbers, a smile."""
    if any("\u3400" <= sign <= "\u9fff" for sign in text):
        return "zh"
    if any(sign.isascii() and sign.isalpha() for sign in text) and not text.startswith("/"):
        return "en"
    return None
