"""Tokens of a chat message: what kind of word stands where, by table look-up alone.

The text is first folded character for character (full width, capitals, Traditional), so that every token's span is also
a span of the message as it was written. One pass, longest word first, no regular expressions.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """What a token can be; `n` and `word` of the token say more."""

    __hash__ = object.__hash__  # Enum's own hashes the name in Python, at each of a message's many set look-ups.

    NUM = auto()
    FEW = auto()
    HALF = auto()
    CLOCK = auto()
    DATE = auto()
    UNIT = auto()
    POINT = auto()
    DAY = auto()
    PERIOD = auto()
    WEEKDAY = auto()
    MONTH = auto()
    NEXT = auto()
    EVERY = auto()
    DAILY = auto()
    OTHER = auto()
    AFTER = auto()
    BEFORE = auto()
    IN = auto()
    AT = auto()
    PAST = auto()
    FROM = auto()
    START = auto()
    UNTIL = auto()
    STOP = auto()
    FOR = auto()
    EXCEPT = auto()
    LEAD = auto()
    ORD = auto()
    LAST = auto()
    WORKDAY = auto()
    WEEKEND = auto()
    HOLIDAY = auto()
    LUNAR = auto()
    ZONE = auto()
    VAGUE = auto()
    AND = auto()
    OR = auto()
    RANGE = auto()
    OF = auto()
    TIMES = auto()
    ASK = auto()
    CALL = auto()
    NOUN = auto()
    CREATE = auto()
    ME = auto()
    YOU = auto()
    PERSON = auto()
    AGENT = auto()
    HELP = auto()
    NOW = auto()
    CANCEL = auto()
    LIST = auto()
    PAUSE = auto()
    CHANGE = auto()
    NOT = auto()
    DONE = auto()
    HABIT = auto()
    SAID = auto()
    QUESTION = auto()
    POLITE = auto()
    FILLER = auto()
    GLUE = auto()
    LINK = auto()
    PUNCT = auto()
    QUOTE = auto()
    MENTION = auto()
    WORD = auto()
    TEXT = auto()


class Token(NamedTuple):
    """One token: `start` and `end` are places in the message; `n` is its number, `word` its canonical word."""

    kind: Kind
    start: int
    end: int
    n: float = 0
    word: str = ""


def words(table: str) -> list[str]:
    """The words of a table that is written as one text: a thousand of them read better without quotes and commas."""
    return table.split()
