"""Recognises who wants a reminder that exists moved, altered or set going again: for the model, never a new one."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.things import REMINDING, asks_person, first_of_weight, is_thing
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.words_en import WORDS

K = Kind

_LONGEST = 40
"""Tokens that are looked at: who changes a reminder says so at once."""
_DONE_MARKS = frozenset(words("了 过 好 的"))
_INTO = frozenset(words("到 成 为 至 在 于 约"))
"""May stand between a verb of changing and the new time."""
_AGAIN_ZH = ("继续", "重新", "接着", "照旧")
"""Opening a sentence they set going again what rests, unless a new one is made (重新设一个)."""
_ALTERING = frozenset(words("shift bump switch adjust alter extend turn"))
_SETTING = frozenset(words("make set put have want need like"))
_STARTING = frozenset(words("start turn switch bring put set get kick have"))
_SIGNS_ZH = frozenset({K.CHANGE, K.NOT, K.LEAD, K.CANCEL, K.NOUN})
_SIGNS_EN = (
    frozenset({"instead", "snooze", "not", "don't", "add", *_ALTERING, *_SETTING, *_STARTING})
    | {word for kind, _, word in WORDS.values() if kind in (K.CHANGE, K.CANCEL)}
) - {"want", "need", "like"}
"""Kinds of words and words without one of which nothing is changed."""
_PUTTING_OFF = frozenset(words("postpone delay reschedule resume unpause snooze"))
_DEFINITE = frozenset(words("my the that this our his her your their these those all both its"))
_INDEFINITE = frozenset(words("a an another new"))
_TIMES = frozenset(
    {
        *(K.CLOCK, K.DATE, K.DAY, K.PERIOD, K.WEEKDAY, K.WEEKEND, K.WORKDAY, K.MONTH, K.NEXT, K.EVERY, K.OTHER),
        *(K.DAILY, K.HALF, K.LAST, K.HOLIDAY, K.LUNAR, K.ORD),
    }
)
_BEFORE_REFUSED = _TIMES | {K.NUM, K.POINT, K.UNIT, K.FILLER, K.AT, K.HABIT, K.ME, K.WORD, K.OF, K.TEXT, K.GLUE}
"""What may stand between a refusal and its verb."""
_COUNTED = frozenset({K.POINT, K.UNIT, K.CLOCK, K.HALF, K.PUNCT, K.FILLER, K.PERIOD, K.NUM, K.QUESTION})


def is_change(tokens: list[Token], folded: str, *, english: bool) -> bool:
    """The message (its tokens, its folded text, `english` or not) says how a reminder that exists is to be instead."""
    if not _may_change(tokens, folded, english=english):
        return False
    head = [t for t in tokens if t.kind is not K.MENTION][:_LONGEST]
    things = [i for i in range(len(head)) if is_thing(head, i) or _names_its_trait(head, folded, i)]
    asking = asks_person(head)
    if not things and asking is None:
        return False
    if _asks_otherwise(head):
        return True
    if english:
        return _in_english(head, things, asking)
    return _in_chinese(head, folded, things, asking)


_TRAITS = ("时间", "频率", "间隔", "次数", "周期", "时段", "内容")


def _names_its_trait(tokens: list[Token], folded: str, i: int) -> bool:
    """提醒频率, 提醒时间: the reminder as a thing."""
    return tokens[i].kind is K.ASK and tokens[i].word == "提醒" and folded.startswith(_TRAITS, tokens[i].end)


def _may_change(tokens: list[Token], folded: str, *, english: bool) -> bool:
    """A first look, for most messages change nothing."""
    if english:
        return not _SIGNS_EN.isdisjoint([t.word for t in tokens])
    if not _SIGNS_ZH.isdisjoint([t.kind for t in tokens]):
        return True
    for sign in ("时间", "更新", "给", *_AGAIN_ZH):  # noqa: SIM110  (a generator costs more than all the look-ups)
        if sign in folded:
            return True
    return False


def _asks_otherwise(tokens: list[Token]) -> bool:
    """不要8点提醒我，9点提醒我; 取消8点的闹钟，9点叫我; don't remind me now, remind me at 5: one for another."""
    refused = next((i for i, t in enumerate(tokens) if t.kind in (K.NOT, K.CANCEL)), None)
    if refused is None:
        return False
    if any(t.kind is K.CREATE and t.n == 0 and at(tokens, i - 1).word in ("再", "重新") for i, t in enumerate(tokens)):
        return tokens[refused].kind is K.CANCEL  # 把闹钟删了再设一个
    asks = [
        i
        for i, t in enumerate(tokens)
        if i > refused
        and (t.kind in (K.ASK, K.NOUN) or t.word in REMINDING or (t.kind is K.CALL and at(tokens, i + 1).kind is K.ME))
    ]
    if len(asks) < 2 or not any(t.kind is K.PUNCT or t.word in ("but", "and") for t in tokens[asks[0] : asks[-1]]):
        return False
    if tokens[asks[-1]].kind is K.NOUN or at(tokens, asks[-1] - 1).kind is K.OF:
        return False  # 取消8点的闹钟，还有9点的提醒
    timed = any(_is_time(tokens, k) for k in range(asks[0] + 1, len(tokens)))
    return timed and all(t.kind in _BEFORE_REFUSED for t in tokens[refused + 1 : asks[0]])


