"""Holidays by name: where they fall, and the yearly rule that finds them again."""

from __future__ import annotations

from datetime import date

from kernel.schedule import calendars
from kernel.schedule.civil import DAY, nth_weekday

SOLAR = {
    "元旦": (1, 1),
    "情人节": (2, 14),
    "妇女节": (3, 8),
    "植树节": (3, 12),
    "愚人节": (4, 1),
    "劳动节": (5, 1),
    "青年节": (5, 4),
    "儿童节": (6, 1),
    "建党节": (7, 1),
    "建军节": (8, 1),
    "教师节": (9, 10),
    "国庆": (10, 1),
    "万圣节": (10, 31),
    "光棍节": (11, 11),
    "双十二": (12, 12),
    "平安夜": (12, 24),
    "圣诞": (12, 25),
    "跨年夜": (12, 31),
    "独立日": (7, 4),
    "圣帕特里克节": (3, 17),
    "六月节": (6, 19),
    "退伍军人节": (11, 11),
    "节礼日": (12, 26),
}
"""Month and day."""

LUNAR = {
    "春节": (1, 1),
    "元宵": (1, 15),
    "端午": (5, 5),
    "七夕": (7, 7),
    "中元": (7, 15),
    "中秋": (8, 15),
    "重阳": (9, 9),
    "腊八": (12, 8),
    "小年": (12, 23),
    "除夕": (12, -1),
}
"""Lunar month and day, -1 its last."""

TERMS = (
    *("小寒", "大寒", "立春", "雨水", "惊蛰", "春分", "清明", "谷雨", "立夏", "小满", "芒种", "夏至"),
    *("小暑", "大暑", "立秋", "处暑", "白露", "秋分", "寒露", "霜降", "立冬", "小雪", "大雪", "冬至"),
)
"""The solar terms, two a month from January on; the civil calendar moves them by a day or two."""

TERMS_EN = (
    *("Minor Cold", "Major Cold", "Start of Spring", "Rain Water", "Awakening of Insects", "Spring Equinox"),
    *("Qingming", "Grain Rain", "Start of Summer", "Grain Buds", "Grain in Ear", "Summer Solstice"),
    *("Minor Heat", "Major Heat", "Start of Autumn", "Limit of Heat", "White Dew", "Autumn Equinox"),
    *("Cold Dew", "Frost Descent", "Start of Winter", "Minor Snow", "Major Snow", "Winter Solstice"),
)

MOVING = {
    "马丁路德金日": (1, 0, 3),
    "总统日": (2, 0, 3),
    "母亲节": (5, 6, 2),
    "阵亡将士纪念日": (5, 0, -1),
    "父亲节": (6, 6, 3),
    "美国劳动节": (9, 0, 1),
    "哥伦布日": (10, 0, 2),
    "感恩节": (11, 3, 4),
}
"""Month, weekday (0 = Monday), which one, from the end when negative."""

_FROM_EASTER = {"耶稣受难日": -2, "复活节": 0, "复活节星期一": 1}
"""So many days after Easter Sunday."""


def lunar_date(lunar_year: int, month: int, day: int) -> date | None:
    """The civil date of a lunar day, -1 the last of its month; None when there is no such day."""
    if day > 0:
        return calendars.solar_day(lunar_year, month, day)
    return calendars.solar_day(lunar_year, month, 30) or calendars.solar_day(lunar_year, month, 29)


def holiday(name: str, year: int) -> date | None:
    """The civil date of a holiday in a (for lunar ones: lunar) year; None when it cannot be reckoned."""
    if name in SOLAR:
        return date(year, *SOLAR[name])
    if name in LUNAR:
        return lunar_date(year, *LUNAR[name])
    if name in MOVING:
        month, weekday, n = MOVING[name]
        return nth_weekday(year, month, weekday, n)
    if name in _FROM_EASTER:
        return _easter(year) + _FROM_EASTER[name] * DAY
    return calendars.term_day(year, TERMS.index(name)) if name in TERMS else None


def _easter(year: int) -> date:
    """Easter Sunday of the Western churches: the Sunday after the full moon of spring, by the rules of Clavius."""
    golden, century = year % 19, year // 100
    epact = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon = epact - epact // 28 * (1 - 29 // (epact + 1) * ((21 - golden) // 11))
    sunday = moon - (year + year // 4 + moon + 2 - century + century // 4) % 7
    month = 3 + (sunday + 40) // 44
    return date(year, month, sunday + 28 - 31 * (month // 4))
