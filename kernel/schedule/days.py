"""Reads days from tokens: tomorrow, next Friday, 15号, 3月8日, the last Monday of each month, 端午节."""

from __future__ import annotations

from dataclasses import replace

from kernel.schedule.civil import SHORTEST_MONTH
from kernel.schedule.clocks import amount, at
from kernel.schedule.dates_en import en_day, en_month, written_date
from kernel.schedule.day_names import (
    Read,
    after_day,
    bare_lunar,
    chinese_days,
    day_after,
    holiday_at,
    lunar_at,
    named_en,
)
from kernel.schedule.month_places import from_end_en, listed_weekday, numbered_weekday, of_month, statutory, weekdays_of
from kernel.schedule.phrases import Dates, Day, LunarDate, Named, Nth, OffMonth, Unclear, Weekdays
from kernel.schedule.tokens import Kind, Token

K = Kind


def day(tokens: list[Token], i: int) -> Read:
    """The day at `i` and the place after it."""
    token = at(tokens, i)
    match token.kind:
        case K.DAY:
            return Day(int(token.n), token.word == "that"), i + 1
        case K.WEEKDAY:
            return _weekdays(tokens, i)
        case K.WEEKEND:
            return Weekdays((5, 6), each=token.word == "weekends"), i + 1
        case K.NEXT:
            return _next(tokens, i)
        case K.NUM if token.word == "lunar":
            return bare_lunar(tokens, i)
        case K.NUM:
            return (
                _zh_date(tokens, i)
                or listed_weekday(tokens, i)
                or numbered_weekday(tokens, i)
                or from_end_en(tokens, i)
                or en_day(tokens, i)
            )
        case K.MONTH:
            return en_month(tokens, i)
        case K.DATE:
            return written_date(tokens, i)
        case K.HOLIDAY if token.word != "statutory":
            return holiday_at(tokens, i)
        case K.LUNAR:
            return lunar_at(tokens, i if token.n else i + 1)
        case K.LAST:
            return _last(tokens, i)
        case K.ORD:
            return _ordinal(tokens, i)
        case K.GLUE if token.word == "the":
            follow = at(tokens, i + 1)
            if follow.word == "d":
                return day_after(tokens, i + 1)
            read = (
                day(tokens, i + 1) if follow.kind in (K.NUM, K.LAST, K.ORD, K.NEXT) or follow.word == "coming" else None
            )
            return (
                read
                if read and not (isinstance(read[0], Weekdays) and follow.kind is K.NEXT and follow.word != "coming")
                else None
            )
        case K.UNIT if token.word == "d":
            return day_after(tokens, i)
        case K.CREATE | K.WORD:
            return named_en(tokens, i)
        case K.AT if token.word in ("on", "在", "于") and at(tokens, i + 1).kind is not K.AT:
            return day(tokens, i + 1)
    return None


def _weekdays(tokens: list[Token], i: int) -> Read:
    """A list or range of weekdays."""
    bits, j = int(tokens[i].n), i + 1
    each = tokens[i].word == "days"
    last = bits.bit_length() - 1
    while True:
        k = j
        while at(tokens, k).kind is K.AND or at(tokens, k).word in (",", "/"):
            k += 1
        follow = at(tokens, k)
        joined = k > j or (follow.start == at(tokens, j - 1).end and j > i)
        if joined and follow.kind is K.WEEKDAY and at(tokens, k - 1).word != "还有":
            bits |= int(follow.n)
            each |= follow.word == "days"
            j, last = k + 1, int(follow.n).bit_length() - 1
            continue
        if at(tokens, j).kind in (K.RANGE, K.UNTIL) or at(tokens, j).word in ("-", "through", "~"):
            end = at(tokens, j + 1)
            stop = int(end.n).bit_length() - 1 if end.kind is K.WEEKDAY else -1
            if (
                end.kind is K.NUM
                and 1 <= end.n <= 7
                and at(tokens, j + 2).kind not in (K.POINT, K.UNIT, K.NUM)
                and end.word != "word"
            ):
                stop = int(end.n) - 1
            elif end.word in ("d", "日") and end.end - end.start == 1:
                stop = 6
            if stop >= 0:
                d = last
                while d != stop:
                    d = (d + 1) % 7
                    bits |= 1 << d
                each |= end.word == "days"
                j, last = j + 2, stop
                continue
        break
    read = Weekdays(weekdays_of(bits), None, each)
    if at(tokens, j).kind is K.NEXT and at(tokens, j + 1).word == "w" and len(read.days) == 1 and at(tokens, j).n >= 0:
        return Weekdays(read.days, int(at(tokens, j).n)), j + 2
    return read, j


