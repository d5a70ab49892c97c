"""Turns a plan that repeats into an exact interval or a wall-clock rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TypeGuard

from kernel.schedule.civil import DAY, WallTime, add_months, add_span, month_days, wall_time
from kernel.schedule.cron_lines import Rule, days_of, expressions_of, shift_days
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Cycle,
    Dates,
    Day,
    DayPhrase,
    From,
    LunarDate,
    LunarDays,
    Named,
    Nth,
    OffMonth,
    Span,
    Weekdays,
)
from kernel.schedule.plan import Plan
from kernel.schedule.resolve import Moment, NotYet, dates_of, resolve_once
from kernel.schedule.stretches import is_of_one_day, stretch, times_of_day
from kernel.schedule.values import Calendar, Cron, Doubt, Every, Schedule, Step, Unit

_UNITS = {"d": Unit.DAY, "w": Unit.WEEK, "M": Unit.MONTH, "y": Unit.YEAR}


_LONGEST_INTERVAL_S = 400 * 86400


def resolve_series(plan: Plan, moment: Moment) -> Schedule:
    """The interval or rule a plan names. Raises NotYet when something is missing or contradicts itself."""
    interval = plan.sub_daily
    if interval is not None and interval.n <= 0:
        raise NotYet(Doubt.INVALID_TIME)
    if plan.start_time and plan.until and plan.until.day is None and plan.until.clock:
        last = wall_time(plan.until.clock)
        if last is None or (last.shift, last.moment) <= (0, plan.start_time.moment):
            raise NotYet(Doubt.AMBIGUOUS)
        plan = replace(plan, windows=[(plan.start_time, last)], start_time=None, until=None)
        if plan.start and _is_day(plan.start.day) and not plan.workdays and all(c.unit == "s" for c in plan.cycles):
            plan = replace(plan, days=[plan.start.day], start=None)  # 今天2点开始每15分钟，到3点半: that day alone
    narrowed = plan.windows or plan.workdays or plan.days or any(c.unit != "s" and not c.loose for c in plan.cycles)
    if interval is not None and not narrowed and not plan.between and not plan.times:
        return _interval(interval, plan, moment)
    if interval is not None or plan.hourly:
        return _grid(interval, plan, moment)
    if plan.windows or plan.aheads or plan.start_time:
        raise NotYet(Doubt.AMBIGUOUS)
    if not plan.times:
        raise NotYet(Doubt.VAGUE_PERIOD if any(p.period for p in plan.parts) else Doubt.NO_TIME)
    return _wall_clock(plan, moment)


def _is_day(day: DayPhrase | Ahead | None) -> TypeGuard[DayPhrase]:
    return isinstance(day, (Day, Dates, Named, Weekdays, LunarDate))


def _interval(interval: Cycle, plan: Plan, moment: Moment) -> Every:
    if plan.lead or plan.excepts:
        raise NotYet(Doubt.AMBIGUOUS)
    _refuse_part(plan)
    if interval.n > _LONGEST_INTERVAL_S:
        raise NotYet(Doubt.INVALID_TIME)
    step = timedelta(seconds=interval.n)
    start = moment.now + step
    later = _later_start(plan, moment)
    if later is not None:
        start = later
    elif plan.start_time:
        day = _start_day(plan.start, moment) if plan.start and plan.start.day else moment.today
        start = moment.instant(day, plan.start_time)
        if start <= moment.now:
            if plan.start and plan.start.day:
                raise NotYet(Doubt.PAST)
            start = moment.instant(day + DAY, plan.start_time)
    elif plan.start and plan.start.day is not None:
        raise NotYet(Doubt.AMBIGUOUS)
    end: datetime | None = None
    if plan.until:
        end = _until(plan, moment)
    elif plan.lasting:
        span = plan.lasting.span
        length = timedelta(days=span.days + 30 * span.months, seconds=span.seconds)
        end = moment.now + length
        if start > moment.now + step or plan.start_time:
            whole = length if span.seconds else length - timedelta(seconds=1)
            end = start + whole // step * step
    if end is not None and end < start:
        raise NotYet(Doubt.PAST)
    return Every(step, start, end, plan.count)


def _later_start(plan: Plan, moment: Moment) -> datetime | None:
    """半小时后每10分钟, 2小时后开始每半小时: the first fire, so long from now."""
    begin = plan.start.day if plan.start else None
    if plan.aheads and plan.start is None and len(plan.aheads) == 1:
        begin = plan.aheads[0]
    if not isinstance(begin, Ahead):
        if plan.aheads:
            raise NotYet(Doubt.AMBIGUOUS)
        return None
    if begin.origin is not None or begin.span.months or plan.start_time:
        raise NotYet(Doubt.AMBIGUOUS)
    return moment.now + timedelta(days=begin.span.days, seconds=begin.span.seconds)


def _refuse_part(plan: Plan) -> None:
    """每天上午每小时: from when to when is a question."""
    if not (plan.windows or plan.start_time) and any(p.period for p in plan.parts):
        raise NotYet(Doubt.VAGUE_PERIOD)


def _until(plan: Plan, moment: Moment) -> datetime:
    assert plan.until is not None
    clock = plan.until.clock
    wall = wall_time(clock) if clock else None
    if clock and wall is None:
        raise NotYet(Doubt.INVALID_TIME)
    if plan.until.day is None:
        assert wall is not None
        end = moment.instant(moment.today, wall)
        return end if end > moment.now else moment.instant(moment.today + DAY, wall)
    last = max(dates_of(plan.until.day, moment))
    return moment.instant(last, wall) if wall else moment.day_end(last)


def _grid(interval: Cycle | None, plan: Plan, moment: Moment) -> Schedule:
    """Steps inside a window of the day, or a minute of every hour."""
    if plan.lead or plan.aheads or any(c.unit in ("M", "y", "Q") for c in plan.cycles):
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.times or plan.start_time:
        raise NotYet(Doubt.AMBIGUOUS)
    if (interval.n if interval else 3600) % 60:
        raise NotYet(Doubt.AMBIGUOUS)
    _refuse_part(plan)
    if any(p.today for p in plan.parts) and not plan.days and all(c.unit == "s" for c in plan.cycles):
        plan = replace(plan, days=[Day(0)])  # from 6pm to 7:30pm tonight
    if not is_of_one_day(plan):
        return _wall_clock(replace_times(plan, times_of_day(plan, interval)), moment)
    if plan.lasting or plan.count is not None or (plan.until and (plan.until.day or plan.windows)):
        raise NotYet(Doubt.AMBIGUOUS)
    one = stretch(plan, interval, moment)
    if one is None and plan.until:
        raise NotYet(Doubt.AMBIGUOUS)
    walls = [] if one else times_of_day(plan, interval)
    return one or resolve_once(replace(plan, times=walls, windows=[], cycles=[], hourly=None), moment)


def replace_times(plan: Plan, walls: list[WallTime]) -> Plan:
    """The plan with other times of day and no step below a day."""
    cycles = [c for c in plan.cycles if c.unit != "s"]
    if not cycles and not plan.workdays and not plan.days and not plan.between:
        cycles = [Cycle(1, "d")]
    return replace(plan, times=walls, windows=[], cycles=cycles, hourly=None)


def _wall_clock(plan: Plan, moment: Moment) -> Cron:
    _name_weekday(plan, moment)
    _name_stretch(plan)
    lead_days = _move_by_lead(plan)
    rule, cycle = days_of(plan)
    shift = plan.times[0].shift - lead_days
    if any(w.shift != plan.times[0].shift for w in plan.times):
        bounded = plan.start or plan.until or plan.lasting or plan.excepts or plan.count or (cycle and cycle.n > 1)
        into_morning = any(w.shift and w.moment != time(0) for w in plan.times)
        if rule.fields != [("*", "*", "*")] or rule.calendar or (into_morning and bounded):
            raise NotYet(Doubt.AMBIGUOUS)
        shift = 0
    if shift > 0 and rule.fields != [("*", "*", "*")] and any(w.moment != time(0) for w in plan.times):
        raise NotYet(Doubt.AMBIGUOUS)
    if shift:
        shift_days(rule, shift)
    start, end, first_day = _bounds(plan, moment, rule)
    step = None
    if cycle is not None and cycle.n > 1 and cycle.unit != "Q":
        step = Step(cycle.n, _UNITS[cycle.unit], first_day if first_day else _first_fit(plan, moment, rule, None))
        if shift and cycle.unit != "d":
            raise NotYet(Doubt.AMBIGUOUS)
    weekdays, calendar = _exclusions(plan, rule)
    excluded = {d for e in plan.excepts for phrase in e.dates for d in dates_of(phrase, moment)}
    return Cron(
        expressions_of(plan.times, rule),
        start,
        end,
        plan.count,
        step,
        tuple(sorted(excluded)),
        weekdays,
        calendar,
    )


def _name_weekday(plan: Plan, moment: Moment) -> None:
    """ "Starting next Tuesday, every week": the first day names the weekday."""
    weekly = any(c.unit == "w" for c in plan.cycles)
    if weekly and plan.start and plan.start.day and not plan.days and not isinstance(plan.start.day, OffMonth):
        plan.days = [Weekdays((_start_day(plan.start, moment).weekday(),))]


def _name_stretch(plan: Plan) -> None:
    """下周一到周三每天: the weekdays of one week are where the series begins and ends."""
    if len(plan.days) != 1 or any((c.n, c.unit) != (1, "d") for c in plan.cycles):
        return
    named = plan.days[0]
    if isinstance(named, Weekdays) and named.week is not None and len(named.days) > 1:
        first, last = named.days[0], named.days[-1]
        if last - first + 1 == len(named.days) and not plan.between:
            plan.between = Between(Weekdays((first,), named.week), Weekdays((last,), named.week))
            plan.days = []


def _move_by_lead(plan: Plan) -> int:
    """Moves the times of day forward by the lead; gives the whole days it reaches back."""
    if plan.lead is None:
        return 0
    lead = plan.lead.span
    if lead.months:
        raise NotYet(Doubt.AMBIGUOUS)
    back = {divmod(w.shift * 86400 + _seconds(w.moment) - lead.seconds, 86400) for w in plan.times}
    days = {d for d, _ in back}
    if len(days) > 1:
        raise NotYet(Doubt.AMBIGUOUS)
    plan.times = [WallTime(time(s // 3600, s // 60 % 60)) for _, s in sorted(back)]
    return lead.days - days.pop()


def _seconds(moment: time) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _first_fit(plan: Plan, moment: Moment, rule: Rule, start: date | None) -> date:
    """The first day that fits and whose earliest time is still ahead."""
    day = start or moment.today
    latest = max(w.moment for w in plan.times) if start else min(w.moment for w in plan.times)
    while moment.instant(day, WallTime(latest)) <= moment.now:
        day += DAY
    for _ in range(366 * 9):
        if rule.fits(day):
            return day
        day += DAY
    raise NotYet(Doubt.INVALID_DATE)


def _bounds(plan: Plan, moment: Moment, rule: Rule) -> tuple[datetime | None, datetime | None, date | None]:
    """Start and end instants, and the first day when it is known."""
    first: date | None = None
    start: datetime | None = None
    end: datetime | None = None
    begin: From | None = plan.start
    plain = [d for d in plan.days if isinstance(d, Day) and not d.that]
    if begin is None and plain and plan.cycles:
        begin = From(plain[0])
    if plan.between:
        begin = From(plan.between.first)
    stretch = next((d for d in plan.days if isinstance(d, OffMonth)), None)
    if stretch is not None:
        if begin or plan.until or plan.lasting:
            raise NotYet(Doubt.AMBIGUOUS)
        begin = From(stretch)
        end = moment.day_end(_stretch_end(stretch, moment))
    if begin and begin.day is not None:
        asked = _start_day(begin, moment)
        start = moment.midnight(asked)
        first = _first_fit(plan, moment, rule, asked)
    if plan.between:
        end = moment.day_end(_end_day(plan.between.last, moment, after=first or moment.today))
    elif plan.until:
        if plan.until.day is None:
            raise NotYet(Doubt.AMBIGUOUS)  # Until ten o'clock bounds hours, not days.
        end = _until(plan, moment)
    if plan.lasting:
        span = plan.lasting.span
        if span.seconds:
            raise NotYet(Doubt.AMBIGUOUS)
        first = first or _first_fit(plan, moment, rule, None)
        start = start or moment.midnight(first)
        end = moment.day_end(_lasting_end(first, span))
    if plan.count is not None and start is None:
        start = moment.now  # What is counted must begin somewhere.
    if end is not None and end <= max(moment.now, start or moment.now):
        raise NotYet(Doubt.PAST)
    return start, end, first


def _stretch_end(stretch: OffMonth, moment: Moment) -> date:
    """The last day of this or next week, month or year."""
    first = _start_day(From(stretch), moment)
    if stretch.is_year:
        return date(first.year, 12, 31)
    if stretch.is_week:
        return first - first.weekday() * DAY + 6 * DAY
    return first.replace(day=month_days(first.year, first.month))


def _lasting_end(first: date, span: Span) -> date:
    try:
        last = add_span(first, span) - DAY
    except OverflowError as error:
        raise NotYet(Doubt.INVALID_DATE) from error
    return last


def _start_day(begin: From, moment: Moment) -> date:
    assert begin.day is not None
    if isinstance(begin.day, OffMonth):
        today = moment.today
        if begin.day.weeks:
            return today - today.weekday() * DAY + 7 * begin.day.weeks * DAY
        if begin.day.is_year and begin.day.months:
            return date(today.year + begin.day.months // 12, 1, 1)
        if begin.day.months:
            return add_months(today.replace(day=1), begin.day.months)
        return today
    if not isinstance(begin.day, (Day, Weekdays, Dates, Nth, Named, LunarDate, LunarDays)):
        return add_span(moment.today, begin.day.span)
    return min(dates_of(begin.day, moment))


def _end_day(phrase: DayPhrase, moment: Moment, after: date) -> date:
    if isinstance(phrase, (Weekdays, Dates)):
        # "from Friday to Monday": the end is the next one after the start, not after today.
        later = Moment(moment.midnight(after) + timedelta(hours=12), moment.zone)
        if not (isinstance(phrase, Weekdays) and phrase.week is not None) and not (
            isinstance(phrase, Dates) and phrase.months_ahead is not None
        ):
            return max(dates_of(phrase, later))
    return max(dates_of(phrase, moment))


def _exclusions(plan: Plan, rule: Rule) -> tuple[tuple[int, ...], Calendar | None]:
    weekdays = sorted({d for e in plan.excepts for d in e.weekdays})
    calendar = rule.calendar
    if any(e.holidays for e in plan.excepts):
        if calendar is not None or not plan.workdays:
            raise NotYet(Doubt.AMBIGUOUS)
        calendar = Calendar.STATUTORY_WORKDAYS
    if len(weekdays) == 7:
        raise NotYet(Doubt.AMBIGUOUS)
    return tuple(weekdays), calendar
