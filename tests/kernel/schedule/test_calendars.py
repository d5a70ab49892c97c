"""Statutory and lunar days: known days, honest limits, and a second library or rule wherever there is one."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta

import chinese_calendar
import pytest
from borax.calendars.lunardate import LunarDate

from kernel.errors import BadSchedule
from kernel.schedule import calendars
from kernel.schedule.calendars import BeyondCalendar, LunarDay

EVERY_MONTH = frozenset(range(1, 13))
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("day", "is_workday", "is_holiday"),
    [
        ("2026-02-13", True, False),  # a Friday
        ("2026-02-14", True, False),  # a Saturday worked to make up
        ("2026-02-17", False, True),  # Spring Festival
        ("2026-02-21", False, True),  # a Saturday within it
        ("2026-02-28", True, False),  # a Saturday worked to make up
        ("2026-03-07", False, False),  # an ordinary Saturday
        ("2025-10-01", False, True),
        ("2025-10-11", True, False),
    ],
)
def test_statutory_days_of_mainland_china(day: str, is_workday: bool, is_holiday: bool) -> None:
    assert calendars.is_workday(date.fromisoformat(day)) is is_workday
    assert calendars.is_holiday(date.fromisoformat(day)) is is_holiday


def test_workdays_agree_with_the_library_for_ten_years() -> None:
    day = date(2016, 1, 1)
    while day < date(2027, 1, 1):
        assert calendars.is_workday(day) == chinese_calendar.is_workday(day), day
        day += DAY


def test_next_workday_and_next_holiday_include_the_asked_day() -> None:
    assert calendars.next_workday(date(2026, 2, 14)) == date(2026, 2, 14)
    assert calendars.next_workday(date(2026, 2, 15)) == date(2026, 2, 24)
    assert calendars.next_holiday(date(2026, 2, 15)) == date(2026, 2, 15)
    assert calendars.next_holiday(date(2026, 2, 24)) == date(2026, 4, 4)


def test_a_year_that_is_not_published_is_named_not_guessed() -> None:
    last = calendars.covered_until()

    for ask in (calendars.is_workday, calendars.is_holiday, calendars.next_workday, calendars.next_holiday):
        with pytest.raises(BeyondCalendar) as beyond:
            ask(last + DAY)
        assert beyond.value.until == last
    assert (last.month, last.day) == (12, 31)
    assert issubclass(BeyondCalendar, BadSchedule)


def test_a_year_before_the_table_is_not_guessed_either() -> None:
    with pytest.raises(BeyondCalendar):
        calendars.is_workday(date(1999, 5, 1))


@pytest.mark.parametrize(
    ("day", "lunar"),
    [
        ("2026-02-17", LunarDay(2026, 1, 1, is_leap=False, is_month_end=False)),
        ("2026-02-16", LunarDay(2025, 12, 29, is_leap=False, is_month_end=True)),
        ("2024-02-09", LunarDay(2023, 12, 30, is_leap=False, is_month_end=True)),
        ("2025-07-25", LunarDay(2025, 6, 1, is_leap=True, is_month_end=False)),
        ("2026-09-25", LunarDay(2026, 8, 15, is_leap=False, is_month_end=False)),
    ],
)
def test_known_lunar_days(day: str, lunar: LunarDay) -> None:
    assert calendars.lunar_day(date.fromisoformat(day)) == lunar


def test_lunar_days_agree_with_the_library_and_come_back() -> None:
    day = date(2025, 1, 1)
    while day < date(2030, 1, 1):
        found, other = calendars.lunar_day(day), LunarDate.from_solar(day)
        assert found is not None
        assert (found.year, found.month, found.day, found.is_leap) == (
            *(other.year, other.month, other.day),
            bool(other.leap),
        )
        if not found.is_leap:
            assert calendars.solar_day(found.year, found.month, found.day) == day
        day += DAY


def test_a_lunar_day_that_does_not_exist_has_no_date() -> None:
    assert calendars.solar_day(2025, 12, 30) is None
    assert calendars.solar_day(2026, 13, 1) is None
    assert calendars.solar_day(2500, 1, 1) is None
    assert calendars.lunar_day(date(1850, 1, 1)) is None
    assert calendars.lunar_day(date(2500, 1, 1)) is None


def test_the_next_lunar_day_is_on_or_after_the_asked_one_and_skips_leap_months() -> None:
    sixth, first = frozenset({6}), frozenset({1})

    assert calendars.next_lunar(date(2025, 6, 25), sixth, first) == date(2025, 6, 25)
    assert calendars.next_lunar(date(2025, 6, 26), sixth, first) == date(2026, 7, 14)


def test_the_end_of_a_lunar_month_is_the_29th_or_the_30th() -> None:
    twelfth, no_day = frozenset({12}), frozenset[int]()

    found = [calendars.next_lunar(date(year, 1, 1), twelfth, no_day, month_end=True) for year in (2024, 2025, 2026)]

    assert found == [date(2024, 2, 9), date(2025, 1, 28), date(2026, 2, 16)]


def test_the_rarest_lunar_day_is_found_and_the_table_has_an_end() -> None:
    day: date | None = date(1900, 6, 1)
    waits = []
    while day is not None and day.year < 2090:
        following = calendars.next_lunar(day + DAY, frozenset({8}), frozenset({30}))
        assert following is not None
        waits.append(following.year - day.year)
        day = following

    assert max(waits) == 9
    assert calendars.next_lunar(date(2101, 2, 1), EVERY_MONTH, frozenset({1})) is None


def test_a_solar_term_moves_by_a_day_or_two() -> None:
    assert [calendars.term_day(year, 6) for year in (2024, 2026, 2027)] == [
        date(2024, 4, 4),
        date(2026, 4, 5),
        date(2027, 4, 5),
    ]
    assert calendars.term_day(2026, 23) == date(2026, 12, 22)
    assert calendars.term_day(2200, 0) is None


def test_each_half_of_a_month_holds_one_solar_term() -> None:
    """What lets five cron fields name a term: from the 3rd to the 9th and from the 18th to the 24th there is one."""
    for year in range(1900, 2101):
        days = [calendars.term_day(year, term) for term in range(24)]
        assert all(
            day is not None and day.month == term // 2 + 1 and day.day in (range(18, 25) if term % 2 else range(3, 10))
            for term, day in enumerate(days)
        )


def test_the_next_solar_term_is_on_or_after_the_asked_day_and_the_table_has_an_end() -> None:
    assert calendars.next_term(date(2026, 12, 22)) == date(2026, 12, 22)
    assert calendars.next_term(date(2026, 12, 23)) == date(2027, 1, 5)
    assert calendars.next_term(date(2100, 12, 31)) is None


def test_the_days_off_around_a_holiday_are_those_that_were_announced() -> None:
    assert calendars.holiday_around(date(2026, 10, 1)) == (date(2026, 10, 1), date(2026, 10, 7))
    assert calendars.holiday_around(date(2026, 10, 20)) == (date(2026, 10, 20), date(2026, 10, 20))


def test_the_tables_are_not_loaded_before_they_are_asked() -> None:
    code = (
        "import sys, kernel.schedule.calendars, kernel.triggers;"
        "sys.exit(any(m.split('.')[0] in ('borax', 'chinese_calendar', 'croniter', 'dateutil') for m in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
