"""Recognises words that manage existing reminders: cancel, list, pause, or change them."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.values import Manage

K = Kind

_THINGS = frozenset(
    words(
        "提醒 闹钟 闹铃 定时 定时任务 定时提醒 倒计时 计时器 定时器 提醒事项 闹表 计时 日程 "
        "reminder reminders alarm alarms timer timers remind countdown"
    )
)
_MADE = frozenset(words("了 过 好 的"))
_BEING = frozenset(words("are is alarms reminders timers"))
"""Before "set" they speak of what exists (which alarms are set, any alarms set)."""
_FOR_NOW = frozenset(words("先别 先不要 先不用 暂停"))
_BRIEF = frozenset(words("今天 明天 本周 这周 下周 until for today tomorrow"))


def _is_thing(tokens: list[Token], i: int) -> bool:
    """A reminder as a thing: 提醒 not followed by the person it would remind."""
    token = tokens[i]
    if (token.kind is K.ASK and token.word in ("提醒", "remind")) or token.kind is K.NOUN or token.word in _THINGS:
        return at(tokens, i + 1).kind not in (K.ME, K.MENTION, K.PERSON, K.YOU) or token.kind is K.NOUN
    return False


def managed(tokens: list[Token]) -> Manage | None:
    """What the message wants done with reminders that exist; None when nothing."""
    head = [t for t in tokens if t.kind is not K.MENTION][:40]
    if any(t.kind is K.QUESTION and t.word in _HOW and at(head, n + 1).word != "many" for n, t in enumerate(head)):
        return None
    negated = _refused(head)
    if negated:
        return negated
    things = [i for i in range(len(head)) if _is_thing(head, i)]
    if not things:
        return _bare(head)
    asking = next(
        (
            i
            for i, t in enumerate(head)
            if t.kind in (K.ASK, K.CALL) and at(head, i + 1).kind in (K.ME, K.MENTION, K.PERSON)
        ),
        None,
    )
    for kind, manage in ((K.PAUSE, Manage.PAUSE), (K.CANCEL, Manage.CANCEL)):
        for i, token in enumerate(head):
            off = (
                kind is K.CANCEL
                and token.word in ("turn", "switch", "shut")
                and "off" in (at(head, i + 1).word, at(head, len(head) - 1).word)
            )
            off |= kind is K.CANCEL and token.word == "get" and at(head, i + 1).word == "rid"
            if (token.kind is kind or off) and (asking is None or i < asking) and _acts_on(head, i, things):
                return manage
    if asking is None and _let_go(head):
        return Manage.CANCEL
    return _listed(head, asking)


def _let_go(tokens: list[Token]) -> bool:
    """…的提醒不用了, …的闹钟算了吧: refused at the end of the message, with no question."""
    end = len(tokens)
    while end and tokens[end - 1].kind in (K.PUNCT, K.FILLER, K.NOT):
        end -= 1
    tail = [t.word for t in tokens[end:]]
    refused = any(each in ("不用", "不要", "不需要", "不必") for each in tail) and "了" in tail
    return refused or (at(tokens, end - 1).word == "算" and "了" in tail)


_HOW = frozenset(words("怎么 怎样 如何 为什么 为啥 为何 怎么办 怎么样 why how 点解 会不会 要不要 是不是"))


def _acts_on(tokens: list[Token], i: int, things: list[int]) -> bool:
    """The verb stands before or after the thing with no past mark and no third person beside it."""
    if at(tokens, i - 1).kind is K.DONE or at(tokens, i - 1).word in ("已", "被", "没", "i", "已经"):
        return False
    first = next((t for t in tokens if t.kind not in (K.FILLER, K.POLITE, K.PUNCT, K.HELP)), None)
    if first is not None and first.kind is K.PERSON:
        return False
    if tokens[0].word in ("i", "我") and at(tokens, i).word.endswith("了") and len(tokens) > 2:
        return at(tokens, len(tokens) - 1).word in ("吧",) or tokens[-1].kind is K.FILLER
    return bool(things)


_SKIPPED_WORDS = frozenset(words("再 每天 老 天天 me 给我"))
_REMINDING = frozenset(words("reminding pinging nudging alerting notifying"))


def _refused(tokens: list[Token]) -> Manage | None:
    """别再提醒我…, 不用提醒了, stop reminding me, no need to remind me."""
    for i, token in enumerate(tokens):
        if token.kind not in (K.NOT, K.CANCEL):
            continue
        needless = token.word == "no" and at(tokens, i + 1).word == "need" and at(tokens, i + 2).word == "to"
        if not _is_reminding(tokens, i + 3 if needless else _refused_verb(tokens, i), token):
            continue
        mere = token.word in ("no", "没") or (token.word == "not" and at(tokens, i - 1).word != "do")
        if token.kind is K.NOT and mere and not needless:
            continue
        return Manage.PAUSE if token.word in _FOR_NOW or _is_brief(tokens) else Manage.CANCEL
    return None


def _refused_verb(tokens: list[Token], i: int) -> int:
    """The place of the verb that the refusal at `i` speaks of; in Chinese a time or a task may stand between."""
    k = i + 1
    while at(tokens, k).kind in (K.FILLER, K.HABIT, K.DAILY) or at(tokens, k).word in _SKIPPED_WORDS:
        k += 1
    chinese = tokens[i].word[:1] > "z" or (tokens[i].kind is K.NOT and tokens[i].word[:1] < "a")
    if not chinese:
        return k
    far = next((n for n in range(k, min(k + 9, len(tokens))) if tokens[n].kind in (K.PUNCT, K.ASK, K.CALL)), k)
    return far if at(tokens, far).kind in (K.ASK, K.CALL) and at(tokens, far + 1).kind is K.ME else k


def _is_reminding(tokens: list[Token], k: int, refusal: Token) -> bool:
    verb = at(tokens, k)
    if (verb.kind is K.ASK and verb.word != "吱一声") or verb.word in _REMINDING:
        return True
    to_me = verb.kind is K.CALL and at(tokens, k + 1).kind is K.ME
    return to_me and refusal.kind is K.NOT and _is_about_time(tokens)


def _is_brief(tokens: list[Token]) -> bool:
    """For today, this week, three days: a pause, no end."""
    return any(
        t.word in _BRIEF
        or t.kind in (K.DAY, K.NEXT)
        or "这两天" in t.word
        or (t.kind is K.NUM and at(tokens, n + 1).kind is K.UNIT)
        for n, t in enumerate(tokens)
    )


def _is_about_time(tokens: list[Token]) -> bool:
    """别叫我 alone is talk; with getting up, a day or "again" it is about an alarm."""
    return any(
        t.kind in (K.DAY, K.DAILY, K.POINT, K.CLOCK)
        or t.word in ("起床", "起来", "起身", "了")
        or t.word.endswith("再")
        for t in tokens
    )


def _bare(tokens: list[Token]) -> Manage | None:
    """unschedule the Friday report: a verb that can only mean reminders."""
    first = next((t for t in tokens if t.kind not in (K.FILLER, K.POLITE, K.PUNCT)), None)
    return Manage.CANCEL if first is not None and first.word == "unschedule" else None


def _listed(tokens: list[Token], asking: int | None) -> Manage | None:
    if asking is not None:
        told = tokens[0].word in ("list", "show") and at(tokens, asking + 2).word in ("about", "of")
        return Manage.LIST if told else None
    which = any(
        t.word in ("哪些", "什么", "几个", "有哪些", "有什么", "多少个", "几条", "哪几个", "啥") for t in tokens
    )
    makes = any(
        t.kind is K.CREATE
        and t.word not in ("new", "book", "start")
        and at(tokens, n + 1).word not in _MADE
        and at(tokens, n - 1).word not in _BEING
        for n, t in enumerate(tokens)
    )
    if makes:
        return None
    english = any(t.word in ("reminder", "reminders", "alarm", "alarms", "timer", "timers") for t in tokens)
    words = {t.word for t in tokens}
    if english and words & {"no"} and "more" in words:
        return Manage.CANCEL
    if english:
        first = next((t.word for t in tokens if t.kind not in (K.FILLER, K.POLITE, K.PUNCT)), "")
        mine = words & {"my", "i", "me", "active", "all", "pending", "have", "upcoming", "scheduled"}
        if first in ("list", "show", "display", "view", "see") and words & {"reminders", "alarms", "timers"}:
            return Manage.LIST
        if (
            first in ("what", "which", "any", "do", "how", "what's", "whats")
            and (mine or first in ("any", "which"))
            and words & {"reminders", "alarms", "timers", "list"}
            and (words & {"are", "have"} or not words & {"set", "miss", "missed"})
        ):
            return Manage.LIST
        return None
    if (
        any(t.kind is K.LIST for t in tokens)
        or words & {"几个", "几条", "清单"}
        or any(t.kind is K.FEW for t in tokens)
    ):
        return Manage.LIST
    if which and words & {"有", "我", "现在", "还有"}:
        return Manage.LIST
    return None
