"""Turns the days of a plan that repeats into cron lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from kernel.schedule.civil import DAY, WallTime, month_days, nth_weekday
from kernel.schedule.named_days import LUNAR, MOVING, SOLAR, TERMS
from kernel.schedule.phrases import Cycle, Dates, Day, DayPhrase, LunarDate, LunarDays, Named, Nth, OffMonth, Weekdays
from kernel.schedule.plan import Plan
from kernel.schedule.resolve import NotYet
from kernel.schedule.values import Calendar, Doubt

_QUARTER_STARTS, _QUARTER_ENDS = "1,4,7,10", "3,6,9,12"


class Rule:
    """Day fields of a cron line while they are being worked out, and how to know a day that fits."""

    def __init__(self) -> None:
        self.fields: list[tuple[str, str, str]] = []
        self.fits: Callable[[date], bool] = lambda _day: True
        self.calendar: Calendar | None = None


def main_cycle(plan: Plan) -> Cycle | None:
    """The one step of whole days or more that a plan names. Raises NotYet when it names two."""
    cycles = [c for c in plan.cycles if c.unit != "s"]
    firm = [c for c in cycles if not c.loose] or cycles
    units = {(c.n, c.unit) for c in firm}
    if len(units) > 1:
        # "每周一到周五每天…" names the day twice; anything else contradicts itself.
        firm = [c for c in firm if (c.n, c.unit) != (1, "d")]
        if len({(c.n, c.unit) for c in firm}) > 1:
            raise NotYet(Doubt.AMBIGUOUS)
    if not firm:
        return None
    cycle = firm[0]
    if cycle.n <= 0:
        raise NotYet(Doubt.INVALID_TIME)
    # 每隔一天 is every other day, 每隔两天 and more are counted as said.
    return Cycle(2, cycle.unit) if cycle.between and cycle.n == 1 else cycle


def days_of(plan: Plan) -> tuple[Rule, Cycle | None]:
    """The day fields of a plan, and its step where the fields alone do not say it. Raises NotYet."""
    rule = Rule()
    cycle = main_cycle(plan)
    unit = cycle.unit if cycle else ""
    days: list[DayPhrase] = [
        d for d in plan.days if not (isinstance(d, Day) and not d.that) and not isinstance(d, OffMonth)
    ]
    if any(isinstance(d, Day) and d.that for d in days):
        days = [d for d in days if not isinstance(d, Day)]
    if plan.workdays:
        _workdays(rule, plan, days)
        if cycle and (cycle.n, unit) not in ((1, "d"), (1, "w")):
            raise NotYet(Doubt.AMBIGUOUS)
        return rule, None
    weekdays = sorted({d for p in days if isinstance(p, Weekdays) for d in p.days})
    others = [d for d in days if not isinstance(d, Weekdays)]
    if weekdays and not others:
        if unit in ("M", "y", "Q") or any(isinstance(p, Weekdays) and p.week for p in days):
            raise NotYet(Doubt.AMBIGUOUS)
        if unit == "d" and cycle and cycle.n > 1:
            raise NotYet(Doubt.AMBIGUOUS)
        rule.fields = [("*", "*", _numbers([(d + 1) % 7 for d in weekdays]))]
        rule.fits = lambda day: day.weekday() in weekdays
        return rule, cycle if unit == "w" else None
    if others:
        if weekdays:
            raise NotYet(Doubt.AMBIGUOUS)
        return _by_date(rule, others, cycle)
    if unit in ("w", "M", "y", "Q"):
        raise NotYet(Doubt.NO_TIME)
    rule.fields = [("*", "*", "*")]
    return rule, cycle


def _workdays(rule: Rule, plan: Plan, days: list[DayPhrase]) -> None:
    assert plan.workdays is not None
    if days:
        raise NotYet(Doubt.AMBIGUOUS)
    if plan.workdays.off:
        rule.fields, rule.calendar = [("*", "*", "*")], Calendar.STATUTORY_HOLIDAYS
    elif plan.workdays.statutory:
        rule.fields, rule.calendar = [("*", "*", "*")], Calendar.STATUTORY_WORKDAYS
    else:
        rule.fields = [("*", "*", "1-5")]
        rule.fits = lambda day: day.weekday() < 5


def _by_date(rule: Rule, days: Sequence[DayPhrase], cycle: Cycle | None) -> tuple[Rule, Cycle | None]:
    unit = cycle.unit if cycle else "M" if any(isinstance(d, LunarDays) and d.each for d in days) else ""
    if unit in ("d", "w", ""):
        raise NotYet(Doubt.AMBIGUOUS)
    named = {d.month for d in days if isinstance(d, (Dates, Nth)) and d.month is not None}
    if cycle and unit == "M" and named and len(named) * cycle.n != 12:
        raise NotYet(Doubt.AMBIGUOUS)  # Every six months on 5 January: which is the other day?
    for phrase in days:
        match phrase:
            case Dates():
                _month_days(rule, phrase, unit)
            case Nth() if unit in ("M", "Q", "y"):
                _nth(rule, phrase, unit)
            case Named() if unit == "y":
                _holiday(rule, phrase.name)
            case LunarDate() if unit == "y":
                rule.fields.append((str(phrase.day), str(phrase.month), "*"))
                rule.calendar = Calendar.LUNAR
            case LunarDays() if unit == "M":
                rule.fields.append((_numbers(list(phrase.days)), "*", "*"))
                rule.calendar = Calendar.LUNAR
            case _:
                raise NotYet(Doubt.AMBIGUOUS)
    if rule.calendar in (Calendar.LUNAR, Calendar.SOLAR_TERMS) and len(rule.fields) > 1:
        raise NotYet(Doubt.AMBIGUOUS)
    fields = rule.fields
    numbers = [(d, m) for d, m, w in fields if w == "*"]
    if not rule.calendar and len(numbers) == len(fields):
        rule.fits = lambda day: any(_fits(day, d, m) for d, m in numbers)
    return rule, Cycle(1, unit) if unit == "Q" else cycle


def _fits(day: date, days: str, months: str) -> bool:
    if months != "*" and day.month not in _values(months):
        return False
    if days.endswith("W"):
        return day == nth_weekday(day.year, day.month, None, 1 if days == "1W" else -1)
    if days.startswith("L"):
        return day.day == month_days(day.year, day.month) + int(days[1:] or 0)
    return days == "*" or day.day in _values(days)


def _values(field: str) -> set[int]:
    """The numbers of a field such as 1,4-6."""
    ends = (part.partition("-") for part in field.split(","))
    return {n for first, _, last in ends for n in range(int(first), int(last or first) + 1)}


def _month_days(rule: Rule, phrase: Dates, unit: str) -> None:
    days = [d for d in phrase.days if d != -99]
    if phrase.year is not None or phrase.months_ahead is not None or phrase.years_ahead is not None:
        raise NotYet(Doubt.AMBIGUOUS)
    if phrase.of_quarter:
        if unit != "Q":
            raise NotYet(Doubt.AMBIGUOUS)
        month = ",".join(str(each) for each in range(phrase.of_quarter, 13, 3))
    elif unit == "y" and phrase.month is None:
        if days not in ([1], [-1]):
            raise NotYet(Doubt.NO_TIME)
        month = "1" if days == [1] else "12"
    elif unit == "Q":
        if phrase.month is not None or days not in ([1], [-1]):
            raise NotYet(Doubt.AMBIGUOUS)
        month = _QUARTER_STARTS if days == [1] else _QUARTER_ENDS
    else:
        month = str(phrase.month) if phrase.month is not None else "*"
    if phrase.month is not None and any(d > month_days(2024, phrase.month) for d in days):
        raise NotYet(Doubt.INVALID_DATE)
    plain = [d for d in days if d > 0]
    if plain:
        rule.fields.append((_numbers(plain), month, "*"))
    rule.fields.extend(("L" if d == -1 else f"L{d + 1}", month, "*") for d in days if d < 0)


def _nth(rule: Rule, phrase: Nth, unit: str) -> None:
    if phrase.year is not None or phrase.months_ahead is not None or (unit == "y") != (phrase.month is not None):
        raise NotYet(Doubt.AMBIGUOUS)
    month = str(phrase.month) if phrase.month else "*"
    if unit == "Q":
        month = _QUARTER_STARTS if phrase.n > 0 else _QUARTER_ENDS
    if phrase.weekday is None:
        if phrase.n not in (1, -1):
            raise NotYet(Doubt.AMBIGUOUS)
        rule.fields.append(("1W" if phrase.n == 1 else "LW", month, "*"))
        if phrase.statutory:
            rule.calendar = Calendar.STATUTORY_WORKDAYS
        return
    cron_day = (phrase.weekday + 1) % 7
    if phrase.n < -1:
        raise NotYet(Doubt.AMBIGUOUS)
    rule.fields.append(("*", month, f"L{cron_day}" if phrase.n < 0 else f"{cron_day}#{phrase.n}"))


def _holiday(rule: Rule, name: str) -> None:
    if name in SOLAR:
        month, day = SOLAR[name]
        rule.fields.append((str(day), str(month), "*"))
    elif name in LUNAR:
        month, day = LUNAR[name]
        rule.fields.append(("L" if day < 0 else str(day), str(month), "*"))
        rule.calendar = Calendar.LUNAR
    elif name in TERMS:
        month, second = divmod(TERMS.index(name), 2)
        rule.fields.append(("18-24" if second else "3-9", str(month + 1), "*"))
        rule.calendar = Calendar.SOLAR_TERMS
    elif name in MOVING:
        month, weekday, n = MOVING[name]
        cron_day = (weekday + 1) % 7
        rule.fields.append(("*", str(month), f"L{cron_day}" if n < 0 else f"{cron_day}#{n}"))
    else:
        raise NotYet(Doubt.AMBIGUOUS)


def shift_days(rule: Rule, shift: int) -> None:
    """Moves the days by `shift`: the midnight that ends Friday is Saturday's 00:00."""
    moved = []
    for days, months, weekdays in rule.fields:
        if days == months == weekdays == "*":
            moved.append((days, months, weekdays))
        elif rule.calendar is None and days == "*" and months == "*" and not set(weekdays) & set("#L"):
            numbers = range(1, 6) if weekdays == "1-5" else [int(w) for w in weekdays.split(",")]
            moved.append(("*", "*", _numbers(sorted((n + shift) % 7 for n in numbers))))
        elif rule.calendar is None and days == "L" and shift == 1 and months == "*":
            moved.append(("1", "*", "*"))
        elif rule.calendar is None and days.replace(",", "").isdigit():
            moved.append(_shifted_days([int(d) for d in days.split(",")], months, shift))
        else:
            raise NotYet(Doubt.AMBIGUOUS)
    rule.fields = moved
    fits = rule.fits
    rule.fits = lambda day: fits(day - shift * DAY)