def _next(tokens: list[Token], i: int) -> Read:
    n, j = int(tokens[i].n), i + 1
    if at(tokens, j).word == "coming":
        j += 1
    token = at(tokens, j)
    if token.kind is K.WEEKDAY or token.kind is K.WEEKEND:
        english = "a" <= tokens[i].word[0] <= "z"
        read = _weekdays(tokens, j) if token.kind is K.WEEKDAY else (Weekdays((5, 6)), j + 1)
        assert read is not None
        assert isinstance(read[0], Weekdays)
        return Weekdays(read[0].days, None if english and n == 0 else n), read[1]
    if token.kind is K.PERIOD and n == 0:
        return Day(0), j
    if token.kind is not K.UNIT:
        return None
    k = j + 1
    while at(tokens, k).kind in (K.OF, K.AT) or at(tokens, k).word in ("on", ","):
        k += 1
    match token.word:
        case "w":
            if at(tokens, k).kind is K.WEEKDAY:
                return Weekdays(weekdays_of(at(tokens, k).n), n), k + 1
            if at(tokens, k).kind is K.WEEKEND:
                return Weekdays((5, 6), n), k + 1
            return OffMonth(weeks=n, is_week=True), j + 1
        case "M" | "月":
            follow = day(tokens, k) if at(tokens, k).kind in (K.NUM, K.LAST, K.ORD, K.GLUE) else None
            if follow and isinstance(follow[0], Dates) and follow[0].month is None:
                return Dates(follow[0].days, months_ahead=n), follow[1]
            if follow and isinstance(follow[0], Nth):
                return replace(follow[0], months_ahead=n), follow[1]
            if at(tokens, j + 1).word == "end-of":
                return Dates((-1,), months_ahead=n), j + 2
            return OffMonth(months=n), j + 1
        case "y":
            follow = day(tokens, k) if at(tokens, k).kind in (K.NUM, K.MONTH, K.LAST, K.HOLIDAY) else None
            if follow and isinstance(follow[0], Dates) and follow[0].month is not None:
                return Dates(follow[0].days, follow[0].month, years_ahead=n), follow[1]
            if follow and isinstance(follow[0], Named):
                return Named(follow[0].name, n), follow[1]
            return OffMonth(months=12 * n, is_year=True), j + 1
    return OffMonth(months=int(token.n) * n), j + 1


def _zh_date(tokens: list[Token], i: int) -> Read:
    """2026年3月8日, 3月8号, 15号, 5日、20日, 4月底."""
    number, unit = tokens[i], at(tokens, i + 1)
    if unit.kind in (K.RANGE, K.UNTIL):
        return _of_days(_days(tokens, i, named=False), None) if at(tokens, i + 3).word == "号" else None
    if unit.kind is K.LAST and unit.word == "month-end" and number.word not in ("word", "a"):
        return Dates((-1,), int(number.n)) if 1 <= number.n <= 12 else Unclear(impossible=True, is_date=True), i + 2
    if unit.kind is not K.UNIT:
        return None
    if unit.word == "y" and number.n >= 1900 and at(tokens, i + 2).kind is K.NUM:
        rest = _zh_date(tokens, i + 2)
        if rest and isinstance(rest[0], Dates) and rest[0].month is not None:
            return Dates(rest[0].days, rest[0].month, int(number.n)), rest[1]
        return rest if rest and isinstance(rest[0], Unclear) else None
    if unit.word == "月" and at(tokens, i + 2).word == "lunar" and 1 <= number.n <= 12:
        return LunarDate(int(number.n), int(at(tokens, i + 2).n)), i + 3
    if unit.word == "月" and at(tokens, i + 2).kind is K.NUM:
        if not 1 <= number.n <= 12:
            return Unclear(impossible=True, is_date=True), after_day(tokens, i + 3)
        if at(tokens, i + 3).kind is K.POINT:
            return None
        return _of_days(_days(tokens, i + 2, named=True), int(number.n))
    if unit.word == "月" and at(tokens, i + 2).kind is K.OF and at(tokens, i + 3).kind is K.NUM and 1 <= number.n <= 12:
        return _of_days(_days(tokens, i + 3, named=False), int(number.n))  # 12月的1号
    if unit.word == "月" and (at(tokens, i + 2).kind is K.AND or at(tokens, i + 2).word == ","):
        rest = _zh_date(tokens, i + 3) if at(tokens, i + 4).word == "月" and 1 <= number.n <= 12 else None
        if rest and isinstance(rest[0], Dates) and rest[0].month is not None:
            return Dates(rest[0].days, int(number.n)), i + 2  # 6月和12月的1号: the second month is read by itself.
        return None
    if unit.word == "月":
        k = i + 3 if at(tokens, i + 2).kind is K.OF else i + 2
        follow = day(tokens, k) if at(tokens, k).kind in (K.LAST, K.ORD) else None
        if follow and isinstance(follow[0], Dates) and 1 <= number.n <= 12:
            return Dates(follow[0].days, int(number.n)), follow[1]
        if follow and isinstance(follow[0], Nth) and 1 <= number.n <= 12:
            return replace(follow[0], month=int(number.n)), follow[1]
        return None
    if number.word == "lunar":
        return None
    return _of_days(_days(tokens, i, named=False), None)


