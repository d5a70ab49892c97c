"""Tells a question to the assistant from a request: an asking form inside a question mostly asks for an answer."""

from __future__ import annotations

from kernel.schedule.asks import Ask
from kernel.schedule.clocks import at
from kernel.schedule.tokens import Kind, Token, words

K = Kind

CONDITIONS = frozenset(words("如果 假如 要是 假设 万一 倘若 if unless"))
_POSSIBLE = frozenset(words("possible mind"))
_MODAL = frozenset(words("can could would will"))
_TAILS = frozenset(words("吗 么 没 咩 嘛 意思 干嘛 什么 为什么 right"))
_DONE_TAILS = frozenset(words("了吗 过吗 没有 了没 了没有"))
_POLITE_QUESTIONS = frozenset(words("吗 么 有没有 是否 会不会"))
_VERDICTS = frozenset(
    words(
        "意思 什么意思 啥意思 怎么写 怎么说 怎么办 怎么回 怎么回复 怎么答 怎么处理 怎么弄 怎么样 对吗 对不对 合法吗 "
        "好不好"
    )
)
_ASKING = frozenset({K.QUESTION, K.DONE, K.POLITE})
"""Kinds of words without one of which, and without a question mark, nothing is asked in Chinese."""
_HOW = frozenset(words("why how what did does whether"))


def is_inquiry(tokens: list[Token], ask: Ask, taken: bytearray, *, has_time: bool, english: bool) -> bool:
    """The asking form stands in a question; `taken` marks the tokens of the schedule.

    A polite question with all details (可以每天7点提醒我吗？) is a request.
    """
    tail = [t for t in tokens[-4:] if t.kind is not K.PUNCT or t.word == "?"]
    last = next((t for t in reversed(tail) if t.kind not in (K.PUNCT, K.FILLER)), None)
    if last is not None and last.word in ("right", "合适", "对吗") and "?" in tokens[-1].word:
        return True
    before = [tokens[k] for k in range(ask.i) if not taken[k]]
    if english:
        return _in_english(tokens, ask, before, has_time=has_time)
    if _ASKING.isdisjoint([t.kind for t in tokens]) and tokens[-1].word != "?":
        return _speaks_of_one(tokens, ask)
    if any(t.word in _DONE_TAILS for t in tokens[-4:]):
        return True
    asks_back = last is not None and last.kind is K.QUESTION and last.word in _TAILS
    return _in_chinese(tokens, ask, before, has_time=has_time, asks_back=asks_back)


def _in_english(tokens: list[Token], ask: Ask, before: list[Token], *, has_time: bool) -> bool:
    start = _past_greeting(tokens)
    if start == len(tokens):
        return False
    if (not has_time and _wants_answer(tokens, ask)) or _recalls(tokens, ask):
        return True
    first = tokens[start]
    if first.kind is K.QUESTION and first.word != "will" and not any(t.word in ("i", "we") for t in tokens[:start]):
        return not any(t.word in _POSSIBLE for t in tokens[:4])
    return any(t.kind is K.QUESTION and t.word in _HOW for t in before)


def _recalls(tokens: list[Token], ask: Ask) -> bool:
    """remind me what we did at 8, remind me again why …: to be told now; "what to buy" is a task."""
    behind = ask.j + 1 if at(tokens, ask.j).word == "again" else ask.j
    if at(tokens, behind).kind is K.PUNCT and at(tokens, behind + 1).kind is K.QUESTION:
        return tokens[-1].word == "?"  # remind me, is the meeting at 3?
    asked = tokens[ask.i].kind is K.ASK and at(tokens, behind).word in _RECALLED
    return asked and at(tokens, behind + 1).word != "to"


_RECALLED = frozenset(words("what why how who where which whose did"))


def _wants_answer(tokens: list[Token], ask: Ask) -> bool:
    """remind me what we decided; tell me if …; is there a reminder?"""
    behind = ask.j + 1 if at(tokens, ask.j).word == ":" else ask.j
    if at(tokens, behind).kind in (K.QUESTION, K.OF):
        return True
    if tokens[ask.i].kind is K.CALL and at(tokens, ask.j).word == "if":
        return True
    names_more = ask.j < len(tokens) and tokens[ask.j].kind is K.WORD
    return ask.is_noun and (tokens[-1].word == "?" or names_more)


def _in_chinese(tokens: list[Token], ask: Ask, before: list[Token], *, has_time: bool, asks_back: bool) -> bool:
    polite = any(t.kind is K.POLITE for t in tokens)
    asked = any(t.kind is K.QUESTION for t in tokens)
    if any(t.kind is K.QUESTION and t.word != "嘛" for t in before):
        return not (polite and all(t.word in _POLITE_QUESTIONS for t in before if t.kind is K.QUESTION))
    untargeted = not has_time and at(tokens, ask.i + 1).kind not in (K.ME, K.MENTION, K.PERSON)
    if asked and (untargeted or any(t.word in CONDITIONS for t in before)):
        return True
    if not has_time and any(t.kind is K.QUESTION for t in tokens[-3:]):
        return True
    if _speaks_of_one(tokens, ask):
        return True
    if not polite and any(
        t.word in ("吗", "么") and at(tokens, k + 1).word == "?" for k, t in enumerate(tokens) if k >= ask.j
    ):
        return True  # 明早8点你会叫我吗？我怕起不来
    if asks_back:
        return not polite or not has_time
    if any(t.word == "哪个" for t in tokens[-3:]) and at(tokens, ask.j - 1).kind is not K.ME:
        return True  # 8点提醒和9点提醒哪个好
    if any(t.kind is K.QUESTION and t.word in _VERDICTS for t in tokens[-5:]) and not (polite and has_time):
        return True
    return not has_time and tokens[-1].word == "?" and (asked or polite)


def _speaks_of_one(tokens: list[Token], ask: Ask) -> bool:
    """提醒我的那个任务 speaks of a reminder that exists."""
    return at(tokens, ask.j).word == "的" and at(tokens, ask.j - 1).kind is K.ME and ask.j + 1 < len(tokens)


def _past_greeting(tokens: list[Token]) -> int:
    """The place of the first token that is no filler, mention or punctuation."""
    i = 0
    while (
        i < len(tokens)
        and tokens[i].kind in (K.FILLER, K.PUNCT, K.MENTION, K.POLITE, K.QUOTE)
        and tokens[i].word not in _MODAL
    ):
        i += 1
    return i
