"""Five cron fields as a value. croniter reads their syntax behind `read`; zones and clocks are unknown here.

Which of its extras are offered: `L` in the day field, `5#3` and `L5` as weekdays. Ours: the day field may be `1W` or
`LW`, the first or last workday of the month, or `L-2`, so many days before its last one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kernel.errors import BadSchedule

LAST = -1
"""The n of the last weekday of a month in `Fields.nth`."""

_FIELDS = re.compile(r"[0-9*,/#LW-]+( [0-9*,/#LW-]+){4}")
"""Digits and signs only: croniter also takes seconds, years, names, @aliases and random `R`."""
_WORKDAYS = frozenset({"1W", "LW"})
_FROM_END = frozenset(f"L-{n}" for n in range(1, 28))
"""Days before the last one that every month has."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What five cron fields ask for: numbers ascending, None where a field is `*`; weekdays with 0 = Monday.

    When both days and weekdays are given, a date that fits either will do, as in cron.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...] | None = None
    months: tuple[int, ...] | None = None
    weekdays: tuple[int, ...] | None = None
    nth: tuple[tuple[int, int], ...] = ()
    """(weekday, n) pairs: the n-th such weekday of the month, `LAST` for the last; `weekdays` is None then."""
    month_end: bool = False
    """The day field names the last day of the month (besides `days`)."""
    first_workday: bool = False
    last_workday: bool = False
    from_end: int = 0
    """So many days before the last day of the month, when not 0; `days` is None then."""


@lru_cache(maxsize=4096)
def read(expression: str) -> Fields:
    """The fields of a cron expression. Raises BadSchedule when it is none, or uses what we do not offer."""
    if not _FIELDS.fullmatch(expression):
        raise BadSchedule("schedule.unreadable")
    minute, hour, day, month, weekday = expression.split(" ")
    named = day if day in _WORKDAYS or day in _FROM_END else ""
    if day in _FROM_END and weekday != "*":
        raise BadSchedule("schedule.unreadable")  # Ours names one day of the month; no weekday besides it.
    if "W" in expression.replace(named, "", 1):
        raise BadSchedule("schedule.unreadable")
    fields, nth = _expand(f"{minute} {hour} {'*' if named else day} {month} {weekday}")
    days = None if fields[2] == ["*"] else _numbers(fields[2])
    if nth and (days is not None or named):
        raise BadSchedule("schedule.unreadable")  # Either of them, or both? croniter answers with the weekday alone.
    return Fields(
        minutes=_numbers(fields[0]) if fields[0] != ["*"] else tuple(range(60)),
        hours=_numbers(fields[1]) if fields[1] != ["*"] else tuple(range(24)),
        days=days,
        months=None if fields[3] == ["*"] else _numbers(fields[3]),
        weekdays=None if nth or fields[4] == ["*"] else _from_monday(fields[4]),
        nth=tuple(sorted(nth)),
        month_end="l" in fields[2],
        first_workday=named == "1W",
        last_workday=named == "LW",
        from_end=int(named[2:]) if named in _FROM_END else 0,
    )


def _expand(line: str) -> tuple[list[list[int | str]], list[tuple[int, int]]]:
    from croniter import CroniterError, croniter  # noqa: PLC0415  (110 ms that one-shots never need)

    try:
        fields, by_weekday = croniter.expand(line)
    except CroniterError as error:
        raise BadSchedule("schedule.unreadable") from error
    nth = [
        ((int(weekday) + 6) % 7, LAST if n == "l" else int(n))
        for weekday, numbers in by_weekday.items()
        for n in numbers
    ]
    return [list(field) for field in fields], nth


def _numbers(field: list[int | str]) -> tuple[int, ...]:
    return tuple(sorted({each for each in field if isinstance(each, int)}))


def _from_monday(field: list[int | str]) -> tuple[int, ...]:
    return tuple(sorted({(each + 6) % 7 for each in field if isinstance(each, int)}))
