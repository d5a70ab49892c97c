"""What the words of a schedule sentence say, as values: clock time, day, repetition, bound, exclusion, lead, zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time; months and days are counted on the calendar, seconds are elapsed."""

    months: int = 0
    days: int = 0
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time as said; `period` is the part of the day beside it, `literal` the 24-hour clock."""

    hour: int
    minute: int = 0
    second: int = 0
    period: str = ""
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A time said so that it cannot be one: impossible, or two at once; `clocks` are the ways to read it, if any."""

    impossible: bool
    is_date: bool = False
    clocks: tuple[Clock, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """From one clock time to another within a day, or from an evening to the next morning."""

    first: Clock
    last: Clock
    next_day: bool = False
    """It was said that the second is of the next day."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day without a clock time."""

    period: str
    each: bool = False
    today: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """Today and its neighbours; `that` points to a day named elsewhere in the message."""

    offset: int
    that: bool = False


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Days of the week (0 = Monday); `week` counts from this week, None when no week was said."""

    days: tuple[int, ...]
    week: int | None = None
    each: bool = False


@dataclass(frozen=True, slots=True)
class Dates:
    """Days of a month, negative ones from its end (-1 the last); year and month as said, or counted from this one."""

    days: tuple[int, ...]
    month: int | None = None
    year: int | None = None
    months_ahead: int | None = None
    years_ahead: int | None = None
    each: bool = False
    """Said as the nth day (第二天): only a rule by the month makes it a date."""
    of_quarter: int | None = None
    """Which month of each quarter, 1 to 3: only a rule by the quarter makes it a date."""


@dataclass(frozen=True, slots=True)
class Nth:
    """The nth (from the end when negative) weekday, or workday (weekday None) of a month."""

    n: int
    weekday: int | None
    month: int | None = None
    months_ahead: int | None = None
    year: int | None = None
    statutory: bool = False
    """Of a workday: by the statutory calendar."""


@dataclass(frozen=True, slots=True)
class Named:
    """A holiday by name, of this year or so many years on when that was said."""

    name: str
    years_ahead: int | None = None
    edge: int = 0
    """-1 the first, 1 the last day off around it (国庆期间), 0 the day itself."""


@dataclass(frozen=True, slots=True)
class LunarDate:
    """A day of the Chinese lunar calendar."""

    month: int
    day: int


@dataclass(frozen=True, slots=True)
class LunarDays:
    """Days of a lunar month that is not named (初一、十五): the next ones, or of every month (`each`)."""

    days: tuple[int, ...]
    each: bool = False


@dataclass(frozen=True, slots=True)
class OffMonth:
    """A week, month, quarter or year without its day (下个月)."""

    months: int = 0
    weeks: int = 0
    is_week: bool = False
    is_year: bool = False


DayPhrase = Day | Weekdays | Dates | Nth | Named | LunarDate | LunarDays | OffMonth


@dataclass(frozen=True, slots=True)
class Ahead:
    """So long after now, or after a day."""

    span: Span
    origin: DayPhrase | None = None


@dataclass(frozen=True, slots=True)
class Cycle:
    """Every so often; `unit` is one of s d w M Q y; `between` for 隔, `loose` when only a count a day was said."""

    n: int
    unit: str
    between: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Workdays:
    """Monday to Friday, or the days worked by the statutory calendar."""

    statutory: bool = False
    off: bool = False


@dataclass(frozen=True, slots=True)
class Hourly:
    """At one minute of every hour, or at two."""

    minute: int = 0
    also: int | None = None


@dataclass(frozen=True, slots=True)
class From:
    """The first day, or now."""

    day: DayPhrase | Ahead | None


@dataclass(frozen=True, slots=True)
class FromClock:
    """The clock time a series of the day starts at (9点开始)."""

    clock: Clock


@dataclass(frozen=True, slots=True)
class Until:
    """The last day, inclusive, or the last moment."""

    day: DayPhrase | None
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class Between:
    """From one day to another, both inclusive."""

    first: DayPhrase
    last: DayPhrase


@dataclass(frozen=True, slots=True)
class Lasting:
    """For so long."""

    span: Span
    ahead: bool = False
    marked: bool = False
    """A word said that it is a duration (连续, for)."""


@dataclass(frozen=True, slots=True)
class Count:
    """So many times; `marked` when a word said that it closes a series (共, for)."""

    n: int
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Except:
    """Days that do not count."""

    weekdays: tuple[int, ...] = ()
    holidays: bool = False
    dates: tuple[DayPhrase, ...] = ()


@dataclass(frozen=True, slots=True)
class Lead:
    """So long before."""

    span: Span


@dataclass(frozen=True, slots=True)
class InZone:
    """The zone the times are meant in."""

    zone: str


@dataclass(frozen=True, slots=True)
class Vague:
    """A time nobody can fix: later, soon, after lunch."""

    event: bool = False


@dataclass(frozen=True, slots=True)
class Deadline:
    """Before this time, not at it."""


@dataclass(frozen=True, slots=True)
class Either:
    """The word "or" between two times."""


Phrase = (
    Clock
    | Unclear
    | Window
    | Part
    | Ahead
    | DayPhrase
    | Cycle
    | Workdays
    | Hourly
    | From
    | Until
    | Between
    | Lasting
    | Count
    | FromClock
    | Except
    | Lead
    | InZone
    | Vague
    | Deadline
    | Either
)


class Found(NamedTuple):
    """A phrase and where it stands: tokens `i` to `j`, characters `start` to `end`."""

    phrase: Phrase
    i: int
    j: int
    start: int
    end: int
