"""The few words with which people answer a question about a time: 第二个, 算了, 还是下午三点半吧, let's say 8.

Only what is nothing but an answer is read: one word of other matters (9点有空吗, 8 people) and it is none.
"""

from __future__ import annotations

import re

from kernel.schedule.clocks import clock
from kernel.schedule.folding import fold, without_layout
from kernel.schedule.grammar import find_phrases
from kernel.schedule.phrases import (
    Clock,
    Count,
    Dates,
    Either,
    Except,
    Found,
    Hourly,
    Lasting,
    Lead,
    Phrase,
    Unclear,
    Vague,
)
from kernel.schedule.scan import scan
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_LONGEST, _MOST_TOKENS = 60, 24
"""Characters and tokens of what can be such an answer."""
_TWO, _MOST_DAYS = 2, 31

_IDLE = frozenset(
    {K.FILLER, K.OF, K.AT, K.AND, K.POLITE, K.ASK, K.CALL, K.ME, K.CHANGE, K.HELP, K.GLUE, K.HABIT, K.NOUN}
)
"""Kinds of words that may stand around the time and say nothing."""
_IDLE_MARKS = frozenset(",.!?~、。…\n")
_IDLE_WORDS = frozenset(
    words(
        "算 算了 行 就行 即可 好了 好 定 定在 设 设在 设成 选 要 用 来 个 那个 这个 钟 嘛 咯 怎么样 如何 吗 么 "
        "make it its it's let lets let's us say how about what do would will be is was works work fine good great "
        "perfect ok okay kk yes yeah yep sure then instead i i'd i'll like want think guess go with set at one "
        "remind reminder the for to um uh hmm well no actually rather better"
    )
)
"""Words of other kinds that say nothing either."""
_NEVER = (Lasting, Count, Except, Lead, Hourly, Vague)
"""Phrases about time that say no time to be reminded at."""

_REFUSALS = frozenset(
    fold(each)
    for each in (
        *words(
            "算了 算啦 算了吧 还是算了 那算了 那就算了 不用了 不用啦 不用 不要了 不设了 不需要了 不需要 别设了 不必了 "
            "取消 取消吧 取消了 撤销 作罢 作废 没事了 没事 当我没说 先不设了 先不用了 先不了 不提醒了 不用提醒了 "
            "不用提醒 不用提醒我了 别提醒了 取消提醒 取消这个提醒 取消这个 取消掉 不了 唔使啦 唔使喇 唔使 "
            "nevermind nvm cancel forget"
        ),
        "never mind",
        "forget it",
        "forget about it",
        "cancel it",
        "cancel that",
        "cancel this",
        "cancel the reminder",
        "cancel this reminder",
        "cancel that reminder",
        "no thanks",
        "no thank you",
        "no reminder",
        "don't bother",
        "dont bother",
        "skip it",
        "drop it",
        "leave it",
        "scrap that",
        "not needed",
        "no need",
    )
)
_MARKS = re.compile(r"[\s,.!?~、。…;:]+")
_POLITE_ENDS = re.compile(r"(?: (?:please|thanks|thank you|then|now))+$|(?:谢谢|哈|啊|呀|呢|哦|喔)+$")
_POLITE_HEADS = re.compile(r"^(?:(?:oh|ok|okay|sorry|hmm|um|嗯|哦|噢|唉|那|好的|好) ?)+(?=\S)")

