"""Tells where a message speaks of a reminder as a thing (那个提醒, my 6am alarm), not of reminding somebody."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.tokens import Kind, Token, words

K = Kind

NAMES = frozenset(
    words(
        "提醒 闹钟 闹铃 定时 定时任务 定时提醒 倒计时 计时器 定时器 提醒事项 闹表 计时 "
        "reminder reminders alarm alarms timer timers remind countdown"
    )
)
REMINDING = frozenset(
    words(
        "reminding pinging nudging alerting notifying bugging messaging texting telling waking nagging pestering "
        "hassling badgering buzzing"
    )
)
"""What stops when somebody stops reminding."""
POINTERS = tuple(words("那个 这个 那条 这条 那一条 这一条 那一个 这一个 嗰个 呢个"))
"""Words that point at one of them."""
_SHOWS = frozenset(
    words("看一眼 瞧一眼 查下 查一查 查询 查一下 看一下 看看 查查 列出 列一下 查看 看下 罗列 列 展示 显示")
)
"""Verbs, as the other words for lists ask which ones there are."""
OBJECTS = frozenset(
    words(
        "email emails mail letter letters draft drafts message messages text texts sms app apps card cards slip note "
        "notes post poster sign sticker slide template settings tone tones sound sounds volume feature button box"
    )
)
"""A reminder email, an alarm tone: things of other kinds."""
_SINGLED_OUT = frozenset(words("先 吧 就 都 给我"))
"""Behind 那个 they begin what is to be done with it."""
_OPENING = frozenset({K.FILLER, K.POLITE, K.PUNCT, K.HELP, K.YOU, K.QUOTE})


def is_thing(tokens: list[Token], i: int) -> bool:
    """A reminder as a thing: 提醒 followed neither by the person it would remind nor by what it would say."""
    token, follow = tokens[i], at(tokens, i + 1)
    if follow.word in OBJECTS and token.word[:1] <= "z":
        return False
    if token.kind is K.NOUN:
        return not token.n  # 待办 and 日程 may be anybody's.
    if token.word not in NAMES:
        return False
    if follow.kind in (K.ME, K.MENTION, K.YOU):
        return False
    if follow.kind is K.PERSON:
        return follow.word == "他" and all(t.kind in (K.PUNCT, K.FILLER) for t in tokens[i + 2 :])
    if follow.kind is K.TEXT and follow.start == token.end and token.word == "提醒":
        before = at(tokens, i - 1)
        which = before.kind is K.LIST and before.word not in _SHOWS
        return (
            which
            or before.word in ("什么", "咩", "乜", "哪些")
            or before.kind in (K.OF, K.UNIT, K.TEXT, K.NEXT, K.NOUN)
            or before.word in POINTERS
        )
    return True


def is_one(token: Token) -> bool:
    """The one of "the third one"."""
    return token.kind is K.NUM and token.n == 1 and token.word == "word"


def points_at_one(tokens: list[Token], i: int) -> bool:
    """那条, 那个 with nothing behind it that it could be one of: the verb, or the end of the clause."""
    token, classifier, follow = tokens[i], at(tokens, i + 1), at(tokens, i + 2)
    if token.word == "这个":
        follow = classifier
    elif token.word != "那" or (
        classifier.word != "个" and not (classifier.kind is K.TEXT and classifier.end - classifier.start == 1)
    ):
        return False
    return follow.kind in (K.CANCEL, K.PAUSE, K.PUNCT, K.POLITE, K.NOT) or follow.word in _SINGLED_OUT


def first_of_weight(tokens: list[Token]) -> int:
    """The place of the first token that is no greeting, politeness or helper (please, can you, I'd like to)."""
    i = 0
    while i < len(tokens) and (tokens[i].kind in _OPENING or tokens[i].word in ("i", "to", "i'd", "just", "let's")):
        if tokens[i].word == "need" and tokens[i - 1].kind is K.NOT:
            break
        i += 1
    return i


def asks_person(tokens: list[Token]) -> int | None:
    """The place of the first asking verb with its person (提醒我); none where it is but the name of a thing."""
    for i, token in enumerate(tokens):
        asks = token.kind in (K.ASK, K.CALL) and at(tokens, i + 1).kind in (K.ME, K.MENTION, K.PERSON)
        if asks and not _is_particle(tokens, i + 1) and not _is_label(tokens, i):
            return i
    return None


def _is_label(tokens: list[Token], asking: int) -> bool:
    """把提醒我遛狗的闹钟关掉: what it reminds of is the name of the thing."""
    return any(tokens[k].kind is K.OF and is_thing(tokens, k + 1) for k in range(asking + 1, len(tokens) - 1))


def _is_particle(tokens: list[Token], i: int) -> bool:
    """删咗个食药提醒佢: the last word stands for the reminder, for nobody."""
    return tokens[i].word == "他" and all(t.kind in (K.PUNCT, K.FILLER) for t in tokens[i + 1 :])
