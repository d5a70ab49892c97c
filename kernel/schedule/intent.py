"""Decides whether a message asks at all: what is reported, quoted, asked about, past, or to be done now does not."""

from __future__ import annotations

from kernel.schedule.asks import COUNTDOWNS, Ask, clause_start
from kernel.schedule.clocks import at
from kernel.schedule.inquiries import CONDITIONS, is_inquiry
from kernel.schedule.phrases import Day, Found
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_SKIPPED = frozenset({K.FILLER, K.POLITE, K.PUNCT, K.MENTION, K.HELP, K.QUOTE})
_QUOTE_PAIRS = {"“": "”", "「": "」", "『": "』", "《": "》"}


def quoted(tokens: list[Token], i: int) -> bool:
    """Token `i` stands inside quotation marks."""
    if K.QUOTE not in [t.kind for t in tokens]:
        return False
    opened = 0
    for token in tokens[:i]:
        if token.kind is K.QUOTE:
            if token.word in _QUOTE_PAIRS:
                opened += 1
            elif token.word in _QUOTE_PAIRS.values():
                opened -= 1
            else:
                opened = 0 if opened else 1
    return opened > 0 and any(t.kind is K.QUOTE for t in tokens[i:])


def first_word(tokens: list[Token], i: int = 0) -> int:
    """The place of the first token of weight from `i` on."""
    while i < len(tokens) and tokens[i].kind in _SKIPPED:
        i += 1
    return i


def vetoed(tokens: list[Token], ask: Ask, used: list[Found], *, has_time: bool, english: bool) -> bool:
    """The asking form does not ask: reported, habitual, past, about someone else, in quotes, or a question."""
    if quoted(tokens, ask.i):
        return True
    taken = bytearray(len(tokens) + 1)
    for f in used:
        taken[f.i : f.j] = b"\x01" * (f.j - f.i)
    return (
        at(tokens, ask.i - 1).kind is K.NOT
        or at(tokens, ask.i - 1).word in _DENIALS
        or _is_mention(tokens, ask, used)
        or _reported(tokens, ask, taken)
        or is_inquiry(tokens, ask, taken, has_time=has_time, english=english)
        or _to_do_now(tokens, ask, used)
    )


_DENIALS = frozenset(words("didn't doesn't won't wouldn't hasn't haven't couldn't can't cannot"))
"""you didn't remind me at 9"""


def is_conditional(tokens: list[Token], ask: Ask, used: list[Found]) -> bool:
    """If that happens, remind me: nobody here can see whether it does; "if you can" is mere politeness."""
    if any(at(tokens, f.j).word in CONDITIONS for f in used if f.i >= ask.i) or at(tokens, ask.j).word in CONDITIONS:
        return True
    condition = next((k for k in range(ask.i) if tokens[k].word in CONDITIONS), None)
    return condition is not None and not any(
        t.kind is K.POLITE or t.word == "possible" for t in tokens[condition : ask.i]
    )


_THANKS = frozenset(words("谢谢 感谢 多谢 谢了 谢啦 thanks thank"))


def _is_mention(tokens: list[Token], ask: Ask, used: list[Found]) -> bool:
    """The word is only talked about (提醒失败了, 闹钟没响): no person, no time, but more words around it."""
    thanks = [k for k in range(ask.i) if tokens[k].word in _THANKS]
    if thanks and thanks[-1] >= clause_start(tokens, ask.i):
        return True
    if tokens[ask.j - 1].kind is K.ASK and at(tokens, ask.j).kind is K.DAY and at(tokens, ask.j).n < 0:
        return True  # 吃药提醒昨天就删了
    if tokens[ask.j - 1].word == "我" and at(tokens, ask.j).kind in (K.DAY, K.DONE) and at(tokens, ask.j).n <= 0:
        gone = next((t for t in tokens[ask.j :] if t.kind in (K.CANCEL, K.PAUSE, K.PUNCT)), None)
        if gone is not None and gone.kind is not K.PUNCT and "了" in (gone.word[-1:], tokens[-1].word):
            return True  # 吃药的提醒我昨天删了
    first = used[0].phrase if used else None
    if not used or (isinstance(first, Day) and first.offset < 0):
        past = any(t.kind is K.DAY and t.n < 0 for t in tokens[: ask.i])
        if past and (tokens[-1].word == "了" or any(t.kind is K.YOU for t in tokens[: ask.i])):
            return True  # 昨天下午三点你提醒我开会了
    if _is_judged(tokens, ask):
        return True
    if used or ask.mentions or ask.is_slash or ask.inner is not None:
        return False
    targeted = not ask.is_noun and (tokens[ask.j - 1].kind is not K.ASK or at(tokens, ask.j).kind in (K.ME, K.PERSON))
    english = "a" <= tokens[ask.i].word[:1] <= "z"
    if targeted or english or tokens[ask.i].kind in (K.FILLER, K.NOT, K.CREATE):
        return False
    return any(t.kind not in _SKIPPED for t in (*tokens[: ask.i], *tokens[ask.j :]))


