"""Recognises who wants to see the reminders that exist (我有哪些提醒, show my alarms)."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.things import first_of_weight
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_MADE = frozenset(words("了 过 好 的"))
"""Behind a verb of making they speak of what exists (我设过的)."""
_BEING = frozenset(words("are is alarms reminders timers"))
"""Before "set" they speak of what exists (which alarms are set, any alarms set)."""
_WHICH = frozenset(words("哪些 什么 几个 有哪些 有什么 多少个 几条 哪几个 啥 多少 有啥 都有啥 咩 乜 有没有 哪几条 哪"))
_MINE = frozenset(words("有 我 现在 还有 都 设 目前 还"))
_COUNTING = frozenset(words("几个 几条 清单 列表 多少个 多少条"))
_THINGS_EN = frozenset(words("reminders alarms timers"))
_ONE_EN = frozenset(words("reminder alarm timer"))
_SHOWING = frozenset(words("list show display view see check print give read pull bring review tell"))
_ASKING = frozenset(words("what which any do how what's whats have are is"))
_OWNED = frozenset(words("my i me active all pending have upcoming scheduled set current got left"))
_MISSING = frozenset(words("miss missed work works fail failed late wrong"))


def wants_overview(tokens: list[Token], asking: int | None) -> bool:
    """`tokens` speak of reminders as things; `asking` is the place of an asking verb with its person, if any."""
    if asking is not None:
        return tokens[0].word in ("list", "show") and at(tokens, asking + 2).word in ("about", "of")
    makes = any(
        t.kind is K.CREATE
        and t.word not in ("new", "book", "start")
        and t.n == 0
        and at(tokens, n + 1).word not in _MADE
        and at(tokens, n - 1).word not in _BEING
        for n, t in enumerate(tokens)
    )
    said = {t.word for t in tokens}
    if said & (_THINGS_EN | _ONE_EN):
        return not makes and _in_english(tokens, said)
    if any(t.kind is K.DONE and t.word in ("昨天", "没有", "了吗") for t in tokens) and not said & _WHICH:
        return False
    which = any(t.word in _WHICH for t in tokens)
    if makes and not (which and said & {"我", "都"}):
        return False
    if any(t.kind is K.LIST for t in tokens) or said & _COUNTING or any(t.kind is K.FEW for t in tokens):
        return True
    return which and bool(said & _MINE)


def _in_english(tokens: list[Token], said: set[str]) -> bool:
    first = at(tokens, first_of_weight(tokens)).word
    plural, mine = bool(said & _THINGS_EN), bool(said & _OWNED)
    if first in _SHOWING:
        return (plural or "list" in said) and not said & {"how", "why"}
    if first == "my":
        return plural and len(tokens) <= 3  # "my reminders", and no more
    if first in _THINGS_EN | _ONE_EN:
        return len(tokens) <= 3 and (plural and len(tokens) == 1 or "list" in said)
    if first in _ASKING and not said & _MISSING:
        there = first in ("any", "which") or mine
        return there and (plural or "list" in said or (first == "do" and "have" in said)) and bool(
            said & {"are", "have", "is", "got", "what's", "any", "list", "left"} or not said & {"set"}
        )
    return False
