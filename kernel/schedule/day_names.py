"""Reads days that have a name: holidays in both languages, lunar dates, the day after tomorrow."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.phrases import Day, DayPhrase, LunarDate, Named, Unclear
from kernel.schedule.tokens import Kind, Token

K = Kind

Read = tuple[DayPhrase | Unclear, int] | None
"""A day or what is unclear about it, and the place after it."""


_NAMED_EN = {
    ("new", "year's", "eve"): "跨年夜",
    ("new", "years", "eve"): "跨年夜",
    ("new", "year's", "day"): "元旦",
    ("new", "year's"): "元旦",
    ("new", "year"): "元旦",
    ("valentine's", "day"): "情人节",
    ("valentines", "day"): "情人节",
    ("valentine's",): "情人节",
    ("mother's", "day"): "母亲节",
    ("mothers", "day"): "母亲节",
    ("father's", "day"): "父亲节",
    ("fathers", "day"): "父亲节",
    ("independence", "day"): "独立日",
    ("april", "fools"): "愚人节",
    ("lunar", "new", "year"): "春节",
    ("chinese", "new", "year"): "春节",
    ("mid-autumn", "festival"): "中秋",
}
"""Holidays of several English words."""


_WORD_OF_KIND = {"evening": "eve", "d": "day", "y": "year"}


def named_en(tokens: list[Token], i: int) -> Read:
    """new year's eve, mother's day: holidays of several words."""
    for size in (3, 2, 1):
        words = tuple(_WORD_OF_KIND.get(at(tokens, i + k).word, at(tokens, i + k).word) for k in range(size))
        if words in _NAMED_EN:
            return Named(_NAMED_EN[words]), i + size
    return None


def day_after(tokens: list[Token], i: int) -> Read:
    """the day after tomorrow."""
    if at(tokens, i + 1).word == "after" and at(tokens, i + 2).kind is K.DAY:
        return Day(int(at(tokens, i + 2).n) + 1), i + 3
    return None


def holiday_at(tokens: list[Token], i: int) -> Read:
    """A holiday of one word, and "eve" or "day" behind it."""
    name, j = tokens[i].word, i + 1
    if name == "圣诞" and at(tokens, j).word == "eve":
        return Named("平安夜"), j + 1
    if (
        at(tokens, j).word in ("day", "d")
        and "a" <= at(tokens, j).word[0] <= "z"
        and at(tokens, j).end - at(tokens, j).start == 3
    ):
        j += 1
    if (
        at(tokens, j).kind is K.PERIOD
        and at(tokens, j).word == "evening"
        and name == "圣诞"
        and at(tokens, j).end - at(tokens, j).start == 3
    ):
        return Named("平安夜"), j + 1
    return Named(name), j


def lunar_at(tokens: list[Token], i: int) -> Read:
    """正月初一, 八月十五, 腊月廿三 after 农历."""
    number = at(tokens, i)
    if (
        number.kind is K.NUM
        and at(tokens, i + 1).word == "月"
        and at(tokens, i + 2).kind is K.NUM
        and 1 <= number.n <= 12
    ):
        d = int(at(tokens, i + 2).n)
        return lunar_day(int(number.n), d), after_day(tokens, i + 3)
    if number.kind is K.HOLIDAY:
        return holiday_at(tokens, i)
    if number.kind is K.LUNAR and at(tokens, i + 1).kind is K.NUM and number.n:
        d = int(at(tokens, i + 1).n)
        return lunar_day(int(number.n), d), after_day(tokens, i + 2)
    return None


def lunar_day(month: int, d: int) -> LunarDate | Unclear:
    """A lunar date, or that it is none."""
    return LunarDate(month, d) if 1 <= d <= 30 else Unclear(impossible=True, is_date=True)


def after_day(tokens: list[Token], j: int) -> int:
    """The place after 号 or 日, if one stands there."""
    return j + 1 if at(tokens, j).kind is K.UNIT and at(tokens, j).word in ("号", "日") else j
