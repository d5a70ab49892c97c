"""From a folded text to tokens in one left-to-right scan."""

from __future__ import annotations

from kernel.schedule.lexicon_zh import FIRST, LEXICON, Entry
from kernel.schedule.mentions import mention_end
from kernel.schedule.numerals_zh import NUMERALS, zh_number
from kernel.schedule.spelling import is_reminding, near
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.weeks_zh import weekdays_at
from kernel.schedule.words_en import WORDS

_COUNTERS = frozenset("点时分秒号日月年天周个")
_NUMBERS = frozenset({Kind.NUM, Kind.HALF, Kind.FEW})
_COUNTED = frozenset({Kind.UNIT, Kind.POINT, Kind.LAST, Kind.WEEKDAY})
_YIELDING = frozenset({Kind.TEXT, Kind.SAID, Kind.FILLER})
_NONE: tuple[Entry, ...] = ((0, Kind.TEXT, 0, ""),)
_QUOTES = frozenset("\"'“”「」『』`《》")
_PUNCT = frozenset(",.;:!?。、;()[]{}<>|*/\\+=%^&$…·-~_—–'’‘→•#@")


_SPECIAL = frozenset(FIRST) | frozenset(NUMERALS) | _QUOTES | _PUNCT
_SPECIAL |= frozenset("周星礼拜醒 \t\r\n\u200b\ufeff\ufe0f\u200d0123456789abcdefghijklmnopqrstuvwxyz")
"""Characters at which a run of others may end."""
_WORKING = frozenset(words("working business work week"))
"""Before "day" they make one word of it."""
_TITLES = frozenset(words("dr mr mrs ms prof st"))
_HEDGED = frozenset({Kind.NUM, Kind.POINT, Kind.CLOCK})
_WITH_DIGIT = tuple(sorted((w for w in WORDS if w[0] == "2"), key=len, reverse=True))
"""2moro, 2nite."""


