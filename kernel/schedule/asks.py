"""Finds where a message asks to be reminded: the verb or noun, and who is meant."""

from __future__ import annotations

from typing import NamedTuple

from kernel.schedule.clocks import at
from kernel.schedule.things import OBJECTS
from kernel.schedule.tokens import Kind, Token, words

K = Kind


class Ask(NamedTuple):
    """An asking form: tokens `i` to `j` are no part of the body."""

    i: int
    j: int
    to_me: bool
    is_noun: bool = False
    is_timer: bool = False
    is_mild: bool = False
    """"Tell me", "call me": asks for a reminder only beside a time."""
    mentions: tuple[str, ...] = ()
    is_slash: bool = False
    inner: tuple[int, int] | None = None
    """Of a noun (设个…提醒): the tokens between its verb and itself."""


_CLAUSE_ENDS = frozenset("。;!?\n")
_CLAUSE_ENDS_AND_COMMA = _CLAUSE_ENDS | {","}
_THIRD = frozenset(words("他 她 它 他们 她们 him her them"))
_NOUN_MARKS = frozenset(words("的 个 条 a this 那个 这个 这条 那条"))
BEDS = frozenset(words("床 号床 病房 病区"))
"""What is numbered where patients lie."""
_BOTS = frozenset(words("@zclaw @bot @助手 @小助手 @机器人"))
_DONE_AFTER = frozenset("了过得")
_DONE_MARKS = frozenset(words("了 过 好 的"))
"""Behind a verb of making they speak of what exists (我设过的, 设好的)."""
_MILD = frozenset(
    words(
        "告诉 通知 叫 喊 告知 提 tell call text message warn let notify alert give shout hit dm "
        "bug nag pester prod hassle hound 催 敲 督促 叮嘱 知会 唤 呼叫"
    )
)
_PRODUCTS = frozenset(words("app apps software tool feature service clock sound tone system program"))
"""a reminder app, an alarm clock: things to buy."""
TIMERS = frozenset(
    words("倒计时 计时 计时器 定时 定时器 番茄钟 秒表 倒數計時 timer timers countdown 闹钟 闹铃 alarm 闹表")
)
"""Nouns that run out or ring: with nothing but a time they ask for one."""
COUNTDOWNS = frozenset(words("倒计时 计时 定时 倒数计时"))
"""Those that are verbs as well (倒计时5分钟提醒我)."""
_TIMEISH = frozenset(
    {
        K.NUM,
        K.HALF,
        K.CLOCK,
        K.DATE,
        K.UNIT,
        K.POINT,
        K.DAY,
        K.PERIOD,
        K.WEEKDAY,
        K.MONTH,
        K.NEXT,
        K.EVERY,
        K.DAILY,
        K.AT,
        K.OF,
        K.WORKDAY,
        K.AFTER,
        K.FILLER,
        K.PUNCT,
        K.POLITE,
        K.ORD,
        K.IN,
    }
)
_MAKES = frozenset(words("排个 做个 来个 来一个"))
"""Make anything: a reminder only where nothing but its time stands between."""
_GIVES = frozenset(words("nudge ping shout call buzz heads poke reminder alert wakeup wake text alarm timer countdown"))


_SENDS = frozenset(words("shoot send fire"))
_SENT = frozenset(words("nudge ping reminder alert"))
"""send me a reminder; a text that is sent is a message."""


def clause_start(tokens: list[Token], i: int, *, commas: bool = True) -> int:
    """Where the clause that holds token `i` begins."""
    ends = _CLAUSE_ENDS_AND_COMMA if commas else _CLAUSE_ENDS
    punct = K.PUNCT
    for k in range(i - 1, -1, -1):
        token = tokens[k]
        if token[0] is punct and token.word in ends:
            return k + 1
    return 0


_ASKING = frozenset({K.ASK, K.CALL, K.NOUN, K.NOT, K.FILLER, K.WORD, K.DONE, K.NOW, K.AGENT})


def find_asks(tokens: list[Token], folded: str) -> list[Ask]:
    """Every asking form of the message, in order."""
    found: list[Ask] = []
    i = 0
    while i < len(tokens):
        ask = _ask_at(tokens, i, folded) if tokens[i].kind in _ASKING else None
        if ask is None:
            i += 1
        else:
            found.append(ask)
            i = max(ask.j, i + 1)
    return found


