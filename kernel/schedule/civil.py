"""Days and clock times on the wall: the arithmetic of the policy, without words and without cron."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from kernel.schedule.phrases import Clock, Span

DAY = timedelta(days=1)
SHORTEST_MONTH = 28
"""Days that every month has: so many can be counted from its end."""
_LAST_YEAR = 2200


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """The zone with this IANA name."""
    return ZoneInfo(name)


def to_utc(day: date, moment: time, zone: ZoneInfo) -> datetime:
    """The instant of a local time; inside a gap by the offset before it, of a repeated hour the first (RFC 5545)."""
    return datetime.combine(day, moment, zone).astimezone(UTC)


def month_days(year: int, month: int) -> int:
    """How many days the month has."""
    return monthrange(year, month)[1]


def add_months(day: date, months: int) -> date:
    """The same day so many months on, clipped to the end of a shorter month."""
    total = day.year * 12 + day.month - 1 + months
    year, month = total // 12, total % 12 + 1
    if not 1 <= year <= _LAST_YEAR:
        raise OverflowError
    return date(year, month, min(day.day, month_days(year, month)))


def add_span(day: date, span: Span) -> date:
    """The day so many months and days on; raises OverflowError beyond the years we reckon with."""
    moved = add_months(day, span.months)
    if span.days > 80_000:
        raise OverflowError
    return moved + span.days * DAY


@dataclass(frozen=True, slots=True)
class WallTime:
    """A time of day that is decided: `shift` is 1 when it belongs to the night after the named day."""

    moment: time
    shift: int = 0
    is_guess: bool = False
    """A bare hour was read as morning or afternoon by the policy."""


_NIGHT = {"evening": 4, "night": 5}


def wall_time(clock: Clock, *, inherited: bool = False) -> WallTime | None:
    """The time of day a clock time means by the policy; None when its part of the day does not go with its hour."""
    hour, period = clock.hour, clock.period
    if hour == 24:
        return WallTime(time(0), 1)
    if period in ("am", "pm", "midnight"):
        return _at(clock, hour)
    if period.startswith("near-"):
        return _at(clock, 12 if hour == 0 else hour + 12 if hour < 6 else hour, guess=True)
    if hour >= 13:
        return None if period in ("morning", "forenoon", "dawn") else _at(clock, hour)
    match period:
        case "morning" | "forenoon":
            if hour == 12 and period == "morning" and not inherited:
                return None
            return _at(clock, hour)
        case "dawn":
            return _at(clock, hour % 12) if hour <= 8 or hour == 12 else None
        case "noon":
            return _at(clock, hour + 12 if hour <= 3 else hour) if hour <= 3 or hour >= 10 else None
        case "afternoon" | "dusk":
            if hour == 0:
                return _at(clock, 12)
            if 10 <= hour < 12:
                return None
            return _at(clock, hour if hour == 12 else hour + 12)
        case "evening" | "night":
            if hour % 12 <= _NIGHT[period]:
                return _at(clock, hour % 12, shift=1)
            return _at(clock, hour + 12)
    if clock.literal:
        return _at(clock, hour)
    return _at(clock, hour + 12 if 1 <= hour <= 6 else hour, guess=hour not in (0, 12))


def _at(clock: Clock, hour: int, *, shift: int = 0, guess: bool = False) -> WallTime:
    return WallTime(time(hour, clock.minute, clock.second), shift, guess)


def next_month_day(after: date, day: int) -> date:
    """The first date on or after `after` that is the `day`-th of its month, -1 its last, -2 the day before that."""
    month = after.replace(day=1)
    while True:
        length = month_days(month.year, month.month)
        if day <= length:
            found = month.replace(day=length + 1 + day if day < 0 else day)
            if found >= after:
                return found
        month = add_months(month, 1)


def nth_weekday(year: int, month: int, weekday: int | None, n: int) -> date | None:
    """The nth (from the end when negative) such weekday of a month, a workday when None; None if there is none."""
    wanted = range(5) if weekday is None else (weekday,)
    days = [d for i in range(month_days(year, month)) if (d := date(year, month, i + 1)).weekday() in wanted]
    try:
        return days[n - 1 if n > 0 else n]
    except IndexError:
        return None
