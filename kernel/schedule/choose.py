"""Chooses which phrases about time are the schedule, and which belong to the body."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.schedule.asks import BEDS, Ask, clause_start
from kernel.schedule.clocks import at
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Count,
    Cycle,
    Dates,
    Day,
    Deadline,
    Except,
    Found,
    From,
    FromClock,
    Hourly,
    InZone,
    Lasting,
    Lead,
    Named,
    OffMonth,
    Part,
    Phrase,
    Until,
    Vague,
    Weekdays,
    Window,
    Workdays,
)
from kernel.schedule.plan import Plan, gather
from kernel.schedule.tokens import Kind, Token

K = Kind

_GLUE = frozenset({K.OF, K.AT, K.AND, K.FILLER, K.FOR, K.GLUE, K.IN, K.MENTION, K.HABIT})
_SOFT = frozenset(
    {
        K.OF,
        K.AT,
        K.AND,
        K.FILLER,
        K.FOR,
        K.POLITE,
        K.HELP,
        K.TIMES,
        K.HABIT,
        K.GLUE,
        K.RANGE,
        K.MENTION,
        K.DONE,
        K.CREATE,
    }
)
_BOUNDS = (Until, Lasting, Count, Except, From, FromClock, InZone, Between)


@dataclass(frozen=True, slots=True)
class Group:
    """Phrases that stand together; tokens `i` to `j`."""

    found: tuple[Found, ...]
    i: int
    j: int

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases alone."""
        return tuple([f.phrase for f in self.found])


def group(found: list[Found], tokens: list[Token]) -> list[Group]:
    """Phrases with nothing but glue between them, together."""
    groups: list[Group] = []
    run: list[Found] = []
    for each in found:
        if run and not _is_glue(tokens, run[-1].j, each.i):
            groups.append(Group(tuple(run), run[0].i, run[-1].j))
            run = []
        run.append(each)
    if run:
        groups.append(Group(tuple(run), run[0].i, run[-1].j))
    return groups


def _is_glue(tokens: list[Token], i: int, j: int) -> bool:
    if j - i > 4:
        return False
    for token in tokens[i:j]:
        if token.kind in _GLUE and token.word not in ("about",):
            continue
        if token.kind is K.PUNCT and token.word in ",、\n()-~/:":
            continue
        return False
    return True


def soft(tokens: list[Token], i: int, j: int) -> bool:
    """Nothing of weight stands between `i` and `j`: fillers, punctuation, helpers."""
    return all(
        t.kind in _SOFT or t.kind is K.PUNCT or (t.kind is K.AFTER and t.n) for t in tokens[max(i, 0) : j]
    )  # 以后 alone: from now on


def choose(groups: list[Group], ask: Ask, tokens: list[Token], *, english: bool) -> tuple[list[Found], Plan]:
    """The phrases that say when, in the order to read them, and their plan."""
    before = [g for g in groups if g.j <= ask.i]
    inside = [g for g in groups if ask.i < g.i and g.j <= ask.j]
    after = [g for g in groups if g.i >= ask.j]
    used: list[Group] = list(inside)
    plan = _plan(used) if used else Plan()
    for each in reversed(before):
        taken = each if _wants(each, used, plan, ask, tokens) else _day_of_event(each, plan)
        if taken:
            used.insert(0, taken)
            plan = _plan(used)
    if before and not after and len(before) == len(used):
        return [f for g in used for f in g.found], plan
    if _names_event(after, ask, tokens):
        after = after[1:]
    elif after and plan.days and soft(tokens, ask.j, after[0].i) and _is_of_event(plan, _plan(after[:1])):
        used = list(inside)
        plan = _plan(used) if used else Plan()
    for index, each in enumerate(after):
        taken = _after(each, index, used, plan, ask, tokens, english)
        if taken:
            used.append(taken)
            plan = _plan(used)
    return [f for g in used for f in g.found], plan


