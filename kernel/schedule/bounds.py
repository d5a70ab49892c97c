"""Reads where a series begins and ends, what it leaves out, and how long before an event it speaks."""

from __future__ import annotations

from dataclasses import replace

from kernel.schedule.clocks import at, clock
from kernel.schedule.day_names import named_en
from kernel.schedule.days import day
from kernel.schedule.lengths import Read, in_phrase, is_english
from kernel.schedule.phrases import (
    Ahead,
    Between,
    Clock,
    Count,
    Dates,
    Day,
    DayPhrase,
    Deadline,
    Except,
    From,
    FromClock,
    Lasting,
    Lead,
    Named,
    Span,
    Unclear,
    Until,
    Vague,
    Weekdays,
    Window,
)
from kernel.schedule.ranges import clock_or_window, day_phrase
from kernel.schedule.spans import span
from kernel.schedule.tokens import Kind, Token

K = Kind


def from_phrase(tokens: list[Token], i: int) -> Read:
    """从9点到18点, from Monday to Friday, starting tomorrow, between 8 and 20."""
    j = i + 1
    while at(tokens, j).kind in (K.FROM, K.AT) or at(tokens, j).word in ("the", "on"):
        j += 1
    while at(tokens, j).kind is K.PERIOD:
        k = j + 2 if at(tokens, j + 1).kind is K.AT else j + 1  # beginning tonight at 10
        window = clock_or_window(tokens, k, sure=True)
        if window and isinstance(window[0], Clock):
            window = FromClock(window[0]), window[1]
        if window and isinstance(window[0], (Window, FromClock)):
            named = window[0]
            first = named.first if isinstance(named, Window) else named.clock
            if not first.literal:
                first = Clock(first.hour, first.minute, first.second, at(tokens, j).word)
            return (replace(named, first=first) if isinstance(named, Window) else FromClock(first)), window[1]
        break
    window = clock_or_window(tokens, j, sure=True)
    if window and isinstance(window[0], Window):
        return window
    if window and isinstance(window[0], Clock):
        return FromClock(window[0]), window[1]
    if window and isinstance(window[0], FromClock):
        return window
    if at(tokens, j).word in ("now", "今"):
        return From(None), j + 1
    read = day_phrase(tokens, j)
    if read and isinstance(read[0], (Between, From)):
        return read
    if read and tokens[i].word == "between" and at(tokens, read[1]).kind is K.AND:
        last = day(tokens, read[1] + 1)
        if last and not isinstance(last[0], Unclear) and not isinstance(read[0], (Unclear, Except)):
            return Between(read[0], last[0]), last[1]  # type: ignore[arg-type]  # A day, as below.
    if (
        read
        and isinstance(read[0], Weekdays)
        and len(read[0].days) > 1
        and at(tokens, i).word not in ("starting", "beginning", "start")
    ):
        return read
    if read and not isinstance(read[0], (Unclear, Except)):
        k = read[1] + 1 if at(tokens, read[1]).kind is K.START else read[1]
        return From(read[0]), k  # type: ignore[arg-type]  # day_phrase gives a day here: the others returned above.
    length = span(tokens, j)
    if length and at(tokens, length[1]).kind is K.AFTER and at(tokens, length[1]).word != "after":
        k = length[1] + 2 if at(tokens, length[1] + 1).kind is K.START else length[1] + 1
        return From(Ahead(length[0])), k  # 从3天后开始
    ahead = in_phrase(tokens, j) if at(tokens, j).kind is K.IN else None
    if ahead and isinstance(ahead[0], Ahead):
        return From(ahead[0]), ahead[1]
    return None


def _is_named(tokens: list[Token], i: int) -> bool:
    """the winter solstice."""
    return i < len(tokens) and named_en(tokens, i) is not None


