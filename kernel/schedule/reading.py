"""Schedules in people's words, from the value alone: 每个工作日 09:00，法定节假日除外; every weekday at 09:00.

A reading before a request (`{reading}提醒我…`, `remind me {reading} to …`) parses to the same value again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Protocol, assert_never
from zoneinfo import ZoneInfo

from kernel.schedule import reading_en, reading_zh
from kernel.schedule.cron import Fields
from kernel.schedule.reading_parts import Bounds, Group, bounds_of_cron, bounds_of_interval, groups_of
from kernel.schedule.values import Calendar, Cron, Every, Once, Schedule

_SECONDS_MATTER = timedelta(minutes=10)


class _Words(Protocol):
    """What both languages' modules offer."""

    def recurrence(self, groups: tuple[Group, ...], schedule: Cron, bounds: Bounds) -> str: ...
    def interval(self, step: timedelta, bounds: Bounds) -> str: ...
    def moments(self, times: Iterable[datetime]) -> str: ...
    def moment(self, at: datetime, today: date) -> str: ...
    def skipped_days(self, day: int) -> str: ...
    def leap_years_only(self) -> str: ...


def describe(schedule: Schedule, zone: str, language: str) -> str:
    """When `schedule` fires, in `language` (`zh`, else English), in the local time of `zone`; the zone is not named.

    Raises BadSchedule when the rule cannot be read.
    """
    words = _words(language)
    match schedule:
        case Once():
            return words.moments(each.astimezone(ZoneInfo(zone)) for each in schedule.times)
        case Every():
            return words.interval(schedule.step, bounds_of_interval(schedule, zone))
        case Cron():
            return words.recurrence(groups_of(schedule), schedule, bounds_of_cron(schedule, zone))
        case _ as unreachable:
            assert_never(unreachable)


def moment(at: datetime, zone: str, language: str, now: datetime) -> str:
    """One time in a list of next times: 今天 15:00, 明天 09:00, 3月12日 周四 09:00.

    The year is said when it is another than now's, seconds only of a time within ten minutes.
    """
    local = at.astimezone(ZoneInfo(zone))
    if at - now > _SECONDS_MATTER:
        local = local.replace(second=0)
    return _words(language).moment(local, now.astimezone(ZoneInfo(zone)).date())


def zone_name(zone: str) -> str:
    """The zone as people write it: the database's Etc/GMT-8 turns its sign round and is UTC+8."""
    offset = zone.removeprefix("Etc/GMT")
    if offset == zone:
        return zone
    return f"UTC{'+' if offset[0] == '-' else '-'}{offset[1:]}" if offset[:1] in ("+", "-") else "UTC"


def caveat(schedule: Schedule, language: str) -> str:
    """What a confirmation must add about days that do not always exist; empty when there is nothing to add."""
    if not isinstance(schedule, Cron) or schedule.calendar is Calendar.LUNAR:
        return ""
    words = _words(language)
    said: list[str] = []
    for group in groups_of(schedule):
        said += [each for each in _missing(group.days, words) if each not in said]
    return "；".join(said) if language == "zh" else "; ".join(said)


def _missing(days: Fields, words: _Words) -> list[str]:
    if days.months == (2,) and days.days is not None and 29 in days.days:
        return [words.leap_years_only()]
    months = days.months or tuple(range(1, 13))
    shortest = min({2: 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(each, 31) for each in months)
    return [words.skipped_days(each) for each in days.days or () if each > shortest]


def _words(language: str) -> _Words:
    return reading_zh if language == "zh" else reading_en
