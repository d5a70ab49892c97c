"""Reads what starts with a length of time: how far ahead, how often, how long before."""

from __future__ import annotations

from kernel.schedule.clocks import at, span
from kernel.schedule.days import day
from kernel.schedule.phrases import (
    Ahead,
    Cycle,
    Lead,
    Part,
    Phrase,
    Span,
    Unclear,
    Vague,
    Weekdays,
)
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


def few(tokens: list[Token], i: int) -> Read:
    """A few minutes: too vague to fire."""
    j = i + 1 if at(tokens, i).word == "a" else i
    rough = at(tokens, j).kind in (K.NUM, K.HALF) and at(tokens, j + 1).word in ("来", "多", "几", "几个")
    if (
        at(tokens, j).kind is not K.FEW
        and not rough
        and not (at(tokens, j).word == "approx" and at(tokens, j + 1).kind is K.UNIT)
    ):
        return None
    j += 2 if rough else at(tokens, j).kind is K.FEW
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
    if found is None:
        return None
    j = found[1]
    if at(tokens, j).kind is K.AFTER and at(tokens, j).word != "after":
        j += 1
    if at(tokens, j).word == "'":
        j += 1
    if at(tokens, j).word == "time":
        j += 1
    return Ahead(found[0]), j
