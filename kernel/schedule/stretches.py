"""Steps within a day: those of one day as an interval that ends with it, those of every day as times of day."""

from __future__ import annotations

from datetime import time, timedelta

from kernel.schedule.civil import WallTime, wall_time
from kernel.schedule.phrases import Cycle, Weekdays
from kernel.schedule.plan import Plan
from kernel.schedule.resolve import Moment, NotYet, dates_of
from kernel.schedule.values import Doubt, Every, Once

_HOUR_S, _DAY_S = 3600, 86400


def is_of_one_day(plan: Plan) -> bool:
    """The days are single dates: the steps of a window there are single times."""
    if plan.workdays or plan.between or plan.lasting or any(c.unit != "s" for c in plan.cycles) or not plan.days:
        return False
    return not any(isinstance(d, Weekdays) and (d.each or (len(d.days) > 2 and d.week is None)) for d in plan.days)


def stretch(plan: Plan, interval: Cycle | None, moment: Moment) -> Once | Every | None:
    """The steps of one window of one day, or of the whole day; None when there are more days, windows or minutes.

    Raises NotYet when all of them are over.
    """
    if interval is None or plan.hourly or len(plan.days) != 1 or len(plan.windows) > 1:
        return None
    first, last = plan.windows[0] if plan.windows else (WallTime(time(0)), WallTime(time(23, 59)))
    days = dates_of(plan.days[0], moment, first)
    if len(days) != 1:
        return None
    step = timedelta(seconds=interval.n)
    start, end = moment.instant(days[0], first), moment.instant(days[0], last)
    if plan.until and plan.until.clock:
        wall = wall_time(plan.until.clock)
        if wall is None:
            raise NotYet(Doubt.INVALID_TIME)
        end = min(end, moment.instant(days[0], wall))
    if not plan.windows and not _divides(interval.n):
        if days[0] != moment.today:
            raise NotYet(Doubt.AMBIGUOUS)
        start = moment.now + step
    elif start <= moment.now:
        start += ((moment.now - start) // step + 1) * step
    if start > end:
        raise NotYet(Doubt.PAST)
    if not plan.windows:
        end = start + (end - start) // step * step
    return Every(step, start, end) if start + step <= end else Once((start,))


def times_of_day(plan: Plan, interval: Cycle | None) -> list[WallTime]:
    """When the steps come on each day. Raises NotYet when they do not come at the same times every day."""
    if plan.hourly:
        minutes = [m for m in (plan.hourly.minute, plan.hourly.also) if m is not None]
        walls = [WallTime(time(hour, minute)) for hour in range(24) for minute in minutes]
        return _within(walls, *plan.windows[0]) if plan.windows else walls
    seconds = interval.n if interval else _HOUR_S
    if plan.windows:
        return [wall for first, last in plan.windows for wall in _steps(first, last, seconds)]
    if _divides(seconds):
        return _steps(WallTime(time(0)), WallTime(time(23, 59)), seconds)
    raise NotYet(Doubt.AMBIGUOUS)


def _divides(seconds: int) -> bool:
    """So many seconds fill the hour, or whole hours the day, without rest: 90 minutes do not."""
    return _HOUR_S % seconds == 0 or (seconds % _HOUR_S == 0 and _DAY_S % seconds == 0)


def _within(walls: list[WallTime], first: WallTime, last: WallTime) -> list[WallTime]:
    if not last.shift:
        return [w for w in walls if first.moment <= w.moment <= last.moment]
    late = [w for w in walls if w.moment >= first.moment]
    return late + [WallTime(w.moment, shift=1) for w in walls if w.moment <= last.moment]


def _steps(first: WallTime, last: WallTime, seconds: int) -> list[WallTime]:
    minute = first.moment.hour * 60 + first.moment.minute
    end = last.shift * 1440 + last.moment.hour * 60 + last.moment.minute
    found = []
    while minute <= end:
        found.append(WallTime(time(minute // 60 % 24, minute % 60), minute // 1440))
        minute += seconds // 60
    return found
