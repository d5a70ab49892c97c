"""Turns a plan into a schedule, or into the reason why it must be asked about."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from kernel.schedule import calendars
from kernel.schedule.civil import (
    DAY,
    WallTime,
    add_months,
    add_span,
    month_days,
    next_month_day,
    nth_weekday,
    to_utc,
    zone_of,
)
from kernel.schedule.named_days import holiday, lunar_date
from kernel.schedule.phrases import Dates, Day, DayPhrase, LunarDate, LunarDays, Named, Nth, OffMonth, Weekdays
from kernel.schedule.plan import Plan
from kernel.schedule.values import Doubt, Once

_FAR_S = 100 * 366 * 86400
"""Nobody means to be reminded in more than a hundred years."""


class NotYet(Exception):
    """The plan cannot become a schedule; `doubt` says why, `again` holds plans that would be clear."""

    def __init__(self, doubt: Doubt) -> None:
        super().__init__(doubt.value)
        self.doubt = doubt


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where the message was sent: the local wall time in the zone of its dates."""

    now: datetime
    zone: str
    local: datetime = field(init=False)
    """The local time."""
    today: date = field(init=False)
    """The local date."""

    def __post_init__(self) -> None:
        local = self.now.astimezone(zone_of(self.zone))
        object.__setattr__(self, "local", local)
        object.__setattr__(self, "today", local.date())

    def instant(self, day: date, wall: WallTime) -> datetime:
        """The instant of a time of day on a date, aware UTC."""
        return to_utc(day + wall.shift * DAY, wall.moment, zone_of(self.zone))

    def midnight(self, day: date) -> datetime:
        """The instant at which a day begins."""
        return to_utc(day, time(0), zone_of(self.zone))

    def day_end(self, day: date) -> datetime:
        """The last second of a day."""
        return to_utc(day, time(23, 59, 59), zone_of(self.zone))


def own_times(plan: Plan) -> list[WallTime]:
    """The times to fire at: of a lead in days with a clock time of its own, without those of the event."""
    return plan.times[plan.event_times :] if plan.leads_to_clock else plan.times


def refuse_unclear(plan: Plan) -> None:
    """Raises NotYet for what no day or rule could mend: impossible values, alternatives, deadlines, events."""
    for unclear in plan.unclear:
        impossible = Doubt.INVALID_DATE if unclear.is_date else Doubt.INVALID_TIME
        raise NotYet(impossible if unclear.impossible else Doubt.AMBIGUOUS)
    if plan.either:
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.deadline:
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.leads_to_clock and not (plan.days or plan.is_series):
        raise NotYet(Doubt.EVENT)
    if plan.vague and plan.vague.event:
        raise NotYet(Doubt.EVENT)
    if plan.vague and not plan.has_time:
        raise NotYet(Doubt.VAGUE_PERIOD)


def resolve_once(plan: Plan, moment: Moment) -> Once:
    """The single times a plan names. Raises NotYet when there are none, or they are past."""
    if plan.windows or plan.lasting or plan.start_time or (plan.count is not None and plan.count > 1):
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.aheads:
        return _ahead(plan, moment)
    if not plan.times:
        if any(p.period for p in plan.parts) or plan.vague:
            raise NotYet(Doubt.VAGUE_PERIOD)
        raise NotYet(Doubt.NO_TIME)
    days: list[DayPhrase] = list(plan.days)
    if any(p.today for p in plan.parts) and not days:
        days = [Day(0)]
    if plan.midnight and days and not any(p.today or p.period == "" for p in plan.parts):
        raise NotYet(Doubt.AMBIGUOUS)
    times = _undated(plan, moment) if not days else _dated(days, plan, moment)
    if plan.lead:
        times = [_earlier(t, plan, moment) for t in times]
    ahead = sorted({t for t in times if t > moment.now})
    if not ahead:
        raise NotYet(Doubt.PAST)
    return Once(tuple(ahead))


def _earlier(fire: datetime, plan: Plan, moment: Moment) -> datetime:
    assert plan.lead is not None
    lead = plan.lead.span
    local = fire.astimezone(zone_of(moment.zone))
    if lead.months or lead.days:
        day = add_months(local.date(), -lead.months) - lead.days * DAY
        fire = to_utc(day, local.time(), zone_of(moment.zone))
    return fire - timedelta(seconds=lead.seconds)


