"""Reads dates as English writes them: the 15th, 24 March, March 24th 2026, 3/24."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.day_names import Read, lunar_month_en
from kernel.schedule.phrases import Dates, DayPhrase, Unclear
from kernel.schedule.tokens import Kind, Token

K = Kind


def number_th(tokens: list[Token], i: int) -> tuple[int, int] | None:
    """The day number of 15th, fifteenth, twenty first, or a bare 15."""
    token = at(tokens, i)
    if token.kind is K.ORD and token.n:
        return int(token.n), i + 1
    if token.kind is K.NUM and token.word == "word" and token.n in (20, 30) and at(tokens, i + 1).kind is K.ORD:
        return int(token.n + at(tokens, i + 1).n), i + 2
    if token.kind is K.NUM and token.word.isdigit():
        return (int(token.n), i + 2) if at(tokens, i + 1).word == "suffix" else (int(token.n), i + 1)
    return None


def en_day(tokens: list[Token], i: int) -> Read:
    """15th, 24 March, 1st of next month, the 1st and 16th."""
    first = number_th(tokens, i)
    if first is None:
        return None
    n, j = first
    said_th = j > i + 1 or at(tokens, i).kind is K.ORD
    days = [n]
    while True:
        k = j
        while (
            at(tokens, k).kind is K.AND or at(tokens, k).word in (",", "the") or (at(tokens, k).word == "on" and k > j)
        ):
            k += 1
        more = number_th(tokens, k) if k > j else None
        if more is None or (more[1] == k + 1 and at(tokens, k).kind is not K.ORD):
            break
        days.append(more[0])
        said_th, j = True, more[1]
    lunar = lunar_month_en(tokens, j, days)
    if lunar:
        return lunar
    k = j + 1 if at(tokens, j).kind is K.OF else j
    month = at(tokens, k)
    if month.kind is K.MONTH:
        year, j = year_after(tokens, k + 1)
        return checked(days, int(month.n), year), j
    if not said_th:
        return None
    if k > j and at(tokens, k).kind in (K.NEXT,) and at(tokens, k + 1).word == "M":
        return Dates(tuple(days), months_ahead=int(at(tokens, k).n)), k + 2
    if k > j and at(tokens, k).word == "the" and at(tokens, k + 1).word == "M":
        return Dates(tuple(days)), k + 2
    if any(not 1 <= d <= 31 for d in days):
        return Unclear(impossible=True, is_date=True), j
    return Dates(tuple(days)), j


def year_after(tokens: list[Token], k: int) -> tuple[int | None, int]:
    """The year behind a date, negative when counted from this one, and the place after it."""
    j = k + 1 if at(tokens, k).word == "," else k
    token = at(tokens, j)
    if token.kind is K.NUM and len(token.word) == 4 and 1990 <= token.n <= 2200:
        return int(token.n), j + 1
    if token.kind is K.NEXT and at(tokens, j + 1).word == "y":
        return -int(token.n) - 1, j + 2
    return None, k


def checked(days: list[int], month: int, year: int | None) -> DayPhrase | Unclear:
    """The date of a month, or why it is none."""
    if any(not 1 <= d <= 31 for d in days):
        return Unclear(impossible=True, is_date=True)
    if year is not None and year < 0:
        return Dates(tuple(days), month, years_ahead=-year - 1)
    return Dates(tuple(days), month, year)


def _day_behind(tokens: list[Token], j: int, last: int) -> tuple[int, int] | None:
    """Dec 24, 25 and 26: the next day of a list; behind a comma only where the list goes on."""
    joint = at(tokens, j)
    if joint.kind is not K.AND and joint.word != ",":
        return None
    more = number_th(tokens, j + 1)
    if more is None or at(tokens, more[1]).kind is K.POINT:
        return None
    goes_on = at(tokens, more[1]).kind is K.AND or at(tokens, more[1]).word == ","
    return more if joint.kind is K.AND or (goes_on and last < more[0] <= 31) else None


def en_month(tokens: list[Token], i: int) -> Read:
    """March 24th, Mar 24 2026; a month alone is not a day."""
    month = int(tokens[i].n)
    j = i + 2 if at(tokens, i + 1).word == "the" else i + 1
    first = number_th(tokens, j)
    if first is None or (at(tokens, first[1]).kind is K.POINT and at(tokens, j + 1).word != "suffix"):
        return None
    n, j = first
    days = [n]
    while more := _day_behind(tokens, j, days[-1]):
        days.append(more[0])
        j = more[1]
    year, j = year_after(tokens, j)
    return checked(days, month, year), j


def written_date(tokens: list[Token], i: int) -> Read:
    """2026-03-15, 15.3.2026, 3/24: unclear when day and month could be swapped."""
    token = tokens[i]
    value = int(token.n)
    year, month, d = value // 10000, value // 100 % 100, value % 100
    if token.word == "?.":
        month, d = d, month
    if token.word in ("?/", "/"):
        if month > 12 >= d:
            month, d = d, month
        elif month != d and month <= 12 and d <= 12 and at(tokens, i).word:
            return Unclear(impossible=False), i + 1
    if not (1 <= month <= 12 and 1 <= d <= 31):
        return Unclear(impossible=True, is_date=True), i + 1
    return Dates((d,), month, year or None), i + 1
