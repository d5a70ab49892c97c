"""Which dates a wall-clock rule allows: by its fields, step, exclusions and calendar.

A rule gives the first allowed date on or after the asked one, so that a search leaps over what it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import assert_never

from kernel.errors import BadSchedule
from kernel.schedule import calendars
from kernel.schedule.cron import LAST, Fields
from kernel.schedule.values import Calendar, Cron, Step, Unit

DateRule = Callable[[date], date | None]
"""The first date on or after the asked one that the rule allows; None when there is none."""

_DAY = timedelta(days=1)
_LONGEST_WAIT = timedelta(days=41 * 366)
"""29 February on a given weekday can be 40 years away (around 2100)."""
_LAST_YEAR = 9000
"""Dates end with the year 9999."""
_EVERY_MONTH = frozenset(range(1, 13))
_EVERY_LUNAR_DAY = frozenset(range(1, 31))


def shared_rules(schedule: Cron) -> tuple[DateRule, ...]:
    """The rules that hold for all expressions of `schedule`: step, exclusions, statutory days.

    Raises BadSchedule for a step below one and when every weekday is excluded.
    """
    rules: list[DateRule] = []
    if schedule.step is not None:
        if schedule.step.n < 1:
            raise BadSchedule("schedule.unreadable")
        rules.append(partial(_in_step, schedule.step))
    if schedule.excluded_weekdays or schedule.excluded_dates:
        weekdays, dates = frozenset(schedule.excluded_weekdays), frozenset(schedule.excluded_dates)
        if weekdays >= frozenset(range(7)):
            raise BadSchedule("schedule.never")
        rules.append(partial(_not_excluded, weekdays, dates))
    match schedule.calendar:
        case Calendar.STATUTORY_WORKDAYS:
            rules.append(calendars.next_workday)
        case Calendar.STATUTORY_HOLIDAYS:
            rules.append(calendars.next_holiday)
        case Calendar.SOLAR_TERMS:
            rules.append(calendars.next_term)
        case Calendar.LUNAR | None:
            pass
        case _ as unreachable:
            assert_never(unreachable)
    return tuple(rules)


def rule_of_fields(fields: Fields, calendar: Calendar | None) -> DateRule:
    """The dates that day, month and weekday fields name, in the lunar calendar where that one holds.

    The first and last workday of a month are statutory ones where that calendar holds.
    """
    is_workday = calendars.is_workday if calendar is Calendar.STATUTORY_WORKDAYS else _is_monday_to_friday
    if calendar is Calendar.LUNAR:
        return partial(_lunar, fields)
    if fields.first_workday:
        return partial(_one_a_month, _first_workday, is_workday, fields.months)
    if fields.last_workday:
        return partial(_one_a_month, _last_workday, is_workday, fields.months)
    if fields.from_end:
        return partial(_one_a_month, partial(_before_last, fields.from_end), is_workday, fields.months)
    return partial(_civil, fields)


def first_allowed(rules: tuple[DateRule, ...], day: date) -> date | None:
    """The first date on or after `day` that all rules allow; None when there is none in forty years."""
    if day.year > _LAST_YEAR:
        return None
    horizon = day + _LONGEST_WAIT
    while day <= horizon:
        asked = day
        for rule in rules:
            allowed = rule(day)
            if allowed is None:
                return None
            day = allowed
        if day == asked:
            return day
    return None


def _not_excluded(weekdays: frozenset[int], dates: frozenset[date], day: date) -> date:
    while day in dates or day.weekday() in weekdays:
        day += _DAY
    return day


def _in_step(step: Step, day: date) -> date:
    """The first date on or after `day` in a period that counts; periods before the anchor count alike."""
    match step.unit:
        case Unit.DAY:
            return day + -(day - step.anchor).days % step.n * _DAY
        case Unit.WEEK:
            monday = day - day.weekday() * _DAY
            anchor = step.anchor - step.anchor.weekday() * _DAY
            ahead = -((monday - anchor).days // 7) % step.n
            return monday + ahead * 7 * _DAY if ahead else day
        case Unit.MONTH:
            months = day.year * 12 + day.month - 1
            ahead = -(months - (step.anchor.year * 12 + step.anchor.month - 1)) % step.n
            year, month = divmod(months + ahead, 12)
            return date(year, month + 1, 1) if ahead else day
        case Unit.YEAR:
            ahead = -(day.year - step.anchor.year) % step.n
            return date(day.year + ahead, 1, 1) if ahead else day
        case _ as unreachable:
            assert_never(unreachable)


def _civil(fields: Fields, day: date) -> date | None:
    until = day + _LONGEST_WAIT
    while day <= until:
        if fields.months is not None and day.month not in fields.months:
            day = _month_after(day)
        elif _matches(fields, day):
            return day
        else:
            day += _DAY
    return None


def _matches(fields: Fields, day: date) -> bool:
    if fields.nth:
        week = (day.day - 1) // 7 + 1
        is_last = (day + 7 * _DAY).month != day.month
        return (day.weekday(), week) in fields.nth or (is_last and (day.weekday(), LAST) in fields.nth)
    if fields.days is None:
        return fields.weekdays is None or day.weekday() in fields.weekdays
    by_day = day.day in fields.days or (fields.month_end and _is_month_end(day))
    return by_day or (fields.weekdays is not None and day.weekday() in fields.weekdays)


def _lunar(fields: Fields, day: date) -> date | None:
    while True:
        found = calendars.next_lunar(
            day,
            months=_EVERY_MONTH if fields.months is None else frozenset(fields.months),
            days=_EVERY_LUNAR_DAY if fields.days is None else frozenset(fields.days),
            month_end=fields.month_end,
        )
        if found is None or fields.weekdays is None or found.weekday() in fields.weekdays:
            return found
        day = found + _DAY


def _one_a_month(
    choose: Callable[[Callable[[date], bool], date], date],
    is_workday: Callable[[date], bool],
    months: tuple[int, ...] | None,
    day: date,
) -> date:
    """The first date on or after `day` that is the chosen one of its month."""
    while True:
        if months is None or day.month in months:
            chosen = choose(is_workday, day.replace(day=1))
            if chosen >= day:
                return chosen
        day = _month_after(day)


def _first_workday(is_workday: Callable[[date], bool], month: date) -> date:
    while not is_workday(month):
        month += _DAY
    return month


def _last_workday(is_workday: Callable[[date], bool], month: date) -> date:
    last = _month_after(month) - _DAY
    while not is_workday(last):
        last -= _DAY
    return last


def _before_last(days: int, _is_workday: Callable[[date], bool], month: date) -> date:
    return _month_after(month) - (days + 1) * _DAY


def _month_after(day: date) -> date:
    return (day.replace(day=1) + 31 * _DAY).replace(day=1)


def _is_month_end(day: date) -> bool:
    return (day + _DAY).day == 1


def _is_monday_to_friday(day: date) -> bool:
    return day.weekday() < 5