def _is_time(tokens: list[Token], i: int) -> bool:
    """A time begins at `i`: a number only with what it counts, or at the end."""
    token, follow = at(tokens, i), at(tokens, i + 1)
    if token.kind is K.NUM:
        return i + 1 >= len(tokens) or follow.kind in _COUNTED or "." in token.word
    return token.kind in _TIMES


def _in_chinese(tokens: list[Token], folded: str, things: list[int], asking: int | None) -> bool:
    first = first_of_weight(tokens)
    again = any(folded.startswith(_AGAIN_ZH, t.start) for t in tokens[: first + 1])
    if again and not any(t.kind is K.CREATE and t.n == 0 for t in tokens):
        return True
    made = _made(tokens)
    for i, token in enumerate(tokens):
        if asking is not None and asking < i:
            return _changes_its_time(tokens, folded, asking)
        if made is not None and made < i:
            return False  # 设个明天9点的提醒，修改论文
        before = [k for k in things if k < i]
        if (token.kind is K.CHANGE and token.word[:1] > "z") or token.word == "更新":
            if _changes(tokens, folded, i, before, opens=i == first):
                return True
            if i == first and any(k > i for k in things):
                return True  # 修改吃药提醒
        if before and before[-1] == i - 1 and _shifts(tokens, folded, i):
            return True
        if before and token.kind in (K.NOT, K.LEAD) and _is_other(tokens, folded, i, before[-1]):
            return True
        if before and folded.startswith("时间", token.start) and at(tokens, i + 1).kind is not K.PUNCT:
            return any(_is_time(tokens, k) for k in range(i + 1, i + 5))  # 提醒时间设成6点
    return False


def _changes_its_time(tokens: list[Token], folded: str, asking: int) -> bool:
    """提醒我吃药的时间改成9点; but 晚上8点提醒我把闹钟改到6点 is a task."""
    change = next((k for k in range(asking, len(tokens)) if tokens[k].kind is K.CHANGE), None)
    if change is None or any(_is_time(tokens, k) for k in range(asking)):
        return False
    said = folded[tokens[asking].end : tokens[change].start].rstrip()
    return said.endswith(tuple("的" + trait for trait in _TRAITS)) and "把" not in said and "将" not in said


def _shifts(tokens: list[Token], folded: str, i: int) -> bool:
    """闹钟早十分钟响, 提醒晚半小时; 给吃药提醒加一个晚上8点的: behind the thing."""
    token, number = tokens[i], at(tokens, i + 1)
    if token.kind is K.PERIOD and token.end - token.start == 1 and number.kind in (K.NUM, K.HALF):
        return any(at(tokens, k).word in ("m", "h") for k in (i + 2, i + 3))
    given = any(t.word == "给" for t in tokens[: i - 1])
    return given and token.kind is K.CREATE and folded[token.start] in "加添再"


def _made(tokens: list[Token]) -> int | None:
    """The place of a verb that makes a new one; 设好的 and 设过的 speak of what exists."""
    for i, token in enumerate(tokens):
        makes = token.kind is K.CREATE and token.n == 0 and token.word[:1] > "z" and not token.word.endswith("好")
        if makes and at(tokens, i + 1).word not in _DONE_MARKS:
            return i
    return None


