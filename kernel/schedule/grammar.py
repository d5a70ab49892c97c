"""Finds every phrase about time in the tokens of a message, left to right, each with its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernel.schedule.bare_numbers import bare_listed, bare_window, dashed_date, dotted_date, is_a_bit, is_chinese
from kernel.schedule.bounds import (
    after,
    before,
    day_before,
    except_phrase,
    for_phrase,
    from_phrase,
    lead,
    no_later,
    until,
)
from kernel.schedule.clocks import at, clock
from kernel.schedule.lengths import (
    Read,
    few,
    in_phrase,
    is_english,
    length_phrase,
    listed_length,
    share_direction,
)
from kernel.schedule.phrases import (
    Ahead,
    Clock,
    Count,
    Dates,
    Either,
    Except,
    Found,
    Hourly,
    Lasting,
    Lead,
    Nth,
    Part,
    Unclear,
    Vague,
    Weekdays,
    Workdays,
)
from kernel.schedule.ranges import clock_or_window, day_phrase
from kernel.schedule.repeats import daily, every, other, past_each_hour, times
from kernel.schedule.spans import is_one_and_a_half, span
from kernel.schedule.tokens import Kind, Token
from kernel.schedule.zone_words import zone_phrase

K = Kind


Reader = Callable[[list[Token], int], Read]


def find_phrases(tokens: list[Token]) -> list[Found]:
    """Every phrase about time, in the order of the message."""
    found: list[Found] = []
    ahead = False
    i, size = 0, len(tokens)
    while i < size:
        reader = _READERS.get(tokens[i].kind)
        read = reader(tokens, i) if reader else None
        if read is None:
            i += 1
            continue
        phrase, j = read[0], min(read[1], size)  # A reader may look past the end (倒数第 …).
        found.append(Found(phrase, i, j, tokens[i].start, tokens[j - 1].end))
        i = j
        if isinstance(phrase, Clock):
            i = _more_clocks(tokens, found, i)
        elif isinstance(phrase, Lead):
            i = _more_leads(tokens, found, i)
        elif isinstance(phrase, (Dates, Nth)) and tokens[i - 1].kind is K.MONTH:
            i = _more_months(tokens, found, phrase, i)
        ahead |= isinstance(phrase, Ahead)
    if ahead and len(found) > 1:
        share_direction(tokens, found)
    return found


def _more_months(tokens: list[Token], found: list[Found], phrase: Dates | Nth, i: int) -> int:
    """the first Monday of January, April and July: the months that continue a list."""
    while True:
        j = i
        while at(tokens, j).kind is K.AND or at(tokens, j).word == ",":
            j += 1
        month, follow = at(tokens, j), at(tokens, j + 1)
        if j == i or month.kind is not K.MONTH or follow.kind in (K.NUM, K.ORD):
            return i
        found.append(Found(replace(phrase, month=int(month.n)), j, j + 1, month.start, month.end))
        i = j + 1


def _more_leads(tokens: list[Token], found: list[Found], i: int) -> int:
    """提前两小时和半小时: lengths that continue a list of leads."""
    while at(tokens, i).kind is K.AND and at(tokens, i).word[:1] > "z":
        length = span(tokens, i + 1)
        if length is None or at(tokens, length[1]).kind is K.AFTER:
            break
        j = length[1]
        found.append(Found(Lead(length[0]), i + 1, j, tokens[i + 1].start, tokens[j - 1].end))
        i = j
    return i


_AFTER_LISTED = frozenset(
    {
        K.AND,
        K.PUNCT,
        K.EVERY,
        K.RANGE,
        K.DAY,
        K.POINT,
        K.ASK,
        K.AT,
        K.PERIOD,
        K.FOR,
        K.DAILY,
        K.CALL,
        K.NEXT,
        K.WEEKDAY,
        K.WORKDAY,
    }
)


def _more_clocks(tokens: list[Token], found: list[Found], i: int) -> int:
    """at 8, 12 and 18: bare numbers that continue a list of clock times."""
    while True:
        j = i
        while at(tokens, j).kind is K.AND or at(tokens, j).word in (",", "at"):
            j += 1
        follow = at(tokens, j + 1)
        if (
            j == i
            or at(tokens, j).kind is not K.NUM
            or "." in tokens[j].word
            or tokens[j].word in ("a", "zh", "approx", "digits")
        ):
            return i
        if follow.kind not in _AFTER_LISTED or (
            follow.word not in (",", ".", "!", "end", "to", "am", "pm") and follow.kind in (K.PUNCT, K.RANGE, K.POINT)
        ):
            return i
        read = clock(tokens, j, loose=True)
        if read is None or isinstance(read[0], Unclear):
            return i
        found.append(Found(read[0], j, read[1], tokens[j].start, tokens[read[1] - 1].end))
        i = read[1]


_WEEKLY = frozenset({K.WEEKDAY, K.WEEKEND, K.WORKDAY})


def _number(tokens: list[Token], i: int) -> Read:
    """What starts with a number: clock time, date, length, count."""
    if at(tokens, i + 1).kind is K.POINT:
        if is_a_bit(tokens, i):
            return None
        read = clock_or_window(tokens, i)
        if read:
            return read
    hourly = past_each_hour(tokens, i)
    if hourly:
        return hourly
    token = tokens[i]
    if token.kind is K.NUM and 1 <= token.n <= 12 and at(tokens, i + 1).kind is K.PERIOD and at(tokens, i + 1).n == 2:
        return Clock(int(token.n)), i + 1  # 8 tonight
    if at(tokens, i - 1).kind is K.AND and at(tokens, i + 1).word == "on" and at(tokens, i + 2).kind in _WEEKLY:
        return clock(tokens, i, loose=True)  # at 6:45 on weekdays and 8 on weekends
    if _lists_hour(tokens, i):
        return Clock(int(token.n), literal=True), i + 1
    bare = bare_window(tokens, i) or bare_listed(tokens, i) or listed_length(tokens, i)
    if bare:
        return bare
    read = clock_or_window(tokens, i)
    if read:
        return read
    dotted = dotted_date(tokens, i) or dashed_date(tokens, i)
    if dotted:
        return dotted
    found = span(tokens, i)
    if found:
        length = length_phrase(tokens, i, *found)
        if length:
            return length
    named = day_phrase(tokens, i)
    if named and not (found and _is_taken(tokens, i, found[1])):
        return named
    if found:
        closed = _closed(tokens, found[1])
        return Lasting(found[0], marked=closed > found[1]), closed
    vague = few(tokens, i)
    if vague:
        return vague
    if at(tokens, i + 1).kind is K.TIMES and not at(tokens, i + 1).n and tokens[i].word != "a":
        closed = _closed(tokens, i + 2)
        return Count(int(tokens[i].n), marked=closed > i + 2), closed
    return None


_MOST_HOURS = 24
_MOST_BEFORE = 3
"""Characters of the verb before a length that closes a message (叫足五日)."""


def _is_taken(tokens: list[Token], i: int, j: int) -> bool:
    """…，食七日: behind a short verb that opens its clause 日 counts days, it names none."""
    verb, follow = at(tokens, i - 1), at(tokens, j)
    if at(tokens, j - 1).word != "日" or verb.kind is not K.TEXT or verb.end != tokens[i].start:
        return False
    if follow.kind not in (K.PUNCT, K.STOP, K.FILLER):
        return False
    k = i - 1
    while k > 0 and tokens[k].kind is not K.PUNCT:
        k -= 1
    return tokens[k].kind is K.PUNCT and tokens[i].start - tokens[k].end <= _MOST_BEFORE


def _lists_hour(tokens: list[Token], i: int) -> bool:
    """for 6, 6:10 and 6:20 am: a bare hour that opens a list of written ones."""
    token, before, joint = tokens[i], at(tokens, i - 1), at(tokens, i + 1)
    opens = before.kind in (K.FOR, K.AT) and token.kind is K.NUM and token.word.isdigit() and token.n <= _MOST_HOURS
    return opens and (joint.word == "," or joint.kind is K.AND) and at(tokens, i + 2).kind is K.CLOCK


def _closed(tokens: list[Token], j: int) -> int:
    """The place after 为止, 就停, 后结束 from `j` on: what stands before them ends the series."""
    k = j + 1 if at(tokens, j).word == "就" or at(tokens, j).word in ("后", "之后") else j
    if at(tokens, k).word == "in" and at(tokens, k + 1).word == "total":
        return k + 2  # 10 days in total
    return (
        k + 1
        if at(tokens, k).kind is K.STOP
        or at(tokens, k).word in ("total", "altogether")
        or (k > j and at(tokens, k).word in ("停", "停止"))
        else j
    )


def _holiday(tokens: list[Token], i: int) -> Read:
    if tokens[i].word == "statutory":
        if at(tokens, i + 1).kind is K.EXCEPT:
            return Except(holidays=True), i + 2
        return Workdays(statutory=True, off=True), i + 1
    return day_phrase(tokens, i)


def _at(tokens: list[Token], i: int) -> Read:
    if tokens[i].word == "on" and at(tokens, i + 1).kind is K.WORKDAY:
        return Workdays(bool(tokens[i + 1].n)), i + 2
    if at(tokens, i + 1).word == "the" and at(tokens, i + 2).word == "h" and at(tokens, i).word == "on":
        return Hourly(0), i + 3
    hourly = past_each_hour(tokens, i + 1)
    if hourly:
        return hourly
    if at(tokens, i + 1).kind is K.PERIOD and is_english(tokens[i]) and at(tokens, i + 1).word == "evening":
        return Part("night"), i + 2
    if (is_english(tokens[i]) and tokens[i].word != "on") or tokens[i].word in "@~":
        read = clock_or_window(tokens, i)
        if read:
            return read
    return day_phrase(tokens, i) if tokens[i].word == "on" else None


def _follows_days(tokens: list[Token], i: int) -> bool:
    """every weekday but Friday, every day but Sunday."""
    return at(tokens, i - 1).kind in (K.WORKDAY, K.UNIT, K.DAILY) and at(tokens, i + 1).kind in (K.WEEKDAY, K.AT)


def _word(tokens: list[Token], i: int) -> Read:
    if tokens[i].word == "weekends":
        return Weekdays((5, 6), each=True), i + 1
    return zone_phrase(tokens, i) or day_phrase(tokens, i)


def _set_to(tokens: list[Token], i: int) -> Read:
    """set my alarm to 7."""
    return clock(tokens, i + 1, loose=True) if tokens[i].word == "to" and at(tokens, i - 1).kind is K.NOUN else None


def _number_times(tokens: list[Token], i: int) -> Read:
    if at(tokens, i + 1).word in ("times", "time", "x"):
        loose = times(tokens, i + 1)
        if loose:
            return loose
    return _number(tokens, i)


def _period(tokens: list[Token], i: int) -> Read:
    token, j = tokens[i], i + 1
    word = token.word
    number = at(tokens, j)
    if (
        number.kind is K.NUM
        and (number.word.isdigit() or number.word == "zh")
        and 1 <= number.n <= 12
        and number.start == token.end
        and is_chinese(token)
    ):
        after = at(tokens, j + 1)
        if after.kind in (K.PERIOD, K.EVERY, K.ASK, K.CALL) or j + 1 == len(tokens):
            return Clock(
                int(number.n), 0, 0, token.word if token.word != "morning" or number.n < 12 else "forenoon"
            ), j + 1
    length = (
        span(tokens, j) if token.end - token.start == 1 and word == "morning" and number.start == token.end else None
    )
    if length and length[0].seconds and at(tokens, length[1]).kind in (K.ASK, K.CALL):
        return Lead(length[0]), length[1]  # 早半个钟提我
    if word == "morning" and at(tokens, j).word == "evening" and at(tokens, j).start == token.end:
        shared = clock(tokens, j + 1)  # 早晚8点
        if shared and isinstance(shared[0], Clock) and not shared[0].literal:
            return replace(shared[0], period="morning"), j
    while at(tokens, j).kind is K.PERIOD and at(tokens, j).start == at(tokens, j - 1).end:
        word = at(tokens, j).word if word == "evening" else word
        j += 1
    return Part(word, each=token.n == 1, today=token.n == 2), j


_READERS: dict[Kind, Reader] = {
    K.NUM: _number_times,
    K.HALF: _number,
    K.CLOCK: clock_or_window,
    K.PAST: lambda t, i: clock_or_window(t, i) if t[i].word == "差" else None,
    K.FEW: few,
    K.DATE: day_phrase,
    K.DAY: day_phrase,
    K.WEEKDAY: day_phrase,
    K.WEEKEND: day_phrase,
    K.MONTH: day_phrase,
    K.NEXT: day_phrase,
    K.LAST: day_phrase,
    K.ORD: day_phrase,
    K.LUNAR: day_phrase,
    K.HOLIDAY: _holiday,
    K.GLUE: lambda t, i: day_before(t, i) or day_phrase(t, i) if t[i].word == "the" else None,
    K.UNIT: lambda t, i: (
        _number(t, i)
        if t[i].word == "quarter" or is_one_and_a_half(t, i)
        else day_before(t, i) or day_phrase(t, i)
        if t[i].word == "d"
        else None
    ),
    K.PERIOD: _period,
    K.EVERY: every,
    K.OTHER: other,
    K.DAILY: daily,
    K.WORKDAY: lambda t, i: (Workdays(bool(t[i].n)), i + 1),
    K.IN: in_phrase,
    K.FROM: from_phrase,
    K.UNTIL: until,
    K.RANGE: lambda t, i: until(t, i) if t[i].word in ("through", "thru") else _set_to(t, i),
    K.NOT: lambda t, i: no_later(t, i) or except_phrase(t, i) if t[i].word in ("not", "no") else None,
    K.FILLER: lambda t, i: except_phrase(t, i) if t[i].word == "but" and _follows_days(t, i) else None,
    K.FOR: for_phrase,
    K.EXCEPT: except_phrase,
    K.LEAD: lead,
    K.BEFORE: before,
    K.AFTER: after,
    K.AT: _at,
    K.ZONE: zone_phrase,
    K.WORD: _word,
    K.CREATE: lambda t, i: zone_phrase(t, i) or day_phrase(t, i) if t[i].word == "new" else None,
    K.VAGUE: lambda t, i: (Vague(event=t[i].word == "event"), i + 1),
    K.OR: lambda _, i: (Either(), i + 1),
    K.TIMES: times,
}
