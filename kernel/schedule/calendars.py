"""Calendars that five cron fields cannot express: statutory days in mainland China, the Chinese lunar year.

The tables come from `chinesecalendar` and `borax`, imported on first use. Statutory days are announced each
autumn for one year: a year the table does not reach raises `BeyondCalendar` instead of being guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache

from kernel.errors import BadSchedule

_DAY = timedelta(days=1)
_FIRST_LUNAR_YEAR, _LAST_LUNAR_YEAR = 1900, 2100
_LONGEST_LUNAR_WAIT = 12
"""Lunar years to search: long enough for the 30th of any one month (see the test over 1900 to 2100)."""


class BeyondCalendar(BadSchedule):
    """The statutory calendar is not published for the asked day; `until` is the last day it covers."""

    def __init__(self, until: date) -> None:
        super().__init__("schedule.beyond_calendar", until=until.isoformat())
        self.until = until


@dataclass(frozen=True, slots=True)
class LunarDay:
    """A day of the Chinese lunar calendar: `month` 1 to 12, `day` 1 to 30.

    A leap month bears the number of the month it follows.
    """

    year: int
    month: int
    day: int
    is_leap: bool
    is_month_end: bool


@dataclass(frozen=True, slots=True)
class _Statutory:
    first: date
    last: date
    holidays: frozenset[date]
    makeup_days: frozenset[date]


@dataclass(frozen=True, slots=True)
class _LunarMonth:
    month: int
    is_leap: bool
    days: int
    first: date


def covered_until() -> date:
    """The last day the statutory calendar reaches: 31 December of its newest year."""
    return _statutory().last


def is_workday(day: date) -> bool:
    """`day` is worked in mainland China: Monday to Friday without holidays, plus make-up weekends (调休).

    Raises BeyondCalendar when the year is not published (or lies before the table).
    """
    table = _covering(day)
    return day in table.makeup_days or (day.weekday() < 5 and day not in table.holidays)


def is_holiday(day: date) -> bool:
    """`day` belongs to a public holiday, bridged weekends included; an ordinary weekend does not.

    Raises BeyondCalendar when the year is not published (or lies before the table).
    """
    return day in _covering(day).holidays


def next_workday(day: date) -> date:
    """The first statutory workday on or after `day`. Raises BeyondCalendar beyond the table."""
    while not is_workday(day):
        day += _DAY
    return day


def next_holiday(day: date) -> date:
    """The first public holiday on or after `day`. Raises BeyondCalendar beyond the table."""
    while not is_holiday(day):
        day += _DAY
    return day


def lunar_day(day: date) -> LunarDay | None:
    """`day` in the lunar calendar; None outside the table (lunar years 1900 to 2100)."""
    for year in (day.year, day.year - 1):
        for month in _lunar_year(year):
            into = (day - month.first).days
            if 0 <= into < month.days:
                return LunarDay(year, month.month, into + 1, month.is_leap, into + 1 == month.days)
    return None


def solar_day(lunar_year: int, month: int, day: int) -> date | None:
    """The civil date of a lunar day (leap months excluded); None when that month has no such day."""
    for each in _lunar_year(lunar_year):
        if each.month == month and not each.is_leap and 1 <= day <= each.days:
            return each.first + (day - 1) * _DAY
    return None


def next_lunar(day: date, months: frozenset[int], days: frozenset[int], *, month_end: bool = False) -> date | None:
    """The first civil date on or after `day` whose lunar month and day are among those given.

    `month_end` adds the last day of each of the months (除夕 is the end of month 12, the 29th or the 30th).
    Leap months never match. None when nothing matches within twelve lunar years.
    """
    for year in range(day.year - 1, day.year + _LONGEST_LUNAR_WAIT):
        for month in _lunar_year(year):
            if month.is_leap or month.month not in months or month.first + month.days * _DAY <= day:
                continue
            for candidate in _chosen(month, days, month_end):
                if candidate >= day:
                    return candidate
    return None


def term_day(year: int, term: int) -> date | None:
    """The civil date on which a solar term begins, 0 for 小寒 in January to 23 for 冬至; None outside the table."""
    if not _FIRST_LUNAR_YEAR <= year <= _LAST_LUNAR_YEAR:
        return None
    return _terms(year)[term]


def next_term(day: date) -> date | None:
    """The first date on or after `day` on which any solar term begins; None outside the table (1900 to 2100)."""
    for year in (day.year, day.year + 1):
        if _FIRST_LUNAR_YEAR <= year <= _LAST_LUNAR_YEAR:
            found = next((each for each in _terms(year) if each >= day), None)
            if found is not None:
                return found
    return None


@lru_cache(maxsize=64)
def _terms(year: int) -> tuple[date, ...]:
    from borax.calendars.lunardate import TermUtils  # noqa: PLC0415  (20 ms, see below)

    return tuple(TermUtils.nth_term_day(year, term) for term in range(24))


def holiday_around(day: date) -> tuple[date, date]:
    """The first and the last day off of the public holiday that `day` belongs to; `day` itself when it is none.

    Raises BeyondCalendar beyond the table.
    """
    first = last = day
    if is_holiday(day):
        while is_holiday(first - _DAY):
            first -= _DAY
        while is_holiday(last + _DAY):
            last += _DAY
    return first, last


def _chosen(month: _LunarMonth, days: frozenset[int], month_end: bool) -> Iterator[date]:
    wanted = days | {month.days} if month_end else days
    return (month.first + (number - 1) * _DAY for number in sorted(wanted) if 1 <= number <= month.days)


def _covering(day: date) -> _Statutory:
    table = _statutory()
    if not table.first <= day <= table.last:
        raise BeyondCalendar(until=table.last)
    return table


@cache
def _statutory() -> _Statutory:
    from chinese_calendar import constants  # noqa: PLC0415  (40 ms that most processes never need)

    holidays = frozenset(constants.holidays)
    return _Statutory(
        first=date(min(holidays).year, 1, 1),
        last=date(max(holidays).year, 12, 31),
        holidays=holidays,
        makeup_days=frozenset(constants.workdays),
    )


@lru_cache(maxsize=256)
def _lunar_year(year: int) -> tuple[_LunarMonth, ...]:
    if not _FIRST_LUNAR_YEAR <= year <= _LAST_LUNAR_YEAR:
        return ()
    from borax.calendars.lunardate import LCalendars, LunarDate  # noqa: PLC0415  (20 ms, see above)

    months = []
    first: date = LunarDate(year, 1, 1).to_solar_date()
    for month, days, leap in LCalendars.iter_year_month(year):
        months.append(_LunarMonth(month, bool(leap), days, first))
        first += days * _DAY
    return tuple(months)