_JUDGED = frozenset(words("太早了 太晚了 太频繁了 太吵了 太多了 太烦了 太勤了 太密了 太早 太晚 太频繁 太吵 太烦 太勤"))


def _is_judged(tokens: list[Token], ask: Ask) -> bool:
    """你8点提醒我太早了; 每小时提醒我，会不会太频繁; 8点提醒我？你说的是9点: what is usual, and how it is found."""
    follow = at(tokens, ask.j)
    if follow.word == "?":
        return any(t.kind in (K.YOU, K.SAID) for t in tokens[ask.j :])
    if follow.word in _JUDGED:
        return True
    closes = tokens[-1].word in _JUDGED or at(tokens, len(tokens) - 2).word in _JUDGED
    return closes and any(t.word == "会不会" for t in tokens[ask.j :])


_MODALS = frozenset(words("will would should might"))
_PROMISES = frozenset(words("i'll we'll he'll she'll they'll he'd she'd they'd it'll it'd"))


def _reported(tokens: list[Token], ask: Ask, taken: bytearray) -> bool:
    start = opening = clause_start(tokens, ask.i)
    while start > 0 and all(taken[k] or tokens[k].kind in (*_SKIPPED, K.AT, K.HABIT) for k in range(start, ask.i)):
        # Only a time stands in this clause: its subject is one clause further left ("我妈，每天9点，提醒我").
        before = clause_start(tokens, start - 1)
        if before == start or tokens[start - 1].word in "。;!?\n" or start - before > 3:
            break
        start = before
    clause = [tokens[k] for k in range(start, ask.i) if not taken[k]]
    own = [tokens[k] for k in range(opening, ask.i) if not taken[k]]
    if any(t.kind is K.DONE and t.word not in ("没有", "was", "were", "had") for t in own):
        return True
    helper, subject = at(tokens, ask.i - 1), at(tokens, ask.i - 2)
    if helper.word in _MODALS and (subject.kind in (K.WORD, K.PERSON) or subject.word == "i"):
        return True  # the nurse will remind me
    if helper.word in _PROMISES:
        return True
    passes_on = helper.word == "to" and any(t.word in ("tell", "ask") for t in tokens[opening : ask.i])
    if passes_on and subject.kind is not K.YOU and subject.word not in ("tell", "ask"):
        return True  # tell Bob to remind me at 9
    said = next((t for t in own if t.kind not in _SKIPPED), None)
    if said is not None and said.word == "以前":
        return True  # 以前每天10点你都会提醒我: a bygone habit.
    if any(t.kind is K.SAID for t in own) and not any(t.word in ("请你", "麻烦你") for t in own):
        return True
    first = next((t for t in clause if t.kind not in _SKIPPED and t.kind not in (K.AT, K.HABIT, K.LINK)), None)
    if first is not None and _speaks_of_other(tokens, ask, first, clause, own):
        return True
    return _habit_by_other(tokens, ask, own)


