"""Reads clock times and days that may open a window or a range: 9点到18点, 3月1日到5日, Monday to Friday."""

from __future__ import annotations

from kernel.schedule.clocks import at, clock
from kernel.schedule.day_names import holiday_stretch
from kernel.schedule.days import day
from kernel.schedule.lengths import Read
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Dates,
    Day,
    DayPhrase,
    Except,
    From,
    FromClock,
    Named,
    OffMonth,
    Span,
    Unclear,
    Weekdays,
    Window,
)
from kernel.schedule.tokens import Kind, Token

K = Kind


def is_range(tokens: list[Token], i: int) -> bool:
    """The token at `i` joins the ends of a range."""
    return at(tokens, i).kind is K.RANGE or at(tokens, i).word in ("到", "至", "until", "till", "through")


def clock_or_window(tokens: list[Token], i: int, *, sure: bool = False) -> Read:
    """A clock time, or a window when another one follows "to"; `sure` when from/between came before."""
    read = clock(tokens, i, loose=sure)
    if read is None:
        return None
    first, j = read
    if isinstance(first, Clock) and (is_range(tokens, j) or (sure and at(tokens, j).word == "and")):
        k = j + 1
        period = ""
        while at(tokens, k).kind is K.PERIOD:
            period, k = at(tokens, k).word, k + 1
        morrow = _next_day(tokens, k)
        is_next = morrow > k
        if is_next:
            k = morrow
            if at(tokens, k).kind is K.PERIOD:
                period, k = at(tokens, k).word, k + 1
        elif at(tokens, k).kind is K.DAY:
            return read
        last = clock(tokens, k, loose=sure or at(tokens, j).word in ("-", "~"))
        if last and isinstance(last[0], Clock):
            end = last[0]
            if period and not end.literal:
                end = Clock(end.hour, end.minute, end.second, period)
            if at(tokens, last[1]).word == "the" and at(tokens, last[1] + 1).word == "next":
                beyond = at(tokens, last[1] + 2)
                if beyond.word in ("d", "morning"):
                    return Window(first, end, next_day=True), last[1] + 3  # 10pm to 6am the next day
            return Window(first, end, next_day=is_next), last[1]
    if isinstance(first, Clock) and at(tokens, j).kind is K.START:
        return FromClock(first), j + 1
    return (first, j + 1) if at(tokens, j).word == "多" else read


def _next_day(tokens: list[Token], k: int) -> int:
    """The place after 次日, 第二天 or 隔天; `k` when none stands there."""
    token = at(tokens, k)
    if token.kind is K.DAY and token.word in ("次日", "翌日"):
        return k + 1
    if token.word == "第" and at(tokens, k + 1).n == 2 and at(tokens, k + 2).word == "d":
        return k + 3
    return k


def _is_week_later(tokens: list[Token], j: int) -> bool:
    """tomorrow week, Friday week: the one a week after."""
    token, before = at(tokens, j), at(tokens, j - 1)
    english = token.end - token.start == 4 and before.kind in (K.DAY, K.WEEKDAY) and before.end < token.start
    return english and token.word == "w" and at(tokens, j + 1).kind is not K.NUM


def day_phrase(tokens: list[Token], i: int) -> Read:
    """A day, a range of days, or where a series starts."""
    if at(tokens, i + 1).word == "月" and at(tokens, i + 2).kind is K.START and 1 <= tokens[i].n <= 12:
        return From(Dates((1,), int(tokens[i].n))), i + 3  # 5月开始
    if at(tokens, i + 1).word == "月" and at(tokens, i + 2).kind is K.AFTER and 1 <= tokens[i].n <= 12:
        return Unclear(impossible=False), i + 3  # 3月以后: with its first day or its last?
    read = day(tokens, i)
    if read is None:
        return None
    first, j = read
    if isinstance(first, Named) and first.years_ahead is None and tokens[i].kind is K.HOLIDAY:
        k = holiday_stretch(tokens, j - 1)
        if k is not None:
            return Between(Named(first.name, edge=-1), Named(first.name, edge=1)), k
    if isinstance(first, Unclear):
        return first, j
    if isinstance(first, OffMonth) and at(tokens, j).kind is K.AFTER and at(tokens, j).word[:1] > "z":
        return Unclear(impossible=False), j + 1  # 明年以后
    if _is_week_later(tokens, j) and isinstance(first, (Day, Weekdays)):
        return Ahead(Span(days=7), first), j + 1
    off = (
        at(tokens, j).kind is K.NOT
        and at(tokens, j).word.startswith("不")
        and at(tokens, j + 1).kind in (K.PUNCT, K.ASK, K.FILLER)
    )
    if off and isinstance(first, Weekdays):
        return Except(first.days), j + 2 if at(tokens, j + 1).kind is K.ASK else j + 1
    if at(tokens, j).kind is K.EXCEPT and at(tokens, j).n and isinstance(first, Weekdays):
        return Except(first.days), j + 1
    if at(tokens, j).kind is K.START:
        return From(first), j + 1
    if is_range(tokens, j) or (at(tokens, j).word == "to" and not isinstance(first, Dates)):
        last = day(tokens, j + 1)
        if last and isinstance(first, Weekdays) and at(tokens, i - 1).kind is K.EVERY:
            return first, j  # every Tuesday until 19 May: the word opens a bound
        if last and not isinstance(last[0], Unclear):
            end: DayPhrase = last[0]
            k = last[1]
            if (
                isinstance(first, Dates)
                and isinstance(end, Dates)
                and end.month is None
                and first.month is not None
                and end.days[0] > 0
            ):
                end = Dates(end.days, first.month, first.year, first.months_ahead, first.years_ahead)
            return Between(first, end), k
        if (
            isinstance(first, Dates)
            and first.month is not None
            and at(tokens, j + 1).kind is K.NUM
            and at(tokens, j + 2).kind is not K.POINT
        ):
            end_day = at(tokens, j + 1)
            if end_day.word.isdigit() and first.days[-1] < end_day.n <= 31:
                k = j + 3 if at(tokens, j + 2).word in ("号", "日", "suffix") else j + 2
                return Between(first, Dates((int(end_day.n),), first.month, first.year)), k
    return first, j
