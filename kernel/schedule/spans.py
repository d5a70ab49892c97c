"""Reads lengths of time from tokens: 一个半小时, 1h30m, half an hour, two weeks."""

from __future__ import annotations

from kernel.schedule.clocks import amount, at
from kernel.schedule.phrases import Span
from kernel.schedule.tokens import Kind, Token, words

K = Kind
_ONE = Token(K.NUM, 0, 0, 1, "1")
_LONGEST_SPAN = 8
"""Tokens that the longest way to say a length of time has."""


def span(tokens: list[Token], i: int) -> tuple[Span, int] | None:
    """A length of time (一个半小时, 1h30m, half an hour, two weeks) and the place after it."""
    first = _one_span(tokens, i)
    if first is None:
        return None
    (months, days, seconds), i = first
    for _ in range(3):
        joined = at(tokens, i).kind is K.AND and at(tokens, i).word[:1] <= "z"  # 1天、1小时 are two lengths
        j = i + 1 if joined or at(tokens, i).word in ("零", ",") else i
        more = _one_span(tokens, j)
        if more is None or at(tokens, j).kind is K.HALF:
            break
        if more[0][2] and not seconds and not days:
            break
        if more[0][2] >= seconds > 0 or (more[0][1] and not months) or more[0][0]:
            break
        months, days, seconds, i = months + more[0][0], days + more[0][1], seconds + more[0][2], more[1]
    return Span(months, days, seconds), i


_Parts = tuple[int, int, int]
"""Months, days, seconds."""

_HALVED = frozenset(words("h m d 日 w M y"))


def _one_span(tokens: list[Token], i: int) -> tuple[_Parts, int] | None:
    """A number and its unit; halves and quarters before, between or after them."""
    token, follow = at(tokens, i), at(tokens, i + 1)
    if token.word == "a" and (follow.kind is K.HALF or follow.word == "quarter"):
        return _one_span(tokens, i + 1)
    if token.kind is K.HALF and token.n:
        return _half_unit(tokens, i + 1)
    if token.kind is K.UNIT and token.word == "quarter":
        return _quarters(tokens, i, 1)
    if is_one_and_a_half(tokens, i):
        return _of_unit(1.5, tokens[i + 2]), i + 3
    number = amount(tokens, i)
    if number is None:
        return None
    value, j, half = _fraction(tokens, *number)
    if at(tokens, j).word == "-" and at(tokens, j + 1).kind is K.UNIT:
        j += 1
    unit = at(tokens, j)
    if unit.kind is not K.UNIT or unit.word in ("号", "个") or (unit.word == "月" and not half):
        return None
    if unit.word == "quarter" and at(tokens, j + 1).word == "of":
        return _quarters(tokens, j, value)
    behind = at(tokens, j + 1)
    if not half and behind.kind is K.HALF and behind.n and unit.word in _HALVED:
        value, j = value + 0.5, j + 1
        if at(tokens, j + 1).word == "钟":
            j += 1
    elif part := _and_a_part(tokens, j + 1):
        value, j = value + part, j + 3
    if unit.word == "h" and _has_minutes(tokens, j):
        return (0, 0, round(value * 3600) + int(tokens[j + 1].n) * 60), j + 2  # 1hr30
    return _of_unit(value, unit), j + 1


def _has_minutes(tokens: list[Token], j: int) -> bool:
    """Directly behind the hours at `j` stands a number with no unit of its own."""
    minutes, follow = at(tokens, j + 1), at(tokens, j + 2)
    if minutes.kind is not K.NUM or minutes.start != tokens[j].end or not minutes.word.isdigit() or minutes.n >= 60:
        return False
    return follow.kind is not K.UNIT and "a" <= follow.word[:1] <= "z"


def is_one_and_a_half(tokens: list[Token], i: int) -> bool:
    """個半鐘, 个半小时: the one is not said."""
    half, unit = at(tokens, i + 1), at(tokens, i + 2)
    opens = at(tokens, i).word == "个" and at(tokens, i).kind is K.UNIT and at(tokens, i - 1).kind is not K.NUM
    return opens and half.kind is K.HALF and half.n > 0 and unit.kind is K.UNIT and unit.word in ("h", "w", "M", "月")


def _and_a_part(tokens: list[Token], j: int) -> float:
    """The half of "and a half", the quarter of "and a quarter"; 0 for neither."""
    if at(tokens, j).word != "and" or at(tokens, j + 1).word != "a":
        return 0
    return {"half": 0.5, "quarter": 0.25}.get(at(tokens, j + 2).word, 0)


def with_more(tokens: list[Token], j: int) -> tuple[Span, int] | None:
    """The length of "hour and a half", "hour and 20 minutes" behind "every"; None when nothing is added to the unit."""
    if at(tokens, j + 1).word != "and" or at(tokens, j).word[:1] < "a":
        return None
    found = span([_ONE, *tokens[j : j + _LONGEST_SPAN]], 0)
    return None if found is None or found[1] <= 2 else (found[0], found[1] + j - 1)


def _half_unit(tokens: list[Token], j: int) -> tuple[_Parts, int] | None:
    """半小时, 半个月, half an hour."""
    while at(tokens, j).word in ("a", "个", "of"):
        j += 1
    unit = at(tokens, j)
    if unit.kind is K.UNIT and unit.word in ("h", "m", "d", "日", "M", "y", "Q", "月"):
        return _of_unit(0.5, unit), j + 1
    return None


def _quarters(tokens: list[Token], j: int, count: float) -> tuple[_Parts, int] | None:
    """a quarter of an hour, three quarters of an hour."""
    if at(tokens, j + 1).word != "of":
        return None
    j += 1
    while at(tokens, j).word in ("a", "of"):
        j += 1
    return ((0, 0, int(900 * count)), j + 1) if at(tokens, j).word == "h" else None


def _fraction(tokens: list[Token], value: float, j: int) -> tuple[float, int, bool]:
    """What stands between a number and its unit: 个半, 点五, and a half; True when a half was said."""
    part = _and_a_part(tokens, j)
    if part:
        return value + part, j + 3, True
    follow, behind = at(tokens, j), at(tokens, j + 1)
    if follow.word == "个" and behind.kind is K.HALF and behind.n:
        return value + 0.5, j + 2, True
    if follow.word == "点" and behind.kind is K.NUM and at(tokens, j + 2).word == "h":
        return value + behind.n / 10, j + 2, False
    return value, j, False


def _of_unit(value: float, unit: Token) -> tuple[int, int, int]:
    value = min(value, 1e6)
    match unit.word:
        case "d" | "日":
            return 0, int(value), int(value % 1 * 86400)
        case "w":
            return 0, int(value * unit.n), 0
        case "M" | "Q" | "y" | "月":
            whole = value * unit.n
            return int(whole), int(whole % 1 * 30), 0
        case _:
            return 0, 0, round(value * unit.n)
