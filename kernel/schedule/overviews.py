"""Recognises who wants to see the reminders that exist (我有哪些提醒, show my alarms)."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.things import first_of_weight, is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_MADE = frozenset(words("了 过 好 的"))
"""Behind a verb of making they speak of what exists (我设过的)."""
_ORDERING = frozenset(words("to i can and please you we should could do help me"))
"""Before "set" they speak of making one; else it is one that is set already (which alarms are set)."""
_WHICH = frozenset(words("哪些 什么 几个 有哪些 有什么 多少个 几条 哪几个 啥 多少 有啥 都有啥 咩 乜 哪几条 哪"))
_MINE = frozenset(words("有 我 现在 还有 都 设 目前 还"))
_COUNTING = frozenset(words("几个 几条 清单 列表 多少个 多少条"))
_THINGS_EN = frozenset(words("reminders alarms timers"))
_ONE_EN = frozenset(words("reminder alarm timer"))
_SHOWING = frozenset(words("list show display view see check print give read pull bring review tell"))
_ASKING = frozenset(words("what which any do how what's whats have are is"))
_OWNED = frozenset(words("my i me active all pending have upcoming scheduled set current got left"))
_ADVICE = frozenset(words("推荐 介绍 解释 建议 分析 比较 对比 评价"))
_MISSING = frozenset(words("miss missed work works fail failed late wrong"))


_PLANNED = frozenset(words("scheduled planned lined"))


def owns_plans(tokens: list[Token], folded: str) -> bool:
    """show me everything you have scheduled: what the assistant itself is to do."""
    if "you" not in folded:
        return False
    for i, token in enumerate(tokens):
        if token.word not in _PLANNED:
            continue
        before = [t.word for t in tokens[max(i - 4, 0) : i]]
        mine = "you've" in before or ("you" in before and "have" in before)
        return mine and (tokens[first_of_weight(tokens)].word in _SHOWING | {"what", "what've", "anything"})
    return False


def wants_overview(tokens: list[Token], asking: int | None) -> bool:
    """`tokens` speak of reminders as things; `asking` is the place of an asking verb with its person, if any."""
    if asking is not None:
        first, follow = first_of_weight(tokens), at(tokens, asking + 2).word
        if first == asking:  # tell me all my reminders
            return follow in ("all", "my", "what", "which") and any(t.word in _THINGS_EN for t in tokens)
        to_come = any(t.kind in (K.FOR, K.NEXT) or (t.kind is K.DAY and t.n >= 0) for t in tokens[:asking])
        told = (K.DONE, K.QUESTION) if to_come else (K.DONE, K.YOU, K.QUESTION)
        told_before = any(t.kind in told for t in tokens[:asking])
        if asking + 2 >= len(tokens) and any(t.word in ("哪些", "哪几个", "哪几条") for t in tokens[:asking]):
            return True  # 哪些事你还要提醒我
        if follow == "的" and asking + 3 >= len(tokens) and any(t.word in _WHICH for t in tokens[:asking]):
            return True  # 还有哪些要提醒我的
        if tokens[asking].word == "提醒" and follow in _WHICH and not told_before:
            return sum(t.kind is not K.PUNCT for t in tokens[asking + 3 :]) <= 1  # 今天要提醒我哪些事
        return tokens[first].word in ("list", "show") and follow in ("about", "of")
    start = first_of_weight(tokens)
    makes = any(
        t.kind is K.CREATE
        and t.word not in ("new", "book", "start")
        and t.n == 0
        and at(tokens, n + 1).word not in _MADE
        and (t.word[:1] > "z" or n == start or at(tokens, n - 1).word in _ORDERING)
        and at(tokens, n - 2).word not in ("have", "did")
        for n, t in enumerate(tokens)
    )
    said = {t.word for t in tokens}
    if said & (_THINGS_EN | _ONE_EN):
        return not makes and _in_english(tokens, said)
    if any(t.kind is K.DONE and t.word in ("昨天", "没有", "了吗") for t in tokens) and not said & _WHICH:
        return False
    if tokens[first_of_weight(tokens)].word == "有没有" and is_thing(tokens, _last(tokens)):
        return True
    if tokens[start].kind is K.NEXT and tokens[start].n > 0 and is_thing(tokens, start + 1):
        return any(t.kind is K.QUESTION for t in tokens[start + 2 :])  # 下一个提醒是什么时候
    which = any(t.word in _WHICH and not _asks_of_other(tokens, i) for i, t in enumerate(tokens))
    if said & _WHICH and not which:
        return False
    if said & _ADVICE:
        return False
    if makes and not (which and said & {"我", "都"}):
        return False
    if _names_only_them(tokens):
        return True
    if any(t.kind is K.LIST for t in tokens) or said & _COUNTING or any(t.kind is K.FEW for t in tokens):
        return True
    return which and bool(said & _MINE)


_LIGHT = frozenset(
    {K.FILLER, K.POLITE, K.HELP, K.PUNCT, K.ME, K.OF, K.LIST, K.HABIT, K.DAY, K.PERIOD, K.WEEKDAY, K.NEXT, K.YOU}
)


def _names_only_them(tokens: list[Token]) -> bool:
    """所有提醒, 帮我查下后天的提醒: nothing but a look, whose, and when."""
    rest = [t for i, t in enumerate(tokens) if t.kind not in _LIGHT and not is_thing(tokens, i)]
    whole = bool(rest) and all(t.word in ("所有", "全部", "w", "M") for t in rest)
    mine = any(t.kind is K.ME and at(tokens, i + 1).kind is K.OF for i, t in enumerate(tokens))
    return (whole or not rest) and (mine or whole or any(t.kind is K.LIST for t in tokens))


def _asks_of_other(tokens: list[Token], i: int) -> bool:
    """提醒和闹钟有什么区别: the question word goes with another noun than a reminder before it."""
    follow = at(tokens, i + 1)
    other = follow.kind is K.TEXT and follow.start == tokens[i].end
    return other and not any(is_thing(tokens, k) for k in range(i + 1, len(tokens)))


def _last(tokens: list[Token]) -> int:
    """The place of the last word."""
    return max((i for i, t in enumerate(tokens) if t.kind not in (K.PUNCT, K.FILLER)), default=0)


def _in_english(tokens: list[Token], said: set[str]) -> bool:
    start = first_of_weight(tokens)
    first = at(tokens, start).word
    plural, mine = bool(said & _THINGS_EN), bool(said & _OWNED)
    if first in _SHOWING:
        return (plural or "list" in said) and not said & {"how", "why"}
    if first == "my":
        weighty = sum(t.kind not in (K.PUNCT, K.FILLER, K.POLITE) for t in tokens)
        return plural and weighty <= 3  # "my reminders", and no more
    if first in ("what", "what's", "when", "when's") and "next" in said and said & {"my", "the"}:
        return True
    if first in _THINGS_EN | _ONE_EN:
        return len(tokens) <= 3 and ((plural and len(tokens) == 1) or "list" in said)
    if first in _ASKING and not said & _MISSING:
        follow = at(tokens, start + 1).word
        timed = any(t.kind in (K.DAY, K.WEEKDAY, K.PERIOD, K.NEXT) for t in tokens)
        named = follow in _THINGS_EN and (first not in ("are", "is") or timed)  # are reminders free?
        there = first in ("any", "which") or mine or named or (follow == "there" and "any" in said)
        return (
            there
            and (plural or "list" in said or (first == "do" and "have" in said))
            and bool(said & {"are", "have", "is", "got", "what's", "any", "list", "left"} or not said & {"set"})
        )
    return False
