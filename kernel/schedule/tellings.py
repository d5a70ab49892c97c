"""Tells an order to end a reminder from talk: of what was done before, by whom, and of other things that go."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.inquiries import CONDITIONS
from kernel.schedule.intent import quoted
from kernel.schedule.things import first_of_weight, is_thing
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_PRONOUNS = frozenset(words("他 她 它 他们 她们 它们 有人 别人"))
_PARTS_OF_THEM = (
    "那个",
    "那条",
    "这个",
    "这条",
    "那一个",
    "那一条",
    "那几",
    "那些",
    "这些",
    "这几",
    "事",
    "那件事",
    "这件事",
    "都",
    "全",
)
_OBJECTS = (
    "邮件",
    "短信",
    "消息",
    "牌",
    "函",
    "卡片",
    "标语",
    "文案",
    "公告",
    "海报",
    "条幅",
    "信息",
    "功能",
    "这个功能",
    "按钮",
    "这个按钮",
    "选项",
    "语",
    "词",
    *words("那一页 那页 那段 那一段 那句 那一句 这段 这句 这页 部分 章节 模块 代码 文字 字样 段落 页面 图标 插件 接口"),
)
"""With one of these behind it a reminder is something to read (提醒邮件)."""
_HOLDERS = frozenset(words("about on in with of for from regarding"))
_NO_OBJECTS = frozenset(words("everything rid out some both sending getting showing ones off"))


_PAGES = tuple("篇段句页行章节张集首封份")
"""What counts texts, not reminders (提醒那篇)."""
_RELATIVES = frozenset(words("that which mentions mentioning containing saying mention contain"))
_TEXTS = tuple(
    holder + place
    for holder in words(
        "文档 文件 文章 报告 報告 稿 稿子 邮件 短信 方案 课件 表格 公告 论文 幻灯片 ppt 剧本 代码 脚本 合同 作文 简历 "
        "手册 说明书 网页 文案 笔记"
    )
    for place in words("里 中 上 内 裡 入面 里面 中的 里的")
)
"""Where words about reminders stand that are no reminders."""


OPEN_QUESTIONS = frozenset(
    words("什么 啥 谁 哪 哪个 哪里 几时 多久 何时 what who when which where whether did does was were")
)
"""A sentence that asks one of these is no order to cancel."""
_WRITES = frozenset(
    words(
        "写 写个 写一个 写条 写一条 写份 写一份 写封 起草 草拟 拟 拟一条 拟一份 翻译 润色 改写 解释 "
        "rewrite rephrase translate draft write compose explain proofread"
    )
)
_ENDING = frozenset({K.CANCEL, K.PAUSE, K.NOT})
_MANNERS = frozenset({K.PUNCT, K.YOU, K.POLITE, K.QUESTION, K.FILLER, K.CANCEL, K.PAUSE})


def is_told(tokens: list[Token]) -> bool:
    """No order, but talk of one: to be written, quoted, reported, on a condition, or asked whether it can be done."""
    first = first_of_weight(tokens)
    acting = [i for i, t in enumerate(tokens) if t.kind in _ENDING]
    verb = next((i for i in acting if tokens[i].kind is not K.NOT), acting[0] if acting else None)
    opening = at(tokens, first)
    if opening.word in _WRITES or (
        opening.kind is K.QUESTION and opening.word in ("is", "are", "has", "have", "should")
    ):
        return True
    if verb is None:
        return False
    if tokens[verb].kind is K.CANCEL and any(t.kind is K.QUESTION and t.word in OPEN_QUESTIONS for t in tokens):
        return True  # 停止提醒是哪个按钮
    if quoted(tokens, verb):
        return any(t.kind not in (*_MANNERS, K.QUOTE) and not quoted(tokens, i) for i, t in enumerate(tokens))
    return _is_reported(tokens, verb) or _is_conditional(tokens) or _is_whether(tokens)


def _is_reported(tokens: list[Token], verb: int) -> bool:
    """小王说把提醒取消: somebody said so, in the same clause."""
    for k in range(verb - 1, -1, -1):
        if tokens[k].kind is K.PUNCT:
            return False
        if tokens[k].kind is K.SAID:
            return any(t.kind in (K.TEXT, K.PERSON, K.WORD) for t in tokens[:k])
    return False


def _is_conditional(tokens: list[Token]) -> bool:
    """如果下雨就取消提醒; "if you can" is mere politeness."""
    k = next((k for k, t in enumerate(tokens) if t.word in CONDITIONS), None)
    return k is not None and not any(t.kind is K.POLITE or t.word == "possible" for t in tokens[k:])


def _is_whether(tokens: list[Token]) -> bool:
    """你能取消提醒吗, can you cancel reminders: names none, and asks what the assistant is able to do."""
    asks = tokens[-1].word == "?" or tokens[-1].word in ("吗", "么")
    addressed = any(t.kind is K.YOU for t in tokens) and any(t.kind is K.POLITE for t in tokens)
    return asks and addressed and all(t.kind in _MANNERS or is_thing(tokens, i) for i, t in enumerate(tokens))


def is_other_object(tokens: list[Token], folded: str, i: int, things: list[int]) -> bool:
    """删掉文档里关于提醒的那段, delete the paragraph about reminders: what goes is no reminder."""
    if tokens[i].word[:1] > "z":
        last = things[-1]
        if any(name in folded[: tokens[things[0]].start] for name in _TEXTS):
            return True  # 把PPT里闹钟那一页删了
        follow = folded[tokens[last].end :]
        if follow.startswith(_OBJECTS) or (follow[:1] in ("那", "这") and follow[1:2] in _PAGES):
            return True
        of = next((k for k in range(last + 1, min(last + 5, len(tokens))) if tokens[k].kind is K.OF), None)
        if of is None or i in range(last, of + 2) or any(t.kind is K.PUNCT for t in tokens[last:of]):
            return False
        behind = folded[tokens[of].end :].lstrip()
        if behind.startswith(("内容", "文字", "部分")):
            return True
        measured = behind[:1] in ("那", "这") and not behind.startswith(_PARTS_OF_THEM)
        return measured or (at(tokens, of + 1).kind is K.TEXT and not behind.startswith(_PARTS_OF_THEM))
    k = things[0] - 1
    while k > i and (tokens[k].word in ("the", "my", "our", "a") or tokens[k].kind is K.ME):
        k -= 1
    if any(t.word in _RELATIVES for t in tokens[i + 2 : things[0]]):
        first = at(tokens, i + 2 if at(tokens, i + 1).word in ("the", "that", "this", "my") else i + 1)
        return first.kind is K.WORD and first.word not in (*_NO_OBJECTS, "one", "ones", "all")  # the line that mentions
    named = (t for t in tokens[i + 1 : k] if t.kind in (K.WORD, K.CALL, K.AGENT, K.NOW, K.TEXT) and not t.n)
    return tokens[k].word in _HOLDERS and any(t.word not in (*_NO_OBJECTS, "my", "our", "his", "her") for t in named)


def _subject(tokens: list[Token]) -> int:
    """The place of the first word that is neither courtesy nor a day gone by (昨晚, 上周)."""
    i = 0
    while i < len(tokens) - 1:
        token = tokens[i]
        past = (token.kind is K.DAY and token.n <= 0) or token.kind in (K.PERIOD, K.DONE)
        week = token.kind is K.NEXT and token.n < 0 and tokens[i + 1].kind is K.UNIT
        if token.kind not in (K.FILLER, K.POLITE, K.PUNCT, K.HELP) and not past and not week:
            break
        i += 2 if week else 1
    return min(i, len(tokens) - 1)


def is_done_by_other(tokens: list[Token]) -> bool:
    """她把闹钟关了; but not 奶奶复诊的提醒, whose person belongs to the name."""
    i = _subject(tokens)
    if tokens[i].kind is not K.PERSON:
        return False
    follow = at(tokens, i + 1)
    if tokens[i].word in _PRONOUNS or "a" <= tokens[i].word[:1] <= "z":
        return True
    if follow.kind is K.SAID and any(
        t.kind is K.PUNCT and (at(tokens, k + 1).word in ("把", "将") or at(tokens, k + 1).kind in (K.CANCEL, K.PAUSE))
        for k, t in enumerate(tokens)
    ):
        return False  # 医生说不用吃了，把吃药提醒取消
    return follow.kind in (K.CANCEL, K.PAUSE, K.DONE, K.SAID, K.HABIT) or follow.word in ("把", "将")


def is_gone_by(tokens: list[Token], i: int, things: list[int]) -> bool:
    """吃药提醒昨天就删了, 已经把提醒关了: done before."""
    told = any(
        t.word in ("已经", "已", "刚", "刚刚", "刚才") and at(tokens, k + 1).word in ("把", "将")
        for k, t in enumerate(tokens[:i])
    )
    between = tokens[things[-1] + 1 : i]
    if any(
        t.word == "被" or (t.word in ("让", "叫") and at(between, k + 1).kind is K.PERSON)
        for k, t in enumerate(between)
    ):
        return True  # 提醒被护士删了
    own = bool(between) and between[-1].word == "我" and between[-1].start == tokens[things[-1]].end
    if own and (tokens[i].word.endswith("了") or at(tokens, i + 1).word == "了"):
        return True  # 闹钟我关掉了
    day = next((k for k, t in enumerate(between) if t.kind is K.DAY and t.n < 0), None)
    return told or (day is not None and all(t.kind is not K.OF for t in between[day:]))


def tells_of_self(tokens: list[Token]) -> bool:
    """我昨天把提醒删了, 昨晚我把提醒关了: what I did; but not 我的提醒, 我那个提醒."""
    i = _subject(tokens)
    follow = at(tokens, i + 1)
    did = follow.kind in (K.CANCEL, K.DAY, K.DONE, K.PERIOD) or follow.word in ("把", "将")
    return tokens[i].word in ("我", "我们", "咱") and did
