"""Which reminders of a list a message names by their place: 第2个提醒, the last alarm, reminders 2 and 3."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.things import is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_COUNTERS = frozenset(words("个 条 项"))
_NUMBERED = frozenset(words("提醒 reminder reminders"))
"""Behind these a bare number is a place; behind an alarm it may be an hour."""
_MARKS = frozenset(words("# no number no."))
_BEHIND = frozenset({K.PUNCT, K.AND, K.CANCEL, K.PAUSE, K.POLITE, K.FILLER, K.OF, K.HABIT, K.TEXT, K.AGENT, K.HELP})
"""What may follow a place: anything but what it would count."""
_MOST = 50
"""Nobody has more of them."""

Place = tuple[int, int, int]
"""Its number (1 the first, -1 the last) and the tokens that say it, from one place to another."""


def named_places(tokens: list[Token]) -> list[Place]:
    """The places in the order they are named; none where what looks like one counts something else (第二个周五)."""
    found: list[Place] = []
    i = 0
    while i < len(tokens):
        place = _ordinal(tokens, i) or _number(tokens, i, listed=bool(found) and found[-1][2] == i - 1)
        if place is None:
            i += 1
        else:
            found.append(place)
            i = place[2]
    return found


def _ordinal(tokens: list[Token], i: int) -> Place | None:
    """第2个, 最后一个, the first, the 2nd: before a reminder, or with nothing behind that it would count."""
    token, follow = tokens[i], at(tokens, i + 1)
    match token:
        case Token(kind=K.ORD, word="第") if follow.kind is K.NUM:
            n, j = int(follow.n), i + 2
        case Token(kind=K.ORD, word="nth"):
            n, j = int(token.n), i + 1
        case Token(kind=K.NUM) if follow.word == "suffix":
            n, j = int(token.n), i + 2
        case Token(kind=K.LAST, word="last"):
            n, j = -1, i + 1
        case _:
            return None
    while at(tokens, j).word in _COUNTERS or _is_counter(tokens, j):
        j += 1
    if not (n == -1 or 1 <= n <= _MOST):
        return None
    if j < len(tokens) and is_thing(tokens, j):
        return n, i, j
    if at(tokens, j).kind is K.AND and token.word != "第" and _ordinal(tokens, j + 1):
        return n, i, j  # the 3rd and 5th reminders
    counted = token.word == "第" and at(tokens, j - 1).word in _COUNTERS
    bare = j >= len(tokens) or tokens[j].kind in _BEHIND
    return (n, i, j) if counted and bare else None


def _is_counter(tokens: list[Token], j: int) -> bool:
    """第2条提醒, 第2则提醒: one character before the reminder."""
    token = at(tokens, j)
    return token.kind is K.TEXT and token.end - token.start == 1 and j + 1 < len(tokens) and is_thing(tokens, j + 1)


def _number(tokens: list[Token], i: int, *, listed: bool) -> Place | None:
    """reminder 2, reminders 2 and 3, alarm #3."""
    token = tokens[i]
    if token.kind is not K.NUM or token.n != int(token.n) or not 1 <= token.n <= _MOST or token.word == "a":
        return None
    k = i - 1
    marked = at(tokens, k).word in _MARKS
    while k >= 0 and tokens[k].word in _MARKS:
        k -= 1
    behind = k >= 0 and is_thing(tokens, k) and (marked or tokens[k].word in _NUMBERED)
    continued = listed and at(tokens, k).kind in (K.AND, K.PUNCT)
    closes = i + 1 >= len(tokens) or at(tokens, i + 1).kind in (K.PUNCT, K.AND, K.POLITE, K.CANCEL, K.FILLER)
    return (int(token.n), k + 1, i + 1) if closes and (behind or continued) else None