def _shifted_days(days: list[int], months: str, shift: int) -> tuple[str, str, str]:
    if (
        months.isdigit()
        and len(days) == 1
        and not (int(months) in (2, 3) and (days[0] + shift < 1 or days[0] + shift > 28))
    ):
        day = date(2023, int(months), days[0]) + shift * DAY
        return str(day.day), str(day.month), "*"
    if months == "*" and days == [1] and shift == -1:
        return "L", "*", "*"
    if all(1 <= d + shift <= 28 for d in days):
        return _numbers([d + shift for d in days]), months, "*"
    raise NotYet(Doubt.AMBIGUOUS)


def _numbers(values: list[int]) -> str:
    values = sorted(set(values))
    if len(values) > 2 and values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]}-{values[-1]}"
    return ",".join(map(str, values))


def expressions_of(walls: list[WallTime], rule: Rule) -> tuple[str, ...]:
    """The fewest lines for these times of day: hours that share their minutes share a line."""
    if any(w.moment.second for w in walls):
        raise NotYet(Doubt.AMBIGUOUS)
    minutes_of: dict[int, set[int]] = {}
    for wall in walls:
        minutes_of.setdefault(wall.moment.hour, set()).add(wall.moment.minute)
    hours_of: dict[int, list[int]] = {}
    for hour, minutes in minutes_of.items():
        for minute in minutes:
            hours_of.setdefault(minute, []).append(hour)
    lines: dict[str, list[int]] = {}
    for minute, hours in hours_of.items():
        lines.setdefault("*" if len(hours) == 24 else _numbers(hours), []).append(minute)
    return tuple(
        f"{_numbers(minutes)} {hours} {days} {months} {weekdays}"
        for hours, minutes in lines.items()
        for days, months, weekdays in rule.fields
    )
