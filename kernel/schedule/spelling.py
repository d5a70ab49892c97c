"""Slips of the keyboard in English words: a letter more, less, other, or two swapped."""

from __future__ import annotations

from kernel.schedule.tokens import Kind, words
from kernel.schedule.words_en import WORDS

_CORRECTABLE = words(
    "remind reminder tomorrow tonight morning afternoon evening monday tuesday wednesday thursday "
    "friday saturday sunday minutes minute weekday weekdays midnight monthly weekly"
)
_BY_LETTER: dict[str, list[str]] = {}
for _target in _CORRECTABLE:
    _BY_LETTER.setdefault(_target[0], []).append(_target)


def near(word: str) -> tuple[Kind, float, str] | None:
    """The known word one slip away (a letter more, less, other, or two swapped), for longer words only."""
    size = len(word)
    if not 6 <= size <= 10:
        return None
    for target in _BY_LETTER.get(word[0], ()):
        if abs(len(target) - size) <= 1 and word not in _REAL and _one_slip(word, target):
            return WORDS[target]
    return None


_REAL = frozenset(
    words(
        "sundae minuet mourning remand remain rewind reminds reminded mondays tuesdays sundays "
        "evenings minuets friend weekdays"
    )
)


def _one_slip(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    i = 0
    while i < len(a) and a[i] == b[i]:
        i += 1
    if len(a) == len(b):
        return a[i + 1 :] == b[i + 1 :] or (a[i + 2 :] == b[i + 2 :] and a[i : i + 2] == b[i : i + 2][::-1])
    return a[i:] == b[i + 1 :]
