"""When a schedule fires, and the words Trigger and Firing.

Wall-clock rules are matched on naive local time and only then become instants, as RFC 5545 has it (3.3.5,
3.3.10): a local time inside a gap takes the offset before the gap (02:30 fires when the new clock shows
03:30), a repeated local time fires once, at the first pass. (croniter's own zone handling fires a daily 02:30
twice at Berlin's autumn change; only its reading of the five fields is used, in `kernel.schedule.cron`.)
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from functools import cache, lru_cache
from typing import assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kernel.chat import ConversationId
from kernel.errors import BadSchedule
from kernel.schedule import date_rules
from kernel.schedule.calendars import BeyondCalendar
from kernel.schedule.cron import read
from kernel.schedule.date_rules import DateRule
from kernel.schedule.values import Cron, Every, Once, Schedule

_INSTANT = timedelta(microseconds=1)
_LONGEST_SHIFT = timedelta(hours=25)
"""More than any clock change: Samoa left out all of 30 December 2011."""
_MOST_COUNT = 1000


class Action(Enum):
    """What happens when a trigger is due."""

    SAY = "say"
    RUN = "run"
    """The text is an instruction to the assistant."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something to say or do later, once or again and again, in one conversation.

    `owner` is the `Sender.id` of who asked for it, `zone` the IANA name in which wall-clock rules are read,
    `language` `zh` or `en`. A missed time is still delivered in full within `lateness` of it. `revision`
    counts changes.
    """

    id: str
    conversation: ConversationId
    owner: str
    schedule: Schedule
    zone: str
    text: str
    language: str
    action: Action
    lateness: timedelta
    created: datetime
    mentions: tuple[str, ...] = ()
    revision: int = 0
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Firing:
    """One due time of a trigger; it happens once."""

    trigger: Trigger
    due: datetime

    @property
    def id(self) -> str:
        """The name under which it is claimed and recorded: `trigger:due`, the time in basic ISO form, UTC."""
        return f"{self.trigger.id}:{self.due.astimezone(UTC):%Y%m%dT%H%M%SZ}"


class Lateness(Enum):
    """How a due time stands against the clock."""

    ON_TIME = "on-time"
    LATE = "late"
    """Missed, but within the trigger's window: delivered in full, marked late."""
    SKIPPED = "skipped"
    """Missed for longer than the window: not delivered."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of the due times that have come since the trigger was last looked after.

    Of several, only `newest` counts; `lateness` and `by` (how late, never negative) speak of it.
    `is_superseded` says that the asked due time was an older one, skipped by rule.
    """

    lateness: Lateness
    by: timedelta
    newest: datetime
    is_superseded: bool


ON_TIME_WITHIN = timedelta(minutes=1)
"""A delivery this close to its due time is not called late."""


def next_fire(trigger: Trigger, after: datetime) -> datetime | None:
    """First due time strictly after `after`, aware UTC; None when the trigger has ended or is paused.

    Raises BadSchedule as `next_fire_of` does.
    """
    return None if trigger.paused else next_fire_of(trigger.schedule, trigger.zone, after)


def settle(trigger: Trigger, due: datetime, now: datetime) -> Settlement:
    """What to do at `now` about a trigger whose stored next time is `due` (at or before `now`).

    Of a run of missed times only the newest is delivered, in full when it lies within the trigger's window.
    """
    newest = _last_fire(trigger.schedule, trigger.zone, due - _INSTANT, now) or due
    by = max(now - newest, timedelta())
    if by <= ON_TIME_WITHIN:
        lateness = Lateness.ON_TIME
    elif by <= trigger.lateness:
        lateness = Lateness.LATE
    else:
        lateness = Lateness.SKIPPED
    return Settlement(lateness, by, newest, is_superseded=newest > due)


