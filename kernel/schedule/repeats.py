"""Reads what repeats: 每…, 隔天, daily, every other Friday, twice a day, 15 minutes past every hour."""

from __future__ import annotations

from kernel.schedule.clocks import amount, at
from kernel.schedule.day_names import chinese_days, named_en
from kernel.schedule.days import day
from kernel.schedule.lengths import Read, cycle_of, few, is_english
from kernel.schedule.phrases import (
    Ahead,
    Count,
    Cycle,
    Dates,
    Hourly,
    LunarDays,
    Part,
    Unclear,
    Workdays,
)
from kernel.schedule.spans import span, with_more
from kernel.schedule.tokens import Kind, Token

K = Kind


def past_each_hour(tokens: list[Token], i: int) -> Read:
    """15 minutes past every hour, quarter past each hour."""
    j = i + 1 if at(tokens, i).word == "a" else i
    if at(tokens, j).kind is K.UNIT and at(tokens, j).word == "quarter":
        minute, j = 15.0, j + 1
    elif at(tokens, j).kind is K.HALF:
        minute, j = 30.0, j + 1
    else:
        number = amount(tokens, j)
        if number is None:
            return None
        minute, j = number
        if at(tokens, j).word == "m":
            j += 1
    if (
        at(tokens, j).word not in ("past", "after")
        or at(tokens, j + 1).kind is not K.EVERY
        or at(tokens, j + 2).word != "h"
    ):
        return None
    return (Hourly(int(minute)) if minute < 60 else Unclear(impossible=True)), j + 3


def _every_kind(tokens: list[Token], j: int) -> Read:
    """The step of "every" by the word after it, when that is no number."""
    follow = at(tokens, j)
    match follow.kind:
        case K.UNIT if follow.word == "quarter" and is_english(follow) and at(tokens, j - 1).word in ("every", "each"):
            return (Cycle(900, "s"), j + 3) if at(tokens, j + 1).kind is K.HALF else (Cycle(1, "Q"), j + 1)
        case K.UNIT if follow.word not in ("号", "个", "quarter"):
            name = "M" if follow.word == "月" else follow.word
            more = with_more(tokens, j)
            if more:
                return cycle_of(more[0], between=False), more[1]
            step = Cycle(int(follow.n), "s") if name in ("h", "m", "s") else Cycle(2 if follow.n == 14 else 1, name)
            return _past_hour(tokens, step, _after_cycle(tokens, j + 1))
        case K.WEEKDAY:
            return Cycle(1, "w"), j
        case K.WEEKEND:
            return Cycle(1, "w"), j
        case K.WORKDAY | K.DAILY:
            return _opening(tokens, j)
        case K.PERIOD:
            return Cycle(1, "d"), j
        case K.CLOCK if follow.word in ("noon", "midnight", "零点"):
            return Cycle(1, "d"), j
        case K.HOLIDAY if follow.word == "statutory":
            return Workdays(statutory=True, off=True), j + 1
        case K.LUNAR if isinstance((day(tokens, j) or (None,))[0], LunarDays):
            return Cycle(1, "M"), j
        case K.WORD if follow.word in ("chinese", "statutory"):
            return chinese_days(tokens, j) or (
                (Cycle(1, "y"), j) if named_en(tokens, j) else None  # every Chinese New Year
            )
        case K.WORD | K.CREATE | K.GLUE if named_en(tokens, j):
            return Cycle(1, "y"), j
        case K.WORD if follow.word == "lunar" and at(tokens, j + 1).word == "M":
            return Cycle(1, "M"), j + 2
        case K.MONTH | K.HOLIDAY | K.LUNAR:
            return Cycle(1, "y"), j
        case K.LAST if follow.word == "quarter-end":
            return Cycle(1, "Q"), j
        case K.ORD | K.LAST | K.NUM:
            named = day(tokens, j)
            if named and not isinstance(named[0], Unclear):
                yearly = isinstance(named[0], Dates) and named[0].month is not None
                return Cycle(1, "y" if yearly else "M"), j
    return None


def every(tokens: list[Token], i: int) -> Read:
    """每…, 每隔…, every …: the step; the day that follows is a phrase of its own."""
    token, j = tokens[i], i + 1
    between = token.word == "隔"
    nth = at(tokens, j)
    if nth.word == "other" or (
        nth.kind is K.ORD
        and nth.n == 2
        and at(tokens, j + 1).kind in (K.WEEKDAY, K.UNIT)
        and at(tokens, j + 2).kind is not K.OF
    ):
        return _every_other(tokens, j + 1)
    numeric = nth.kind is K.NUM and at(tokens, j + 1).word == "suffix"
    if ((nth.kind is K.ORD and nth.n > 2) or numeric) and nth.n <= 31:
        k = j + 2 if numeric else j + 1
        unit = at(tokens, k)
        if unit.kind is K.UNIT and unit.word in ("d", "w", "M", "y", "h") and at(tokens, k + 1).kind is not K.OF:
            return (Cycle(3600 * int(nth.n), "s") if unit.word == "h" else Cycle(int(nth.n), unit.word)), k + 1
        if unit.kind is K.WEEKDAY and at(tokens, k + 1).kind is not K.OF:
            return Unclear(impossible=False), k + 1
    if at(tokens, j).word == "single":
        j += 1
    half, unit = at(tokens, j), at(tokens, j + 1)
    if token.word == "每个" and half.kind is K.HALF and unit.word == "h" and unit.end - unit.start == 1:
        return Cycle(5400, "s"), j + 2  # 每個半鐘: the one is not said; 每个半小时 is half an hour
    if at(tokens, j).n == 1 and at(tokens, j + 1).word == "个" and at(tokens, j + 2).kind is not K.HALF:
        j += 2  # 每一个工作日
    follow = at(tokens, j)
    vague = few(tokens, j)
    if vague or at(tokens, j).word == "now":
        return Unclear(impossible=False), (vague[1] if vague else j + 3)
    found = span(tokens, j)
    if found and not (
        follow.word == "half"
        and at(tokens, j + 1).word != "h"
        and at(tokens, j + 1).word != "a"
        and at(tokens, j + 1).word != "an"
    ):
        return cycle_of(found[0], between=between), _after_cycle(tokens, found[1])
    return _every_kind(tokens, j)