def _speaks_of_other(tokens: list[Token], ask: Ask, first: Token, clause: list[Token], own: list[Token]) -> bool:
    """The word that opens the clause makes somebody else the one who reminds, or tells what is usual."""
    wished = any(
        t.word in ("你", "您", "you", "想要", "需要", "need", "want", "like", "want", "你们", "要")
        or t.word.endswith("你")
        for t in clause
    )
    if first.kind is K.NOUN and not first.n and first.word not in COUNTDOWNS and ask.i > tokens.index(first):
        return True
    if any(
        t.word == "请"
        and at(tokens, k + 1).kind is K.TEXT
        and at(tokens, k + 1).start == t.end
        and at(tokens, k + 2).kind not in (K.LINK, K.BEFORE, K.AFTER, K.OF)
        for k, t in enumerate(tokens[: ask.i])
    ):
        return True
    if first.kind is K.PERSON:
        named = at(tokens, tokens.index(first) + 1)
        if named.kind is K.TEXT and named.word and named.start == first.end:
            return False  # 妈妈生日明天8点提醒我买蛋糕
        if ask.to_me and at(tokens, ask.i - 1).kind in (K.BEFORE, K.AFTER):
            return False  # 孩子放学前提醒我带雨衣
        waited = ask.to_me and at(tokens, ask.i - 1).word == "了" and not any(t.kind is K.HABIT for t in own)
        if first.word == "it" and any(t.word == "possible" for t in clause):
            return False  # would it be possible to remind me
        return first.word not in ("him", "her", "them") and not (waited and first.word not in _PRONOUNS)
    if first.kind is K.ME and not ask.to_me and not wished and not ask.is_noun:
        return at(tokens, tokens.index(first) - 1).word != "在"  # 在群里提醒@所有人
    if (
        first.kind is K.ME
        and at(tokens, tokens.index(first) + 1).kind is K.PERSON
        and tokens[tokens.index(first) + 1].end <= at(tokens, ask.i).start
    ):
        return True
    if (
        first.kind is K.YOU
        and first.word in ("你", "您")
        and any(t.kind is K.HABIT for t in own)
        and not any(t.kind is K.POLITE for t in own)
    ):
        return True
    return first.word == "i" and at(tokens, ask.i - 1).word == "i"


_PRONOUNS = frozenset(words("他 她 它 他们 她们 它们 有人 别人"))
"""孩子退烧了提醒我停药 waits for an event; of a pronoun it is told (他来了提醒我)."""


def _habit_by_other(tokens: list[Token], ask: Ask, own: list[Token]) -> bool:
    habit = at(tokens, ask.i - 1)
    if (habit.kind is not K.HABIT and habit.word not in ("都会", "会")) or habit.end + 1 < at(tokens, ask.i).start:
        return False
    return any(t.kind in (K.TEXT, K.PERSON, K.WORD) for t in own)


def _to_do_now(tokens: list[Token], ask: Ask, used: list[Found]) -> bool:
    """A verb of work at the head (帮我写一条提醒…的通知): the asking form is part of the work."""
    for k, t in enumerate(tokens[: ask.i]):
        if t.word in _REWRITES or (t.kind is K.HELP and tokens[k + 1].word == "想"):
            return True  # 帮我想一句提醒大家关灯的话
    i = first_word(tokens)
    if i >= ask.i or i >= len(tokens):
        return False
    if used and used[0].i < i:
        return False
    helped = any(t.kind is K.HELP for t in tokens[:i])
    head = tokens[i]
    if not _is_now(head):
        return False
    if at(tokens, ask.i - 1).kind in (K.BEFORE, K.AFTER, K.LINK) or any(t.word == "完" for t in tokens[i : ask.i]):
        return False  # 查房前喊我, 查完房叫我: an event, no work
    if helped or not ask.to_me:
        return True
    if tokens[ask.j - 1].kind is K.ASK and any(t.word == ":" for t in tokens[i : ask.i]):
        return True  # 写个通知：下周起取消每日提醒
    if "a" <= head.word[0] <= "z":
        return not any(t.kind is K.PUNCT and t.word in ",;:.!\n" for t in tokens[i : ask.i])
    between = any(t.kind is K.PUNCT for t in tokens[i : ask.i])
    return not between and not (used and used[0].i > i + 1)


_REWRITES = frozenset(words("翻译 润色 改写 改成 扩写 缩写 转换 translate rewrite rephrase paraphrase proofread"))
_NOW_ZH = frozenset(
    words(
        "翻译 润色 改写 改成 解释 推荐 生成 介绍 搜 搜索 搜一下 查 查一下 查询 算 算一下 计算 写 "
        "写一条 写封 写一封 写个 写一个 起草 拟 画 做 分析 对比 讲讲 说说 总结 归纳 评价 比较 "
        "拟一条 拟一份 写份 写一份 查查 搜搜 帮写 草拟 编 编写 设计 制定 转成 转换 扩写 缩写 整理 "
        "点评 抽取 提取 列出"
    )
)


def _is_now(token: Token) -> bool:
    return token.kind is K.NOW or token.word in _NOW_ZH