def _ahead(plan: Plan, moment: Moment) -> Once:
    found: list[datetime] = []
    for ahead in plan.aheads:
        length = ahead.span
        if length.months == length.days == length.seconds == 0:
            raise NotYet(Doubt.INVALID_TIME)
        if length.seconds and plan.times:
            raise NotYet(Doubt.AMBIGUOUS)
        if length.seconds and not length.days and not length.months:
            if length.seconds > _FAR_S:
                raise NotYet(Doubt.INVALID_TIME)
            found.append(moment.now + timedelta(seconds=length.seconds))
            continue
        if not plan.times and (ahead.origin or any(p.period for p in plan.parts) or not length.seconds):
            raise NotYet(Doubt.VAGUE_PERIOD if plan.parts else Doubt.NO_TIME)
        try:
            origin = dates_of(ahead.origin, moment)[0] if ahead.origin else moment.today
            day = add_span(origin, length)
        except OverflowError as error:
            raise NotYet(Doubt.INVALID_DATE) from error
        if plan.times:
            found.extend(moment.instant(day, wall) for wall in plan.times)
        else:
            found.append(to_utc(day, moment.local.time(), zone_of(moment.zone)) + timedelta(seconds=length.seconds))
    if plan.days and any(not isinstance(d, Day) for d in plan.days):
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.lead:
        found = [_earlier(t, plan, moment) for t in found]
    if any(t <= moment.now for t in found):
        raise NotYet(Doubt.PAST)
    return Once(tuple(sorted(found)))


def _undated(plan: Plan, moment: Moment) -> list[datetime]:
    """Clock times without a day: the next time each comes round."""
    found = []
    for wall in plan.times:
        day = moment.today
        if wall.shift and wall.moment > moment.local.time() and moment.local.hour < 6:
            day -= DAY  # Said after midnight, "one at night" is still this night.
        fire = moment.instant(day, wall)
        if plan.lead:
            while _earlier(fire, plan, moment) <= moment.now:
                day += DAY
                fire = moment.instant(day, wall)
        elif fire <= moment.now:
            fire = moment.instant(day + DAY, wall)
        found.append(fire)
    return found


def _dated(days: list[DayPhrase], plan: Plan, moment: Moment) -> list[datetime]:
    if len(days) > 1:
        days = _narrowed(days)
    if any(w.shift and w.moment != time(0) for w in plan.times) and days != [Day(0)]:
        raise NotYet(Doubt.AMBIGUOUS)  # Saturday at one at night: the night before it or the one after?
    found: list[datetime] = []
    for phrase in days:
        for day in dates_of(phrase, moment, plan.times[0]):
            if not isinstance(phrase, Weekdays) and any(_is_other_weekday(d, day) for d in plan.days):
                raise NotYet(Doubt.AMBIGUOUS)  # Thursday, 22 April is a Wednesday
            found.extend(moment.instant(day, wall) for wall in plan.times)
    return found


def _is_other_weekday(phrase: DayPhrase, day: date) -> bool:
    return isinstance(phrase, Weekdays) and day.weekday() not in phrase.days


def _narrowed(days: list[DayPhrase]) -> list[DayPhrase]:
    """Two phrases for one day (周五，3月13号; 明天周五) count once; contradictions are asked about."""
    if any(isinstance(d, OffMonth) for d in days):
        raise NotYet(Doubt.AMBIGUOUS)
    kinds = {type(d) for d in days}
    if len(kinds) == 1:
        return days
    exact: list[DayPhrase] = [d for d in days if not isinstance(d, Weekdays)]
    if len(exact) == len(days):
        raise NotYet(Doubt.AMBIGUOUS)
    return exact


def dates_of(phrase: DayPhrase, moment: Moment, wall: WallTime | None = None) -> list[date]:
    """The dates a day phrase means, seen from `moment`; `wall` decides whether today still counts.

    Raises NotYet for past and impossible days.
    """
    today = moment.today
    is_over = wall is not None and moment.instant(today, wall) <= moment.now
    earliest = today + DAY if is_over else today
    match phrase:
        case Day():
            if phrase.that:
                raise NotYet(Doubt.AMBIGUOUS)
            if phrase.offset < 0:
                raise NotYet(Doubt.PAST)
            return [today + phrase.offset * DAY]
        case Weekdays():
            return _weekday_dates(phrase, today, earliest)
        case Dates():
            return _month_dates(phrase, today, earliest)
        case Nth():
            return [_nth_date(phrase, today, earliest)]
        case Named():
            return [_named_date(phrase, today, earliest)]
        case LunarDate():
            return [_lunar(phrase.month, phrase.day, earliest)]
        case LunarDays():
            return sorted(_lunar_of_month(each, earliest) for each in phrase.days)
        case OffMonth():
            raise NotYet(Doubt.NO_TIME)


