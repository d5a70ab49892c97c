"""Tells whether something about time stands in a message beside its schedule, so that it must be asked about."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.schedule.asks import Ask, clause_start
from kernel.schedule.choose import Group, soft
from kernel.schedule.clocks import at
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Cycle,
    Dates,
    Day,
    Either,
    Found,
    From,
    FromClock,
    Hourly,
    Lasting,
    Lead,
    Named,
    OffMonth,
    Part,
    Phrase,
    Unclear,
    Until,
    Weekdays,
    Window,
    Workdays,
)
from kernel.schedule.tokens import Kind, Token

K = Kind

_BEARING = (Clock, Window, Weekdays, Dates, Cycle, Workdays, Between, Ahead, Named, Hourly, Lead)
_TELLING = frozenset({K.EVERY, K.OTHER, K.LUNAR})
_DAY_OR_DAYS = (3, 4)
"""Letters of "day", "eve" and "days", not of the d that stands for them."""
_LONGEST_NAME = 6
"""Tokens of the name of a day, with "on the" before it."""
_RAGGED = frozenset(
    {
        K.UNIT,
        K.NUM,
        K.DATE,
        K.LUNAR,
        K.NEXT,
        K.LAST,
        K.WEEKDAY,
        K.MONTH,
        K.ORD,
        K.FEW,
        K.HALF,
        K.EVERY,
        K.OTHER,
        K.DAILY,
        K.PAST,
    }
)
"""Words that belong to a time: directly beside a phrase they are a part of it that was not understood."""


def conflicts(groups: list[Group], used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """Something about time was said beside the schedule and not understood, or contradicts it."""
    taken = {f.i for f in used}
    left = [f for g in groups for f in g.found if f.i not in taken]
    covered = {k for f in used for k in range(f.i, f.j)}
    if left and (_is_beside(left, groups, used, ask, tokens) or _means_all(left, ask, tokens)):
        return True
    return (
        _is_unread(covered, groups, ask, tokens)
        or _has_ragged_edge(covered, left, used, ask, tokens)
        or any(_goes_on(tokens, f, covered) for f in used)
        or _lists_event(used, ask, tokens)
        or _excludes_more(used, covered, tokens)
        or _ends_unknown(used, covered, tokens)
        or _names_unknown_day(covered, ask, tokens)
        or _are_some_of_them(used, ask, tokens)
        or _has_second_task(left, ask, tokens)
    )


def _names_unknown_day(covered: set[int], ask: Ask, tokens: list[Token]) -> bool:
    """on graduation day at noon remind me …, remind me on sports day at 9: a day by a name that is not known."""
    if tokens[ask.i].word[:1] > "z":
        return False
    if any(
        tokens[k].word == "on" and k not in covered and k + 1 not in covered and tokens[k + 1].kind is K.WORD
        for k in range(ask.i - 1)
    ):
        return True
    starts = {0, ask.j} | {k + 1 for k in covered if at(tokens, k + 1).word == "on"}
    return any(k not in covered and _is_unknown_day(covered, k, tokens) for k in starts)


_MODIFIERS = frozenset({K.TEXT, K.VAGUE, K.AGENT, K.NOW, K.CHANGE, K.LINK})


def _are_some_of_them(used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """调休上班的周末, 没课的周三: which of them, no calendar tells."""
    for f in used:
        if f.i < 2 or f.j > ask.i or tokens[f.i - 1].kind is not K.OF or not isinstance(f.phrase, (Weekdays, Workdays)):
            continue
        named, of = tokens[f.i - 2], tokens[f.i - 1]
        if named.kind in _MODIFIERS and named.end == of.start and of.end == tokens[f.i].start:
            return True
    return False


def _has_second_task(left: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """remind me at 9 to call mom and at 10 to call dad; to call mom at 9 and to call dad at 10."""
    for f in left:
        if f.i < ask.j or not isinstance(f.phrase, Clock) or tokens[f.i].word != "at":
            continue
        before, follow = at(tokens, f.i - 1), at(tokens, f.j)
        if follow.word == "to" and (before.kind is K.AND or before.word == ","):
            return True
        if follow.kind is K.AND and at(tokens, f.j + 1).word == "to":
            return True
    return False


def _is_unknown_day(covered: set[int], k: int, tokens: list[Token]) -> bool:
    """(on) sports day, (on) founders' eve, on Pancake Tuesday: beside a time that was taken."""
    on = at(tokens, k).word == "on"
    end = k + on
    while end < k + _LONGEST_NAME and (at(tokens, end).kind in (K.WORD, K.ORD) or at(tokens, end).word in ("the", ".")):
        end += 1
    if end == k + on:
        return False
    if end in covered:
        return on and tokens[end].kind is K.WEEKDAY
    named = at(tokens, end).word in ("d", "day", "eve") and at(tokens, end).end - at(tokens, end).start in _DAY_OR_DAYS
    return named and (end + 1 in covered or k - 1 in covered)


