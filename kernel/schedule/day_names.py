"""Reads days that have a name: holidays in both languages, lunar dates, the day after tomorrow."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.named_days import TERMS, TERMS_EN
from kernel.schedule.phrases import Dates, Day, DayPhrase, LunarDate, LunarDays, Named, Unclear, Workdays
from kernel.schedule.tokens import Kind, Token, words

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
    ("memorial", "day"): "阵亡将士纪念日",
    ("labor", "day"): "美国劳动节",
    ("presidents", "day"): "总统日",
    ("presidents'", "day"): "总统日",
    ("mlk", "day"): "马丁路德金日",
    ("columbus", "day"): "哥伦布日",
    ("veterans", "day"): "退伍军人节",
    ("juneteenth",): "六月节",
    ("boxing", "day"): "节礼日",
    ("patrick's", "day"): "圣帕特里克节",
    ("st", "patrick's", "day"): "圣帕特里克节",
    ("good", "friday"): "耶稣受难日",
    ("easter", "monday"): "复活节星期一",
    ("easter", "sunday"): "复活节",
    ("easter",): "复活节",
    ("chinese", "new", "year's", "eve"): "除夕",
    ("lunar", "new", "year's", "eve"): "除夕",
    ("lunar", "new", "year"): "春节",
    ("chinese", "new", "year"): "春节",
    ("mid-autumn", "festival"): "中秋",
}
_NAMED_EN |= {tuple(name.lower().split()): term for term, name in zip(TERMS, TERMS_EN, strict=True)}
"""Holidays and solar terms of several English words."""
_FIRST_WORDS = frozenset(name[0] for name in _NAMED_EN) | {"leap"}
_WORD_OF_KIND = {"evening": "eve", "d": "day", "y": "year"}


def named_en(tokens: list[Token], i: int) -> Read:
    """new year's eve, mother's day: holidays of several words."""
    if tokens[i].word not in _FIRST_WORDS:
        return None
    if tokens[i].word == "leap":
        return (Dates((29,), 2), i + 2) if at(tokens, i + 1).word == "d" else None
    for size in (4, 3, 2, 1):
        words = tuple(_en_word(at(tokens, i + k)) for k in range(size))
        if words in _NAMED_EN:
            return Named(_NAMED_EN[words]), i + size
    return None


_WEEKDAY_OF_NAME = {1: "monday", 16: "friday", 64: "sunday"}


def _en_word(token: Token) -> str:
    """The word as the table of holidays has it."""
    if token.kind is K.WEEKDAY:
        return _WEEKDAY_OF_NAME.get(int(token.n), "")
    return _WORD_OF_KIND.get(token.word, token.word)


def chinese_days(tokens: list[Token], i: int) -> tuple[Workdays, int] | None:
    """Chinese workday, statutory workdays, Chinese public holiday."""
    if at(tokens, i).word not in ("chinese", "statutory"):
        return None
    j = i + 1
    if at(tokens, j).kind is K.WORKDAY:
        return Workdays(statutory=True), j + 1
    if at(tokens, j).word == "public":
        j += 1
    if at(tokens, j).word in ("holiday", "holidays"):
        return Workdays(statutory=True, off=True), j + 1
    return None


def lunar_month_en(tokens: list[Token], j: int, days: list[int]) -> Read:
    """of lunar month 8, of every lunar month, behind the days."""
    if at(tokens, j).kind is not K.OF:
        return None
    if at(tokens, j + 1).kind is K.EVERY and at(tokens, j + 2).word == "lunar" and at(tokens, j + 3).word == "M":
        fits = all(1 <= d <= 30 for d in days)
        return LunarDays(tuple(days), each=True) if fits else Unclear(impossible=True, is_date=True), j + 4
    if (
        len(days) == 1
        and at(tokens, j + 1).word == "lunar"
        and at(tokens, j + 2).word == "M"
        and at(tokens, j + 3).kind is K.NUM
    ):
        month = int(at(tokens, j + 3).n)
        return (lunar_day(month, days[0]) if 1 <= month <= 12 else Unclear(impossible=True, is_date=True)), j + 4
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


_STRETCH = frozenset(words("期间 假期 长假 小长假 黄金周 放假期间 假期期间 假"))


def holiday_stretch(tokens: list[Token], i: int) -> int | None:
    """The place behind 国庆期间, 五一假期: the days off around a holiday; None when only its day is meant."""
    j = i + 1
    if at(tokens, j).kind is K.HOLIDAY and at(tokens, j).end - at(tokens, j).start == 2:
        j += 1
    elif at(tokens, j).word not in _STRETCH:
        return None
    return j + 1 if at(tokens, j).word in ("期间", "之间", "内") else j


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
    if number.kind is K.EVERY and at(tokens, i + 1).word in ("月", "M"):
        return lunar_days(tokens, i + 2, each=True)  # 农历每月初一
    if number.kind is K.NUM and not at(tokens, i - 1).n:
        return lunar_days(tokens, i, each=False)
    if number.kind is K.LUNAR and at(tokens, i + 1).kind is K.NUM and number.n:
        d = int(at(tokens, i + 1).n)
        return lunar_day(int(number.n), d), after_day(tokens, i + 2)
    return None


_MOST_LUNAR_DAYS = 6


def lunar_days(tokens: list[Token], i: int, *, each: bool) -> Read:
    """初一和十五, 十五号: days of a lunar month, behind 农历 or with 初 before the first."""
    days: list[int] = []
    j = i
    while len(days) < _MOST_LUNAR_DAYS:
        number, follow = at(tokens, j), at(tokens, j + 1)
        whole = number.kind is K.NUM and number.word not in ("word", "a", "approx") and number.n == int(number.n)
        if not whole or follow.kind is K.POINT or (follow.kind is K.UNIT and follow.word not in ("号", "日")):
            break
        days.append(int(number.n))
        j = after_day(tokens, j + 1)
        k = j + 1 if at(tokens, j).kind is K.AND or at(tokens, j).word == "," else j
        if k == j and at(tokens, k).start != at(tokens, j - 1).end:
            break
        if at(tokens, k).kind is not K.NUM or at(tokens, k + 1).kind is K.POINT:
            break
        j = k
    if not days:
        return None
    return LunarDays(tuple(days), each) if all(1 <= d <= 30 for d in days) else Unclear(
        impossible=True, is_date=True
    ), j


_BESIDE_TIME = frozenset({K.PERIOD, K.CLOCK})


def bare_lunar(tokens: list[Token], i: int) -> Read:
    """初一早上8点, 初一、十五: without 农历 only where a time follows or "every" stands before."""
    read = lunar_days(tokens, i, each=False)
    if read is None:
        return None
    follow, behind = at(tokens, read[1]), at(tokens, read[1] + 1)
    before = at(tokens, i - 1)
    timed = follow.kind in _BESIDE_TIME or (follow.kind is K.NUM and behind.kind is K.POINT)
    return read if timed or before.kind is K.EVERY or before.word in ("月", "M") else None


def lunar_day(month: int, d: int) -> LunarDate | Unclear:
    """A lunar date, or that it is none."""
    return LunarDate(month, d) if 1 <= d <= 30 else Unclear(impossible=True, is_date=True)


def after_day(tokens: list[Token], j: int) -> int:
    """The place after 号 or 日, if one stands there."""
    return j + 1 if at(tokens, j).kind is K.UNIT and at(tokens, j).word in ("号", "日") else j
