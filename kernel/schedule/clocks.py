"""Reads clock times from tokens, and the numbers in them."""

from __future__ import annotations

from kernel.schedule.phrases import Clock, Unclear
from kernel.schedule.tokens import Kind, Token, words

K = Kind
_END = Token(K.PUNCT, 0, 0, 0, "end")

Read = tuple[Clock | Unclear, int] | None


def at(tokens: list[Token], i: int) -> Token:
    """The token at `i`, or one that matches nothing."""
    return tokens[i] if 0 <= i < len(tokens) else _END


def amount(tokens: list[Token], i: int) -> tuple[float, int] | None:
    """A number before a unit (2, 两, an, 2.5, 两个半, a couple is none) and the place after it."""
    token = at(tokens, i)
    if token.kind is K.HALF and token.n:
        return None
    if token.kind is not K.NUM or token.word == "approx":
        return None
    value, i = token.n, i + 1
    if (
        token.word == "word"
        and value in (20, 30, 40, 50, 60)
        and at(tokens, i).kind is K.NUM
        and 0 < at(tokens, i).n < 10
    ):
        value, i = value + at(tokens, i).n, i + 1
    elif token.word == "word" and at(tokens, i).word == "-" and value >= 20 and 0 < at(tokens, i + 1).n < 10:
        value, i = value + at(tokens, i + 1).n, i + 2
    elif token.word == "a" and at(tokens, i).word == "hundred":
        value, i = 100, i + 1
    return value, i


def clock(tokens: list[Token], i: int, *, loose: bool = False) -> Read:
    """A clock time at `i` and the place after it; `loose` also takes a bare number (after "at", a window's end)."""
    token = at(tokens, i)
    match token.kind:
        case K.CLOCK:
            return _written(tokens, i)
        case K.NUM:
            if at(tokens, i + 1).kind is K.POINT:
                return _numbered(tokens, i, loose)
            return _spoken_en(tokens, i) or _numbered(tokens, i, loose)
        case K.HALF | K.UNIT:
            return _spoken_en(tokens, i)
        case K.PAST if token.word == "差":
            return _short_of(tokens, i)
        case K.AT:
            j = i + 1
            while at(tokens, j).kind is K.AT or at(tokens, j).word == "about":
                j += 1
            return clock(tokens, j, loose=(token.word != "on" and "a" <= token.word[0] <= "z") or token.word in "~@")
    return None


def _valid(hour: int, minute: int, second: int = 0, *, literal: bool = False) -> Clock | Unclear:
    if hour == 24 and minute == 0:
        return Clock(24, 0, 0, "", True)
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59):
        return Unclear(impossible=True)
    return Clock(hour, minute, second, "", literal or hour >= 13 or hour == 0)


def _half_day(tokens: list[Token], j: int, read: Clock | Unclear) -> tuple[Clock | Unclear, int]:
    """am or pm after a time."""
    mark = at(tokens, j)
    if mark.kind is K.POINT and mark.word in ("am", "pm") and isinstance(read, Clock):
        if read.hour > 12 or (read.hour == 0 and mark.word == "pm"):
            return (read, j + 1) if mark.word == "pm" and read.hour > 12 else (Unclear(impossible=True), j + 1)
        return Clock(read.hour % 12 + int(mark.n), read.minute, read.second, mark.word, True), j + 1
    if mark.kind is K.POINT and mark.word == "o'clock":
        return _half_day(tokens, j + 1, read) if at(tokens, j + 1).word in ("am", "pm") else (read, j + 1)
    return read, j