_PLACES_ZH = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
_PLACES_EN = {"first": 1, "1st": 1, "former": 1, "second": 2, "2nd": 2, "latter": 2, "third": 3, "3rd": 3}
_PLACES_EN |= {"fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "last": -1, "one": 1, "two": 2, "three": 3}
_PLACE_ZH = re.compile(
    r"(?:就|那就|我?[选要用挑]|还是|按|)(?:(?P<last>最后)一?(?:个|项|种|条)|"
    r"(?P<former>前者|前一个|前面那个|前面的)|(?P<latter>后者|后一个|后面那个|后面的)|"
    r"第(?P<nth>[一二两三四五1-9])(?:个|项|种|条|)(?:时间|选项|)|选项(?P<option>[一二三四五1-9]))"
    r"(?:那个|吧|的|好了|就行|就好|可以|哈|)+"
)
_PLACE_EN = re.compile(
    r"(?:i'?d |i'?ll |i |)(?:take |choose |pick |want |go with |like |)(?:the |)"
    r"(?:(?P<nth>first|1st|former|second|2nd|latter|third|3rd|fourth|4th|fifth|5th|last)|"
    r"(?:option|number|choice|no|#) ?(?P<option>[1-9]|one|two|three))(?: one| option| choice| time|)"
)


def is_refusal(text: str) -> bool:
    """Nothing is to be set after all: 算了, never mind."""
    said = _plain(text)
    return said in _REFUSALS or _POLITE_HEADS.sub("", said) in _REFUSALS


def place(text: str) -> int | None:
    """Which of the choices on offer is named by its place, the first being 1 and the last -1; None when none is."""
    said = _plain(text)
    if found := _PLACE_ZH.fullmatch(said) or _PLACE_ZH.fullmatch(_POLITE_HEADS.sub("", said)):
        named = found["nth"] or found["option"]
        if named:
            return _PLACES_ZH.get(named) or int(named)
        return -1 if found["last"] else 1 if found["former"] else 2
    if found := _PLACE_EN.fullmatch(said) or _PLACE_EN.fullmatch(_POLITE_HEADS.sub("", said)):
        named = found["nth"] or found["option"]
        return _PLACES_EN.get(named) or int(named)
    return None


def is_same(text: str, label: str) -> bool:
    """`text` is what stands on the button `label`, typed."""
    return _plain(text).replace(" ", "") == _plain(label).replace(" ", "")


def bare_number(text: str) -> int | None:
    """The number that is all there is in `text` (2, 八), None when there is more or none."""
    tokens = scan(fold(_plain(text)))
    is_number = len(tokens) == 1 and tokens[0].kind is K.NUM and "." not in tokens[0].word
    return int(tokens[0].n) if is_number and tokens[0].word not in ("a", "approx") else None


def time_phrases(text: str, *, of_day: bool) -> list[Phrase] | None:
    """What `text` says about when, None when it is no answer; `of_day`: a bare number is a day, not an hour."""
    if len(text) > _LONGEST:
        return None
    folded = fold(without_layout(text))
    tokens = scan(folded)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        return None
    found = find_phrases(tokens)
    if not any(isinstance(f.phrase, Clock) for f in found):
        found = sorted([*found, *_bare(tokens, found, of_day=of_day)], key=lambda f: f.i)
    if any(isinstance(f.phrase, _NEVER) for f in found) or not _is_all(folded, tokens, found):
        return None
    phrases = [f.phrase for f in found]
    if sum(isinstance(p, (Clock, Unclear)) for p in phrases) < _TWO:  # 还是8点吧: between what and what?
        phrases = [p for p in phrases if not isinstance(p, Either)]
    return phrases or None


def _plain(text: str) -> str:
    """Folded, without the marks around it and the courtesy behind it."""
    said = _MARKS.sub(" ", fold(text)).strip()
    return _POLITE_ENDS.sub("", said).strip() or said


def _bare(tokens: list[Token], found: list[Found], *, of_day: bool) -> list[Found]:
    """Numbers on their own: an hour, or a day where one was asked for."""
    taken = {k for f in found for k in range(f.i, f.j)}
    bare: list[Found] = []
    i = 0
    while i < len(tokens):
        token, read = tokens[i], None
        if token.kind is K.NUM and i not in taken and _is_speakable(token):
            read = _day(token, i) if of_day else clock(tokens, i, loose=True)
        if read is not None:
            bare.append(Found(read[0], i, read[1], token.start, tokens[read[1] - 1].end))
        i = read[1] if read is not None else i + 1
    return bare


def _day(token: Token, i: int) -> tuple[Phrase, int] | None:
    is_one = token.n == int(token.n) and 1 <= token.n <= _MOST_DAYS
    return (Dates((int(token.n),)), i + 1) if is_one else None


def _is_speakable(token: Token) -> bool:
    """830 and 1530 are times; 233 and 1314 are what people write for laughter and love, and "one" points."""
    number = token.word
    if not number.isdigit():
        return not (number == "word" and token.n == 1)
    return len(number) < len("100") or int(number) % 100 % (5 if len(number) > len("100") else 15) == 0


def _is_all(folded: str, tokens: list[Token], found: list[Found]) -> bool:
    """Nothing is said but the phrases, and words that say nothing."""
    taken = {k for f in found for k in range(f.i, f.j)}
    return bool(found) and all(i in taken or _is_idle(folded, token) for i, token in enumerate(tokens))


def _is_idle(folded: str, token: Token) -> bool:
    said = folded[token.start : token.end]
    if token.kind is K.PUNCT:
        return token.word in _IDLE_MARKS
    return token.kind in _IDLE or said in _IDLE_WORDS or token.word in _IDLE_WORDS
