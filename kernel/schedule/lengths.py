"""Reads what starts with a length of time: how far ahead, how often, how long before."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.days import day
from kernel.schedule.phrases import (
    Ahead,
    Cycle,
    Found,
    From,
    Lasting,
    Lead,
    Part,
    Phrase,
    Span,
    Unclear,
    Vague,
    Weekdays,
)
from kernel.schedule.spans import span
from kernel.schedule.tokens import Kind, Token

K = Kind


Read = tuple[Phrase, int] | None


def is_english(token: Token) -> bool:
    """The token is an English word."""
    return "a" <= token.word[:1] <= "z"


def length_phrase(tokens: list[Token], i: int, length: Span, j: int) -> Read:
    """What a length of time means by the word after it."""
    follow = at(tokens, j)
    match follow.kind:
        case K.AFTER if follow.word != "after":
            if at(tokens, j + 1).kind is K.START:
                return From(Ahead(length)), j + 2
            return Ahead(length), j + 1
        case K.AFTER:
            return Unclear(impossible=False), j + 1
        case K.FROM if at(tokens, j + 1).word == "now":
            return Ahead(length), j + 2
        case K.FROM if follow.word == "from":
            origin = day(tokens, j + 1)
            if origin and not isinstance(origin[0], Unclear):
                return Ahead(length, origin[0]), origin[1]
        case K.AT if follow.word == "on" and length.days and length.days % 7 == 0:
            origin = day(tokens, j + 1)  # a week on Friday
            if origin and isinstance(origin[0], Weekdays):
                return Ahead(length, origin[0]), origin[1]
        case K.BEFORE:
            return Lead(length), j + 1
        case K.LEAD if follow.n:
            return Lead(length), j + 1
        case K.IN if at(tokens, j + 1).word == "advance":
            return Lead(length), j + 2
        case K.TIMES if (follow.n == 1 and follow.word[0] < "a") or (follow.n == 1 and follow.word[0] > "z"):
            return cycle_of(length, between=False), j + 1
        case K.NUM if at(tokens, j + 1).kind is K.TIMES and tokens[i].kind is K.NUM and tokens[i].n == 1:
            return _loose(length), j + 2
        case K.TEXT if length == Span(days=1) and tokens[i].n == 1 and at(tokens, j + 2).kind is K.TIMES:
            return (_loose(length), j) if at(tokens, j + 1).kind is K.NUM else None  # 一日食药两次
    return None


def _loose(length: Span) -> Cycle:
    base = cycle_of(length, between=False)
    return Cycle(base.n, base.unit, loose=True)


def cycle_of(length: Span, *, between: bool) -> Cycle:
    """The step a length of time makes; `between` when it was said with 隔."""
    if length.months and length.months % 12 == 0:
        return Cycle(length.months // 12, "y", between)
    if length.months:
        return Cycle(length.months, "M", between)
    if length.seconds:
        return Cycle(length.seconds + 86400 * length.days, "s", between)
    if length.days and length.days % 7 == 0:
        return Cycle(length.days // 7, "w", between)
    return Cycle(length.days, "d", between)


_MOST_LISTED = 12
"""Tokens of a list of lengths that are looked at."""


def listed_length(tokens: list[Token], i: int) -> Read:
    """in 10, 20 and in 30 minutes; 10、20、30分钟后: a number in a list borrows the unit behind its last one."""
    before, follow = at(tokens, i - 1), at(tokens, i + 1)
    listed = follow.kind is K.AND or follow.word == "," or before.kind in (K.AND, K.IN) or before.word == ","
    if not listed or at(tokens, i).kind is not K.NUM:
        return None
    last, first = i, i
    while (j := _beside(tokens, last, 1)) is not None and last < i + _MOST_LISTED:
        last = j
    while (j := _beside(tokens, first, -1)) is not None and first > i - _MOST_LISTED:
        first = j
    unit = at(tokens, last + 1)
    if first == last or unit.kind is not K.UNIT or unit.word not in ("s", "m", "h"):
        return None
    follow = at(tokens, last + 2)
    behind = follow.kind is K.AFTER and follow.word != "after"
    if not behind and at(tokens, first - 1).kind is not K.IN:
        return None
    return Ahead(Span(seconds=round(tokens[i].n * unit.n))), i + 1 if i < last else last + 2 + behind


def _beside(tokens: list[Token], i: int, way: int) -> int | None:
    """The place of the next number of a list, on from `i` or back from it; "in" may be said again before each."""
    j = i + way
    if way < 0 and at(tokens, j).kind is K.IN:
        j += way
    if at(tokens, j).kind is not K.AND and at(tokens, j).word != ",":
        return None
    j += way
    if way > 0 and at(tokens, j).kind is K.IN:
        j += way
    return j if at(tokens, j).kind is K.NUM else None


def share_direction(tokens: list[Token], found: list[Found]) -> None:
    """10分钟、20分钟后; in 10 and in 20 minutes: lengths in a list lie ahead when one of them does."""
    for n in range(len(found) - 1, 0, -1):
        _carry_ahead(tokens, found, n, n - 1)
    for n in range(1, len(found)):
        _carry_ahead(tokens, found, n - 1, n)


def _carry_ahead(tokens: list[Token], found: list[Found], known: int, n: int) -> None:
    phrase, first, last = found[n].phrase, *sorted((known, n))
    joined = found[first].j + 1 == found[last].i and tokens[found[first].j].kind is K.AND
    if not joined or not isinstance(found[known].phrase, Ahead) or at(tokens, found[n].j).kind is K.OF:
        return
    if isinstance(phrase, Lasting) and not phrase.marked:
        found[n] = found[n]._replace(phrase=Ahead(phrase.span))


def few(tokens: list[Token], i: int) -> Read:
    """A few minutes: too vague to fire."""
    j = i + 1 if at(tokens, i).word == "a" else i
    k = j + 2 if at(tokens, j + 1).word == "个" else j + 1  # 三个多小时
    rough = at(tokens, j).kind in (K.NUM, K.HALF) and at(tokens, k).word in ("来", "多", "几", "几个")
    if (
        at(tokens, j).kind is not K.FEW
        and not rough
        and not (at(tokens, j).word == "approx" and at(tokens, j + 1).kind is K.UNIT)
    ):
        return None
    j += 2 + (at(tokens, j + 1).word == "个") if rough else at(tokens, j).kind is K.FEW
    if at(tokens, j).word == "approx":
        j += 1
    if at(tokens, j).kind is K.OF or at(tokens, j).word == "more":
        j += 1
    if at(tokens, j).kind is K.POINT:
        return Unclear(impossible=False), j + 1
    if at(tokens, j).kind is not K.UNIT:
        return None
    j += 1
    if at(tokens, j).kind is K.AFTER:
        j += 1
    return Unclear(impossible=False), j


def in_phrase(tokens: list[Token], i: int) -> Read:
    """过10分钟, in an hour, in the morning."""
    j = i + 1
    while at(tokens, j).kind in (K.IN, K.AT) or at(tokens, j).word == "about":
        j += 1
    vague = few(tokens, j)
    if vague:
        return vague
    if is_english(tokens[i]) and at(tokens, j).word == "the" and at(tokens, j + 1).kind is K.PERIOD:
        return Part(at(tokens, j + 1).word, each=bool(at(tokens, j + 1).n)), j + 2
    if (
        is_english(tokens[i])
        and at(tokens, j).word == "a"
        and at(tokens, j + 1).word in ("bit", "while", "moment", "jiffy")
    ):
        return Vague(), j + 2
    if at(tokens, j).word == "exactly":
        j += 1
    found = span(tokens, j)
    if found is None and is_english(tokens[i]) and at(tokens, j).kind is K.CLOCK:
        return Unclear(impossible=False), j + 1  # in 1:30: a length or a time?
    if found is None:
        return listed_length(tokens, j)
    j = found[1]
    if at(tokens, j).kind is K.AFTER and at(tokens, j).word != "after":
        j += 1
    if at(tokens, j).word == "'":
        j += 1
    if at(tokens, j).word == "time":
        j += 1
    return Ahead(found[0]), j


def as_ahead(found: list[Found]) -> list[Found]:
    """Lengths of time read as "from now": a timer of 3 minutes."""
    return [
        f._replace(phrase=Ahead(f.phrase.span)) if isinstance(f.phrase, Lasting) and f.phrase.span.seconds else f
        for f in found
    ]


def as_cycle(found: list[Found]) -> list[Found]:
    """Lengths of time read as steps: 一小时提醒我一次."""
    out = []
    for each in found:
        if isinstance(each.phrase, Lasting) and (each.phrase.span.seconds or each.phrase.span.days):
            span = each.phrase.span
            step = Cycle(span.seconds + 86400 * span.days, "s") if span.seconds else Cycle(span.days, "d")
            out.append(each._replace(phrase=step))
        else:
            out.append(each)
    return out