def _changes(tokens: list[Token], folded: str, i: int, before: list[int], *, opens: bool) -> bool:
    """The verb at `i` is about a thing before it (吃药提醒改到8点), or opens the message with a new time (改成9点)."""
    k = i + 1
    while at(tokens, k).word in _INTO or folded.startswith(("到", "成", "为", "至", "在"), at(tokens, k).start):
        if k >= len(tokens) or at(tokens, k).end - at(tokens, k).start > 1:
            break
        k += 1
    timed = _is_time(tokens, k)
    if not before:
        return opens and timed
    return timed or tokens[i].word.endswith(("时间", "期")) or _is_held(tokens, folded, before[-1])


def _is_held(tokens: list[Token], folded: str, thing: int) -> bool:
    """把吃药提醒…: what follows is done to it."""
    return any(folded[t.start] in "把将" for t in tokens[:thing])


def _is_other(tokens: list[Token], folded: str, i: int, thing: int) -> bool:
    """…提醒不要8点了，9点吧; 把会议提醒提前10分钟."""
    if not _is_time(tokens, i + 1):
        return False
    if tokens[i].kind is K.LEAD:
        return _is_held(tokens, folded, thing)
    end = next((k for k in range(i + 1, len(tokens)) if tokens[k].kind is K.PUNCT), len(tokens))
    return any(_is_time(tokens, k) for k in range(end, len(tokens)))


def _in_english(tokens: list[Token], things: list[int], asking: int | None) -> bool:
    put_off = asking is not None and at(tokens, first_of_weight(tokens)).word in _PUTTING_OFF
    if put_off or _is_instead(tokens):
        return True  # postpone it and remind me at 5
    if not things or (asking is not None and asking < things[0]):
        return False
    start = first_of_weight(tokens)
    while start and tokens[start - 1].word in _SETTING:
        start -= 1  # want, need: fillers elsewhere
    verb, thing = at(tokens, start), things[0]
    named = tokens[start + 1 : thing]
    if start >= thing or any(t.word in _INDEFINITE for t in named):
        return False
    if verb.kind is K.CHANGE:
        return True
    behind = tokens[things[-1] + 1 :]
    again = any(t.word in ("again", "back") for t in behind) or (named and named[0].word == "back")
    if verb.word in _STARTING and again:
        return True
    k = thing + 2 if at(tokens, thing + 1).kind is K.NUM else thing + 1
    if verb.word in _SETTING and k > thing + 1 and at(tokens, k).word == "to" and _is_time(tokens, k + 1):
        return True  # set reminder 2 to 9am
    if not any(t.word in _DEFINITE or t.n == 1 for t in named if t.kind is not K.NUM):
        return False
    timed = any(_is_time(tokens, k) for k in range(thing + 1, len(tokens)))
    if verb.word in _ALTERING or verb.word == "make":
        return timed and all(t.word != "off" for t in tokens)
    if verb.word == "add":
        return named[0].kind in (*_TIMES, K.NUM) and any(t.word == "to" for t in named)  # add 8pm to my pill reminder
    if verb.word not in _SETTING:
        return False
    into = at(tokens, thing + 1).word == "to" and any(t.kind is K.WORD and t.word not in _DEFINITE for t in named)
    return (into and _is_time(tokens, thing + 2)) or any(
        t.kind is K.NOT and _is_time(tokens, k + 1) for k, t in enumerate(tokens) if k > thing
    )


def _is_instead(tokens: list[Token]) -> bool:
    """… at 9 instead of 8; at 9pm instead: one time for another, not one task."""
    for i, token in enumerate(tokens):
        if token.word != "instead":
            continue
        if at(tokens, i + 1).kind is K.OF:
            k = i + 3 if at(tokens, i + 2).kind is K.AT else i + 2
            return _is_time(tokens, k) or (at(tokens, k).kind is K.NUM and at(tokens, k).word.isdigit())
        closes = all(t.kind in (K.PUNCT, K.FILLER, K.POLITE) for t in tokens[i + 1 :])
        return closes and at(tokens, i - 1).kind in (*_TIMES, K.NUM, K.POINT, K.UNIT)
    return False
