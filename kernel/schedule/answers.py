"""An answer to a question about a request: which choice it names, or the request as it is with the answer in it.

Values in, values out. An answer is read as if its words had stood in the sentence that was asked about: they take the
place of what they contradict, and everything else stays. So 8点 after 每天提醒我吃药 is what 每天8点提醒我吃药 would
have been, with the same policy for a bare hour, and it may have to be asked about once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kernel.schedule.fragments import bare_number, is_refusal, is_same, place, time_phrases
from kernel.schedule.parse import Understood, is_early, resolved
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Cycle,
    Dates,
    Day,
    Deadline,
    Either,
    FromClock,
    LunarDate,
    LunarDays,
    Named,
    Nth,
    OffMonth,
    Part,
    Phrase,
    Unclear,
    Vague,
    Weekdays,
    Window,
    Workdays,
)
from kernel.schedule.plan import Plan, gather
from kernel.schedule.questions import ask_back
from kernel.schedule.resolve import Moment, NotYet
from kernel.schedule.values import Choice, Cron, Doubt, Once, Question, Schedule

_DAYS = (Day, Weekdays, Dates, Nth, Named, LunarDate, LunarDays, OffMonth)
_TIMES = (Clock, FromClock, Window)
_HALF_DAY = 12
_HOURS = {
    "dawn": range(1, 7),
    "morning": range(5, 12),
    "forenoon": range(7, 13),
    "noon": (11, 12, 1),
    "afternoon": (12, *range(1, 7)),
    "dusk": range(5, 8),
    "evening": range(6, 12),
    "night": range(8, 13),
}
"""The hours that people call so, on the face of a clock."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice of that number, the first being 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing is to be set after all."""


Answer = Chosen | Refused | Understood
"""What an answer means; `Understood` is the request with the answer in it, clear or asked about once more."""


def read_answer(text: str, asked: Understood, *, now: datetime) -> Answer | None:
    """What `text`, said at `now` (aware) about the question of `asked`, means; None when it is no answer to it.

    Never raises for any text. Raises ValueError when `asked` asks nothing.
    """
    question = asked.intent.question
    if question is None:
        raise ValueError("nothing was asked")
    if is_refusal(text):
        return Refused()
    number = _chosen(text, question)
    if number is not None:
        return Chosen(number) if 0 <= number < len(question.choices) else None
    said = time_phrases(text, of_day=question.doubt is Doubt.INVALID_DATE)
    if said is None:
        return None
    if question.doubt is Doubt.AMBIGUOUS and question.choices and (hour := _bare_hour(said)) is not None:
        fitting = [n for n, choice in enumerate(question.choices) if _is_at(choice, hour, asked.intent.zone)]
        if len(fitting) == 1:
            return Chosen(fitting[0])
        if bare_number(text) is not None:
            return None  # 2, of 3点 or 5点: the second, or neither?
    return completed(asked, said, now)


def completed(asked: Understood, said: list[Phrase], now: datetime) -> Understood | None:
    """The request `asked` with the phrases `said` at `now` in it; None when they do not go together."""
    phrases = _merged(list(asked.phrases), said)
    if phrases is None:
        return None
    is_dated = any(isinstance(p, _DAYS) or (isinstance(p, Part) and p.today) for p in asked.phrases)
    names_day = any(isinstance(p, (*_DAYS, Ahead)) for p in said)
    at = asked.at if is_dated and not names_day else now
    tried = _read(asked, phrases, at, now)
    question = asked.intent.question
    was_past = question is not None and question.doubt is Doubt.PAST
    if was_past and tried.intent.question is not None and _bare_hour(said) is not None:
        # 今天早上8点 is over, 3点 then: this afternoon.
        again = _read(asked, [_without_period(p) for p in phrases], at, now)
        return again if again.intent.schedule is not None else tried
    return tried


def names_days(asked: Understood) -> bool:
    """The request says on which days, or how often: it stands on its own."""
    return gather(asked.phrases).is_series or any(
        isinstance(p, (*_DAYS, Ahead)) or (isinstance(p, Part) and p.today) for p in asked.phrases
    )


def _chosen(text: str, question: Question) -> int | None:
    """The number of the choice that the words name; one that is out of range when they name none that is there."""
    for number, choice in enumerate(question.choices):
        if is_same(text, choice.label):
            return number
    named = place(text) if question.choices else None
    if named is None:
        return None
    return len(question.choices) - 1 if named == -1 else named - 1


def _bare_hour(said: list[Phrase]) -> Clock | None:
    """The clock time that is all that was said, when it may be in either half of the day."""
    only = said[0] if len(said) == 1 else None
    return only if isinstance(only, Clock) and not only.period and not only.literal else None


def _is_at(choice: Choice, hour: Clock, zone: str) -> bool:
    """The choice is at that hour, in whichever half of the day."""
    schedule = choice.schedule
    if isinstance(schedule, Once):
        local = schedule.times[0].astimezone(ZoneInfo(zone))
        times = {(local.hour, local.minute)}
    else:
        times = _cron_times(schedule)
    return any(h % _HALF_DAY == hour.hour % _HALF_DAY and minute == hour.minute for h, minute in times)


def _cron_times(schedule: Schedule) -> set[tuple[int, int]]:
    lines = [line.split() for line in schedule.expressions] if isinstance(schedule, Cron) else []
    return {(int(hour), int(minute)) for minute, hour, *_ in lines if minute.isdigit() and hour.isdigit()}