def next_fire_of(schedule: Schedule, zone: str, after: datetime) -> datetime | None:
    """First time strictly after `after` at which `schedule` fires in `zone`, aware UTC; None if none comes.

    Months without the asked day are skipped, 29 February waits for a leap year. Raises BadSchedule when the
    rule or the zone cannot be read (the person must act), and its kind BeyondCalendar when the answer lies in
    a year whose statutory days are not published.
    """
    match schedule:
        case Once():
            return next((at.astimezone(UTC) for at in schedule.times if at > after), None)
        case Every():
            return _next_every(schedule, after)
        case Cron():
            return _next_cron(schedule, zone, after)
        case _ as unreachable:
            assert_never(unreachable)


def first_fire(schedule: Schedule, zone: str, after: datetime) -> datetime:
    """`next_fire_of`, but a rule that never fires raises BadSchedule: the check before creation."""
    fire = next_fire_of(schedule, zone, after)
    if fire is None:
        raise BadSchedule("schedule.never")
    return fire


def fires(schedule: Schedule, zone: str, after: datetime, limit: int) -> tuple[datetime, ...]:
    """Up to `limit` next times, ascending.

    Fewer when the series ends, or when the statutory calendar does; raises BeyondCalendar only when it does
    not reach the first one, BadSchedule when the rule cannot be read.
    """
    found: list[datetime] = []
    while len(found) < limit:
        try:
            fire = next_fire_of(schedule, zone, after)
        except BeyondCalendar:
            if not found:
                raise
            break
        if fire is None:
            break
        found.append(fire)
        after = fire
    return tuple(found)


def ends(schedule: Schedule, zone: str, after: datetime) -> datetime | None:
    """The last fire of a bounded series; None for others, and when no fire comes after `after`."""
    match schedule:
        case Once():
            return None
        case Every():
            bound = _every_bound(schedule)
        case Cron():
            bound = _earliest(schedule.end, _counted_end(schedule, zone))
        case _ as unreachable:
            assert_never(unreachable)
    return None if bound is None else _last_fire(schedule, zone, after, bound)


def _last_fire(schedule: Schedule, zone: str, after: datetime, until: datetime) -> datetime | None:
    """The last fire in (after, until], found by halving the span rather than by walking it."""

    def next_within(moment: datetime) -> datetime | None:
        try:
            fire = next_fire_of(schedule, zone, moment)
        except BeyondCalendar:
            return None
        return fire if fire is not None and fire <= until else None

    last = next_within(after)
    if last is None:
        return None
    beyond = until
    while beyond > last:
        middle = last + (beyond - last) / 2
        if (fire := next_within(middle)) is not None:
            last = fire
        elif (fire := next_within(last)) is None:
            return last
        else:
            last, beyond = fire, middle
    return last


# --- exact intervals


def _every_bound(schedule: Every) -> datetime | None:
    if schedule.count is None:
        return schedule.end
    try:
        return _earliest(schedule.end, schedule.start.astimezone(UTC) + (schedule.count - 1) * schedule.step)
    except OverflowError:  # Past the year 9999: no bound that anybody will meet.
        return schedule.end


def _next_every(schedule: Every, after: datetime) -> datetime | None:
    if schedule.step <= timedelta():
        raise BadSchedule("schedule.unreadable")
    # Adding to a local time would follow the clock on the wall, and count an hour too many or too few.
    start, after = schedule.start.astimezone(UTC), after.astimezone(UTC)
    passed = 0 if after < start else (after - start) // schedule.step + 1
    try:
        fire = start + passed * schedule.step
    except OverflowError:
        return None
    bound = _every_bound(schedule)
    return fire if bound is None or fire <= bound else None


# --- wall-clock rules


@dataclass(frozen=True, slots=True)
class _Line:
    """One expression, ready to be searched: its times of day, ascending, and the rules for its dates."""

    times: tuple[time, ...]
    rules: tuple[DateRule, ...]