def until(tokens: list[Token], i: int) -> Read:
    """直到3月底, 到13号为止, until Friday, until 6pm."""
    j = i + 1
    while at(tokens, j).kind in (K.UNTIL, K.AT) or (
        at(tokens, j).word == "the" and (at(tokens, j + 1).kind is K.NEXT or _is_named(tokens, j + 1))
    ):
        j += 1
    read = day(tokens, j)
    k = read[1] if read else j
    if read and isinstance(read[0], Unclear):
        return read
    if read is None and at(tokens, j).kind is K.MONTH:
        return Until(Dates((0,), int(at(tokens, j).n))), j + 1
    if read is None and at(tokens, j).kind is K.NUM and at(tokens, j + 1).word == "月":
        return Unclear(impossible=False), j + 2
    period = at(tokens, k).word if at(tokens, k).kind is K.PERIOD else ""
    if period:
        k += 1
    hour = clock(tokens, k, loose=is_english(tokens[i]))
    if read is None and (hour is None or isinstance(hour[0], Unclear)):
        return None
    end = hour[0] if hour and isinstance(hour[0], Clock) else None
    if end and read and hour and _is_time_of_series(tokens, i, hour[1]):
        return Until(read[0] if not isinstance(read[0], Unclear) else None), read[1]
    if end and period and not end.literal:
        end = Clock(end.hour, end.minute, end.second, period)
    k = hour[1] if end and hour else k
    if at(tokens, k).kind in (K.STOP, K.BEFORE):
        k += 1
    return Until(read[0] if read and not isinstance(read[0], Unclear) else None, end), k


def _is_time_of_series(tokens: list[Token], i: int, j: int) -> bool:
    """every Tuesday until 19 May at 5pm remind me: the hour before the ask is that of every day, not of the last."""
    if at(tokens, j).kind not in (K.ASK, K.CALL):
        return False
    before = tokens[:i]
    repeats = any(t.kind in (K.EVERY, K.DAILY, K.WORKDAY) for t in before)
    return repeats and not any(t.kind in (K.POINT, K.CLOCK) or t.word in ("h", "m", "s") for t in before)


_RESTS: dict[str, DayPhrase] = {
    "w": Weekdays((6,), 0),
    "M": Dates((-1,), months_ahead=0),
    "y": Dates((-1,), 12, years_ahead=0),
}


def _rest_of(tokens: list[Token], j: int) -> Read:
    """for the rest of the month."""
    if at(tokens, j).word != "the" or at(tokens, j + 1).word != "rest" or at(tokens, j + 2).kind is not K.OF:
        return None
    k = j + 4 if at(tokens, j + 3).word in ("the", "this") else j + 3
    end = _RESTS.get(at(tokens, k).word)
    return (Until(end), k + 1) if end else None


_MOST_WORDS = 8
"""Small words before a length (for the next total of 5 days): whoever writes more means nothing by them."""


def for_phrase(tokens: list[Token], i: int) -> Read:
    """连续三天, 接下来两周, for the next 5 days, for 3 times."""
    j = i + 1
    rest = _rest_of(tokens, j)
    if rest:
        return rest
    ahead = tokens[i].word.startswith(("接", "未", "往", "今", "之", "连"))
    while j < i + _MOST_WORDS and (
        at(tokens, j).word in ("the", "a", "的", "total", "of") or at(tokens, j).kind in (K.NEXT, K.FOR, K.OF)
    ):
        if at(tokens, j).word == "a" and at(tokens, j + 1).kind is K.UNIT:
            break
        ahead |= at(tokens, j).kind is K.NEXT or at(tokens, j).word.startswith(("接", "未"))
        if at(tokens, j).kind is K.NEXT and at(tokens, j + 1).kind in (K.UNIT, K.WEEKDAY):
            if at(tokens, j).n == 1 and at(tokens, j + 1).word == "w" and is_english(at(tokens, j)):
                return Lasting(Span(days=7), ahead=True), j + 2
            if at(tokens, j + 1).word == "h":
                return Lasting(Span(seconds=3600)), j + 2
            return None
        j += 1
    if at(tokens, j).kind is K.NUM and at(tokens, j + 1).kind is K.TIMES and not at(tokens, j + 1).n:
        return Count(int(at(tokens, j).n), marked=True), j + 2
    nights = at(tokens, j + 1)
    if at(tokens, j).kind is K.NUM and nights.kind is K.PERIOD and nights.end - nights.start == 1:
        return Lasting(Span(days=int(at(tokens, j).n)), ahead=ahead, marked=True), j + 1  # 连续3晚
    found = span(tokens, j)
    if found is None or at(tokens, found[1]).kind is K.AFTER:
        return None
    if found[0].seconds and not ahead:
        return (Lasting(found[0], marked=True), found[1])
    return Lasting(found[0], ahead=ahead, marked=True), found[1]