def _opening(tokens: list[Token], j: int) -> Read:
    if tokens[j].kind is K.WORKDAY:
        return Workdays(bool(tokens[j].n)), j + 1
    return daily(tokens, j)


def _past_hour(tokens: list[Token], step: Cycle, j: int) -> Read:
    """每小时的第15分钟, every hour at 15 minutes past, every hour on the hour."""
    if step.unit != "s" or step.n != 3600:
        return step, j
    k = j + 1 if at(tokens, j).kind is K.OF else j
    if at(tokens, k).word == "第" and at(tokens, k + 1).kind is K.NUM and at(tokens, k + 2).word == "m":
        return Hourly(int(at(tokens, k + 1).n) % 60), k + 3
    if (at(tokens, k).kind is K.HALF and not at(tokens, k).n) or at(tokens, k).word == "hour":
        return Hourly(0), k + 1
    if at(tokens, j).kind is K.AT and at(tokens, j + 1).word == "the" and at(tokens, j + 2).word == "h":
        return Hourly(0), j + 3
    return step, j


def _after_cycle(tokens: list[Token], j: int) -> int:
    """Skips "一次", "两次", "once" after a step."""
    if at(tokens, j).kind is K.TIMES and at(tokens, j).n:
        return j + 1
    if at(tokens, j).kind is K.NUM and at(tokens, j + 1).kind is K.TIMES:
        return j + 2
    return j


def _every_other(tokens: list[Token], j: int) -> Read:
    follow = at(tokens, j)
    if follow.kind is K.WEEKDAY:
        return Cycle(2, "w"), j
    if follow.kind is K.UNIT and follow.word in ("d", "w", "M", "y", "h"):
        return (Cycle(7200, "s") if follow.word == "h" else Cycle(2, follow.word)), j + 1
    if follow.kind is K.PERIOD:
        return Cycle(2, "d"), j
    return None


def other(tokens: list[Token], i: int) -> Read:
    """隔天, 隔周, 隔三天."""
    token = tokens[i]
    if token.word == "other":
        return None
    if token.word == "odd":
        return None
    if token.word != "隔":
        return Cycle(2, token.word), _after_cycle(tokens, i + 1)
    found = span(tokens, i + 1)
    if found and at(tokens, found[1]).kind is K.AFTER:
        return Ahead(found[0]), found[1] + 1
    return (cycle_of(found[0], between=True), _after_cycle(tokens, found[1])) if found else None


def daily(tokens: list[Token], i: int) -> Read:
    """每天, weekly, 整点 and their like: a word that repeats by itself."""
    token = tokens[i]
    match token.word:
        case "hour":
            return {3: Hourly(0, 30), 4: Hourly(30)}.get(int(token.n), Hourly(0)), i + 1
        case "hourly":
            return Cycle(3600, "s"), i + 1
        case "w" | "M" | "y" | "Q":
            return Cycle(1, token.word), i + 1
        case "nightly":
            return Part("evening", each=True), i + 1
        case "2w":
            return Cycle(2, "w"), i + 1
    return Cycle(1, "d"), _after_cycle(tokens, i + 1)


def times(tokens: list[Token], i: int) -> Read:
    """once a week, twice a day: only the day counts, the times are said elsewhere."""
    token = tokens[i]
    j = i + 1
    if token.word in ("times", "once", "twice", "thrice", "time", "x") and at(tokens, j).word in (
        "a",
        "each",
        "every",
        "per",
    ):
        unit = at(tokens, j + 1)
        if unit.kind is K.UNIT and unit.word in ("d", "w", "M", "y", "h"):
            return (Cycle(3600, "s") if unit.word == "h" else Cycle(1, unit.word, loose=True)), j + 2
    daily_word = at(tokens, j)
    if daily_word.kind is K.DAILY and is_english(daily_word) and daily_word.word != "hourly":
        step = daily_word.word if daily_word.word in ("w", "M", "y") else "d"
        return Cycle(1, step, loose=True), j + 1  # twice daily
    if token.word == "twice":
        return Count(2), j
    return None