def _read(asked: Understood, phrases: list[Phrase], at: datetime, now: datetime) -> Understood:
    """The request with these phrases, said at `at` and read at `now`."""
    plan = gather(phrases)
    zone = plan.zone or asked.intent.zone
    schedule, question = None, None
    try:
        _prefer_soon(asked, plan, Moment(now, zone))
        schedule = _schedule(asked, phrases, plan, Moment(at, zone), now)
    except NotYet as reason:
        question = ask_back(reason.doubt, plan, Moment(max(at, now), zone), english=asked.english)
    except (OverflowError, ValueError):
        question = ask_back(Doubt.INVALID_DATE, plan, Moment(now, zone), english=asked.english)
    lead = None
    if plan.lead is not None:
        span = plan.lead.span
        lead = timedelta(days=span.days + 30 * span.months, seconds=span.seconds)
    intent = replace(asked.intent, zone=zone, schedule=schedule, question=question, lead=lead)
    return replace(asked, intent=intent, at=at, phrases=tuple(phrases))


def _schedule(asked: Understood, phrases: list[Phrase], plan: Plan, moment: Moment, now: datetime) -> Schedule:
    if asked.wakes and is_early(plan) and len(plan.times) == 1:
        wall = plan.times[0]
        early = replace(wall, moment=wall.moment.replace(hour=wall.moment.hour - _HALF_DAY), is_guess=False)
        plan.times, plan.either = [early, replace(wall, is_guess=False)], True
    if plan.either:
        return resolved([], plan, moment)
    schedule = resolved(phrases, plan, moment)
    if not isinstance(schedule, Once):
        return schedule
    ahead = tuple(time for time in schedule.times if time > now)
    if not ahead:
        raise NotYet(Doubt.PAST)
    return Once(ahead)


def _prefer_soon(asked: Understood, plan: Plan, moment: Moment) -> None:
    """晚点提醒我, at ten in the morning, and then 8点: later today, not tomorrow before breakfast."""
    is_soon = any(isinstance(p, Vague) and not p.event for p in asked.phrases)
    if not is_soon or plan.days or plan.is_series or len(plan.times) != 1 or plan.times[0].shift:
        return
    wall = plan.times[0]
    if wall.is_guess and wall.moment.hour < _HALF_DAY and wall.moment <= moment.local.time():
        later = replace(wall, moment=wall.moment.replace(hour=wall.moment.hour + _HALF_DAY))
        if later.moment > moment.local.time():
            plan.times = [later]


def _merged(asked: list[Phrase], said: list[Phrase]) -> list[Phrase] | None:
    """Both: what was said takes the place of what it contradicts. None when they cannot be one request."""
    days = [p for p in said if isinstance(p, _DAYS) or (isinstance(p, Ahead) and not p.span.seconds)]
    if any(isinstance(p, Ahead) and p.span.seconds for p in said):
        return None if gather(asked).is_series else _kept(asked, days=False, times=False, parts=False) + said
    is_series = gather(said).is_series
    if days and not is_series and gather(asked).is_series and not _narrows(asked, days):
        return None
    names_time = any(isinstance(p, (*_TIMES, Unclear)) for p in said)
    names_part = any(isinstance(p, Part) for p in said)
    names_day = bool(days) or is_series
    kept = _kept(
        [p for p in asked if not (is_series and isinstance(p, (Cycle, Workdays, Between)))],
        days=not names_day or (not is_series and gather(asked).is_series),
        times=not names_time,
        parts=not (names_part or (names_day and names_time)),
    )
    said = [_in_same_month(p, asked) for p in said]
    clocks = [p for p in kept if isinstance(p, (*_TIMES, Either, Unclear))]
    others = [p for p in kept if p not in clocks]
    periods = {p.period for p in said if isinstance(p, Part)}
    return others + said + (clocks if all(_goes_with(p, periods) for p in clocks) else [])


def _goes_with(phrase: Phrase, periods: set[str]) -> bool:
    """下午, asked about 早上8点: eight is no hour of an afternoon, so the hour is open again."""
    if not isinstance(phrase, Clock) or not periods:
        return True
    return not phrase.literal and all(phrase.hour in _HOURS.get(period, ()) for period in periods)


def _narrows(asked: list[Phrase], days: Sequence[Phrase]) -> bool:
    """每周提醒我, and then 周五: the day that the step left open."""
    steps = {p.unit for p in asked if isinstance(p, Cycle)}
    is_open = not any(isinstance(p, (*_DAYS, Workdays, Between)) for p in asked)
    return is_open and bool(steps) and steps <= set("wMQy") and all(isinstance(p, (Weekdays, Dates, Nth)) for p in days)


def _kept(asked: list[Phrase], *, days: bool, times: bool, parts: bool) -> list[Phrase]:
    """What stays of the request: its days, its clock times, its parts of the day, and all that is none of these."""
    found: list[Phrase] = []
    for phrase in asked:
        match phrase:
            case Unclear():
                if days if phrase.is_date else times:
                    found.append(phrase)
            case Clock() | FromClock() | Window() | Either():
                if times:
                    found.append(phrase)
            case Part():
                part = replace(phrase, period=phrase.period if parts else "", today=phrase.today and days)
                if part.period or part.each or part.today:
                    found.append(part)
            case Vague() | Deadline():
                pass
            case Ahead():
                if days and times:
                    found.append(phrase)
            case Day() | Weekdays() | Dates() | Nth() | Named() | LunarDate() | LunarDays() | OffMonth():
                if days:
                    found.append(phrase)
            case _:
                found.append(phrase)
    return found


def _in_same_month(phrase: Phrase, asked: list[Phrase]) -> Phrase:
    """28号, asked about 2月30号: of that February."""
    named = next((p for p in asked if isinstance(p, Dates)), None)
    if not isinstance(phrase, Dates) or named is None or phrase.month is not None or phrase.months_ahead is not None:
        return phrase
    return replace(named, days=phrase.days)


def _without_period(phrase: Phrase) -> Phrase:
    return replace(phrase, period="") if isinstance(phrase, Part) else phrase