def _written(tokens: list[Token], i: int) -> Read:
    token = tokens[i]
    if token.word == "noon":
        return Clock(12, 0, 0, "noon", True), i + 1
    if token.word == "midnight":
        return Clock(0, 0, 0, "midnight", True), i + 1
    if token.word == "零点":
        follow, unit = at(tokens, i + 1), at(tokens, i + 2)
        if follow.kind is K.HALF and follow.n and unit.kind is not K.UNIT:
            return Clock(0, 30, 0, "", True), i + 2
        if follow.kind is K.NUM and unit.word == "m" and follow.n < 60:
            return Clock(0, int(follow.n), 0, "", True), i + 3
        return Clock(0, 0, 0, "", True), i + 1
    if token.n >= 1e6:
        return Unclear(impossible=True), i + 1
    whole = int(token.n)
    read = _valid(whole // 60, whole % 60, round(token.n % 1 * 100), literal=True)
    j = i + 1
    if at(tokens, j).word in ("m", "sharp") and at(tokens, j).end - at(tokens, j).start == 1:
        j += 1
    return _half_day(tokens, j, read)


def _numbered(tokens: list[Token], i: int, loose: bool) -> Read:
    token = tokens[i]
    follow = at(tokens, i + 1)
    if follow.kind is K.POINT and follow.word not in ("am", "pm", "o'clock"):
        return _pointed(tokens, i)
    number = amount(tokens, i)
    if number is None or token.word == "a":
        return None
    value, j = number
    if "." in token.word:
        whole, fraction = token.word.split(".")
        marked = at(tokens, j).kind is K.POINT
        if len(fraction) != 2 or at(tokens, j).kind is K.UNIT or not (loose or marked):
            return None
        return _half_day(tokens, j, _valid(int(whole), int(fraction), literal=True))
    if at(tokens, j).kind is K.POINT and at(tokens, j).word in ("am", "pm", "o'clock"):
        if value > 100 and token.word.isdigit():
            return _half_day(tokens, j, _valid(int(value) // 100, int(value) % 100))
        return _half_day(tokens, j, _valid(int(value), 0))
    if (
        token.word == "word"
        and at(tokens, j).kind is K.NUM
        and at(tokens, j).word == "word"
        and at(tokens, j).n >= 10
        and value <= 12
    ):
        minutes = amount(tokens, j)
        if minutes and (loose or at(tokens, minutes[1]).word in ("am", "pm")):
            return _half_day(tokens, minutes[1], _valid(int(value), int(minutes[0])))
    minute = _minute_behind(tokens, j) if loose and value <= 24 else None
    if minute is not None:
        return _half_day(tokens, minute[1], _valid(int(value), minute[0]))
    if (
        not loose
        or at(tokens, j).kind in (K.UNIT, K.OF, K.TIMES, K.MONTH, K.FEW)
        or at(tokens, j).word in ("suffix", "%", "percent", "out")
    ):
        return None
    if token.word.isdigit() and len(token.word) == 3 and value % 100 < 60 and 1 <= value // 100 <= 9:
        return _valid(int(value) // 100, int(value) % 100), j
    if token.word.isdigit() and len(token.word) == 4:
        return _valid(int(value) // 100, int(value) % 100, literal=True), j
    if value > 24 or value != int(value):
        return None
    return _valid(int(value), 0), j


def _minute_behind(tokens: list[Token], j: int) -> tuple[int, int] | None:
    """The minute of "eight oh five" and "8 05", and the place after it."""
    k = j + 1 if at(tokens, j).word in ("oh", "o") else j
    minute = at(tokens, k)
    if minute.kind is not K.NUM or at(tokens, k + 1).kind is K.UNIT or not 0 < minute.n < 10:
        return None
    return (int(minute.n), k + 1) if k > j or (minute.word[0] == "0" and minute.n == int(minute.n)) else None


_NUMBERED = frozenset(words("床 号床 病房 病区 号楼 号线"))


def _pointed(tokens: list[Token], i: int) -> Read:
    """九点, 9点半, 8点三刻, 8点50, 8点零5分, 十点差五分."""
    token = tokens[i]
    if token.word == "approx":
        first, second = int(token.n) // 10, int(token.n) % 10
        if token.n > 19 or token.n < 10:
            return Unclear(impossible=False, clocks=(Clock(first), Clock(second))), _skip_minutes(tokens, i + 2)
        return Unclear(impossible=False), i + 2
    if "." in token.word or token.word in ("word", "a"):
        return None
    hour, j = int(token.n), i + 2
    follow = at(tokens, j)
    if follow.word == "搭" and at(tokens, j + 1).kind is K.NUM and 0 < tokens[j + 1].n < 12:
        return _valid(hour, int(tokens[j + 1].n) * 5), j + 2  # 三点搭九: the minute hand stands on the nine
    if follow.word == "半" or (follow.kind is K.HALF and follow.n and at(tokens, j + 1).kind is not K.UNIT):
        clock_word = at(tokens, j + 1).kind is K.UNIT and at(tokens, j + 1).end - follow.end == 1
        return _valid(hour, 30), j + 2 if clock_word and at(tokens, j + 1).word == "h" else j + 1  # 八点半钟
    if follow.kind is K.HALF:
        return _valid(hour, 0), j + 1
    if follow.kind is K.IN and at(tokens, j + 1).kind is K.NUM and at(tokens, j + 2).word in ("m", "quarter"):
        return _valid(hour, _minutes(tokens, j + 1)), j + 3
    if follow.word == "差" and at(tokens, j + 1).kind is K.NUM and at(tokens, j + 2).word in ("m", "quarter"):
        return _before(hour, _minutes(tokens, j + 1)), j + 3
    ones = at(tokens, j + 1)
    if follow.kind is K.NUM and follow.n == 0 and ones.kind is K.NUM and ones.n < 10 and ones.start == follow.end:
        j, follow = j + 1, ones  # 10点零8分
    if follow.kind is K.NUM and follow.word not in ("word", "a", "approx"):
        unit = at(tokens, j + 1)
        if unit.word in ("quarter", "字"):
            return _valid(hour, int(follow.n) * (15 if unit.word == "quarter" else 5)), j + 2
        if unit.word == "m" and unit.end - unit.start == 1:
            if at(tokens, j + 2).kind is K.NUM and at(tokens, j + 3).word == "s":
                return _valid(hour, int(follow.n), int(at(tokens, j + 2).n)), j + 4
            return _valid(hour, int(follow.n)), j + 2
        if unit.kind is K.UNIT and unit.word == "h":
            return None
        counts = unit.kind is K.TEXT and unit.word in _NUMBERED and unit.start == follow.end  # 3点03床输液结束
        bare = not counts and (follow.word in ("zh", "digits") or len(follow.word) == 2)
        if (
            bare
            and (follow.n >= 10 or follow.word in ("digits",) or follow.word[0] == "0")
            and unit.kind not in (K.UNIT, K.TIMES, K.POINT)
        ):
            return _valid(hour, int(follow.n)), j + 1
    if hour > 24 and at(tokens, i + 1).word == "时":
        return None
    return _valid(hour, 0), j


def _skip_minutes(tokens: list[Token], j: int) -> int:
    return j + 1 if at(tokens, j).kind is K.HALF else j


def _minutes(tokens: list[Token], j: int) -> int:
    return int(tokens[j].n) * (15 if at(tokens, j + 1).word == "quarter" else 1)


def _before(hour: int, minutes: int) -> Clock | Unclear:
    if not 0 < minutes < 60 or not 0 <= hour <= 24:
        return Unclear(impossible=True)
    read = _valid((hour - 1) % 24, 60 - minutes)
    if isinstance(read, Clock) and hour in (1, 7, 13):
        # "差五分一点": the part of the day goes by the hour that was named.
        return Clock(read.hour, read.minute, 0, f"near-{hour}", read.literal and hour == 13)
    return read


def _short_of(tokens: list[Token], i: int) -> Read:
    """差五分十点, 差一刻九点."""
    number = at(tokens, i + 1)
    unit = at(tokens, i + 2)
    hour = at(tokens, i + 3)
    if (
        number.kind is K.NUM
        and unit.word in ("m", "quarter")
        and hour.kind is K.NUM
        and at(tokens, i + 4).kind is K.POINT
    ):
        return _before(int(hour.n), _minutes(tokens, i + 1)), i + 5
    return None


_AFTER_HOUR = frozenset({K.RANGE, K.PUNCT, K.DAY, K.PERIOD, K.POINT})


def _counts_to_hour(tokens: list[Token], j: int, minutes: int, *, spelt: bool) -> bool:
    """ten past, 10 past, ten to: but 10 to 12 only where it cannot be a range."""
    if at(tokens, j).word == "to" and minutes not in (5, 10, 20, 25):
        return False
    return spelt or at(tokens, j).word == "past" or _to_the_hour(tokens, j)


def _to_the_hour(tokens: list[Token], j: int) -> bool:
    """5 to 3, said after "at" and with nothing to count behind it."""
    hour, follow = at(tokens, j + 1), at(tokens, j + 2)
    said = at(tokens, j).word == "to" and at(tokens, j - 2).word == "at"
    return said and hour.kind is K.NUM and hour.n <= 12 and follow.kind in _AFTER_HOUR


def _is_half_of_hour(tokens: list[Token], j: int) -> bool:
    """half nine, as the British say for half past nine: behind "at", or with nothing to count behind it."""
    hour, follow = at(tokens, j + 1), at(tokens, j + 2)
    if hour.kind is not K.NUM or not 1 <= hour.n <= 12 or hour.word == "a" or "." in hour.word:
        return False
    return follow.kind in _AFTER_HOUR or (at(tokens, j - 1).kind is K.AT and follow.kind is not K.UNIT)


def _spoken_en(tokens: list[Token], i: int) -> Read:
    """half past five, (a) quarter to nine, ten past six, thirty-six minutes past eight."""
    j = i + 1 if at(tokens, i).word == "a" else i
    token = at(tokens, j)
    if token.word == "half" and at(tokens, j + 1).word == "past":
        minutes, j = 30.0, j + 1
    elif token.word == "half" and _is_half_of_hour(tokens, j):
        return _half_day(tokens, j + 2, _valid(int(tokens[j + 1].n), 30))
    elif token.kind is K.UNIT and token.word == "quarter":
        minutes, j = 15.0, j + 1
    else:
        number = amount(tokens, j)
        if number is None or number[0] >= 60 or number[0] != int(number[0]):
            return None
        minutes, j = number
        if at(tokens, j).word == "m":
            j += 1
        elif not _counts_to_hour(tokens, j, int(minutes), spelt=token.word == "word"):
            return None
    link = at(tokens, j)
    if link.word not in ("past", "to", "after", "before", "of", "til", "till"):
        return None
    hour = at(tokens, j + 1)
    if hour.kind is K.CLOCK and hour.word in ("noon", "midnight"):
        base = 12 if hour.word == "noon" else 0
        total = base * 60 + (int(minutes) if link.word in ("past", "after") else -int(minutes))
        return _valid(total % 1440 // 60, total % 60, literal=True), j + 2
    if hour.kind is not K.NUM or hour.n > 24 or hour.word == "a" or "." in hour.word:
        return None
    if link.word in ("after", "before", "of") and token.word not in ("quarter",) and token.word != "word":
        return None
    read = _valid(int(hour.n), int(minutes)) if link.word in ("past", "after") else _before(int(hour.n), int(minutes))
    return _half_day(tokens, j + 2, read)
