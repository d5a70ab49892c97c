"""What a message that manages reminders calls them by: 吃药 of 把吃药的提醒删掉, rent of cancel my rent reminder.

The times it names are left out of the words; that there were some is said beside them.
"""

from __future__ import annotations

from typing import NamedTuple

from kernel.schedule.clocks import at
from kernel.schedule.grammar import find_phrases
from kernel.schedule.places import named_places
from kernel.schedule.things import REMINDING, first_of_weight, is_one, is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind


class Named(NamedTuple):
    """How they are called: the words of their task, whether a time was named too, whether all, which of the list."""

    body: str
    has_time: bool
    is_all: bool
    places: tuple[int, ...]


_DETERMINERS = frozenset(words("the my our that this those these all any every a an no each your of for last both"))
_PREPOSITIONS = frozenset(words("to about for on of re regarding that"))
_POINTING = frozenset(words("那个 这个 那条 这条 那 这 个 条 的 刚才 刚刚 之前 一下"))
_WHOLE = frozenset(words("所有 全部 我的 我 一切 每个 目前 全 整个 其他 上一个 上个 刚 设"))
_STOPS = frozenset({K.PUNCT, K.CANCEL, K.PAUSE, K.LIST, K.NOT, K.HELP, K.ME, K.YOU, K.DONE, K.CREATE, K.POLITE})
_ALL_ZH = words("所有 全部 一切 清空 全都 统统 通通 删光 清光 取消晒 都删 都取消 都关 都撤 都清")
_ALL_EN = frozenset(words("all everything"))
_HEADS_ZH = (
    "晒所有",
    "晒全部",
    "所有的",
    "所有",
    "全部的",
    "全部",
    "一切",
    "关于",
    "有关",
    "之前",
    "条",
    "个",
    "的",
    "那些",
    "这些",
)
_POINTED = ("的那个", "的那条", "的这个", "的这条", "那个", "那条", "这个", "这条")
_TAILS_ZH = ("的", "了", "相关", "那条", "这条", "那些", "这些", "这事", "的事", "那")
"""Parts of a run of characters that call no task."""
_SENT = frozenset(words("发 推 推送 发送 报 播报"))
_ENDS = frozenset(
    words(
        "pings nudges notifications alerts 了 吧 啊 呀 喇 啦 他 哈 呢 吗 么 先 再 都 也 please thanks anymore more any"
    )
)
_REST_OF_SENTENCE = frozenset(words("anymore until while because since thanks please but"))


def named(text: str, folded: str, tokens: list[Token]) -> Named:
    """What `text` (its folded form, its tokens) calls the reminders it manages."""
    taken = bytearray(len(tokens))
    places = named_places(tokens, folded)
    phrases = [f for f in find_phrases(tokens) if not any(i < f.j and f.i < j for _, i, j in places)]
    for i, j in (*((f.i, f.j) for f in phrases), *((i, j) for _, i, j in places)):
        taken[i:j] = b"\x01" * (j - i)
    run = _task(tokens) or _label(folded, tokens, taken) or (None if _says_verb(tokens) else _bare(tokens))
    body = _said(text, folded, tokens, *_trimmed(tokens, taken, *run)) if run else ""
    return Named(body, bool(phrases), _are_all(folded, tokens), tuple(n for n, _, _ in places))


def called(text: str, folded: str, tokens: list[Token], i: int, j: int) -> str:
    """What the tokens from `i` to `j` call something, without the times, determiners and particles."""
    taken = bytearray(len(tokens))
    for f in find_phrases(tokens):
        taken[f.i : f.j] = b"\x01" * (f.j - f.i)
    return _said(text, folded, tokens, *_trimmed(tokens, taken, i, j))


def _says_verb(tokens: list[Token]) -> bool:
    """stop pinging me: what is to stop is named by its verb alone."""
    return any(t.word in REMINDING for t in tokens)


def _are_all(folded: str, tokens: list[Token]) -> bool:
    return any(t.word in _ALL_EN for t in tokens) or any(word in folded for word in _ALL_ZH)


Run = tuple[int, int]
"""Tokens from one place to another."""


def _task(tokens: list[Token]) -> Run | None:
    """Behind the verb and its person: 别再提醒我 X, stop reminding me about X."""
    for i, token in enumerate(tokens):
        spoken = token.kind in (K.ASK, K.CALL) and (token.word[:1] > "z" or at(tokens, i + 1).kind is K.ME)
        reminds = spoken or token.word in REMINDING
        if not reminds or (token.kind is K.ASK and is_thing(tokens, i) and at(tokens, i + 1).kind is not K.ME):
            continue
        j = i + 1
        while at(tokens, j).kind is K.ME or at(tokens, j).word in ("up", *_PREPOSITIONS):
            j += 1
        if j == i + 1 and token.word[:1] > "z" and at(tokens, i - 1).kind is not K.NOT:
            continue
        return (j, _clause_end(tokens, j)) if j < len(tokens) else None
    return None