class _Scanner:
    """One scan; `i` is the next place to read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.chinese = not text.isascii() and any("一" <= c <= "鿿" for c in text)
        self.i = 0
        self.out: list[Token] = []

    def run(self) -> list[Token]:
        text, size = self.text, len(self.text)
        while self.i < size:
            c = text[self.i]
            if c in " \t\u200b\ufeff\ufe0f\u200d":
                self.i += 1
            elif c in "\r\n":
                self._one(Kind.PUNCT, "\n")
            elif "a" <= c <= "z":
                self._word()
            elif "0" <= c <= "9":
                self._digits()
            elif (c in FIRST and self._lexeme(c)) or (c in "周星礼拜" and self._week()):
                continue
            elif c in NUMERALS:
                self._numeral()
            elif c in _QUOTES:
                self._one(Kind.QUOTE, c)
            elif c in "@#<" and self._mention():
                continue
            elif c == "@":
                self._one(Kind.AT, "@")
            elif c == "&":
                self._one(Kind.AND, "&")
            elif c in _PUNCT:
                self._one(Kind.PUNCT, c)
            else:
                self._text()
        return self.out

    def _one(self, kind: Kind, word: str) -> None:
        self.out.append(Token(kind, self.i, self.i + 1, 0, word))
        self.i += 1

    def _reminding(self, i: int) -> bool:
        self.out.append(Token(Kind.ASK, i, i + 2, 1, "提醒"))
        self.i = i + 2
        return True

    def _text(self) -> None:
        out, i = self.out, self.i
        if (
            self.text[i] == "醒"
            and out
            and out[-1].kind is Kind.TEXT
            and out[-1].end == i
            and is_reminding(self.text, i - 1)
        ):
            last = out.pop()
            if last.end - last.start > 1:
                out.append(Token(Kind.TEXT, last.start, i - 1))
            self._reminding(i - 1)
            return
        text, j, size = self.text, i + 1, len(self.text)
        while j < size and text[j] not in _SPECIAL:
            j += 1
        if out and out[-1].kind is Kind.TEXT and out[-1].end == i and not out[-1].word:
            out[-1] = Token(Kind.TEXT, out[-1].start, j)
        else:
            out.append(Token(Kind.TEXT, i, j))
        self.i = j

    def _word(self) -> None:
        text, start, size = self.text, self.i, len(self.text)
        j = start + 1
        while j < size:
            if not "a" <= text[j] <= "z":
                if text[j] not in "'." or not text[j + 1 : j + 2].isalpha() or text[j + 1] >= "{":
                    break
                if text[j] == "." and not (j - start == 1 and text[j + 1] == "m"):
                    break
            j += 1
        word = text[start:j]
        if word in ("http", "https") and text.startswith("://", j):
            self._link(start, j)
            return
        if word in ("a.m", "p.m") and text[j : j + 1] == ".":
            j += 1
        elif word in _TITLES and text[j : j + 1] == "." and not ("0" <= text[start - 1 : start] <= "9"):
            self.out.append(Token(Kind.WORD, start, j + 1, 0, word))
            self.i = j + 1
            return  # Dr. Patel, St. Patrick: no sentence ends here.
        elif word.endswith("'s") and word not in ("let's", "o'clock"):
            self.out.append(Token(Kind.WORD, start, j, 1, word))
            self.i = j
            return
        known = WORDS.get(word) or near(word)
        if j - start == 1 and known and known[0] is Kind.UNIT and not (self.out and self.out[-1].kind in _NUMBERS):
            known = None  # vitamin D, plan W: a letter measures only what is counted
        if word == "ish" and self._is_hedged():
            self.i = j
            return
        if word in ("day", "days") and self.out and self.out[-1].word in _WORKING and self.out[-1].end + 1 == start:
            self.out[-1] = Token(Kind.WORKDAY, self.out[-1].start, j, 0, "workday")
        elif known:
            self.out.append(Token(known[0], start, j, known[1], known[2]))
        else:
            self.out.append(Token(Kind.WORD, start, j, 0, word))
        self.i = j

    def _is_hedged(self) -> bool:
        """9-ish, 7pm-ish, 7:30ish: a time stands there that needs no further mark."""
        if len(self.out) > 1 and self.out[-1].word == "-" and self.out[-2].kind in _HEDGED:
            self.out.pop()
        return bool(self.out) and self.out[-1].kind in (Kind.POINT, Kind.CLOCK)

    def _link(self, start: int, j: int) -> None:
        """An address is one word, whatever numbers it holds."""
        text = self.text
        while j < len(text) and "!" <= text[j] <= "~":
            j += 1
        self.out.append(Token(Kind.WORD, start, j, 0, text[start:j]))
        self.i = j

    def _number_end(self, j: int) -> int:
        text = self.text
        while j < len(text) and "0" <= text[j] <= "9":
            j += 1
        return j

    def _digits(self) -> None:
        text, start = self.text, self.i
        if text[start] == "2" and text[start + 1 : start + 2].isalpha():
            word = next((w for w in _WITH_DIGIT if text.startswith(w, start)), None)
            if word:
                kind, n, canonical = WORDS[word]
                self.out.append(Token(kind, start, start + len(word), n, canonical))
                self.i = start + len(word)
                return
        parts, marks, j = [], "", self._number_end(start)
        parts.append(text[start:j])
        while len(parts) < 6 and j + 1 < len(text) and text[j] in ":./-" and "0" <= text[j + 1] <= "9":
            if text[j] == "/" and marks == ":":
                break  # 7:00/13:00
            marks += text[j]
            k = self._number_end(j + 1)
            parts.append(text[j + 1 : k])
            j = k
        if len(parts) == 1 and len(parts[0]) == 4 and text[start - 1 : start] == "t":
            marks = ""
        self._numbers(start, j, parts, marks)

    def _numbers(self, start: int, j: int, parts: list[str], marks: str) -> None:
        """Classifies digits joined by marks; what is no clock time and no date gives its first number back."""
        values = [int(p[:9]) for p in parts]
        out = self.out
        if not marks and len(parts[0]) == 8 and parts[0].startswith("20"):
            out.append(Token(Kind.DATE, start, j, values[0], "ymd"))
        elif not marks:
            out.append(Token(Kind.NUM, start, j, values[0], parts[0]))
        elif marks in (":", "::") and len(parts[1]) == 2:
            seconds = values[2] if len(values) > 2 else 0
            out.append(
                Token(
                    Kind.CLOCK,
                    start,
                    j,
                    values[0] * 60 + values[1] + seconds / 100 if values[1] < 60 and seconds < 60 else 1e6,
                    parts[0],
                )
            )
        elif marks in ("--", "//", "..") and len(parts[0]) == 4:
            out.append(Token(Kind.DATE, start, j, values[0] * 10000 + values[1] * 100 + values[2], "ymd"))
        elif marks in ("//", "..") and len(parts[2]) == 4:
            order = "mdy" if self.chinese and marks == "//" else "?" + marks[0]
            out.append(Token(Kind.DATE, start, j, values[2] * 10000 + values[0] * 100 + values[1], order))
        elif marks == "/" and values[0] <= 31 and values[1] <= 31:
            out.append(Token(Kind.DATE, start, j, values[0] * 100 + values[1], "md" if self.chinese else "/"))
        elif marks == ".":
            out.append(Token(Kind.NUM, start, j, float(f"{parts[0][:6]}.{parts[1][:6]}"), f"{parts[0]}.{parts[1]}"))
        elif marks == "-":
            self._range(start, parts, values, 1)
            j = start + len(parts[0]) + 1 + len(parts[1])
        elif marks in (":-:", "-:"):
            self._clock_range(start, parts, values, marks)
        else:
            j = start + len(parts[0])
            out.append(Token(Kind.NUM, start, j, values[0], parts[0]))
        self.i = j

    def _range(self, start: int, parts: list[str], values: list[int], width: int) -> None:
        a = start + len(parts[0])
        self.out.append(Token(Kind.NUM, start, a, values[0], parts[0]))
        self.out.append(Token(Kind.RANGE, a, a + width, 0, "-"))
        self.out.append(Token(Kind.NUM, a + width, a + width + len(parts[1]), values[1], parts[1]))

    def _clock_range(self, start: int, parts: list[str], values: list[int], marks: str) -> None:
        if marks == "-:":
            a = start + len(parts[0])
            self.out.append(Token(Kind.NUM, start, a, values[0], parts[0]))
            rest, numbers = parts[1:], values[1:]
        else:
            a = start + len(parts[0]) + 1 + len(parts[1])
            self.out.append(Token(Kind.CLOCK, start, a, values[0] * 60 + values[1], parts[0]))
            rest, numbers = parts[2:], values[2:]
        self.out.append(Token(Kind.RANGE, a, a + 1, 0, "-"))
        end = a + 2 + len(rest[0]) + len(rest[1])
        self.out.append(Token(Kind.CLOCK, a + 1, end, numbers[0] * 60 + numbers[1], rest[0]))

    def _lexeme(self, c: str) -> bool:
        text, i = self.text, self.i
        if c in "周星礼拜" and self._week():
            return True
        if c == "提" and is_reminding(text, i):
            return self._reminding(i)
        counted = c in _COUNTERS and self.out and self.out[-1].end == i and self.out[-1].kind in _NUMBERS
        left = len(text) - i
        for size in FIRST[c]:
            entry = LEXICON.get(text[i : i + size])
            if entry is None or size > left:
                continue
            opening = entry[0][1]
            if opening in _YIELDING and self._yields(opening, i, size):
                continue
            if counted and opening not in _COUNTED:
                continue  # 8点播报 is no 点播: a counter belongs to the number before it.
            if c == "个" and entry[0][3] == "w" and self._nth_weekday():
                return True
            if opening is Kind.OTHER and self._every_other_week(i, size):
                return True
            if len(entry) > 1:
                return self._compound(entry, i, size)
            self.out.append(Token(opening, i, i + size, entry[0][2], entry[0][3]))
            self.i = i + size
            return True
        return False

    def _compound(self, entry: tuple[Entry, ...], i: int, size: int) -> bool:
        """The tokens of a word that holds two."""
        for width, kind, n, word in entry:
            if word == "w" and width < size:
                # 下周五: the week of 下周 may go on to name its day.
                self.i = i
                if self._week():
                    return True
            if kind is Kind.PERIOD and i > self.i and self._is_longer(i, width):
                break  # 每天夜里: the 夜 of 每天夜 begins a word of its own.
            self.out.append(Token(kind, i, i + width, n, word))
            i += width
        self.i = i
        return True

    def _yields(self, kind: Kind, i: int, size: int) -> bool:
        """请教师节 holds a 教师节; 提醒我记得 speaks to me, and remembers nothing."""
        if kind is Kind.TEXT:
            follow = self.text[i + 1 : i + 2]
            return size == 2 and any(
                n > 2 and LEXICON.get(self.text[i + 1 : i + 1 + n], _NONE)[0][1] is Kind.HOLIDAY
                for n in FIRST.get(follow, ())
            )
        asked = bool(self.out) and self.out[-1].kind in (Kind.ASK, Kind.CALL) and self.out[-1].end == i
        return asked and size > 1 and self.text[i] == "我"

    def _is_longer(self, i: int, width: int) -> bool:
        """A word longer than `width` begins at `i`."""
        text = self.text
        return any(size > width and text[i : i + size] in LEXICON for size in FIRST.get(text[i], ()))

    def _every_other_week(self, i: int, size: int) -> bool:
        """隔周三: the 周 of 隔周 may go on to name its day."""
        head = next((h for h in ("星期", "礼拜", "周") if self.text.startswith(h, i + size - len(h))), "")
        named = weekdays_at(self.text, i + size - len(head)) if head else None
        if named is None or named[1] <= i + size:
            return False
        self.out.append(Token(Kind.OTHER, i, i + size - len(head), 7, "w"))
        self.i = i + size - len(head)
        return self._week()

    def _nth_weekday(self) -> bool:
        """第二个星期二: 个 counts the weekday here, it opens no 个星期."""
        if len(self.out) < 2 or self.out[-2].word not in ("第", "back") or self.out[-1].end != self.i:
            return False
        start = self.i
        self.i += 1
        if self._week():
            self.out.insert(-1, Token(Kind.UNIT, start, start + 1, 0, "个"))
            return True
        self.i = start
        return False

    def _week(self) -> bool:
        """One token with a bit for each weekday; False when no weekday stands here."""
        before = self.out[-1] if self.out else None
        if before and before.kind in _NUMBERS and before.end == self.i:
            return False
        read = weekdays_at(self.text, self.i)
        if read is None:
            return False
        days, end = read
        self.out.append(Token(Kind.WEEKDAY, self.i, end, sum(1 << day for day in set(days)), "day"))
        self.i = end
        return True

    def _numeral(self) -> None:
        text, j = self.text, self.i + 1
        while j < len(text) and text[j] in NUMERALS and j - self.i < 12:
            j += 1
        value, how = zh_number(text[self.i : j])
        self.out.append(Token(Kind.NUM, self.i, j, value, how))
        self.i = j

    def _mention(self) -> bool:
        end = mention_end(self.text, self.i)
        if end is None:
            return False
        self.out.append(Token(Kind.MENTION, self.i, end, 0, self.text[self.i : end]))
        self.i = end
        return True


def scan(text: str) -> list[Token]:
    """The tokens of a folded text, left to right, without blanks."""
    return _Scanner(text).run()