def _of_days(read: tuple[tuple[int, ...] | Unclear, int] | None, month: int | None) -> Read:
    if read is None:
        return None
    days, j = read
    return (days if isinstance(days, Unclear) else Dates(days, month)), j


def _is_day_mark(token: Token) -> bool:
    return token.word in ("号", "日")


def _days(tokens: list[Token], i: int, *, named: bool) -> tuple[tuple[int, ...] | Unclear, int] | None:
    """A list of days of a month; a bare number counts as one only after its month (`named`)."""
    found: list[int] = []
    j = i
    end = at(tokens, i + 2)
    if at(tokens, i + 1).kind in (K.RANGE, K.UNTIL) and end.kind is K.NUM and at(tokens, i + 3).word == "号":
        first = int(at(tokens, i).n)  # 1-5号
        return (*range(first, int(end.n) + 1), -99) if 1 <= first < end.n <= 31 else Unclear(impossible=True), i + 4
    while at(tokens, j).kind is K.NUM and "." not in tokens[j].word:
        number, mark = tokens[j], at(tokens, j + 1)
        if number.word == "approx" and _is_day_mark(mark):
            return Unclear(impossible=False), j + 2
        if _is_day_mark(mark) and (mark.word == "号" or named or found or _is_plain_day(tokens, j)):
            found.append(int(number.n))
            j += 2
        elif (named and not found and mark.kind not in (K.UNIT, K.POINT)) or (
            mark.kind is K.AND and at(tokens, j + 2).kind is K.NUM and _ends_as_day(tokens, j)
        ):
            found.append(int(number.n))
            j += 1
        else:
            break
        if (
            (at(tokens, j).kind is K.AND or at(tokens, j).word in (",", "/"))
            and at(tokens, j + 1).kind is K.NUM
            and _ends_as_day(tokens, j + 1)
        ):
            j += 1
        else:
            break
    if not found:
        return None
    if any(not 1 <= d <= 31 for d in found):
        return Unclear(impossible=True, is_date=True), j
    if (
        at(tokens, j).kind in (K.RANGE, K.UNTIL)
        and at(tokens, j + 1).kind is K.NUM
        and _is_day_mark(at(tokens, j + 2))
        and not named
    ):
        last = int(at(tokens, j + 1).n)
        if found[-1] < last <= 31:
            return (*found[:-1], *range(found[-1], last + 1), -99), j + 3
    return tuple(found), j


def _is_plain_day(tokens: list[Token], j: int) -> bool:
    """15日 is a day of the month, 15日后 a length of time."""
    return tokens[j + 1].word == "日" and at(tokens, j + 2).kind is not K.AFTER and tokens[j].n <= 31


def _ends_as_day(tokens: list[Token], j: int) -> bool:
    for _ in range(12):
        if at(tokens, j).kind is not K.NUM:
            return False
        if _is_day_mark(at(tokens, j + 1)):
            return True
        if at(tokens, j + 1).kind is not K.AND:
            return False
        j += 2
    return False