def _clause_end(tokens: list[Token], j: int) -> int:
    """The end of the clause from `j` on."""
    k = j
    while k < len(tokens) and tokens[k].kind not in (K.PUNCT, K.NOT) and tokens[k].word not in _REST_OF_SENTENCE:
        if tokens[k].kind is K.OF and k + 1 < len(tokens) and is_thing(tokens, k + 1):
            break  # 叫我起床的闹钟
        k += 1
    return k


def _label(folded: str, tokens: list[Token], taken: bytearray) -> Run | None:
    """Beside the thing: 吃药的提醒, the rent reminder, the reminder about milk, my reminder to pay."""
    things = [i for i in range(len(tokens)) if is_thing(tokens, i)]
    for i in things:
        english = "a" <= tokens[i].word[:1] <= "z"
        follow = at(tokens, i + 2)
        names = at(tokens, i + 1).word in _PREPOSITIONS and follow.word not in ("now", "hold", "end", "pause")
        if english and names and i + 2 < len(tokens) and not taken[i + 1]:
            end = _clause_end(tokens, i + 2)
            if any(not taken[k] for k in range(i + 2, end)):
                return i + 2, end
        end = i
        while end > 0 and (tokens[end - 1].word in _POINTING or tokens[end - 1].kind is K.NOUN):
            end -= 1
        start = end
        while start > 0 and not _stops(folded, tokens, start - 1):
            start -= 1
        if any(not taken[k] and tokens[k].word not in _WHOLE for k in range(start, end)):
            return start, end
    return None


def _stops(folded: str, tokens: list[Token], k: int) -> bool:
    """Token `k` opens the label: a verb of doing away, a determiner, 把."""
    token = tokens[k]
    if token.word in ("把", "将") or token.word in _DETERMINERS or token.word in ("off", "rid", "every"):
        return True
    if token.kind is K.TEXT and folded[token.start : token.end].startswith(("把", "将")):
        return False
    if token.kind is K.PUNCT and token.word in "-/'":
        return False
    if token.word in _SENT and at(tokens, k - 1).kind in (K.NOT, K.FILLER, K.HELP):
        return True  # 不要再发天气提醒
    doing = token.kind in (K.NOW, K.WORD, K.EXCEPT) and k == 0 and "a" <= token.word[:1] <= "z" and len(tokens) > 2
    return token.kind in _STOPS or doing


def _bare(tokens: list[Token]) -> Run | None:
    """unschedule the Friday report: no thing at all."""
    if not tokens or any(is_thing(tokens, i) for i in range(len(tokens))) or not tokens[0].word.isascii():
        return None
    start = next((k + 1 for k, t in enumerate(tokens) if t.word == "about"), first_of_weight(tokens) + 1)
    sent = next((k for k, t in enumerate(tokens) if t.word in _ENDS and t.word.endswith("s")), 0)
    label = [t for t in tokens[1:sent] if t.word not in (*_DETERMINERS, "more")]
    if sent and not label and at(tokens, sent + 1).word in _PREPOSITIONS:
        start = sent + 2  # no more notifications for the gym
    return start, _clause_end(tokens, start)


def _trimmed(tokens: list[Token], taken: bytearray, i: int, j: int) -> Run:
    """Without the times, determiners and particles at both ends."""
    while i < j and (
        taken[i]
        or tokens[i].kind is K.AND
        or tokens[i].word in (*_DETERMINERS, *_POINTING, *_WHOLE, *_PREPOSITIONS, "把", "将", "再", "去", "in", "at")
        or (tokens[i].kind is K.FILLER and tokens[i].word != "还")
        or tokens[i].kind in (K.HABIT, K.QUOTE, K.PUNCT, K.POLITE, K.HELP, K.AT)
        or _is_days(tokens[i])
    ):
        i += 1
    while j > i and (
        taken[j - 1]
        or tokens[j - 1].word in (*_ENDS, *_POINTING)
        or is_one(tokens[j - 1])
        or tokens[j - 1].kind in (K.FILLER, K.QUOTE, K.PUNCT, K.OF, K.POLITE)
    ):
        j -= 1
    return i, j


def _is_days(token: Token) -> bool:
    """tomorrow's, Friday's."""
    return (
        token.kind is K.WORD and token.n == 1 and token.word.removesuffix("'s").endswith(("day", "tomorrow", "tonight"))
    )


def _said(text: str, folded: str, tokens: list[Token], i: int, j: int) -> str:
    if i >= j:
        return ""
    start = tokens[i].start
    if tokens[i].kind is K.TEXT and folded[start] in "把将" and tokens[i].end - start > 1:
        start += 1
    said = text[start : tokens[j - 1].end].strip()
    if said.startswith("第") and len(said) <= 3:
        return ""  # 第二个提醒
    for pointed in _POINTED:
        said = said.partition(pointed)[0] or said  # 提醒我开会的那个删掉
    while head := next((h for h in _HEADS_ZH if said.startswith(h)), ""):
        said = said[len(head) :].lstrip()
    while tail := next((t for t in _TAILS_ZH if said.endswith(t)), ""):
        said = said[: -len(tail)].rstrip()
    return said