def _is_of_event(before: Plan, own: Plan) -> bool:
    """exam on Sept 20, remind me Sept 18 at 9am: the request has a day and an hour of its own."""
    bare = bool(before.days) and not (
        before.has_time or before.is_series or before.lead or before.start or before.until
    )
    return bare and bool(own.days) and own.has_time and not own.is_series


def _names_event(after: list[Group], ask: Ask, tokens: list[Token]) -> bool:
    """提醒我周五的会议，周四晚上8点: the first day belongs to the body, a later one has the time."""
    if len(after) < 2:
        return False
    if at(tokens, after[0].i - 1).word in ("the", "my", "our") and at(tokens, after[0].j).kind is K.WORD:
        return _plan(after[1:2]).has_time  # about the 3pm meeting at 2:30pm
    if at(tokens, after[0].j).kind is not K.OF:
        return False
    if _plan(after[:1]).has_time:
        inside = not soft(tokens, ask.j, after[0].i)  # 提醒我订明早6点的出租车，今晚8点
        return inside and soft(tokens, after[-1].j, len(tokens)) and _plan(after[-1:]).has_time
    return any(_plan([g]).has_time and _plan([g]).days for g in after[1:])


def _day_of_event(g: Group, plan: Plan) -> Group | None:
    """明天10点开会，9点50提醒我: the day and its part are those of the event, its clock time is not ours."""
    if not plan.times or plan.lead or _dated(plan) or _is_past(g):
        return None
    steps = any(isinstance(p, Cycle) and p.unit == "s" for p in g.phrases)
    if steps or not any(isinstance(p, (Clock, Window)) for p in g.phrases):
        return None
    kept = tuple(f for f in g.found if isinstance(f.phrase, (Day, Weekdays, Dates, Named, Part, Cycle, Workdays)))
    return Group(kept, g.i, g.j) if kept else None


def _plan(used: list[Group]) -> Plan:
    return gather([f.phrase for g in used for f in g.found])


def _dated(plan: Plan) -> bool:
    return bool(
        plan.days
        or plan.cycles
        or plan.workdays
        or plan.between
        or plan.aheads
        or plan.hourly
        or any(p.today or p.each for p in plan.parts)
    )


def _is_past(g: Group) -> bool:
    return all(
        (isinstance(p, Day) and p.offset < 0) or isinstance(p, (Part, OffMonth, Clock)) for p in g.phrases
    ) and any(isinstance(p, Day) and p.offset < 0 for p in g.phrases)


def _wants(g: Group, used: list[Group], plan: Plan, ask: Ask, tokens: list[Token]) -> bool:
    """Whether the group before the ask (nearest first) belongs to the schedule; `plan` is that of `used`."""
    if all(isinstance(p, Deadline) for p in g.phrases):
        return bool(used) or soft(tokens, g.j, ask.i)
    if all(isinstance(p, Vague) and p.event for p in g.phrases) and not (
        soft(tokens, g.j, ask.i) and soft(tokens, clause_start(tokens, g.i), g.i)
    ):
        return False
    if not used:
        if _is_past(g) and not soft(tokens, g.j, ask.i):
            return False
        idle = all(isinstance(p, (Lasting, Count, OffMonth)) for p in g.phrases)
        return not idle or soft(tokens, g.j, ask.i)
    only = g.found[0].phrase if len(g.found) == 1 else None
    steps = isinstance(only, Cycle) and only.unit == "s" and not plan.sub_daily
    if steps and any(isinstance(p, (From, FromClock)) for each in used for p in each.phrases):
        return True  # 每4个小时喂一次奶，明早6点起，提醒我
    if any(isinstance(d, Day) and d.that for d in plan.days):
        return any(isinstance(p, (Dates, Named, Day)) for p in g.phrases)
    if _is_past(g):
        return False
    if plan.leads_to_clock and not plan.days:
        return bool(_plan([g]).days)
    if not plan.has_time:
        return (
            plan.lead is not None
            or not _dated(plan)
            or any(isinstance(p, (Clock, Window, Ahead, Part)) for p in g.phrases)
            or (plan.vague is not None)
        )
    if not _dated(plan) and not _plan([g]).has_time:
        return any(
            isinstance(p, (Day, Weekdays, Dates, Cycle, Workdays, Named, From, Between, Lasting, Hourly))
            for p in g.phrases
        )
    return plan.is_series and all(isinstance(p, _BOUNDS) and _is_firm(p, plan) for p in g.phrases)


