"""How sure a schedule is, from what can be seen: each piece of evidence against it leaves a share of the certainty.

The shares stand in one table, `DOUBTS`. They are set so that the share of right first fires at each level of
confidence, which `benchmarks/schedule.py` prints as the reliability curve, is not below that level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kernel.schedule.asks import Ask
from kernel.schedule.phrases import Found, Vague
from kernel.schedule.plan import Plan
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.values import Once, Schedule
from kernel.schedule.words_en import WORDS

K = Kind


class Seen(NamedTuple):
    """What was understood of a message, for the table below."""

    folded: str
    tokens: Sequence[Token]
    used: Sequence[Found]
    """The phrases that make the schedule."""
    unread: Sequence[Found]
    """The other phrases about time."""
    asks: Sequence[Ask]
    ask: Ask | None
    """None: an order to the assistant."""
    plan: Plan
    schedule: Schedule


BASE = 0.99
"""Nothing speaks against it."""

_TAKEN_BACK_ZH = tuple(words("算了 不对 说错 打错 等等 或许 也许 哦不 噢不 啊不 还是算 改成 应该是"))
_TAKEN_BACK_EN = ("actually", "wait", "scratch that", "no,", "nvm", "never mind", "or maybe", "make that", "i mean")
"""Words that take back what stands before them, where they open a clause."""
_BREAKS = frozenset(" ,.;:!?、。…\n-")
_REPAIRED = frozenset({K.ASK, K.DAY, K.WEEKDAY, K.UNIT, K.PERIOD, K.NOUN})
_LONG = 60


def _is_repaired(seen: Seen) -> bool:
    """A slip of the keyboard in the asking form or in a word of time."""
    if seen.ask is not None:
        for token in seen.tokens[seen.ask.i : seen.ask.j]:
            if token.kind is K.ASK and token.n == 1:
                return True
    folded = seen.folded
    for token in seen.tokens:
        if token.kind not in _REPAIRED or token.word[:1] > "z":
            continue
        if "a" <= folded[token.start] <= "z" and folded[token.start : token.end] not in WORDS:
            return True
    return False


def _is_taken_back(seen: Seen) -> bool:
    """9点提醒我开会，不对，10点; of 明天9点，不对，10点提醒我 the later time was taken, which is what was meant."""
    last = seen.used[-1].start if seen.used else 0
    if _BREAKS.isdisjoint(seen.folded[last:]):
        return False
    listed = _TAKEN_BACK_EN if seen.folded.isascii() else _TAKEN_BACK_ZH + _TAKEN_BACK_EN
    for word in listed:
        at = seen.folded.find(word, last)
        if (
            at > 0
            and seen.folded[at - 1] in _BREAKS
            and (word[0] > "z" or "," in seen.folded[max(at - 2, 0) : at + 12])
        ):
            return True
    return False


def _is_unread_before(seen: Seen) -> bool:
    """A word of time before the ask that the schedule does not hold."""
    return seen.ask is not None and any(f.j <= seen.ask.i for f in seen.unread)


def _is_unread_behind(seen: Seen) -> bool:
    """Likewise behind it, where it mostly belongs to the task."""
    start = seen.ask.j if seen.ask is not None else 0
    return any(f.i >= start and not isinstance(f.phrase, Vague) for f in seen.unread)


def _guesses_afternoon(seen: Seen) -> bool:
    """A bare hour from one to six."""
    return any(w.is_guess and w.moment.hour >= 13 for w in seen.plan.times)


def _guesses_morning(seen: Seen) -> bool:
    """A bare hour from seven to eleven, once."""
    guessed = any(w.is_guess and w.moment.hour < 13 for w in seen.plan.times)
    return guessed and isinstance(seen.schedule, Once)


def _is_past_midnight(seen: Seen) -> bool:
    """A time of the night that belongs to the evening before."""
    return any(w.shift for w in seen.plan.times)


def _is_bounded(seen: Seen) -> bool:
    """Begins or ends somewhere, leaves something out, or comes before an event: more to go wrong."""
    plan = seen.plan
    return bool(plan.start or plan.until or plan.between or plan.lasting or plan.excepts or plan.lead)


def _is_swapped(seen: Seen) -> bool:
    """9/10 in a Chinese message is read as month and day."""
    return any(seen.tokens[f.i].kind is K.DATE and seen.tokens[f.i].word == "md" for f in seen.used)


class Doubt(NamedTuple):
    """One piece of evidence: what it is, the share of certainty it leaves, and how it is seen."""

    name: str
    leaves: float
    is_seen: Callable[[Seen], bool]


DOUBTS: tuple[Doubt, ...] = (
    Doubt("taken back in the same message", 0.75, _is_taken_back),
    Doubt("hour guessed: the afternoon", 0.88, _guesses_afternoon),
    Doubt("hour guessed: the morning", 0.95, _guesses_morning),
    Doubt("an order without an asking form", 0.93, lambda s: s.ask is None),
    Doubt("time word before the ask left unread", 0.94, _is_unread_before),
    Doubt("time word behind the ask left unread", 0.97, _is_unread_behind),
    Doubt("typing slip repaired", 0.95, _is_repaired),
    Doubt("asks more than once", 0.96, lambda s: len(s.asks) > 1),
    Doubt("several times of day", 0.98, lambda s: len(s.plan.times) > 1),
    Doubt("bounds, exclusions, lead time", 0.98, _is_bounded),
    Doubt("month and day could be swapped", 0.95, _is_swapped),
    Doubt("belongs to the night before", 0.95, _is_past_midnight),
    Doubt("another time zone", 0.98, lambda s: s.plan.zone is not None),
    Doubt("mild asking form (tell me, 叫我)", 0.98, lambda s: s.ask is not None and s.ask.is_mild),
    Doubt("long message", 0.94, lambda s: len(s.tokens) > _LONG),
)


def confidence(seen: Seen) -> float:
    """Between 0 and 1; from CREATE_FROM on a trigger is created without asking."""
    sure = BASE
    for doubt in DOUBTS:
        if doubt.is_seen(seen):
            sure *= doubt.leaves
    return round(sure, 3)
