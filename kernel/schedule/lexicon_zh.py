"""All Chinese words of the schedule grammar in one table, found by their first character, the longest first."""

from __future__ import annotations

from kernel.schedule.compounds_zh import compounds
from kernel.schedule.folding import fold
from kernel.schedule.names_zh import NAMES
from kernel.schedule.tokens import Kind, words
from kernel.schedule.words_zh import SINGLE

Entry = tuple[int, Kind, float, str]
"""How many characters of the word one token takes, then its kind, number and canonical word."""


def _lexicon() -> dict[str, tuple[Entry, ...]]:
    """Every word as a folded message holds it."""
    found: dict[str, tuple[Entry, ...]] = {}
    for kind, n, canonical, listed in (*SINGLE, *NAMES):
        for word in words(listed):
            found[fold(word)] = ((len(word), kind, n, canonical or fold(word)),)
    for first, second, head, tail in compounds():
        found[fold(head + tail)] = ((len(head), *first), (len(tail), *second))
    return found


def _lengths(lexicon: dict[str, tuple[Entry, ...]]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for word in lexicon:
        found.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(sizes, reverse=True)) for first, sizes in found.items()}


LEXICON = _lexicon()
FIRST = _lengths(LEXICON)
"""Which lengths of words start with a character, longest first."""