def _after(
    g: Group, index: int, used: list[Group], plan: Plan, ask: Ask, tokens: list[Token], english: bool
) -> Group | None:
    """The part of a group after the ask that belongs to the schedule, or None."""
    adjacent = index == 0 and soft(tokens, ask.j, g.i)
    trailing = soft(tokens, g.j, len(tokens)) or _is_last_word(tokens, g.j)
    possessive = at(tokens, g.j).kind is K.OF and not adjacent
    if ask.is_timer and not plan.has_time and any(isinstance(p, Lasting) for p in g.phrases):
        return g
    if plan.lead is None and any(isinstance(p, Lead) for p in g.phrases) and (adjacent or (trailing and plan.times)):
        return g
    if all(isinstance(p, _BOUNDS) for p in g.phrases):
        g = _without_efforts(g, plan)
        return g if g.found and _binds(g, plan, ask, tokens, adjacent=adjacent, trailing=trailing) else None
    if plan.lead is not None and not plan.has_time and _plan([g]).has_time:
        return g
    steps = all(isinstance(p, Cycle) and p.unit == "s" for p in g.phrases)
    begins = any(isinstance(p, (From, FromClock)) for each in used for p in each.phrases) and len(plan.times) == 1
    if steps and adjacent and (plan.windows or begins) and not plan.sub_daily:
        return g  # 9点到17点提醒我每90分钟…; starting at 9 remind me every hour
    if plan.sub_daily and trailing and _starts(g, plan):
        return g  # every 6 hours remind me to …, starting at 8pm tonight
    if plan.sub_daily and trailing and _narrows(g, plan):
        return g  # 每隔2小时提醒我喝水，9点到18点
    if not plan.has_time:
        if adjacent and not (at(tokens, g.j).kind is K.OF and not _plan([*used, g]).has_time and used):
            return _cut(g, plan) if used else g
        if not ask.to_me and not ask.mentions and index == 0 and not used and _is_name(tokens, ask.j, g.i):
            return g
        if trailing and not possessive and at(tokens, g.i - 1).word not in ("the", "a", "this", "from", "since"):
            return g
        return None
    if trailing and not possessive:
        mine = _plan([g])
        if mine.has_time or at(tokens, g.i - 1).word == "to":
            return None  # move the review to Friday
        weekly = all((c.n, c.unit) == (1, "w") for c in mine.cycles) and not mine.days
        if mine.cycles and weekly and plan.days and all(isinstance(d, Weekdays) and d.week is None for d in plan.days):
            return g  # 周五5点叫我收东西，每周
        if not _dated(plan) and (
            mine.cycles or mine.workdays or ((english or _opens(tokens, g.i)) and mine.days) or mine.between
        ):
            return g
        if (
            plan.is_series
            and all(isinstance(p, (*_BOUNDS, Weekdays)) for p in g.phrases)
            and any(isinstance(p, _BOUNDS) for p in g.phrases)
        ):
            return g
    return None


def _starts(g: Group, plan: Plan) -> bool:
    """Says when the steps begin: starting tomorrow at 8, 今晚8点开始."""
    if plan.start or plan.start_time or plan.windows or not any(isinstance(p, (From, FromClock)) for p in g.phrases):
        return False
    kinds = (From, FromClock, Clock, Part, Day, Dates, Named, Weekdays, Until, Count, InZone, Lasting)
    clocks = sum(isinstance(p, (Clock, FromClock)) for p in g.phrases)
    return clocks == 1 and all(isinstance(p, kinds) for p in g.phrases)


