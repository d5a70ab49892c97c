"""Reads numbers whose unit stands elsewhere or nowhere: 9-18点, 8、12、18点, 4-25 and 5.1 before a time."""

from __future__ import annotations

from kernel.schedule.clocks import at, clock
from kernel.schedule.lengths import Read
from kernel.schedule.phrases import Clock, Dates, Unclear, Window
from kernel.schedule.ranges import is_range
from kernel.schedule.tokens import Kind, Token

K = Kind


def is_chinese(token: Token) -> bool:
    """Of a part of the day: said in Chinese characters; other tokens pass."""
    return token.kind is not K.PERIOD or token.end - token.start <= 3


def is_a_bit(tokens: list[Token], i: int) -> bool:
    """改得温柔一点: behind a word and before nothing 一点 is no hour."""
    token, point, before, follow = tokens[i], tokens[i + 1], at(tokens, i - 1), at(tokens, i + 2)
    bare = token.word == "zh" and token.n == 1 and point.end - point.start == 1 and before.end == token.start
    closes = i + 2 >= len(tokens) or follow.kind in (K.PUNCT, K.FILLER, K.OF)
    return bare and closes and before.kind in (K.TEXT, K.CHANGE, K.AGENT, K.NOW)


def bare_window(tokens: list[Token], i: int) -> Read:
    """9-18点, 9到18点, 2-4pm: the first number borrows the 点 or the half of the day of the second."""
    marked = at(tokens, i + 3).word == "点" or (
        at(tokens, i + 1).word == "-" and at(tokens, i + 3).word in ("am", "pm")
    )
    if tokens[i].kind is K.NUM and is_range(tokens, i + 1) and at(tokens, i + 2).kind is K.NUM and marked:
        last = clock(tokens, i + 2)
        if last and isinstance(last[0], Clock) and tokens[i].n <= 24 and tokens[i].word not in ("word", "a"):
            return Window(Clock(int(tokens[i].n)), last[0]), last[1]
    return None


def dashed_date(tokens: list[Token], i: int) -> Read:
    """4-25 before a written clock time or a part of the day is a date."""
    month, number, follow = tokens[i], at(tokens, i + 2), at(tokens, i + 3)
    if at(tokens, i + 1).word != "-" or number.kind is not K.NUM or follow.kind not in (K.CLOCK, K.PERIOD):
        return None
    if not (month.word.isdigit() and number.word.isdigit() and 1 <= month.n <= 12 and 1 <= number.n <= 31):
        return None
    return Dates((int(number.n),), int(month.n)), i + 3


_DAYS_BEFORE = frozenset({K.DAY, K.WEEKDAY, K.DAILY, K.WORKDAY, K.PERIOD})


def dotted_date(tokens: list[Token], i: int) -> Read:
    """5.1 before a part of the day or a clock time is a date."""
    token, follow = tokens[i], at(tokens, i + 1)
    if token.kind is not K.NUM or "." not in token.word:
        return None
    hour, _, minute = token.word.partition(".")
    before = at(tokens, i - 1)
    if before.kind in _DAYS_BEFORE and before.end == token.start and len(minute) == 2:
        valid = int(hour) < 24 and int(minute) < 60
        return (Clock(int(hour), int(minute), literal=True) if valid else Unclear(impossible=True)), i + 1  # 明天10.30
    named = follow.kind is K.UNIT and follow.word in ("号", "日")  # 7.15号
    if (
        not named
        and follow.kind is not K.PERIOD
        and not (follow.kind is K.NUM and at(tokens, i + 2).kind is K.POINT)
        and follow.kind is not K.CLOCK
    ):
        return None
    if not is_chinese(follow):
        return None
    month, number = (int(part) for part in token.word.split("."))
    read = Dates((number,), month) if 1 <= month <= 12 and 1 <= number <= 31 else Unclear(impossible=True)
    return read, i + 2 if named else i + 1


def bare_listed(tokens: list[Token], i: int) -> Read:
    """8、12、18点: a number in a list borrows the 点 at its end."""
    j = i
    while (
        at(tokens, j).kind is K.NUM
        and (at(tokens, j + 1).word in ("、", ",") or at(tokens, j + 1).kind is K.AND)
        and j < i + 12
    ):
        j += 2
    if j == i or tokens[i].word in ("word", "a", "approx") or "." in tokens[i].word or tokens[i].n > 24:
        return None
    if at(tokens, j).kind is not K.NUM or at(tokens, j + 1).word not in ("点", "点钟"):
        return None
    return Clock(int(tokens[i].n), literal=tokens[i].n >= 13), i + 1