def _weekday_dates(phrase: Weekdays, today: date, earliest: date) -> list[date]:
    monday = today - today.weekday() * DAY
    if phrase.week is not None:
        return [monday + (7 * phrase.week + d) * DAY for d in phrase.days]
    return sorted(earliest + (d - earliest.weekday()) % 7 * DAY for d in phrase.days)


def _month_dates(phrase: Dates, today: date, earliest: date) -> list[date]:
    if phrase.of_quarter or (phrase.each and phrase.month is None and phrase.months_ahead is None):
        raise NotYet(Doubt.AMBIGUOUS)
    found = []
    for day in phrase.days:
        if day == -99:
            continue
        if phrase.months_ahead is not None:
            month = add_months(today.replace(day=1), phrase.months_ahead)
            found.append(_day_in(month.year, month.month, day))
        elif phrase.month is None:
            found.append(next_month_day(earliest, day))
        elif phrase.year is not None or phrase.years_ahead is not None:
            year = phrase.year if phrase.year is not None else today.year + (phrase.years_ahead or 0)
            found.append(_day_in(year, phrase.month, day))
        else:
            found.append(_next_yearly(phrase.month, day, earliest))
    return found


def _day_in(year: int, month: int, day: int) -> date:
    if not 1 <= year <= 9000:
        raise NotYet(Doubt.INVALID_DATE)
    length = month_days(year, month)
    if day < 0:
        return date(year, month, length + 1 + day)
    if day == 0:
        return date(year, month, 1) - DAY
    if day > length:
        raise NotYet(Doubt.INVALID_DATE)
    return date(year, month, day)


def _next_yearly(month: int, day: int, earliest: date) -> date:
    if day > 0 and day > month_days(2024, month):
        raise NotYet(Doubt.INVALID_DATE)
    for year in range(earliest.year, earliest.year + 9):
        if day > month_days(year, month):
            continue
        found = _day_in(year, month, day)
        if found >= earliest:
            return found
    raise NotYet(Doubt.INVALID_DATE)


def _nth_date(phrase: Nth, today: date, earliest: date) -> date:
    if phrase.statutory:
        raise NotYet(Doubt.AMBIGUOUS)
    if phrase.months_ahead is not None:
        month = add_months(today.replace(day=1), phrase.months_ahead)
    elif phrase.month is not None:
        month = date(phrase.year or today.year, phrase.month, 1)
    else:
        raise NotYet(Doubt.AMBIGUOUS)
    found = nth_weekday(month.year, month.month, phrase.weekday, phrase.n)
    if found is not None and found < earliest and phrase.month is not None and phrase.year is None:
        found = nth_weekday(month.year + 1, month.month, phrase.weekday, phrase.n)
    if found is None:
        raise NotYet(Doubt.INVALID_DATE)
    return found


def _named_date(phrase: Named, today: date, earliest: date) -> date:
    wanted = None if phrase.years_ahead is None else today.year + phrase.years_ahead
    for year in range(today.year - 1, today.year + 3 + max(phrase.years_ahead or 0, 0)):
        found = holiday(phrase.name, year)
        if found is None:
            continue
        last = _edge_of_holiday(found, 1) if phrase.edge and found.year >= today.year else found
        if last >= earliest if wanted is None else found.year == wanted:
            return _edge_of_holiday(found, phrase.edge) if phrase.edge else found
    raise NotYet(Doubt.AMBIGUOUS)


def _edge_of_holiday(day: date, edge: int) -> date:
    try:
        return calendars.holiday_around(day)[edge > 0]
    except calendars.BeyondCalendar as error:
        raise NotYet(Doubt.BEYOND_CALENDAR) from error


def _lunar_of_month(day: int, earliest: date) -> date:
    found = calendars.next_lunar(earliest, frozenset(range(1, 13)), frozenset({day}))
    if found is None:
        raise NotYet(Doubt.INVALID_DATE)
    return found


def _lunar(month: int, day: int, earliest: date) -> date:
    for year in range(earliest.year - 1, earliest.year + 12):
        found = lunar_date(year, month, day)
        if found is not None and found >= earliest:
            return found
    raise NotYet(Doubt.INVALID_DATE)
