"""What may be words that manage, though nothing in them says reminder: 取消查房, cancel rent, 删掉第二个.

Only the stored reminders can tell; so these are hints, and no order by themselves.
"""

from __future__ import annotations

from typing import NamedTuple

from kernel.schedule import about
from kernel.schedule.clocks import at
from kernel.schedule.grammar import find_phrases
from kernel.schedule.inquiries import CONDITIONS
from kernel.schedule.places import named_places
from kernel.schedule.things import asks_person, first_of_weight, is_one, is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_MOST_TOKENS, _LONGEST = 16, 24
"""Of a message that is nothing but a verb and a name."""
_REFUSED = frozenset(words("不用 不要 不需要 不必 唔使 唔要 不想 不用再 不要再 用不着"))
_TALK = frozenset({K.QUESTION, K.SAID, K.DONE, K.QUOTE, K.CREATE, K.YOU, K.HABIT})
_SIGNS = frozenset({K.CANCEL, K.NOT})
_LOOSE = frozenset({K.FILLER, K.POLITE, K.HELP, K.PUNCT, K.AND, K.GLUE, K.OF, K.MENTION})
_NAMELESS = frozenset(words("it that this them all everything 算 算了 它"))
_CANCELS = frozenset(words("取消 取消掉 取消咗 cancel unschedule"))
"""What is done with appointments and reminders, hardly with texts and files."""


class Hint(NamedTuple):
    """What is to go, if it is a reminder: the words that name it, places of the list, whether a time was named too."""

    body: str
    has_time: bool
    places: tuple[int, ...]
    is_order: bool
    """It can mean but reminders: 取消第一和第三个."""


def hinted(text: str, folded: str, tokens: list[Token]) -> Hint | None:
    """What `text` (its folded form, its tokens) would do away with, were it a reminder; None when nothing."""
    if len(tokens) > _MOST_TOKENS or _SIGNS.isdisjoint([t.kind for t in tokens]):
        return None
    if any(t.kind in _TALK or t.word in CONDITIONS for t in tokens):
        return None
    if (
        tokens[-1].word == "?"
        or asks_person(tokens) is not None
        or any(is_thing(tokens, i) for i in range(len(tokens)))
    ):
        return None
    verb = _verb(tokens)
    if verb is None:
        return None
    i, run = verb
    places = named_places(tokens, folded)
    taken = {k for _, a, b in places for k in range(a, b)}
    rest = [k for k in range(*run) if k not in taken and tokens[k].kind not in _LOOSE and not is_one(tokens[k])]
    if places:
        numbers = tuple(n for n, _, _ in places)
        return Hint("", False, numbers, tokens[i].word in _CANCELS) if not rest else None
    body = about.called(text, folded, tokens, *run)
    body = body.removesuffix("one").rstrip()  # cancel the insulin one
    if not body or len(body) > _LONGEST or body in _NAMELESS:
        return None
    return Hint(body, any(run[0] <= f.i < run[1] for f in find_phrases(tokens)), (), False)


def _verb(tokens: list[Token]) -> tuple[int, tuple[int, int]] | None:
    """The place of the verb that does away with something, and the tokens that name it."""
    first = first_of_weight(tokens)
    opening = at(tokens, first)
    end = len(tokens)
    while end and tokens[end - 1].kind in (K.FILLER, K.POLITE, K.PUNCT):
        end -= 1
    closing = at(tokens, end - 1)
    if opening.kind is K.CANCEL:
        return (first, (first + 1, end)) if end > first + 1 else None
    if opening.word in _REFUSED and tokens[-1].word in ("了", "喇", "啦") and end > first + 1:
        return first, (first + 1, end)  # 唔使食药喇
    held = opening.word in ("把", "将")
    start = first + 1 if held else first
    if closing.kind is K.CANCEL and end - 1 > start and (held or not closing.word.endswith("了")):
        done = any(t.word == "了" for t in tokens[end:]) and not held and tokens[-1].word != "吧"
        return None if done else (end - 1, (start, end - 1))  # 会议取消了 is news
    if closing.word in _REFUSED and any(t.word in ("了", "喇", "啦") for t in tokens[end:]) and end - 1 > start:
        return end - 1, (start, end - 1)  # 查房不用了
    return None
