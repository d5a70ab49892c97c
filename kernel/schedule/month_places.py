"""Reads places in a month: of next month, of March, the third to last day, 3rd Wednesday of the month."""

from __future__ import annotations

from dataclasses import replace

from kernel.schedule.civil import SHORTEST_MONTH
from kernel.schedule.clocks import at
from kernel.schedule.dates_en import number_th, year_after
from kernel.schedule.day_names import Read
from kernel.schedule.phrases import Dates, Nth
from kernel.schedule.tokens import Kind, Token

K = Kind


def weekdays_of(bits: float) -> tuple[int, ...]:
    """The weekdays a bit set names, 0 = Monday."""
    return tuple(d for d in range(7) if int(bits) >> d & 1)


def of_month(tokens: list[Token], j: int, n: int, weekday: int | None) -> Read:
    """ "of the month", "of every month", "of next month", "of March" after a place in it; weekday -1 = workday."""
    if at(tokens, j).kind in (K.OF, K.AT) or at(tokens, j).word == "in":
        j += 1
    elif at(tokens, j).word != "the" and at(tokens, j - 1).kind is not K.OF:
        return None
    while at(tokens, j).word in ("the", "a"):
        j += 1
    token = at(tokens, j)
    ahead, month, year = None, None, None
    if token.kind is K.NEXT and at(tokens, j + 1).word == "M":
        ahead, j = int(token.n), j + 2
    elif token.kind is K.MONTH:
        month = int(token.n)
        year, j = year_after(tokens, j + 1)
    elif token.word == "M":
        j += 1
    else:
        return None
    if weekday is None:
        return Dates((n,), month, year, months_ahead=ahead), j
    return Nth(n, None if weekday < 0 else weekday, month, ahead, year), j


def statutory(read: Read) -> Read:
    """The workday of a month by the statutory calendar (the first Chinese workday of every month)."""
    if read is None or not isinstance(read[0], Nth):
        return None
    return replace(read[0], statutory=True), read[1]


def from_end_en(tokens: list[Token], i: int) -> Read:
    """the third to last day of the month, 3rd-to-last day, second last day."""
    number = number_th(tokens, i)
    if number is None or (number[1] == i + 1 and at(tokens, i).kind is not K.ORD):
        return None
    n, j = number
    while at(tokens, j).word in ("-", "to", "from", "the"):
        j += 1
    k = j + 2 if at(tokens, j + 1).word == "d" else 0
    if at(tokens, j).word != "last" or not k or not 1 < n <= SHORTEST_MONTH:
        return None
    return of_month(tokens, k, -n, None) or (Dates((-n,)), k)


def listed_weekday(tokens: list[Token], i: int) -> Read:
    """the first and third Friday, 第二个和第四个周六, 第一、三个周五: a place borrows the weekday of the last one."""
    n, j = _place(tokens, i)
    if n and at(tokens, i - 1).kind is K.AND and at(tokens, i - 3).word == "第" and at(tokens, j).kind is K.WEEKDAY:
        return Nth(n, weekdays_of(at(tokens, j).n)[0]), j + 1  # the 三个周五 of 第一、三个周五
    k, size = j, 0
    while n and (at(tokens, k).kind is K.AND or at(tokens, k).word == ",") and size < _MOST_PLACES:
        k += 1
        size += 1
        more, k = _place(tokens, k)
        if not more:
            return None
    named = at(tokens, k)
    if not n or not size or named.kind is not K.WEEKDAY or named.n != int(named.n) & -int(named.n):
        return None
    return Nth(n, weekdays_of(named.n)[0]), j


_MOST_PLACES = 4


def _place(tokens: list[Token], i: int) -> tuple[int, int]:
    """The number of first, 3rd, 第二个, 三个 and the place after it; 0 for none up to the fifth."""
    if at(tokens, i).kind is K.LAST and at(tokens, i).word == "last":
        return -1, i + 1
    ordered = at(tokens, i).word == "第"
    k = i + 1 if ordered else i
    number = at(tokens, k)
    if number.kind is K.ORD and number.word == "nth" and 1 <= number.n <= 5:
        return int(number.n), k + 1
    counted = number.kind is K.NUM and number.n in (1, 2, 3, 4, 5)
    if counted and at(tokens, k + 1).word in ("suffix", "个"):
        return int(number.n), k + 2
    return (int(number.n), k + 1) if counted and ordered else (0, i)


def numbered_weekday(tokens: list[Token], i: int) -> Read:
    """3rd Wednesday of the month."""
    n, named = int(tokens[i].n), at(tokens, i + 2)
    if at(tokens, i + 1).word != "suffix" or named.kind is not K.WEEKDAY or not 1 <= n <= 5:
        return None
    weekday = weekdays_of(named.n)[0]
    return of_month(tokens, i + 3, n, weekday) or (Nth(n, weekday), i + 3)