def _ask_at(tokens: list[Token], i: int, folded: str) -> Ask | None:
    match tokens[i].kind:
        case K.ASK:
            return _verb(tokens, i, folded)
        case K.CALL:
            return _call(tokens, i)
        case K.NOUN:
            return _noun(tokens, i)
        case K.NOT | K.FILLER:
            return _forget(tokens, i) or _give(tokens, i)
        case K.WORD | K.DONE if tokens[i].word in ("reminding", "reminded"):
            return _inflected(tokens, i)
        case K.WORD | K.NOW | K.AGENT if tokens[i].word in ("let", "give", "gimme", "lemme", *_SENDS):
            return _give(tokens, i)
    return None


def _names(tokens: list[Token], j: int) -> tuple[tuple[str, ...], int]:
    """The mentions from `j` on, without their at sign, and the place after them."""
    names: list[str] = []
    while True:
        k = j
        while names and (at(tokens, k).kind is K.AND or at(tokens, k).word == ","):
            k += 1
        if at(tokens, k).kind is not K.MENTION:
            return tuple(names), j
        names.append(tokens[k].word.lstrip("@"))
        j = k + 1


def _target(tokens: list[Token], j: int) -> tuple[int, bool, tuple[str, ...]] | None:
    """The person after an asking verb: place after, whether it is the sender, a mention; None for "you"."""
    while at(tokens, j).word in ("一下", "一声", "一次", "给") or (
        at(tokens, j).word == "下" and at(tokens, j + 1).kind is K.ME
    ):
        j += 1
    token = at(tokens, j)
    if token.kind is K.YOU:
        return None
    if token.word == "我" and at(tokens, j + 1).kind is K.PERSON and at(tokens, j + 1).word not in _THIRD:
        return j, False, ()
    if token.kind is K.ME:
        j += 1
        if at(tokens, j).kind is K.ME:
            j += 1
        if at(tokens, j).word in ("up", "下", "一下", "一声") and at(tokens, j).kind is not K.NEXT:
            j += 1
        return j, True, ()
    if token.kind is K.MENTION:
        names, j = _names(tokens, j)
        return j, False, names
    if token.word in _THIRD:
        named = tuple(t.word.lstrip("@") for t in tokens[: j - 1] if t.kind is K.MENTION and t.word not in _BOTS)
        if named:
            return j + 1, False, named
    if token.kind is K.NUM and at(tokens, j + 1).word in BEDS:
        return j, False, ()  # 提醒12床下午2点换药
    return j, token.kind not in (K.PERSON, K.TEXT, K.WORD) and token.word not in ("the", "my", "our"), ()


def _verb(tokens: list[Token], i: int, folded: str) -> Ask | None:
    token, before = tokens[i], at(tokens, i - 1)
    if folded[: token.start].rstrip(" ").endswith(("没", "未")):
        return None
    if folded[token.end : token.end + 1] in _DONE_AFTER and folded[token.end : token.end + 1]:
        return None
    if _is_noun_here(tokens, i):
        return _noun(tokens, i)
    if before.word in ("谢谢", "感谢", "多谢", "thanks", "thank") or before.kind is K.DONE:
        return None
    target = _target(tokens, i + 1)
    if target is None:
        return None
    j, to_me, mentions = target
    if before.kind is K.LIST and before.word.startswith("有"):
        return None  # 有什么提醒我没看到
    if before.kind is K.OF and before.end == token.start and at(tokens, j).kind in (K.HABIT, K.DONE):
        return None  # 今天的提醒我都看到了
    if at(tokens, j).kind is K.PERIOD and at(tokens, j + 1).word == "了":
        return None  # 提醒晚了半小时
    if at(tokens, j).word == "了" and (
        at(tokens, j + 1).kind in (K.PUNCT, K.QUESTION, K.DONE, K.FILLER) or j + 1 == len(tokens)
    ):
        return None
    if token.word != "提醒" and j == i + 1 and at(tokens, j).kind is K.QUESTION:
        return None
    slash = (i == 1 and before.word == "/") or (i == 0 and folded[:1] == "/")
    start = i - 1 if slash else i
    if not mentions and at(tokens, j - 1).kind is not K.ME:
        # "周五@所有人 提醒填周报"; a mention that opens the message addresses the bot.
        mentions = tuple(t.word.lstrip("@") for t in tokens[1:i] if t.kind is K.MENTION and t.word not in _BOTS)
    return Ask(start, j, to_me, mentions=mentions, is_slash=slash)


def _is_noun_here(tokens: list[Token], i: int) -> bool:
    """提醒 used as a noun: 的提醒, 个提醒, a remind; or made by 设/加 just before and followed by no person."""
    before, after = at(tokens, i - 1), at(tokens, i + 1)
    if after.kind in (K.ME, K.MENTION, K.PERSON, K.YOU):
        return False
    if before.kind in (K.TEXT, K.NOW, K.AGENT) and after.kind is not K.NUM:
        start = clause_start(tokens, i)
        return any(t.kind is K.CREATE and t.n == 0 for t in tokens[start:i]) and any(
            t.kind is K.EVERY or t.kind in _TIMEISH for t in tokens[start:i]
        )
    return before.word in _NOUN_MARKS or before.kind in (K.CREATE, K.NEXT)