def _narrows(g: Group, plan: Plan) -> bool:
    """Says in which hours and on which days the steps go: 9点到18点, on weekdays from 9 to 5."""
    windows = [p for p in g.phrases if isinstance(p, Window)]
    days = [
        p
        for p in g.phrases
        if isinstance(p, Workdays) or (isinstance(p, Weekdays) and p.each) or (isinstance(p, _DATED) and windows)
    ]
    if plan.windows and not plan.days and all(isinstance(p, Day) for p in g.phrases) and not plan.is_dated_series:
        return True  # 下午1点到4点每小时…，就今天
    again = (windows and plan.windows) or (days and (plan.days or plan.workdays))
    parts = sum(isinstance(p, Part) for p in g.phrases) if windows else 0
    return not again and 0 < len(g.phrases) == len(windows) + len(days) + parts


_DATED = (Weekdays, Day, Dates, Named)


def _opens(tokens: list[Token], i: int) -> bool:
    """Token `i` opens a clause: 提醒我八点看直播，后天晚上."""
    return at(tokens, i - 1).kind is K.PUNCT


def _is_term(phrase: Phrase) -> bool:
    """连续三天, for a week: days that were said to be a duration."""
    return isinstance(phrase, Lasting) and phrase.marked and not phrase.span.seconds


def _is_firm(phrase: Phrase, plan: Plan) -> bool:
    """A bound that can be no part of the task: 读30分钟 and 做3次 are, 连续3天 and 共3次 are not."""
    match phrase:
        case Lasting():
            step = plan.sub_daily
            return phrase.marked if not phrase.span.seconds else step is not None and phrase.span.seconds > step.n
        case Count():
            return phrase.marked
        case _:
            return True


def _binds(g: Group, plan: Plan, ask: Ask, tokens: list[Token], *, adjacent: bool, trailing: bool) -> bool:
    """Whether a group of bounds behind the ask bounds the series, rather than the task."""
    firm = all(_is_firm(p, plan) for p in g.phrases)
    if plan.is_series:
        return firm or (trailing and (_is_own_clause(tokens, g.i, ask.j) or adjacent))
    if plan.aheads or not trailing:
        return False
    term = any(_is_term(p) for p in g.phrases) and (adjacent or _is_own_clause(tokens, g.i, ask.j))
    return term or any(isinstance(p, (Between, From)) for p in g.phrases)


def _without_efforts(g: Group, plan: Plan) -> Group:
    """The group without the minutes a task takes (散步30分钟), which bound no daily series."""
    kept = tuple(f for f in g.found if not (isinstance(f.phrase, Lasting) and f.phrase.span.seconds) or plan.sub_daily)
    return Group(kept, kept[0].i, kept[-1].j) if kept else Group((), g.i, g.j)


def _is_own_clause(tokens: list[Token], i: int, start: int) -> bool:
    """Only a short verb stands between the last comma and `i` (量两周)."""
    k = i - 1
    while k > start and tokens[k].kind is not K.PUNCT:
        k -= 1
    return k >= start and tokens[k].kind is K.PUNCT and tokens[i].start - tokens[k].end <= 4


def _is_name(tokens: list[Token], i: int, j: int) -> bool:
    """A short name stands between: 提醒张三明天…."""
    words = tokens[i:j]
    if words and all(t.kind in (K.WORD, K.PERSON) or t.word in ("the", "my", "our") for t in words):
        return len(words) <= 3
    return (
        0 < j - i <= 2
        and all(t.kind in (K.TEXT, K.PERSON, K.ME) or (t.kind is K.NUM and words[-1].word in BEDS) for t in words)
        and tokens[j - 1].end - tokens[i].start <= 5
    )


def _cut(g: Group, plan: Plan) -> Group | None:
    """Of a group behind the ask, what still adds to a plan that has a day but no time."""
    if _plan([g]).has_time:
        return g
    if plan.days and any(isinstance(p, (Day, Weekdays, Dates, OffMonth)) for p in g.phrases):
        return None
    return g


def _is_last_word(tokens: list[Token], j: int) -> bool:
    rest = tokens[j:]
    return len(rest) <= 3 and all(
        t.kind in _SOFT or t.kind in (K.PUNCT, K.QUESTION, K.ASK, K.ME) or t.word in ("too",) for t in rest
    )