def except_phrase(tokens: list[Token], i: int) -> Read:
    """除了周日, 除3月12号外, except Sundays, but not on weekends; None when no day follows."""
    j = i + 1
    weekdays: list[int] = []
    dates: list[DayPhrase] = []
    holidays = False
    while j < len(tokens):
        token = tokens[j]
        read = day(tokens, j)
        if read and isinstance(read[0], Weekdays):
            weekdays.extend(read[0].days)
            j = read[1]
        elif read and isinstance(read[0], (Dates, Day, Named)) and tokens[i].kind is K.EXCEPT:
            dates.append(read[0])
            j = read[1]
        elif (token.kind is K.HOLIDAY and token.word == "statutory") or token.word in ("holidays", "holiday"):
            holidays = True
            j += 1
        elif token.kind in (K.AND, K.OR, K.FOR) or token.word in ("on", "在", "于", ",", "the", "public"):
            j += 1
        else:
            break
    if not weekdays and not holidays and not dates:
        return None
    if at(tokens, j).kind is K.EXCEPT and at(tokens, j).n:
        j += 1
    return Except(tuple(weekdays), holidays, tuple(dates)), j


def lead(tokens: list[Token], i: int) -> Read:
    """提前10分钟; 提前 alone is unclear."""
    found = span(tokens, i + 1)
    if found:
        return Lead(found[0]), found[1]
    return None if tokens[i].n else (Unclear(impossible=False), i + 1)


def day_before(tokens: list[Token], i: int) -> Read:
    """the day before, the evening before at 8pm: a lead of a day, to an event named elsewhere."""
    j = i + 1 if at(tokens, i).word == "the" else i
    if at(tokens, j + 1).word != "before" or at(tokens, j + 2).kind is K.DAY:
        return None
    if at(tokens, j).word == "d":
        return Lead(Span(days=1)), j + 2
    if at(tokens, j).kind is not K.PERIOD or not is_english(tokens[j]):
        return None
    hour = clock(tokens, j + 2, loose=True)
    if hour and isinstance(hour[0], Clock) and hour[0].literal:
        return Lead(Span(days=1)), j + 2
    return Unclear(impossible=False), j + 2


_EVENTS = frozenset({K.TEXT, K.AGENT, K.NOW, K.CALL, K.CHANGE, K.NOUN, K.PERSON, K.LINK})
"""Kinds of words that may end the name of an event (高考, 出差)."""


def before(tokens: list[Token], i: int) -> Read:
    """前10分钟 names a lead; a time with 前, 最晚 or "by" beside it is a deadline."""
    if tokens[i].n:
        return Deadline(), i + 1
    found = span(tokens, i + 1) if not is_english(tokens[i]) else None
    if found:
        return Lead(found[0]), found[1]
    if is_english(tokens[i]) and (clock(tokens, i + 1, loose=True) or day(tokens, i + 1)):
        return Deadline(), i + 1
    if is_english(tokens[i]) and at(tokens, i + 1).kind in (K.WORD, K.GLUE, K.VAGUE) and tokens[i].word == "before":
        return Vague(event=True), i + 2
    behind, named = at(tokens, i + 1), at(tokens, i - 1)
    if named.kind in _EVENTS and named.end == tokens[i].start and behind.kind in (K.EVERY, K.DAILY, K.OTHER):
        return Vague(event=True), i + 1  # 高考前每天: until when?
    if not is_english(tokens[i]) and at(tokens, i - 1).kind in (
        K.HOLIDAY,
        K.LAST,
        K.POINT,
        K.CLOCK,
        K.PERIOD,
        K.UNIT,
        K.WEEKDAY,
        K.DAY,
        K.HALF,
        K.NUM,
    ):
        return Deadline(), i + 1
    return None


def no_later(tokens: list[Token], i: int) -> Read:
    """no later than 5pm: a deadline."""
    return (Deadline(), i + 3) if [at(tokens, k).word for k in (i + 1, i + 2)] == ["later", "than"] else None


def after(tokens: list[Token], i: int) -> Read:
    """after 20 minutes, after lunch, later."""
    if tokens[i].word == "after":
        found = span(tokens, i + 1)
        if found:
            return Ahead(found[0]), found[1]
        if clock(tokens, i + 1, loose=True) or day(tokens, i + 1):
            return Deadline(), i + 1
        return Vague(event=True), min(i + 2, len(tokens))
    return (Vague(), i + 1) if tokens[i].word == "later" else None
