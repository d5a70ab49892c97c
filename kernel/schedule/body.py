"""Cuts the body out of a message: the task without its time, its asking form, its fillers."""

from __future__ import annotations

from kernel.schedule.asks import Ask
from kernel.schedule.clocks import at
from kernel.schedule.phrases import Count, Found, Lasting, Until
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_START = frozenset(
    words(
        "一下 一声 记得 别忘了 别忘记 不要忘了 不要忘记 千万别忘 务必 一定 一定要 内容是 内容为 "
        "内容 主题是 主题 事项是 事项 吧 哈 啊 的 的时候 时候 到点 到点了 一次 "
        "一遍 一回 好吗 也 都 请 麻烦 可以吗 了 to that about please 是 我 and re regarding ok "
        "okay 哦 所以 然后 以后 名字叫 标题 备注 pls plz 帮我 给我 能 你 您 你好 您好 小助手 "
        "助手 机器人 会 都会 都要 可以 能不能 可不可以 我想让你 想让你 我要 我想 今后 就 for on "
        "at of saying , hey hi hello so then also can could would will "
        "called named titled 一起 to_be 应该 时间: 时间是 时间为 别让我忘了 千万 就是 整 the_next"
    )
)
_END = frozenset(
    words(
        "吧 啊 呀 哦 喔 哈 啦 呢 呗 嘛 哟 噢 咯 谢谢 多谢 谢啦 谢了 感谢 辛苦了 拜托了 拜托 好吗 "
        "就好了 就行了 就好 就行 行吗 可以吗 好么 成吗 行不行 好不好 吗 么 please thanks thank thx cheers pls plz "
        "哇 唔该 "
        "从现在起 从现在开始 现在起 现在开始 从今往后 从今以后 今后 由而家开始 由而家起 从而家起 而家开始 而家起 "
        "的 记得 ok okay 可以不 喂 亲 you to and 麻烦 请 嗯 的时候 到时候 就 by 一下哈"
    )
)
_KEEP_PUNCT_START = frozenset("(<#")


def cut_body(text: str, tokens: list[Token], found: list[Found], ask: Ask | None, *, whole: bool) -> str:
    """The body in the message's own characters; `whole` joins what stands before the ask and after it."""
    removed = bytearray(len(tokens))
    for each in found:
        for k in range(each.i, each.j):
            removed[k] = 1
    if ask is None:
        return _text(text, tokens, removed, 0, len(tokens))
    for k in range(ask.i, ask.j):
        removed[k] = 1
    _keep_verb(text, tokens, ask, removed)
    _drop_bound_verbs(tokens, found, ask, removed)
    _drop_light(tokens, removed, ask.j, len(tokens))
    after = _text(text, tokens, removed, ask.j - (not removed[ask.j - 1]), len(tokens))
    named = after if after and not whole and _is_only_name(text, tokens, removed, ask) else ""
    if after and not whole and not named:
        return after
    if ask.inner is not None:
        marks = bytearray(len(tokens))
        for each in found:
            marks[each.i : each.j] = b"\x01" * (each.j - each.i)
        first, last = ask.inner
        while first < last and (
            tokens[first].word in ("a", "the", "个", "new", "my", "our")
            or tokens[first].n == 1
            or tokens[first].kind is K.NUM
            or marks[first]
        ):
            first += 1
        within = _text(text, tokens, marks, first, last)
        if len(within) > 1:
            return within
    i = 0
    while i < ask.i and tokens[i].kind in (K.MENTION, K.PUNCT):
        removed[i] = 1
        i += 1
    _drop_light(tokens, removed, 0, ask.i)
    inside = _text(text, tokens, removed, 0, ask.i)
    if named:
        return f"{named}{'' if named[0] > 'z' else ', '}{inside}" if inside else named
    if whole and after and inside:
        return f"{inside}，{after}" if any("一" <= c <= "鿿" for c in inside) else f"{inside}, {after}"
    return after or inside


VERBS = frozenset(
    "食饮飲買覆复攞睇煲交吃喝买打开关拿带看写发做洗收接送去回查量填签叫找给问订退取换改喂记报上出起睡走跑练学读背还付缴充续"
)
"""Characters that begin a task; with one of these behind it 提醒我下 is 提醒我一下."""


def _keep_verb(text: str, tokens: list[Token], ask: Ask, removed: bytearray) -> None:
    """提醒我下明天的医嘱: 下 is the verb of the task, not a particle of the asking form."""
    last, follow = tokens[ask.j - 1], at(tokens, ask.j)
    if last.word == "下" and follow.start == last.end and "一" <= text[last.end : last.end + 1] <= "鿿":
        removed[ask.j - 1] = text[last.end] in VERBS


