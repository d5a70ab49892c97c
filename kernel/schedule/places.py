"""Which reminders of a list a message names by their place: 第2个提醒, the last alarm, reminders 2 and 3."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.things import is_one, is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_COUNTERS = frozenset(words("个 条 项"))
_NUMBERED = frozenset(words("提醒 reminder reminders"))
"""Behind these a bare number is a place; behind an alarm it may be an hour."""
_MARKS = frozenset(words("# no number no."))
_BEHIND = frozenset(
    {K.PUNCT, K.AND, K.CANCEL, K.PAUSE, K.POLITE, K.FILLER, K.OF, K.HABIT, K.TEXT, K.AGENT, K.HELP, K.NOT}
)
"""What may follow a place: anything but what it would count."""
_MOST = 50
"""Nobody has more of them."""
_MOST_FROM_END = 9
"""Nobody counts more of them at once (前三个)."""

Place = tuple[int, int, int]
"""Its number (1 the first, -1 the last) and the tokens that say it, from one place to another."""


def named_places(tokens: list[Token], folded: str) -> list[Place]:
    """The places in the order they are named; none where what looks like one counts something else (第二个周五)."""
    found: list[Place] = []
    i = 0
    while i < len(tokens):
        several = _several(tokens, folded, i)
        listed = bool(found) and found[-1][2] == i - 1
        place = _ordinal(tokens, folded, i) or _number(tokens, folded, i, listed=listed)
        if several:
            found.extend(several)
            i = several[-1][2]
        elif place is None:
            i += 1
        else:
            found.append(place)
            i = place[2]
    return found


def _past_counters(tokens: list[Token], folded: str, j: int) -> int:
    """The place behind 个, 条: what counts reminders."""
    while at(tokens, j).word in _COUNTERS or _is_counter(tokens, folded, j):
        j += 1
    return j


def _is_counter(tokens: list[Token], folded: str, j: int) -> bool:
    """第2条提醒, 第2则提醒, 第2条: one character that counts them."""
    token = at(tokens, j)
    if token.kind is not K.TEXT or token.end - token.start != 1:
        return False
    return folded[token.start] in "条项则" or (j + 1 < len(tokens) and is_thing(tokens, j + 1))


def _several(tokens: list[Token], folded: str, i: int) -> list[Place]:
    """前两个提醒, the first two reminders, the last 3 alarms: as many places from one end."""
    token, number = tokens[i], at(tokens, i + 1)
    head = token.kind is K.TEXT and token.end - token.start == 1 and folded[token.start] in "头頭"
    first = (
        head
        or (token.kind is K.BEFORE and token.end - token.start == 1)
        or (token.kind is K.ORD and token.word == "nth")
    )
    last = token.kind is K.LAST and token.word in ("last", "最后")
    if not (first and token.n <= 1) and not last:
        return []
    if number.kind is not K.NUM or not 1 < number.n <= _MOST_FROM_END or number.word == "a":
        return []
    j = _past_counters(tokens, folded, i + 2)
    if not (j < len(tokens) and is_thing(tokens, j)) and not (j > i + 2 and _closes(tokens, j)):
        return []
    sign = -1 if last else 1
    return [(sign * n, i, j) for n in range(1, int(number.n) + 1)]


def _closes(tokens: list[Token], j: int) -> bool:
    return j >= len(tokens) or tokens[j].kind in _BEHIND


def _ordinal(tokens: list[Token], folded: str, i: int) -> Place | None:
    """第2个, 最后一个, the first, the 2nd: before a reminder, or with nothing behind that it would count."""
    token, follow = at(tokens, i), at(tokens, i + 1)
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
    start = j
    j = _past_counters(tokens, folded, j)
    if is_one(at(tokens, j)) or folded.startswith("ones", at(tokens, j).start):
        j += j < len(tokens)
    if not (n == -1 or 1 <= n <= _MOST):
        return None
    if j < len(tokens) and is_thing(tokens, j):
        return n, i, j
    k = j + 2 if at(tokens, j + 1).word == "the" else j + 1
    if at(tokens, j).kind is K.AND and (_ordinal(tokens, folded, k) or _number(tokens, folded, k, listed=True)):
        return n, i, j  # the 3rd and 5th reminders, 第一和第三个
    counted = j > start or (token.kind is K.LAST and folded[token.start] > "z")
    return (n, i, j) if counted and _closes(tokens, j) else None


def _number(tokens: list[Token], folded: str, i: int, *, listed: bool) -> Place | None:
    """reminder 2, reminders 2 and 3, alarm #3."""
    token = at(tokens, i)
    if token.kind is not K.NUM or token.n != int(token.n) or not 1 <= token.n <= _MOST or token.word == "a":
        return None
    k = i - 1
    marked = at(tokens, k).word in _MARKS
    while k >= 0 and tokens[k].word in _MARKS:
        k -= 1
    behind = k >= 0 and is_thing(tokens, k) and (marked or tokens[k].word in _NUMBERED)
    continued = listed and at(tokens, k).kind in (K.AND, K.PUNCT)
    j = _past_counters(tokens, folded, i + 1) if continued else i + 1
    closes = j >= len(tokens) or at(tokens, j).kind in (K.PUNCT, K.AND, K.POLITE, K.CANCEL, K.FILLER)
    thing = continued and j < len(tokens) and is_thing(tokens, j)
    return (int(token.n), k + 1, j) if (closes or thing) and (behind or continued) else None
