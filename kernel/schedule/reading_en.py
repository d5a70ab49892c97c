"""The English words of a reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta

from kernel.schedule.cron import LAST, Fields
from kernel.schedule.named_days import TERMS_EN
from kernel.schedule.reading_parts import Bounds, EachHour, Group, Run, term_of, whole_units
from kernel.schedule.values import Calendar, Cron, Step, Unit

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}
_EVERY_DAY = Fields((), ())


def recurrence(groups: tuple[Group, ...], schedule: Cron, bounds: Bounds) -> str:
    """every weekday at 09:00 except public holidays."""
    rules = _listed([_rule(each, schedule) for each in groups])
    return f"{rules}{_calendar(groups, schedule)}{_limits(bounds)}"


def interval(step: timedelta, bounds: Bounds) -> str:
    """every 45 minutes; every 45 minutes from 09:00 to 11:00 on 11 March 2026."""
    if bounds.one_day:
        first, last = bounds.one_day
        window = f"from {clock(first)} to {clock(last)} on {_date(last)}"
        return f"every {_span(step)} {window}{_limits(Bounds(count=bounds.count))}"
    return f"every {_span(step)}{_limits(bounds)}"


def moments(times: Iterable[datetime]) -> str:
    """on Wednesday 11 March 2026 at 09:00; times of the same day are listed behind it."""
    days: dict[date, list[str]] = {}
    for each in times:
        days.setdefault(each.date(), []).append(clock(each))
    return _listed([f"on {_WEEKDAYS[day.weekday()]} {_date(day)} at {_listed(clocks)}" for day, clocks in days.items()])


def moment(at: datetime, today: date) -> str:
    """today 15:00, tomorrow 09:00, Thu 12 Mar 09:00."""
    ahead = (at.date() - today).days
    if ahead in (0, 1):
        return f"{'tomorrow' if ahead else 'today'} {clock(at)}"
    year = f" {at.year}" if at.year != today.year else ""
    return f"{_WEEKDAYS[at.weekday()][:3]} {at.day} {_MONTHS[at.month - 1][:3]}{year} {clock(at)}"


def clock(at: datetime | time) -> str:
    """09:00, with seconds only where there are some."""
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def skipped_days(day: int) -> str:
    """What a confirmation says of a day that not every month has."""
    return f"months without a {_ordinal(day)} are skipped"


def leap_years_only() -> str:
    """What a confirmation says of 29 February."""
    return "29 February only exists in leap years; other years are skipped"


def _rule(group: Group, schedule: Cron) -> str:
    days = _days(group.days, schedule)
    excluded = [_WEEKDAYS[each] for each in sorted(set(schedule.excluded_weekdays))]
    excluded += [_date(each) for each in sorted(set(schedule.excluded_dates))]
    days += f" except {_listed(excluded)}" if excluded else ""
    if isinstance(group.times, EachHour):
        return _each_hour(group.times) if days == "every day" else f"{_each_hour(group.times)} {days}"
    if any(each.step_min for each in group.times):
        return f"{_listed([_run(each) for each in group.times])} {days}"
    return f"{days} at {_listed([f'{each.first:%H:%M}' for each in group.times])}"


def _each_hour(times: EachHour) -> str:
    if times.minutes == (0,):
        return "every hour on the hour"
    if len(times.minutes) == 60:
        return "every minute"
    return f"at {_listed([str(each) for each in times.minutes])} minutes past every hour"


def _run(run: Run) -> str:
    if not run.step_min:
        return f"at {run.first:%H:%M}"
    return f"every {_span(timedelta(minutes=run.step_min))} from {run.first:%H:%M} to {run.last:%H:%M}"


def _days(days: Fields, schedule: Cron) -> str:
    if schedule.calendar is Calendar.LUNAR:
        return _lunar(days)
    if schedule.step is not None:
        return _stepped(days, schedule.step)
    if days == _EVERY_DAY and schedule.calendar is Calendar.STATUTORY_WORKDAYS:
        return "every Chinese workday"
    if days == _EVERY_DAY and schedule.calendar is Calendar.STATUTORY_HOLIDAYS:
        return "every Chinese public holiday"
    if schedule.calendar is Calendar.SOLAR_TERMS and (term := term_of(days)) is not None:
        return f"every year on {TERMS_EN[term]}"
    workday = "Chinese workday" if schedule.calendar is Calendar.STATUTORY_WORKDAYS else "workday"
    if days.months is None and not _names_month_days(days):
        return f"every {_weekdays(days.weekdays)}"
    return f"on {_in_month(days, workday)} of every month" if days.months is None else _in_months(days, days.months)


def _in_months(days: Fields, months: tuple[int, ...]) -> str:
    if months == (1, 4, 7, 10) and days.days == (1,) and not days.month_end and days.weekdays is None:
        return "on the first day of every quarter"
    if months == (3, 6, 9, 12) and days.days == () and days.month_end and days.weekdays is None:
        return "on the last day of every quarter"
    return f"every year on {_of_months(days, months)}"


def _of_months(days: Fields, months: tuple[int, ...]) -> str:
    names = [_MONTHS[each - 1] for each in months]
    if days.days and not days.month_end and days.weekdays is None:
        return _listed([f"{day} {name}" for name in names for day in days.days])
    if _names_month_days(days):
        return f"{_in_month(days)} of {_listed(names)}"
    return f"every {_weekdays(days.weekdays)} in {_listed(names)}"


def _names_month_days(days: Fields) -> bool:
    return bool(days.days is not None or days.nth or days.first_workday or days.last_workday or days.from_end)


def _in_month(days: Fields, workday: str = "workday") -> str:
    if days.first_workday or days.last_workday:
        return f"the {'first' if days.first_workday else 'last'} {workday}"
    if days.from_end:
        return f"the {_ordinal(days.from_end + 1)} to last day"
    names = [f"the {_NTH[n]} {_WEEKDAYS[weekday]}" for weekday, n in days.nth]
    names += [f"the {_ordinal(each)}" for each in days.days or ()]
    if days.month_end:
        names.append("the last day")
    either = f" or every {_weekdays(days.weekdays)}" if days.weekdays is not None else ""
    return _listed(names) + either


def _weekdays(weekdays: tuple[int, ...] | None) -> str:
    match weekdays:
        case None | (0, 1, 2, 3, 4, 5, 6):
            return "day"
        case (0, 1, 2, 3, 4):
            return "weekday"
        case (5, 6):
            return "weekend"
        case _:
            return _listed([_WEEKDAYS[each] for each in weekdays])


def _stepped(days: Fields, step: Step) -> str:
    every = f"every {step.n} {step.unit.value}s" if step.n > 1 else f"every {step.unit.value}"
    if days == _EVERY_DAY:
        return every if step.unit is Unit.DAY else f"{every} on every day"
    if days.months is not None:
        return f"{every} on {_of_months(days, days.months)}"
    if _names_month_days(days):
        return f"{every} on {_in_month(days)}"
    weekdays = _weekdays(days.weekdays)
    return f"{every} on {weekdays}{'' if weekdays[0].isupper() else 's'}"


def _lunar(days: Fields) -> str:
    names = [f"the {_ordinal(each)}" for each in days.days or ()]
    if days.month_end:
        names.append("the last day")
    if days.months is None:
        return f"on {_listed(names)} of every lunar month" if days.days is not None else "every day"
    if days.months == (12,) and names == ["the last day"]:
        return "every Chinese New Year's Eve"
    if days.days is None:
        names = ["every day"]
    return f"every year on {_listed(names)} of lunar month {_listed([str(each) for each in days.months])}"


def _calendar(groups: tuple[Group, ...], schedule: Cron) -> str:
    """What the statutory calendar adds where the days have not said it."""
    plain = all(each.days == _EVERY_DAY for each in groups) and schedule.step is None
    named = all(each.days.first_workday or each.days.last_workday for each in groups)
    if schedule.calendar is Calendar.STATUTORY_WORKDAYS and not plain and not named:
        return " except public holidays"
    if schedule.calendar is Calendar.STATUTORY_HOLIDAYS and not plain:
        return ", only on Chinese public holidays"
    if schedule.calendar is Calendar.SOLAR_TERMS and any(term_of(each.days) is None for each in groups):
        return ", only when a solar term begins"
    return ""


def _limits(bounds: Bounds) -> str:
    since = "" if bounds.first is None else f" starting {_when(bounds.first)}"
    until = "" if bounds.last is None else f" until {_when(bounds.last)}"
    return since + until + ("" if bounds.count is None else f", {bounds.count} time{'s' if bounds.count > 1 else ''}")


def _when(at: date | datetime | time) -> str:
    if isinstance(at, time):
        return f"at {clock(at)}"
    return f"{_date(at)} at {clock(at)}" if isinstance(at, datetime) else _date(at)


def _date(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _ordinal(number: int) -> str:
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _span(span: timedelta) -> str:
    """45 minutes, 90 minutes, 36 hours, and hour for one: never days, which the clock on the wall counts."""
    amount, unit = whole_units(span)
    return unit if amount == 1 else f"{amount} {unit}s"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
