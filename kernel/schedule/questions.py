"""The questions the schedule language asks back, and the choices under them, in the message's language."""

from __future__ import annotations

from dataclasses import replace

from kernel.schedule.civil import WallTime
from kernel.schedule.phrases import Day, Weekdays
from kernel.schedule.plan import Plan
from kernel.schedule.recur import resolve_series
from kernel.schedule.resolve import Moment, NotYet, own_times, resolve_once
from kernel.schedule.values import Choice, Doubt, Question, Schedule

_TEXTS = {
    Doubt.NO_TIME: ("几点提醒？", "At what time?"),
    Doubt.NO_TASK: ("提醒什么？什么时候？", "A reminder of what, and when?"),
    Doubt.VAGUE_PERIOD: ("具体几点？", "At what time exactly?"),
    Doubt.PAST: ("这个时间已经过去了，改到什么时候？", "That time has passed. When instead?"),
    Doubt.INVALID_DATE: ("没有这一天，改到哪一天？", "There is no such day. Which day instead?"),
    Doubt.INVALID_TIME: ("没有这个时间，改到几点？", "There is no such time. What time instead?"),
    Doubt.AMBIGUOUS: (
        "具体是什么时间？比如「明天上午9点」「每周一8:30」。",
        "When exactly? Like “tomorrow at 9” or “every Monday at 8:30”.",
    ),
    Doubt.EVENT: ("那大概是几点？", "What time would that be?"),
    Doubt.BEYOND_CALENDAR: (
        "那一年的放假安排还没有公布，先定到哪一天？",
        "The holidays of that year are not published yet. Which day instead?",
    ),
}
"""For each doubt the Chinese and the English sentence."""

_WHICH_DAY = ("哪一天提醒？", "On which day?")
"""Instead of the hour, when that is all that was said (每周9点提醒我)."""

_HOURS = {
    "morning": (8, 9),
    "forenoon": (9, 10),
    "dawn": (5, 6),
    "noon": (12,),
    "afternoon": (14, 16),
    "dusk": (18, 19),
    "evening": (19, 21),
    "night": (22, 23),
    "": (9, 14, 20),
}
"""Which hours to offer for a part of the day; the empty one for none at all."""


def resolve(plan: Plan, moment: Moment) -> Schedule:
    """The schedule of a plan. Raises NotYet."""
    if plan.leads_to_clock:
        plan = replace(plan, times=own_times(plan), windows=[], event_times=None)
    elif plan.lead and len(plan.windows) == 1 and not plan.times and not plan.sub_daily:
        plan = replace(plan, times=[plan.windows[0][0]], windows=[])  # 9点到10点开会，提前10分钟: before it begins.
    if plan.is_series:
        return resolve_series(replace(plan) if _is_reworked(plan) else plan, moment)
    return resolve_once(plan, moment)


def _is_reworked(plan: Plan) -> bool:
    """The way to the rule writes into a plan with a lead, a start or the days of one week: it gets its own."""
    named = plan.days[0] if len(plan.days) == 1 else None
    return bool(plan.lead or plan.start or (isinstance(named, Weekdays) and named.week is not None))


def ask_back(doubt: Doubt, plan: Plan, moment: Moment, *, english: bool) -> Question:
    """The question for a doubt with up to three choices that would settle it."""
    text = (_WHICH_DAY if doubt is Doubt.NO_TIME and plan.times else _TEXTS[doubt])[english]
    if (
        (plan.unclear and not any(u.clocks for u in plan.unclear))
        or plan.deadline
        or doubt in (Doubt.EVENT, Doubt.INVALID_DATE, Doubt.NO_TASK)
    ):
        return Question(doubt, text)
    base = replace(plan, unclear=[], either=False, vague=None, deadline=False)
    choices: list[Choice] = []
    for label, variant in _variants(doubt, base, plan, english=english):
        try:
            choices.append(Choice(label, resolve(variant, moment)))
        except NotYet:
            continue
    return Question(doubt, text, tuple(choices[:3]))


def _variants(doubt: Doubt, base: Plan, plan: Plan, *, english: bool) -> list[tuple[str, Plan]]:
    if doubt is Doubt.PAST:
        return _later(base, english=english)
    if doubt is Doubt.AMBIGUOUS and plan.either and len(plan.times) > 1:
        return [(label(w, english=english), replace(base, times=[w])) for w in plan.times]
    if doubt is Doubt.AMBIGUOUS and plan.unclear:
        walls = [_guess(clock.hour, plan) for u in plan.unclear for clock in u.clocks]
        return [(label(w, english=english), replace(base, times=[w])) for w in walls]
    if doubt in (Doubt.NO_TIME, Doubt.VAGUE_PERIOD) and not any(a.span.seconds for a in plan.aheads):
        period = next((p.period for p in reversed(plan.parts) if p.period), "")
        walls = [_whole(hour) for hour in _HOURS.get(period, _HOURS[""])]
        return [(label(w, english=english), replace(base, times=[w])) for w in walls]
    return []


def _later(base: Plan, *, english: bool) -> list[tuple[str, Plan]]:
    if len(base.times) != 1 or base.lead or any(not isinstance(d, Day) for d in base.days):
        return []
    wall = base.times[0]
    found: list[tuple[str, Plan]] = []
    hour = wall.moment.hour
    if wall.is_guess and hour < 12:
        evening = WallTime(wall.moment.replace(hour=hour + 12))
        found.append((label(evening, english=english), replace(base, times=[evening], days=[Day(0)], parts=[])))
    word = "tomorrow " if english else "明天"
    found.append((word + label(wall, english=english), replace(base, days=[Day(1)], parts=[])))
    return found


def _whole(hour: int) -> WallTime:
    from datetime import time  # noqa: PLC0415

    return WallTime(time(hour))


def _guess(hour: int, plan: Plan) -> WallTime:
    late = any(p.period in ("afternoon", "dusk", "evening") for p in plan.parts)
    return _whole(hour + 12 if hour < 12 and (late or hour <= 6) else hour % 24)


def label(wall: WallTime, *, english: bool) -> str:
    """A time of day as a button shows it: 上午9点, 9 am."""
    hour, minute = wall.moment.hour, wall.moment.minute
    if english:
        tail = f":{minute:02d}" if minute else ""
        return f"{hour % 12 or 12}{tail} {'am' if hour < 12 else 'pm'}"
    part = next(
        word for limit, word in ((6, "凌晨"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上")) if hour < limit
    )
    shown = hour if hour <= 12 else hour - 12
    return f"{part}{shown}点" + (f"{minute:02d}分" if minute else "")