_LONGEST_NAME = 3
"""Characters of a Chinese name or kinship (护工, 外公, 我老婆)."""


def _is_only_name(text: str, tokens: list[Token], removed: bytearray, ask: Ask) -> bool:
    """吃阿司匹林 每晚八点半 提醒一下爷爷: behind the ask stands nothing but who is to be reminded."""
    if tokens[ask.i].kind not in (K.ASK, K.CALL) or ask.to_me or ask.is_noun:
        return False
    rest = [t for k, t in enumerate(tokens) if k >= ask.j and not removed[k] and t.kind not in _LIGHT]
    if rest and rest[0].kind is K.ME and rest[0].n == 0:
        rest = rest[1:]  # 我老婆
    if len(rest) == 1 and rest[0].kind is K.PERSON:
        return True
    if tokens[ask.i].word[:1] <= "z":
        return len(rest) == 1 and rest[0].kind is K.WORD and at(tokens, ask.j).word not in ("to", "about", "of")
    short = len(rest) == 1 and rest[0].kind is K.TEXT and rest[0].end - rest[0].start <= _LONGEST_NAME
    return short and text[rest[0].start] not in VERBS and rest[0].end - rest[0].start > 1


def _drop_bound_verbs(tokens: list[Token], found: list[Found], ask: Ask, removed: bytearray) -> None:
    """Takes out the short verb before a bound that closes the message (量体温，量两周)."""
    for each in found:
        if not isinstance(each.phrase, (Lasting, Until, Count)) or each.i <= ask.j:
            continue
        k = each.i - 1
        while k > ask.j and tokens[k].kind is not K.PUNCT and not removed[k]:
            k -= 1
        if k >= ask.j and tokens[k].kind is K.PUNCT and tokens[each.i - 1].end - tokens[k].end <= 3:
            removed[k : each.i] = b"\x01" * (each.i - k)


_LIGHT = frozenset({K.FILLER, K.HABIT, K.AT, K.POLITE, K.HELP, K.GLUE, K.PUNCT, K.OF, K.AND, K.LINK})


def _drop_light(tokens: list[Token], removed: bytearray, k: int, end: int) -> None:
    """Takes out what is left between times and asking form when it is nothing but fillers."""
    while k < end:
        if removed[k]:
            k += 1
            continue
        j = k
        while j < end and not removed[j]:
            j += 1
        if all(t.kind in _LIGHT for t in tokens[k:j]):
            removed[k:j] = b"\x01" * (j - k)
        k = j


def _text(text: str, tokens: list[Token], removed: bytearray, i: int, j: int) -> str:
    """The kept pieces between two tokens, each trimmed, joined."""
    pieces: list[str] = []
    k = i
    while k < j:
        if removed[k]:
            k += 1
            continue
        end = k
        while end < j and not removed[end]:
            end += 1
        piece = _trim(text, tokens, k, end)
        if piece:
            pieces.append(piece)
        k = end
    if len(pieces) > 1:
        pieces = [p for p in pieces if len(p) > 1] or pieces
    english = any("a" <= c.lower() <= "z" for c in "".join(pieces[-1:]))
    return (" " if english else "，").join(pieces).strip()


def _trim(text: str, tokens: list[Token], i: int, j: int) -> str:
    while i < j and _is_loose(tokens[i], _START, first=True) and not _is_syllable(tokens, i, j):
        i += 1
    while j > i and _is_loose(tokens[j - 1], _END, first=False):
        j -= 1
    if i >= j:
        return ""
    if not any(c.isalnum() for c in text[tokens[i].start : tokens[j - 1].end]):
        return ""
    if i + 1 == j and tokens[i].word in ("把", "将"):
        return ""  # 把闹钟设成7点
    end = tokens[j - 1].end
    if text[end : end + 1] in tuple(")）”\"'」』》"):
        end += text[tokens[i].start : end].count({")": "(", "）": "（"}.get(text[end], text[end])) > 0
    return text[tokens[i].start : end].strip()


def _is_syllable(tokens: list[Token], i: int, j: int) -> bool:
    """The 下 of 下线, the 就 of 就诊: without it one character would be left, which is no task."""
    token, last = tokens[i], tokens[j - 1]
    alone = i + 2 == j and token.end == last.start and last.kind is K.TEXT
    return alone and token.word[:1] > "z" and token.end - token.start == 1 == last.end - last.start


def _is_loose(token: Token, words: frozenset[str], *, first: bool) -> bool:
    if token.kind is K.PUNCT:
        return not (token.word in _KEEP_PUNCT_START and first) and (first or token.word not in ("%", ")", "]"))
    if token.kind in (K.QUOTE, K.MENTION):
        return False
    if token.kind is K.RANGE and not token.word.isalpha():
        return True
    return token.word in words and token.kind is not K.TEXT