def _next_cron(schedule: Cron, zone: str, after: datetime) -> datetime | None:
    if schedule.start is not None:
        after = max(after, schedule.start - _INSTANT)
    bound = _earliest(schedule.end, _counted_end(schedule, zone))
    if bound is not None and after >= bound:
        return None
    clock = _zone(zone)
    fire: datetime | None = None
    unknown: BeyondCalendar | None = None
    for line in _plan(schedule):
        try:
            fire = _earliest(fire, _next_instant(line, clock, after))
        except BeyondCalendar as beyond:
            unknown = beyond
    if fire is not None:
        return fire if bound is None or fire <= bound else None
    if unknown is not None and (bound is None or bound.astimezone(clock).date() > unknown.until):
        raise unknown
    return None


@lru_cache(maxsize=1024)
def _counted_end(schedule: Cron, zone: str) -> datetime | None:
    """The `count`-th fire from `start` on; None when not counted or when the calendar ends before."""
    if schedule.count is None:
        return None
    if schedule.start is None or not 1 <= schedule.count <= _MOST_COUNT:
        raise BadSchedule("schedule.unreadable")
    uncounted = replace(schedule, count=None)
    last = schedule.start - _INSTANT
    for _ in range(schedule.count):
        try:
            fire = next_fire_of(uncounted, zone, last)
        except BeyondCalendar:
            return None
        if fire is None:
            break
        last = fire
    return last


def _next_instant(line: _Line, clock: ZoneInfo, after: datetime) -> datetime | None:
    """The earliest instant after `after` of the local times that `line` names.

    A local time in a gap is moved ahead of later ones, so those up to where it lands are looked at too.
    """
    cursor = _wall_clock_behind(clock, after)
    earliest: datetime | None = None
    landing: datetime | None = None
    while (local := _next_local(line, cursor)) is not None and (landing is None or local < landing):
        fire = local.replace(tzinfo=clock).astimezone(UTC)
        if fire > after and (earliest is None or fire < earliest):
            earliest = fire
            shown = fire.astimezone(clock).replace(tzinfo=None)
            if shown == local:
                break
            landing = shown
        cursor = local
    return earliest


def _wall_clock_behind(clock: ZoneInfo, instant: datetime) -> datetime:
    """Naive local time such that every local time which fires after `instant` comes after it.

    Within a day after a gap that is the clock as it would stand without the change.
    """
    local = instant.astimezone(clock)
    offset, earlier = local.utcoffset(), (instant - _LONGEST_SHIFT).astimezone(clock).utcoffset()
    wall = local.replace(tzinfo=None)
    if offset is not None and earlier is not None and earlier < offset:
        wall -= offset - earlier
    return wall.replace(second=0, microsecond=0, fold=0)


def _next_local(line: _Line, cursor: datetime) -> datetime | None:
    """The first naive local time after `cursor`."""
    day = date_rules.first_allowed(line.rules, cursor.date())
    if day == cursor.date():
        later = bisect_right(line.times, cursor.time())
        if later < len(line.times):
            return datetime.combine(day, line.times[later])
        day = date_rules.first_allowed(line.rules, day + timedelta(days=1))
    return None if day is None else datetime.combine(day, line.times[0])


@cache
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule("schedule.unknown_zone", zone=name) from error


@lru_cache(maxsize=4096)
def _plan(schedule: Cron) -> tuple[_Line, ...]:
    """The expressions made ready for searching; triggers that share a rule share the plan."""
    if not schedule.expressions:
        raise BadSchedule("schedule.unreadable")
    shared = date_rules.shared_rules(schedule)
    plan = []
    for expression in schedule.expressions:
        fields = read(expression)
        times = tuple(time(hour, minute) for hour in fields.hours for minute in fields.minutes)
        plan.append(_Line(times, (date_rules.rule_of_fields(fields, schedule.calendar), *shared)))
    return tuple(plan)


def _earliest(*moments: datetime | None) -> datetime | None:
    return min((each for each in moments if each is not None), default=None)
