"""Slips of the keyboard: an English word with a letter more, less, other, or two swapped; 提醒 with one other half."""

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


_AFTER_TI = frozenset("拔议升示携名问防前供及到起点给着了过高请审交醒取出早案货款现炼款速神")
_BEFORE_XING = frozenset("提叫喊唤吵弄惊吓摇拍点闹觉清催睡苏没刚先把")
"""Characters that make a word of their own with 提 and 醒."""


def is_reminding(text: str, i: int) -> bool:
    """提X我 or X醒我 at `i`: 提醒 with one half mistyped, and whom to remind."""
    if not text.startswith(("我", "大家"), i + 2):
        return False
    first, second = text[i], text[i + 1]
    if not ("一" <= first <= "鿿" and "一" <= second <= "鿿"):
        return False
    return (first == "提" and second not in _AFTER_TI) or (second == "醒" and first not in _BEFORE_XING)


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
