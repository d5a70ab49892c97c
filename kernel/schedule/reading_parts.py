"""What a reading has to say, without words: times of day gathered into runs, rules gathered by their days, bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from kernel.schedule.calendars import BeyondCalendar
from kernel.schedule.cron import Fields, read
from kernel.schedule.values import Cron, Every
from kernel.triggers import next_fire_of

_SHORTEST_RUN = 4
_DAY_MIN, _EVENING_MIN = 24 * 60, 18 * 60
_LONGEST_RUN_STEP_MIN = 120
"""Times further apart are easier to read one by one: 00:00, 06:00, 12:00 and 18:00."""


@dataclass(frozen=True, slots=True)
class Run:
    """Times of day: one (`step_min` 0), or evenly spaced ones from `first` to `last`, both included."""

    first: time
    last: time
    step_min: int = 0


@dataclass(frozen=True, slots=True)
class EachHour:
    """The same minutes of all 24 hours."""

    minutes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Days, and when on them. `days` says nothing of hours and minutes."""

    days: Fields
    times: tuple[Run, ...] | EachHour


@dataclass(frozen=True, slots=True)
class Bounds:
    """How a series is bounded, in local time: `first` and `last` are days or, where the time matters, moments.

    `first` is a time of day alone where the day goes without saying.
    """

    first: date | datetime | time | None = None
    last: date | datetime | None = None
    count: int | None = None

    @property
    def one_day(self) -> tuple[datetime, datetime] | None:
        """Both moments when they are of one day."""
        first, last = self.first, self.last
        if isinstance(first, datetime) and isinstance(last, datetime) and first.date() == last.date():
            return first, last
        return None


def groups_of(schedule: Cron) -> tuple[Group, ...]:
    """The expressions of `schedule`, those of the same days as one."""
    minutes_of_days: dict[Fields, set[int]] = {}
    for expression in schedule.expressions:
        fields = read(expression)
        days = replace(fields, minutes=(), hours=())
        times = {hour * 60 + minute for hour in fields.hours for minute in fields.minutes}
        minutes_of_days.setdefault(days, set()).update(times)
    nightly = schedule == Cron(schedule.expressions) and tuple(minutes_of_days) == (Fields((), ()),)
    return tuple(Group(days, _times(minutes, nightly=nightly)) for days, minutes in minutes_of_days.items())


def bounds_of_cron(schedule: Cron, zone: str) -> Bounds:
    """The first day with a fire, the last day allowed, the count."""
    first: date | datetime | None = None
    if schedule.start is not None:
        fire = _known_fire(replace(schedule, end=None), zone, schedule.start - timedelta(microseconds=1))
        first = None if fire is None else _local(fire, zone).date()
    last: date | datetime | None = None
    if schedule.end is not None:
        last = _local(schedule.end, zone)
        day_end = datetime.combine(last.date(), time.max, last.tzinfo)
        following = _known_fire(replace(schedule, end=None, count=None), zone, schedule.end)
        if following is None or following > day_end:
            last = last.date()
    return Bounds(first, last, schedule.count)


def bounds_of_interval(schedule: Every, zone: str) -> Bounds:
    """Its first and last moment and the count.

    A start between two minutes is not one that somebody said: it is "from now on" and left out. The first one of
    an interval of up to a day lies within a day: its date is left out.
    """
    start = _local(schedule.start, zone)
    end = None if schedule.end is None else _local(schedule.end, zone)
    if start.second or start.microsecond:
        return Bounds(None, end, schedule.count)
    one_day = end is not None and end.date() == start.date() and end - start >= schedule.step and not end.second
    if one_day and schedule.count is None:
        return Bounds(start, end, schedule.count)
    first = start.time() if schedule.step <= timedelta(days=1) else start
    return Bounds(first, end, schedule.count)


def term_of(days: Fields) -> int | None:
    """The solar term that the days bring about in the calendar of the terms, 0 for 小寒; None when not just one."""
    if days.months is None or len(days.months) > 1 or days.weekdays is not None or days.nth or days.month_end:
        return None
    halves = {tuple(range(3, 10)): 0, tuple(range(18, 25)): 1}
    half = halves.get(days.days or ())
    return None if half is None else 2 * (days.months[0] - 1) + half


def whole_units(span: timedelta) -> tuple[int, str]:
    """`span` in the largest of hour, minute and second that measures it without rest."""
    seconds = span // timedelta(seconds=1)
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds % size == 0:
            return seconds // size, unit
    return seconds, "second"


def _known_fire(schedule: Cron, zone: str, after: datetime) -> datetime | None:
    try:
        return next_fire_of(schedule, zone, after)
    except BeyondCalendar:
        return None


def _local(moment: datetime, zone: str) -> datetime:
    return moment.astimezone(ZoneInfo(zone))


def _times(minutes: set[int], *, nightly: bool) -> tuple[Run, ...] | EachHour:
    of_hour = {each % 60 for each in minutes}
    if len(minutes) == 24 * len(of_hour):
        return EachHour(tuple(sorted(of_hour)))
    over = _over_midnight(sorted(minutes)) if nightly else None
    return (over,) if over else _runs(sorted(minutes))


def _over_midnight(minutes: list[int]) -> Run | None:
    """All of them as one run from an evening into the morning (22:00到06:00每2小时); None when they are none."""
    gaps = [b - a for a, b in pairwise([*minutes, minutes[0] + _DAY_MIN])]
    rest = gaps.index(max(gaps))
    steps = {gap for n, gap in enumerate(gaps) if n != rest}
    if len(minutes) < _SHORTEST_RUN or len(steps) != 1 or rest == len(gaps) - 1:
        return None
    first, last = minutes[rest + 1], minutes[rest]
    is_run = steps.pop() <= _LONGEST_RUN_STEP_MIN and first >= _EVENING_MIN and last < first
    return Run(_clock(first), _clock(last), gaps[rest - 1]) if is_run else None


def _runs(minutes: list[int]) -> tuple[Run, ...]:
    runs = []
    i = 0
    while i < len(minutes):
        length = _even_length(minutes[i:])
        step = minutes[i + 1] - minutes[i] if length > 1 else 0
        if length < _SHORTEST_RUN or step > _LONGEST_RUN_STEP_MIN:
            length, step = 1, 0
        runs.append(Run(_clock(minutes[i]), _clock(minutes[i + length - 1]), step))
        i += length
    return tuple(runs)


def _even_length(minutes: list[int]) -> int:
    """How many of the first are evenly spaced."""
    length = min(2, len(minutes))
    while length < len(minutes) and minutes[length] - minutes[length - 1] == minutes[1] - minutes[0]:
        length += 1
    return length


def _clock(minute: int) -> time:
    return time(minute // 60, minute % 60)
