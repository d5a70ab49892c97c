"""Gathers the phrases that belong to one request into a plan: which clock times, which days, which step and bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import time

from kernel.schedule.civil import WallTime, wall_time
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Count,
    Cycle,
    Dates,
    Day,
    DayPhrase,
    Deadline,
    Either,
    Except,
    From,
    FromClock,
    Hourly,
    InZone,
    Lasting,
    Lead,
    LunarDate,
    LunarDays,
    Named,
    Nth,
    OffMonth,
    Part,
    Phrase,
    Unclear,
    Until,
    Vague,
    Weekdays,
    Window,
    Workdays,
)

_NOON, _EVENING = 12, 18
"""Hours: up to the first a bare number may be in either half, from the second on a window may end behind midnight."""


@dataclass(slots=True)
class Plan:
    """All that was said about when; filled by `gather`, read by the resolvers."""

    times: list[WallTime] = field(default_factory=list)
    windows: list[tuple[WallTime, WallTime]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    days: list[DayPhrase] = field(default_factory=list)
    aheads: list[Ahead] = field(default_factory=list)
    cycles: list[Cycle] = field(default_factory=list)
    workdays: Workdays | None = None
    hourly: Hourly | None = None
    start: From | None = None
    start_time: WallTime | None = None
    until: Until | None = None
    between: Between | None = None
    lasting: Lasting | None = None
    count: int | None = None
    excepts: list[Except] = field(default_factory=list)
    lead: Lead | None = None
    zone: str | None = None
    unclear: list[Unclear] = field(default_factory=list)
    vague: Vague | None = None
    deadline: bool = False
    either: bool = False
    midnight: bool = False
    event_times: int | None = None
    """How many times stood before the lead: those of the event, when a time follows it (提前一天晚上8点)."""

    @property
    def has_time(self) -> bool:
        """A clock time, a window, a length from now, or a step shorter than a day was said."""
        return bool(self.times or self.windows or self.aheads or self.hourly or self.sub_daily)

    @property
    def leads_to_clock(self) -> bool:
        """The lead names the day, a clock time of its own the hour."""
        return self.event_times is not None and len(self.times) > self.event_times

    @property
    def is_dated_series(self) -> bool:
        """Something repeats by the day or more."""
        return bool(self.workdays or self.between or any(c.unit != "s" for c in self.cycles))

    @property
    def sub_daily(self) -> Cycle | None:
        """The step in seconds, if one was said."""
        return next((c for c in self.cycles if c.unit == "s"), None)

    @property
    def is_series(self) -> bool:
        """Something was said that repeats."""
        return bool(
            self.cycles
            or self.workdays
            or self.hourly
            or self.between
            or (self.lasting and (self.lasting.span.days or self.lasting.span.months))
            or any(isinstance(d, Weekdays) and (d.each or (len(d.days) > 2 and d.week is None)) for d in self.days)
            or any(p.each for p in self.parts)
            or any(isinstance(d, LunarDays) and d.each for d in self.days)
        )


def gather(phrases: Iterable[Phrase]) -> Plan:
    """The plan of phrases in the order they were said."""
    plan = Plan()
    phrases = _parts_first(_starts(list(phrases)))
    period = ""
    marked = False  # it was said that a count is of all (共5次)
    fresh = False  # the period stands directly before the next clock time
    bare: Clock | None = None  # the last clock time, while a period after it may still complete it
    for phrase in phrases:
        match phrase:
            case Part():
                if phrase.today and plan.midnight and plan.times and plan.times[-1].moment == time(0):
                    plan.times[-1] = replace(plan.times[-1], shift=1)  # midnight tonight ends this evening
                if bare is not None and not fresh and not phrase.each:
                    done = wall_time(_in_period(bare, phrase.period))
                    if done is not None:
                        plan.times[-1] = done
                        plan.parts.append(replace(phrase, period=""))
                        bare = None
                        continue
                period, fresh, bare = phrase.period, True, None
                plan.parts.append(phrase)
            case Clock():
                bare = phrase if not phrase.period and phrase.hour <= 12 else None
                _add_clock(plan, phrase, period, fresh)
                if period:
                    bare = None
                fresh = False
            case Window():
                _add_window(plan, phrase, period)
                fresh, bare = False, None
            case FromClock():
                plan.start_time = _read_clock(phrase.clock, period, fresh, None)
                fresh, bare = False, None
                if plan.start_time is None:
                    plan.unclear.append(Unclear(impossible=False))
            case _:
                marked |= isinstance(phrase, Count) and phrase.marked
                _add(plan, phrase)
                if isinstance(phrase, (Day, Weekdays, Dates)) and not fresh:
                    period = ""
    _close_parts(plan)
    if plan.count == len(plan.times) > 1 and not marked:
        plan.count = None  # 每天10点和16点两次: a day, not in all.
    return plan


def _starts(phrases: list[Phrase]) -> list[Phrase]:
    """每6小时…，今晚8点开始; starting at 8pm tomorrow: the day beside the first hour is the first one."""
    n, first = 0, None
    for phrase in phrases:
        if isinstance(phrase, FromClock):
            first = phrase
            break
        n += 1
    if first is None:
        return phrases
    steps = any(isinstance(p, Cycle) and p.unit == "s" for p in phrases)
    if not steps or any(isinstance(p, (From, Window)) for p in phrases):
        return phrases
    behind = phrases[n + 1] if n + 1 < len(phrases) else None
    if isinstance(behind, Part) and behind.today and not first.clock.literal and not first.clock.period:
        phrases[n] = FromClock(replace(first.clock, period=behind.period))  # starting at 8 tonight
    places = (n - 1, n - 2) if n > 1 and isinstance(phrases[n - 1], Part) else (n - 1,)
    for k in (*places, n + 1):
        beside = phrases[k] if 0 <= k < len(phrases) else None
        if isinstance(beside, Part) and beside.today:
            return [*phrases[:k], From(Day(0)), *phrases[k if k < n else k + 1 :]]
        one = isinstance(beside, Weekdays) and len(beside.days) == 1 and not beside.each
        if isinstance(beside, (Dates, Named)) or one or (isinstance(beside, Day) and not beside.that):
            assert isinstance(beside, (Dates, Named, Weekdays, Day))
            return [*phrases[:k], From(beside), *phrases[k + 1 :]]
    return phrases


def _parts_first(phrases: list[Phrase]) -> list[Phrase]:
    """from 6 to 9 tonight: the part of the day behind a window with bare hours is read before it."""
    if Window not in map(type, phrases):
        return phrases
    for n, window in enumerate(phrases):
        if not isinstance(window, Window) or any(c.period or c.hour > _NOON for c in (window.first, window.last)):
            continue
        dated = n + 1 < len(phrases) and isinstance(phrases[n + 1], (Day, Weekdays))
        k = n + 2 if dated else n + 1  # from 8 to 11 tomorrow night
        part = phrases[k] if k < len(phrases) else None
        if isinstance(part, Part) and not part.each:
            return [*phrases[:n], part, *phrases[n:k], *phrases[k + 1 :]]
    return phrases


def _in_period(clock: Clock, period: str) -> Clock:
    return Clock(clock.hour, clock.minute, clock.second, period, clock.literal)


def _read_clock(clock: Clock, period: str, fresh: bool, before: WallTime | None) -> WallTime | None:
    if clock.period.startswith("near-"):
        hour = int(clock.period.removeprefix("near-"))
        if period in ("afternoon", "evening", "noon") and hour <= 7:
            return wall_time(replace(clock, hour=clock.hour + 12, period="", literal=True))
        if period:
            return wall_time(replace(clock, period="", literal=True))
        return wall_time(clock)
    if clock.period or not period or clock.hour >= 13:
        return wall_time(clock)
    if fresh:
        return wall_time(_in_period(clock, period))
    read = wall_time(_in_period(clock, period), inherited=True)
    if read and before and (read.shift, read.moment) > (before.shift, before.moment):
        return read
    return wall_time(clock)


def _add_clock(plan: Plan, clock: Clock, period: str, fresh: bool) -> None:
    read = _read_clock(clock, period, fresh, plan.times[-1] if plan.times else None)
    if clock.period == "midnight":
        plan.midnight = True
        if read is not None and any(p.today for p in plan.parts):
            read = replace(read, shift=1)  # tonight at midnight
    if read is None:
        plan.unclear.append(Unclear(impossible=False))
    else:
        if read.is_guess and read.moment.hour < _NOON and any(w.moment == read.moment for w in plan.times):
            read = replace(read, moment=read.moment.replace(hour=read.moment.hour + 12))  # at 8, 2 and 8
        plan.times.append(read)


def _add_window(plan: Plan, window: Window, period: str) -> None:
    first = _read_clock(window.first, period, bool(period), None)
    last = _read_clock(window.last, window.first.period or period, False, first)
    bare = window.last.hour <= _NOON and not window.last.period
    said = last
    if first and last and bare and not window.next_day and _is_before(last, first):
        later = wall_time(replace(window.last, hour=window.last.hour % 12 + 12, literal=True))
        last = later if later and not _is_before(later, first) else last
    if (
        first
        and last
        and first.shift == 0
        and first.is_guess
        and window.first.hour < window.last.hour
        and last.is_guess is False
        and bare
        and last is said
    ):
        first = wall_time(replace(window.first, literal=True))
    if first and last and _is_before(last, first):
        last = _next_morning(window, first, last)
    if first is None or last is None or first.shift or _is_before(last, first):
        plan.unclear.append(Unclear(impossible=False))
    elif window.next_day and not last.shift:
        plan.unclear.append(Unclear(impossible=False))  # 9点到第二天10点: more than a day
    else:
        plan.windows.append((first, last))


def _is_before(last: WallTime, first: WallTime) -> bool:
    return (last.shift, last.moment) <= (first.shift, first.moment)


def _next_morning(window: Window, first: WallTime, last: WallTime) -> WallTime:
    """晚上10点到早上6点, 22点到6点: the end of a window that begins in the evening lies behind midnight."""
    said = window.next_day or window.last.period in ("morning", "dawn", "am") or first.moment.hour >= _EVENING
    early = wall_time(replace(window.last, literal=True)) if not window.last.period else last
    is_night = said and not first.shift and early is not None and early.moment < first.moment
    return WallTime(early.moment, shift=1) if is_night and early is not None else last


def _add(plan: Plan, phrase: Phrase) -> None:
    match phrase:
        case Day() | Weekdays() | Dates() | Nth() | Named() | LunarDate() | LunarDays() | OffMonth():
            plan.days.append(phrase)
        case Ahead():
            plan.aheads.append(phrase)
        case Cycle():
            plan.cycles.append(phrase)
        case Workdays():
            plan.workdays = phrase
        case Hourly():
            plan.hourly = phrase
        case From():
            plan.start = phrase
        case Until():
            plan.until = phrase
        case Between():
            plan.between = phrase
        case Lasting():
            plan.lasting = phrase
        case Count():
            plan.count = phrase.n
        case Except():
            plan.excepts.append(phrase)
        case Lead():
            plan.lead = phrase
            plan.event_times = None if phrase.span.seconds else len(plan.times)
        case InZone():
            plan.zone = phrase.zone
        case Unclear():
            plan.unclear.append(phrase)
        case Vague():
            plan.vague = phrase
        case Deadline():
            plan.deadline = True
        case Either():
            plan.either = True
        case Clock() | Window() | Part() | FromClock():
            raise AssertionError(phrase)


def _begin_on_a_day(plan: Plan) -> None:
    """The one clock time that was said is where the steps begin, on the one day that was said."""
    days = [Day(0)] if any(p.today for p in plan.parts) else plan.days
    if len(plan.times) == 1 and len(days) == 1 and plan.start is None and plan.start_time is None:
        plan.start, plan.start_time, plan.days = From(days[0]), plan.times.pop(), []


def _close_parts(plan: Plan) -> None:
    """A part of the day that no clock time completes: noon is a time of its own, the others stay vague."""
    if plan.start and plan.start.day and len(plan.times) == 1 and not plan.windows and plan.sub_daily:
        plan.start_time = plan.times.pop()  # "every 36 hours starting March 11 at 22:00".
    if plan.until and plan.until.day and plan.until.clock and not plan.windows and plan.sub_daily:
        _begin_on_a_day(plan)  # 今晚10点到明早6点每2小时
    if plan.start_time and not plan.sub_daily and not plan.hourly:
        plan.times.append(plan.start_time)  # "会议4点开始" names a time, "每2小时，9点开始" where a series begins.
        plan.start_time = None
    if not plan.times and not plan.windows and not plan.start_time:
        nooned = [p for p in plan.parts if p.period == "noon"]
        if nooned:
            noon = wall_time(Clock(12, 0, 0, "noon"))
            assert noon is not None
            plan.times.append(noon)