def _call(tokens: list[Token], i: int) -> Ask | None:
    token = tokens[i]
    if at(tokens, i - 1).kind is K.DONE:
        return None
    english = "a" <= token.word[0] <= "z"
    target = _target(tokens, i + 1)
    if target is None:
        return None
    j, _, mentions = target
    k = i + 1
    while at(tokens, k).word in ("一下", "下", "一声"):
        k += 1
    person = at(tokens, k)
    mild = token.word in _MILD
    if person.kind is K.ME or mentions:
        if (
            english
            and at(tokens, i - 1).word in ("to", "who", "that", "they", "he", "she")
            and at(tokens, i - 2).word not in ("you", "like", "want", "please")
        ):
            return None
        return Ask(i, j, person.kind is K.ME, is_mild=mild, mentions=mentions)
    if (
        token.word == "提"
        and person.kind is K.PERSON
        and person.word not in _THIRD
        and at(tokens, i - 1).kind is not K.OF
    ):
        return Ask(i, k, False, is_mild=True)  # 提婆婆食藥
    if token.word == "通知" and person.kind in (K.PERSON, K.TEXT) and at(tokens, i - 1).kind not in (K.OF, K.UNIT):
        return Ask(i, k, False, is_mild=True)
    return None


def _noun(tokens: list[Token], i: int) -> Ask | None:
    """定个闹钟, set a daily reminder, or a timer word at the very start."""
    token = tokens[i]
    start = clause_start(tokens, i)
    if (token.n == 1 and token.kind is K.NOUN) or at(tokens, i + 1).word in (*_PRODUCTS, *OBJECTS):
        return None
    timer = token.word in TIMERS
    j = i + 1
    if token.kind is K.NOUN and at(tokens, j).kind is K.ASK and at(tokens, j + 1).kind not in (K.ME,):
        j += 1
    if at(tokens, j).word == "in" and at(tokens, j + 1).kind is K.FOR:
        j += 1  # put a reminder in for 9:10
    if at(tokens, j).word in ("call", "for", "提醒"):
        j += at(tokens, j).word == "call"
    for k in range(i - 1, max(start, i - 16) - 1, -1):
        if tokens[k].kind is K.CREATE and tokens[k].word != "new":
            if (
                at(tokens, k + 1).word == "off"  # set off the alarm
                or at(tokens, k - 1).kind is K.HABIT
                or at(tokens, k - 1).word in ("i", "i'll", "i've", "we", "we'll")
                or at(tokens, k - 1).kind is K.DONE
                or at(tokens, k + 1).word in _DONE_MARKS
            ):
                return None
            return Ask(k, j, True, is_noun=True, is_timer=timer, inner=(k + 1, i))
        if tokens[k].word in _MAKES and all(t.kind in _TIMEISH for t in tokens[k + 1 : i]):
            return Ask(k, j, True, is_noun=True, is_timer=timer, inner=(k + 1, i))
        if (
            tokens[k].word in ("给我", "帮我", "给我们")
            and k + 3 >= i
            and all(t.kind in _TIMEISH for t in tokens[k + 1 : i])
        ):
            return Ask(k, j, True, is_noun=True, is_timer=timer, inner=(k + 1, i))
        wished = tokens[k].word in ("need", "want", "get", "like", "要", "想要", "来") and tokens[k + 1].word != "rid"
        if wished and not at(tokens, k - 1).word.endswith("n't"):
            return Ask(k, j, True, is_noun=True, is_timer=timer, inner=(k + 1, i))
    if at(tokens, start).word == "我" and at(tokens, start + 1).kind is K.OF:
        return None  # 我的闹钟定在7点
    if token.word[:1] <= "z" and any(t.kind is K.DONE for t in tokens[i + 1 :]):
        return None  # timer for 10 minutes went off already
    if token.word == "reminder" and _is_wished(tokens, i):
        return Ask(i, j, True, is_noun=True)
    made = _made_behind(tokens, i) if timer or token.word == "提醒" else None
    if made is not None:
        return Ask(i, made + 1, True, is_noun=True, is_timer=timer)
    if timer and at(tokens, i + 1).kind is K.FOR and i > 1 and all(t.kind in _TIMEISH for t in tokens[:i]):
        return Ask(i, i + 2, True, is_noun=True, is_timer=True)  # 10 min timer for eggs
    ends = all(t.kind in (K.PUNCT, K.POLITE, K.FILLER) for t in tokens[i + 1 :])
    if timer and ends and i and all(t.kind in _TIMEISH for t in tokens[:i]):
        return Ask(i, j, True, is_noun=True, is_timer=True)
    lead_in = all(
        t.kind in (K.PUNCT, K.MENTION, K.FILLER, K.POLITE, K.TEXT, K.HELP) and t.kind is not K.TEXT for t in tokens[:i]
    )
    if lead_in and token.kind is K.NOUN and timer:
        return Ask(i, j, True, is_noun=True, is_timer=True)
    return None