def _last(tokens: list[Token], i: int) -> Read:
    token, j = tokens[i], i + 1
    match token.word:
        case "month-end":
            while at(tokens, j).kind is K.LAST and at(tokens, j).word in ("last-day", "month-end"):
                j += 1
            return Dates((-1,)), j
        case "last-day":
            return Dates((-1,)), j
        case "quarter-end":
            return Dates((-1,)), j
        case "year-end":
            return Dates((-1,), 12), j + (at(tokens, j).word == "last-day")
        case "end" if at(tokens, j).kind is K.OF:
            return of_month(tokens, j + 1, -1, None)
        case "last":
            while at(tokens, j).word == "个":
                j += 1
            follow = at(tokens, j)
            if follow.kind is K.WEEKDAY:
                return of_month(tokens, j + 1, -1, weekdays_of(follow.n)[0]) or (
                    Nth(-1, weekdays_of(follow.n)[0]),
                    j + 1,
                )
            if chinese_days(tokens, j):
                return statutory(of_month(tokens, j + 2, -1, -1) or (Nth(-1, None), j + 2))
            if follow.kind is K.WORKDAY:
                return of_month(tokens, j + 1, -1, -1) or (Nth(-1, None, statutory=bool(follow.n)), j + 1)
            if follow.word in ("d", "日"):
                return of_month(tokens, j + 1, -1, None) or (Dates((-1,)), j + 1)
        case "back":
            number = at(tokens, j)
            k = j + 2 if at(tokens, j + 1).word == "个" else j + 1
            unit = at(tokens, k)
            if number.kind is K.NUM and number.n == 1:
                if unit.word in ("d", "日"):
                    return Dates((-1,)), k + 1
                if unit.kind is K.WEEKDAY:
                    return Nth(-1, weekdays_of(unit.n)[0]), k + 1
                if unit.kind is K.WORKDAY:
                    return Nth(-1, None, statutory=bool(unit.n)), k + 1
            if number.kind is K.NUM and unit.word in ("d", "日") and 1 < number.n <= SHORTEST_MONTH:
                return Dates((-int(number.n),)), k + 1
            return Unclear(impossible=False), k + 1
    return None


def _ordinal(tokens: list[Token], i: int) -> Read:
    """第一个周一, 第3天, the second Tuesday, the first day of next month."""
    token = tokens[i]
    listed = listed_weekday(tokens, i)
    if listed:
        return listed
    if token.word == "first-day":
        return Dates((1,)), i + 1
    if token.word == "month":
        read = day(tokens, i + 2 if at(tokens, i + 1).kind is K.OF else i + 1)
        if read is None or not isinstance(read[0], Dates) or read[0] != Dates(read[0].days):
            return None
        return replace(read[0], of_quarter=int(token.n)), read[1]
    if token.word == "第":
        number = amount(tokens, i + 1)
        if number is None:
            return None
        n, j = int(number[0]), number[1]
        if at(tokens, j).word == "个":
            j += 1
        follow = at(tokens, j)
        if follow.kind is K.WEEKDAY and 1 <= n <= 5:
            return Nth(n, weekdays_of(follow.n)[0]), j + 1
        if follow.kind is K.WORKDAY:
            return Nth(n, None, statutory=bool(follow.n)), j + 1
        if follow.word in ("d", "日") and 1 <= n <= 31:
            return Dates((n,), each=True), j + 1
        return None
    if not token.n:
        return None
    back = from_end_en(tokens, i)
    if back:
        return back
    follow = at(tokens, i + 1)
    if follow.kind is K.WEEKDAY and token.n <= 5:
        weekday = weekdays_of(follow.n)[0]
        return of_month(tokens, i + 2, int(token.n), weekday) or (Nth(int(token.n), weekday), i + 2)
    chinese = chinese_days(tokens, i + 1)
    if follow.kind is K.WORKDAY or chinese:
        j = i + 3 if chinese else i + 2
        read = of_month(tokens, j, int(token.n), -1) or (Nth(int(token.n), None), j)
        return statutory(read) if chinese else read
    if follow.word == "d":
        return of_month(tokens, i + 2, int(token.n), None) or (Dates((int(token.n),)), i + 2)
    return en_day(tokens, i)
