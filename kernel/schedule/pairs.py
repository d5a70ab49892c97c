"""Times that go with their own days (周一早上9点和周四下午3点): one plan each, one schedule in the end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from kernel.schedule.phrases import Clock, Cycle, Dates, Day, InZone, Lead, Named, Nth, Part, Phrase, Weekdays, Workdays
from kernel.schedule.plan import Plan, gather
from kernel.schedule.questions import resolve
from kernel.schedule.resolve import Moment, NotYet, refuse_unclear
from kernel.schedule.values import Cron, Doubt, Once, Schedule

_DAYS = (Day, Weekdays, Dates, Named, Nth, Workdays)
_OPENING = (*_DAYS, Cycle)
_SIMPLE = (*_DAYS, Clock, Part, Cycle, InZone)


def split(phrases: Sequence[Phrase]) -> list[list[Phrase]]:
    """The phrases cut before each day that follows a complete day and time; one piece when there is no such day."""
    pieces: list[list[Phrase]] = [[]]
    has_day = has_time = time_first = False
    for n, phrase in enumerate(phrases):
        opens = isinstance(phrase, _OPENING) or (time_first and _has_own_day(phrases, n))
        if opens and has_day and has_time:
            pieces.append([])
            has_day = has_time = time_first = False
        has_day |= _names_day(phrase) or (isinstance(phrase, Cycle) and phrase.unit == "d")
        has_time |= isinstance(phrase, Clock)
        time_first |= has_time and not has_day
        pieces[-1].append(phrase)
    if len(pieces) > 1 and not has_time and not any(isinstance(p, _DAYS) for p in pieces[-1]):
        pieces[-2].extend(pieces.pop())
    return pieces


def _names_day(phrase: Phrase) -> bool:
    return isinstance(phrase, _DAYS) or (isinstance(phrase, Part) and phrase.today)


def _has_own_day(phrases: Sequence[Phrase], n: int) -> bool:
    """at 11 tonight and at 6 tomorrow: a time whose day follows before the next time."""
    if not isinstance(phrases[n], Clock):
        return False
    behind = takewhile(lambda phrase: not isinstance(phrase, Clock), phrases[n + 1 :])
    return any(_names_day(phrase) for phrase in behind)


def resolve_pairs(pieces: list[list[Phrase]], moment: Moment) -> Schedule:
    """One schedule of all pieces. Raises NotYet when they do not go together."""
    if not all(isinstance(p, _SIMPLE) for piece in pieces for p in piece):
        raise NotYet(Doubt.AMBIGUOUS)
    plans = [gather(piece) for piece in pieces]
    if any(not plan.times for plan in plans):
        raise NotYet(Doubt.AMBIGUOUS)
    if any(plan.is_series for plan in plans):
        _carry(plans)
    schedules = []
    for plan in plans:
        refuse_unclear(plan)
        schedules.append(resolve(plan, moment))
    return _joined(schedules)


def by_lead(phrases: Sequence[Phrase]) -> list[list[Phrase]]:
    """提前一天和提前一小时: the phrases once with each lead; in one piece when there is but one."""
    leads = [n for n, phrase in enumerate(phrases) if isinstance(phrase, Lead)]
    if len(leads) <= 1:
        return [list(phrases)]
    return [[p for k, p in enumerate(phrases) if k == n or not isinstance(p, Lead)] for n in leads]


def resolve_leads(pieces: list[list[Phrase]], moment: Moment) -> Schedule:
    """One schedule with all leads to one event. Raises NotYet when they do not go together."""
    plans = [gather(piece) for piece in pieces]
    if any(plan.leads_to_clock for plan in plans):
        raise NotYet(Doubt.AMBIGUOUS)
    return _joined([resolve(plan, moment) for plan in plans])


def _carry(plans: list[Plan]) -> None:
    """每周一9点、周四15点: what repeats once repeats in every pair."""
    step = next((plan.cycles for plan in plans if plan.cycles), [])
    for plan in plans:
        if not plan.is_series:
            weekly = all(isinstance(d, Weekdays) for d in plan.days)
            plan.cycles = list(step) or ([Cycle(1, "w")] if weekly else [])


def _joined(schedules: list[Schedule]) -> Schedule:
    once = [s for s in schedules if isinstance(s, Once)]
    if len(once) == len(schedules):
        return Once(tuple(sorted({t for s in once for t in s.times})))
    cron = [s for s in schedules if isinstance(s, Cron)]
    plain = all(s == Cron(s.expressions) for s in cron)
    if len(cron) < len(schedules) or not plain:
        raise NotYet(Doubt.AMBIGUOUS)
    return Cron(tuple(dict.fromkeys(e for s in cron for e in s.expressions)))