_TELLS = frozenset({K.QUESTION, K.DONE, K.NOT, K.SAID, K.HABIT})


def _is_wished(tokens: list[Token], i: int) -> bool:
    """daily reminder for insulin please: how often before it, or a please, and nothing that tells of it."""
    head, rest = tokens[:i], tokens[i + 1 :]
    if not rest or rest[0].word == "that" or any(t.kind in _TELLS for t in rest):
        return False
    if not all(t.kind in _TIMEISH or t.kind in (K.MENTION, K.EVERY) or t.word == "new" for t in head):
        return False
    repeats = any(t.kind in (K.DAILY, K.EVERY) for t in head)
    polite = any(t.kind is K.POLITE for t in (*head, *rest))
    named = at(rest, 1) if rest[0].kind is K.POLITE else rest[0]  # reminder please: …
    names = named.kind is K.FOR or named.word in ("to", "about", ":", "at")
    if any(t.word == "new" for t in head):
        return names or rest[0].kind in _TIMEISH  # new reminder tomorrow 15:00 …
    return names and (repeats or polite)


def _made_behind(tokens: list[Token], i: int) -> int | None:
    """The place of the verb in 闹钟设到7点, 吃药的提醒，帮我设一下."""
    if tokens[i].word[0] <= "z":
        return None
    made = next((n for n in range(i + 1, min(i + 6, len(tokens))) if tokens[n].kind is K.CREATE), None)
    return None if made is None or at(tokens, made + 1).word in _DONE_MARKS else made


def _forget(tokens: list[Token], i: int) -> Ask | None:
    """don't let me forget (to) …; 别让我忘了 …."""
    token = tokens[i]
    if token.kind is K.FILLER and token.word in ("别让我忘了", "别让我忘", "别让我忘记", "不要让我忘了"):
        return Ask(i, i + 1, True)
    if (
        token.kind is K.NOT
        and at(tokens, i + 1).word == "let"
        and at(tokens, i + 2).kind is K.ME
        and at(tokens, i + 3).word == "forget"
    ):
        return Ask(i, i + 4, True)
    if (
        token.word == "don't"
        and at(tokens, i + 1).word == "forget"
        and at(tokens, i - 1).word == "i"
        and at(tokens, i - 2).word == "sure"
    ):
        return Ask(i - 3, i + 2, True)  # make sure I don't forget to …
    return None


def _inflected(tokens: list[Token], i: int) -> Ask | None:
    """would you mind reminding me; I want to be reminded."""
    reminding = tokens[i].word == "reminding" and at(tokens, i + 1).kind is K.ME
    if reminding and at(tokens, i - 1).word == "mind":
        return Ask(i, i + 2, True)
    if reminding and at(tokens, i - 1).word in ("start", "begin", "keep") and at(tokens, i - 2).kind is not K.YOU:
        return Ask(i - 1, i + 2, True)
    wish = at(tokens, i - 3).word in ("like", "want", "need")
    if tokens[i].word == "reminded" and wish and at(tokens, i - 2).word == "to" and at(tokens, i - 1).word == "be":
        return Ask(i - 3, i + 1, True)
    return None


def _give(tokens: list[Token], i: int) -> Ask | None:
    """give me a nudge, let me know."""
    if at(tokens, i).word == "let" and at(tokens, i + 1).kind is K.ME and at(tokens, i + 2).word == "know":
        return Ask(i, i + 3, True, is_mild=True)
    gives = at(tokens, i).word in ("give", "gimme")
    if at(tokens, i).word == "gimme" or ((gives or at(tokens, i).word in _SENDS) and at(tokens, i + 1).kind is K.ME):
        j = i + 1 if at(tokens, i).word == "gimme" else i + 2
        while at(tokens, j).word in ("a", "quick", "little"):
            j += 1
        if at(tokens, j).word in (_GIVES if gives else _SENT):
            end = j + 1
            if at(tokens, end).word in ("up", "ups"):
                end += 1
            return Ask(i, end, True, is_noun=True, is_timer=at(tokens, j).word in TIMERS)
    return None