def _is_beside(left: list[Found], groups: list[Group], used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """Of the phrases that are left, one that the schedule cannot ignore."""
    others = [g for g in groups if g.i >= ask.j and any(f.i == g.i for f in left)]
    return (
        _bears_before(left, ask, tokens)
        or _has_second_time(left, used, ask, tokens)
        or any(isinstance(f.phrase, Lasting) and f.i == ask.j and not ask.is_noun for f in left)
        or any(_steps_behind(f, ask, tokens) for f in left)
        or any(isinstance(f.phrase, Unclear) and f.i >= ask.j and soft(tokens, ask.j, f.i) for f in left)
        or any(_asks_again(tokens, g) or _closes_with_other_days(tokens, g, used) for g in others)
        or any(_closes_with_other_time(tokens, g, used, ask) or _closes_with_other_day(tokens, g, used) for g in others)
        or any(_is_parted(left, f, ask, tokens) for f in used)
        or _closes_with_other_hour(left, ask, tokens)
        or any(_bounds_steps(tokens, g, used) for g in others)
        or any(f.j <= ask.i for f in _leads(left))
        or any(f.i >= ask.j and (any(_leads(used)) or _opens_clause(tokens, f.i)) for f in _leads(left))
    )


def _bears_before(left: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """A time in the clause of the ask that no part of the schedule took."""
    start = clause_start(tokens, ask.i)
    return any(
        start <= f.i
        and f.j <= ask.i
        and (_bears(f.phrase) or (isinstance(f.phrase, OffMonth) and at(tokens, f.j).kind is not K.OF))
        for f in left
    )


def _bears(phrase: Phrase) -> bool:
    return isinstance(phrase, _BEARING) or (isinstance(phrase, Day) and phrase.offset >= 0)


def _is_unread(covered: set[int], groups: list[Group], ask: Ask, tokens: list[Token]) -> bool:
    """每, 隔 or 农历 before the ask, and no phrase that holds it."""
    start = clause_start(tokens, ask.i)
    telling = [k for k in range(start, ask.i) if tokens[k].kind in _TELLING and k not in covered]
    return any(not any(g.i <= k < g.j for g in groups) for k in telling)


def _has_ragged_edge(covered: set[int], left: list[Found], used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """A word of time touches the schedule; the clock time of an event whose day was taken is no such word."""
    size = len(tokens)
    edges = [(k, f) for f in used for k in (f.i - 1, f.j) if 0 <= k < size and tokens[k].kind in _RAGGED]
    if not edges:
        return False
    events = {k for f in left if f.j <= ask.i and isinstance(f.phrase, (Clock, Window)) for k in range(f.i, f.j)}
    covered = covered | events
    return any(_is_ragged(tokens, k, f, covered, ask) for k, f in edges)


def _goes_on(tokens: list[Token], f: Found, covered: set[int]) -> bool:
    """from 9 tonight to 1: the end of a stretch that was not read with its start."""
    k = f.j
    if k in covered or not isinstance(f.phrase, (FromClock, Part, Clock, From)):
        return False
    joins = tokens[k].word in ("to", "到", "至", "till", "until") if k < len(tokens) else False
    return joins and at(tokens, k + 1).kind in (K.NUM, K.CLOCK) and k + 1 not in covered


def _lists_event(used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """飞机是后天下午3点20，中午12点提醒我出发: after words of its own the first time is the event's."""
    clocks = [f for f in used if isinstance(f.phrase, Clock) and f.j <= ask.i]
    if len(clocks) < 2 or any(isinstance(f.phrase, (Cycle, Workdays, Lead)) for f in used):
        return False
    covered = {k for f in used for k in range(f.i, f.j)}
    before = (k for k in range(clause_start(tokens, clocks[0].i), clocks[0].i) if k not in covered)
    told = any(not soft(tokens, k, k + 1) for k in before)
    between = tokens[clocks[0].j : clocks[1].i]
    return told and any(t.kind is K.PUNCT and t.word == "," for t in between)


def _is_ragged(tokens: list[Token], k: int, f: Found, covered: set[int], ask: Ask) -> bool:
    """Token `k` touches the phrase and would belong to it."""
    token = tokens[k]
    if k in covered or ask.i <= k < ask.j:
        return False
    if token.kind is K.UNIT and "a" <= token.word[:1] <= "z" and token.end - token.start > 2:
        return False  # "send the minutes every Friday"
    before = at(tokens, k - 1)
    if token.word == "日" and before.kind is K.TEXT and before.end == token.start:
        return False  # 11月9号消防日
    return _touches(token, k, f) and (k < ask.i or f.i < ask.i or k < f.i)


def _touches(token: Token, k: int, f: Found) -> bool:
    gap = token.start - f.end if k >= f.j else f.start - token.end
    loose = "a" <= token.word[:1] <= "z" or (token.kind in (K.NUM, K.DATE) and k < f.i)
    return gap <= (1 if loose else 0)


def _has_second_time(left: list[Found], used: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """meeting at 9, remind me at 8:30: a time said with "at" behind the ask, besides the one before it."""
    if not any(isinstance(f.phrase, Clock) for f in used):
        return False
    return any(
        f.i >= ask.j and isinstance(f.phrase, Clock) and tokens[f.i].word == "at" and soft(tokens, ask.j, f.i)
        for f in left
    )


def _asks_again(tokens: list[Token], g: Group) -> bool:
    """一小时后提醒我，然后每半小时提醒一次: two requests in one message."""
    k = g.j
    while at(tokens, k).kind is K.FILLER:
        k += 1
    opened = at(tokens, g.i - 1).kind in (K.FILLER, K.PUNCT, K.AND)
    return opened and at(tokens, k).kind in (K.ASK, K.CALL) and at(tokens, k + 1).kind in (K.ME, K.TIMES, K.PUNCT)


def _closes_with_other_days(tokens: list[Token], g: Group, used: list[Found]) -> bool:
    """每天早上7点叫我，周末8点: the message ends with days and a time of their own."""
    if not any(isinstance(f.phrase, (Cycle, Workdays)) for f in used) or at(tokens, g.i - 1).kind is not K.PUNCT:
        return False
    days = any(isinstance(p, (Weekdays, Dates, Workdays, Day)) for p in g.phrases)
    return days and any(isinstance(p, Clock) for p in g.phrases) and soft(tokens, g.j, len(tokens))


def _is_parted(left: list[Found], f: Found, ask: Ask, tokens: list[Token]) -> bool:
    """提醒我检查灭火器，每年11月9号消防日上午10点: a Chinese clause behind the ask with a day that was not taken."""
    if f.i < ask.j:
        return False
    if tokens[ask.i].word[:1] <= "z" and isinstance(f.phrase, Clock) and _opens_clause(tokens, f.i):
        dated = (each for each in left if isinstance(each.phrase, (Dates, Weekdays, Named)) and ask.j <= each.i < f.i)
        return any(_opens_clause(tokens, each.i) for each in dated)  # pay rent, 1st of month, 9am
    if "a" <= tokens[f.i].word[:1] <= "z":
        return False
    return any(
        ask.j <= each.i < f.i
        and _bears(each.phrase)
        and at(tokens, each.j).kind is not K.OF
        and _opens_clause(tokens, each.i)
        and not any(t.kind is K.PUNCT for t in tokens[each.j : f.i])
        for each in left
    )


def _closes_with_other_time(tokens: list[Token], g: Group, used: list[Found], ask: Ask) -> bool:
    """8点提醒我出门，9点: a clock time alone in the last clause; 提醒我8点出门，9点到: two behind the ask."""
    if used and used[0].i >= ask.j and _opens_clause(tokens, g.i) and any(isinstance(p, Clock) for p in g.phrases):
        return True
    alone = (
        at(tokens, g.i - 1).kind is K.PUNCT
        and at(tokens, g.i - 1).word not in "-/()~"
        and soft(tokens, g.j, len(tokens))
    )
    return alone and any(isinstance(p, Clock) for p in g.phrases)


def _means_all(left: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """8点吃药、9点量血压，都提醒我: each of the times before the ask is meant, with a task of its own."""
    every = at(tokens, ask.i - 1).word in ("都", "各", "分别")
    clocks = [f for f in left if isinstance(f.phrase, Clock) and f.j <= ask.i]
    lines = at(tokens, ask.i - 1).word == "\n"  # 8:00 吃药, 20:00 量血压, and 提醒我 in a line of its own
    return any(every or (lines and (f.i == 0 or tokens[f.i - 1].word == "\n")) for f in clocks)


def _closes_with_other_day(tokens: list[Token], g: Group, used: list[Found]) -> bool:
    """周五3点提醒我开会，下周; on the 20th …, this year: a last clause that says which one, and was not taken."""
    steps = any(isinstance(f.phrase, Cycle) and f.phrase.unit == "s" for f in used)
    if not steps and not any(isinstance(f.phrase, (Weekdays, Dates, Named)) for f in used):
        return False
    k = g.i
    while at(tokens, k - 1).kind in (K.FILLER, K.AT, K.GLUE) or at(tokens, k - 1).word == "是":
        k -= 1
    alone = at(tokens, k - 1).kind is K.PUNCT and soft(tokens, g.j, len(tokens))
    return alone and all(isinstance(p, (OffMonth, Weekdays, Dates, Day)) for p in g.phrases)


def _closes_with_other_hour(left: list[Found], ask: Ask, tokens: list[Token]) -> bool:
    """at 8 to jog or maybe 9: an alternative that ends the message with a bare number."""
    for each in left:
        k = each.j + 1 if at(tokens, each.j).word == "maybe" else each.j
        number = at(tokens, k)
        if isinstance(each.phrase, Either) and each.i >= ask.j and number.kind is K.NUM and number.n <= 24:
            return all(t.kind in (K.PUNCT, K.FILLER, K.POINT) for t in tokens[k + 1 :])
    return False


def _excludes_more(used: list[Found], covered: set[int], tokens: list[Token]) -> bool:
    """An exclusion from a series that no phrase holds."""
    for k, token in enumerate(tokens):
        if token.kind is K.EXCEPT and token.end - token.start > 1 and k not in covered:
            return any(isinstance(f.phrase, (Cycle, Workdays)) for f in used)
    return False


def _ends_unknown(used: list[Found], covered: set[int], tokens: list[Token]) -> bool:
    """每晚9点…，到放寒假为止: an end of the series that no phrase holds."""
    if not any(isinstance(f.phrase, (Cycle, Workdays)) for f in used):
        return False
    return any(t.word == "为止" and k not in covered for k, t in enumerate(tokens))


def _steps_behind(f: Found, ask: Ask, tokens: list[Token]) -> bool:
    """at 9 tonight remind me every 30 minutes to …: once, or from then on?"""
    steps = isinstance(f.phrase, Cycle) and f.phrase.unit == "s"
    return steps and f.i >= ask.j and soft(tokens, ask.j, f.i) and tokens[f.i].kind is K.EVERY


def _bounds_steps(tokens: list[Token], g: Group, used: list[Found]) -> bool:
    """每小时提醒我喝水，今天下午5点结束: what closes the message says from when or until when, and was not taken."""
    if not any(isinstance(f.phrase, Cycle) and f.phrase.unit == "s" for f in used) or g.i < used[-1].j:
        return False
    k = g.j
    while at(tokens, k).kind in (K.STOP, K.START):
        k += 1
    return soft(tokens, k, len(tokens)) and any(isinstance(p, (Clock, Window, FromClock, Until)) for p in g.phrases)


def _opens_clause(tokens: list[Token], i: int) -> bool:
    """明天10点汇报，提前半小时准备: before the event or before the reminder?"""
    return at(tokens, i - 1).kind is K.PUNCT


def _leads(found: list[Found]) -> Iterator[Found]:
    return (f for f in found if isinstance(f.phrase, Lead))
