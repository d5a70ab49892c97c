"""Recognises words that manage existing reminders: cancel, list or pause; to move or revive one is for the model."""

from __future__ import annotations

from kernel.schedule.clocks import at
from kernel.schedule.overviews import owns_plans, wants_overview
from kernel.schedule.tellings import (
    OPEN_QUESTIONS,
    is_done_by_other,
    is_gone_by,
    is_other_object,
    is_told,
    tells_of_self,
)
from kernel.schedule.things import POINTERS, REMINDING, asks_person, first_of_weight, is_one, is_thing, points_at_one
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.values import Manage

K = Kind

_LONGEST = 40
"""Tokens that are looked at: who manages reminders says so at once."""

_SIGNS = frozenset({K.NOT, K.CANCEL, K.PAUSE, K.LIST, K.QUESTION, K.NOUN, K.FEW, K.NOW})
"""Without one of these kinds of words a message manages nothing."""
_FOR_NOW = frozenset(words("先不 先别 先不要 先不用 暂停"))
_BRIEF = frozenset(words("今天 明天 本周 这周 下周 until for today tomorrow 期间 一阵子 一段时间 weekend"))
_HOW = frozenset(words("怎么 怎样 如何 为什么 为啥 为何 怎么办 怎么样 why how 点解 会不会 要不要 是不是"))
_OFF_EN = frozenset(
    words(
        "ditch nix axe trash undo revoke void wipe purge terminate abort deactivate forget unset discard "
        "eliminate end lose strike toss quit cease scratch bin dump nuke squash"
    )
)
"""Verbs that put an end to a reminder where they open the sentence."""
_REST_EN = frozenset(words("skip rest freeze suspend hush quiet"))
"""Likewise verbs that let one rest."""
_NEEDLESS = frozenset(
    words("不再 不再需要 不需要再 用不着 没必要 不必再 不用 不要 不需要 不必 唔使 唔要 不想 无需 甭 不用再 不要再")
)
_WHETHER = ("了吗", "了没", "了没有", "了么", "过吗")
"""闹钟关了没: whether it was done."""
_SENDING = frozenset(words("发 推 推送 发送 弹 响 叫 通知 报 播报 sending send showing ringing"))


_REVIVING = frozenset(
    words(
        "恢复 继续 重启 重新 重新打开 重新开启 重新启用 解除 启用 开启 打开 解冻 "
        "resume unpause unmute unfreeze reenable reactivate restart continue"
    )
)
"""Verbs that set going again what rests: no order to cancel or to pause."""


def managed(tokens: list[Token], folded: str) -> Manage | None:
    """What the message (its tokens and its folded text) wants done with reminders that exist; None when nothing.

    What is to go on again is left to the model.
    """
    wanted = _managed(tokens, folded)
    if wanted in (Manage.CANCEL, Manage.PAUSE) and (_revives(tokens) or is_told(tokens)):
        return None
    return wanted


def _revives(tokens: list[Token]) -> bool:
    """恢复暂停的提醒, 取消静音, un-mute: the first verb that acts sets something going."""
    for i, token in enumerate(tokens):
        follow = at(tokens, i + 1)
        if token.word in _REVIVING or (token.word in ("un", "re") and follow.word == "-"):
            return True
        if token.kind is K.CANCEL:
            k = i + 2 if follow.word in ("the", "了") else i + 1
            return at(tokens, k).kind is K.PAUSE and at(tokens, k + 1).kind is not K.OF
        if token.kind in (K.PAUSE, K.NOT):
            return False
    return False


def _managed(tokens: list[Token], folded: str) -> Manage | None:
    kinds = [t.kind for t in tokens]
    short = len(tokens) == len("我的提醒") - 1 and tokens[0].kind is K.ME and is_thing(tokens, 2)
    if _SIGNS.isdisjoint(kinds) and not short and _OFF_EN.isdisjoint([t.word for t in tokens[:5]]):
        return None
    if folded.rstrip(" ?。").endswith(_WHETHER) and K.POLITE not in kinds and K.HELP not in kinds:
        return None
    head = [t for t in tokens if t.kind is not K.MENTION][:_LONGEST]
    if any(t.kind is K.QUESTION and t.word in _HOW and at(head, n + 1).word != "many" for n, t in enumerate(head)):
        return None
    refused = _refused(head, folded)
    if refused:
        return refused
    if K.NOT in kinds and _is_mine_no_more(head):
        return Manage.CANCEL
    asking = asks_person(head)
    if asking is not None and _done_away(head, asking, folded):
        return Manage.CANCEL
    things = [i for i in range(len(head)) if is_thing(head, i)]
    if not things:
        told = asking is not None and wants_overview(head, asking)
        if told or owns_plans(head, folded):
            return Manage.LIST
        return _bare(head) or (_pointed(head, folded) if K.CANCEL in kinds or K.PAUSE in kinds else None)
    acted = _acted(head, folded, things, asking)
    if acted:
        return acted
    return Manage.LIST if wants_overview(head, asking) else None


def _is_mine_no_more(tokens: list[Token]) -> bool:
    """吃药提醒我不要了: no 提醒我, but what I do not want."""
    for i, token in enumerate(tokens[:-2]):
        if token.word == "提醒" and i and tokens[i + 1].word == "我" and tokens[i + 2].word in _NEEDLESS:
            return tokens[-1].word == "了" and len(tokens) <= i + 4
    return False


def _done_away(tokens: list[Token], asking: int, folded: str) -> bool:
    """提醒我开会的那个删掉: a request of old, pointed at and done away with."""
    for i in range(asking + 2, len(tokens)):
        if tokens[i].kind is K.CANCEL:
            return any(pointer in folded[tokens[asking].end : tokens[i].start][-8:] for pointer in POINTERS)
    return False


def _acted(tokens: list[Token], folded: str, things: list[int], asking: int | None) -> Manage | None:
    """What a verb does with the things."""
    if any(t.word in OPEN_QUESTIONS and t.kind is K.QUESTION for t in tokens):
        return None
    for verbs, manage in ((_rests, Manage.PAUSE), (_ends, Manage.CANCEL)):
        for i in range(len(tokens)):
            if verbs(tokens, i) and (asking is None or i < asking) and _acts_on(tokens, folded, i, things):
                return Manage.PAUSE if manage is Manage.CANCEL and _is_lifted(tokens, i) else manage
    if _unwanted(tokens, things):
        return Manage.PAUSE if _is_brief(tokens) else Manage.CANCEL
    if asking is None and _let_go(tokens, things):
        return Manage.CANCEL
    return None


def _rests(tokens: list[Token], i: int) -> bool:
    token = tokens[i]
    if token.kind is K.PAUSE:
        follow = at(tokens, i + 1)
        lasting = follow.kind in (K.NUM, K.FEW, K.HALF, K.UNTIL) or follow.word in ("一下", "到", "一停")
        return token.word != "停" or lasting or at(tokens, i - 1).word == "先"
    if i != first_of_weight(tokens):
        return False
    on_hold = token.word in ("put", "place") and any(
        t.word == "on" and at(tokens, k + 1).word in ("hold", "pause", "mute") for k, t in enumerate(tokens)
    )
    return on_hold or token.word in _REST_EN


def _ends(tokens: list[Token], i: int) -> bool:
    token = tokens[i]
    if token.kind is K.CANCEL:
        return True
    if token.word in ("turn", "switch", "shut") or (token.word in ("take", "call") and i == first_of_weight(tokens)):
        return "off" in (at(tokens, i + 1).word, *(t.word for t in tokens[-4:]))
    if token.word == "get":
        return at(tokens, i + 1).word == "rid"
    if i != first_of_weight(tokens):
        return False
    return token.word in _OFF_EN or (token.word == "never" and at(tokens, i + 1).word == "mind")


def _is_lifted(tokens: list[Token], i: int) -> bool:
    """turn off all alarms until Monday, 关掉提醒到周一: an end that is to end itself."""
    loose = tokens[i].word in ("turn", "switch", "shut", "stop", "停掉", "关掉", "关", "停了", "关了", "停止", "关闭")
    return loose and any(
        t.kind is K.UNTIL or (t.word == "for" and at(tokens, k + 1).kind in (K.NUM, K.NEXT, K.GLUE))
        for k, t in enumerate(tokens)
        if k > i
    )


def _acts_on(tokens: list[Token], folded: str, i: int, things: list[int]) -> bool:
    """The verb stands before or after the thing with no past mark and no third person beside it."""
    if at(tokens, i + 1).kind is K.OF and tokens[i].word[:1] > "z":
        return False  # 暂停的提醒 are those that rest
    before = at(tokens, i - 1)
    if (
        before.kind is K.DONE
        or before.word in ("已", "被", "没", "i", "已经", "不想", "not")
        or before.word.endswith("n't")
    ):
        return False
    if is_done_by_other(tokens) or is_other_object(tokens, folded, i, things) or is_gone_by(tokens, i, things):
        return False
    english = not any(t.word[:1] > "z" for t in tokens)
    if english and things[-1] < i and before.kind is not K.PUNCT and "off" not in (t.word for t in tokens[i:]):
        return False  # the alarm on my car does not stop
    if english and things[-1] < i and at(tokens, i + 1).word in ("the", "my", "our", "a"):
        return False  # the alarm went off, cancel the drill
    made = next((k for k, t in enumerate(tokens) if t.kind is K.CREATE and t.n == 0 and k < things[0]), None)
    follow = at(tokens, made + 1) if made is not None else None
    if follow is not None and things[0] < i and follow.kind is not K.OF and follow.word not in ("了", "过", "好"):
        return False  # set a reminder to cancel the gym
    if at(tokens, i).word.endswith("了") and tells_of_self(tokens):
        return any(t.word == "吧" for t in tokens[i + 1 :])
    return bool(things)


def _unwanted(tokens: list[Token], things: list[int]) -> bool:
    """I don't need the gym reminder any more; no reminders today; 不要再发天气提醒了."""
    thing = things[0]
    for i, token in enumerate(tokens[:thing]):
        if token.kind is not K.NOT:
            longer = token.word == "no" and at(tokens, i + 1).word == "longer"
            if not longer and not (token.word == "won't" and i):
                continue
        k = i + 1
        while at(tokens, k).kind in (K.FILLER, K.HABIT, K.DAILY, K.HELP) or at(tokens, k).word in (
            "再",
            "longer",
            "ever",
        ):
            if at(tokens, k).word in ("need", "want", "like"):
                return at(tokens, k + 1).word not in ("a", "an", "to")
            k += 1
        wanted = token.word in _NEEDLESS and any(t.word == "了" for t in tokens[thing + 1 : thing + 3])
        if wanted and not any(t.kind in (K.CREATE, K.PUNCT, K.ASK, K.CALL) for t in tokens[i:thing]):
            return True  # 我不要每天的早安提醒了
        if at(tokens, k).word in _SENDING and k < thing and at(tokens, k).word[0] > "z":
            return True
        if token.word == "no" and i == first_of_weight(tokens):
            return _is_brief(tokens) or at(tokens, k).word == "more"
    return False


def _let_go(tokens: list[Token], things: list[int]) -> bool:
    """…的提醒不用了, …的闹钟算了吧, …提醒不用留了: refused at the end of its clause, with no question."""
    for i in range(things[-1] + 1, len(tokens)):
        if tokens[i].kind is K.NOT and tokens[i].word in _NEEDLESS:
            ends = [k for k in range(i + 1, min(i + 4, len(tokens))) if tokens[k].word.endswith("了")]
            if (
                ends
                and at(tokens, ends[0] + 1).kind in (K.PUNCT, K.FILLER)
                and not any(t.kind in (K.PUNCT, K.ASK, K.CALL) for t in tokens[things[-1] + 1 : ends[0]])
            ):
                return True
    end = len(tokens)
    while end and tokens[end - 1].kind in (K.PUNCT, K.FILLER, K.NOT):
        end -= 1
    tail = [t.word for t in tokens[end:]]
    refused = any(each in _NEEDLESS for each in tail) and "了" in tail
    return refused or (at(tokens, end - 1).word == "算" and "了" in tail)


_HAVING = frozenset(words("have need to want you bother about with"))
"""no need to remind me, you don't have to remind me, forget about reminding me."""
_SKIPPED_WORDS = frozenset(words("再 每天 老 天天 me 给我 总 总是"))
_BETWEEN = frozenset({K.NUM, K.UNIT, K.POINT, K.CLOCK, K.DAY, K.PERIOD, K.WEEKDAY, K.EVERY, K.DAILY, K.OF, K.NEXT})


def _refused(tokens: list[Token], folded: str) -> Manage | None:
    """别再提醒我…, 不用提醒了, stop reminding me, no need to remind me."""
    if is_done_by_other(tokens):
        return None  # 他让我别提醒他
    start = first_of_weight(tokens)
    for i, token in enumerate(tokens):
        quits = i == start and token.word in _OFF_EN
        if token.kind not in (K.NOT, K.CANCEL) and not quits:
            continue
        if token.word == "never" and at(tokens, i - 1).kind in (K.YOU, K.PERSON):
            continue  # you never remind me
        if token.word.endswith("了") and at(tokens, i - 1).kind is K.TEXT and i and tokens[i - 1].end == token.start:
            continue  # 等雨停了提醒我
        k = i + 1
        while at(tokens, k).word in _HAVING:
            k += 1
        needless = k > i + 2 and token.kind is K.NOT
        if quits and at(tokens, k).word not in REMINDING:
            continue
        if not _is_reminding(tokens, k if needless or quits else _refused_verb(tokens, i), token):
            continue
        if token.kind is K.CANCEL and at(tokens, i + 1).kind is K.ASK and is_other_object(tokens, folded, i, [i + 1]):
            continue
        mere = token.word in ("no", "没") or (token.word == "not" and at(tokens, i - 1).word != "do")
        if token.kind is K.NOT and mere and not needless:
            continue
        said_before = tokens[: _verb_behind(tokens, i)] if token.word[:1] > "z" else tokens
        return Manage.PAUSE if token.word in _FOR_NOW or _is_brief(said_before) else Manage.CANCEL
    return None


def _verb_behind(tokens: list[Token], i: int) -> int:
    """The place of the asking verb behind a Chinese refusal: a time that follows it is part of the task."""
    return next((k for k in range(i, len(tokens)) if tokens[k].kind in (K.ASK, K.CALL)), len(tokens))


def _refused_verb(tokens: list[Token], i: int) -> int:
    """The place of the verb that the refusal at `i` speaks of; in Chinese a time or a task may stand between."""
    k = i + 1
    while at(tokens, k).kind in (K.FILLER, K.HABIT, K.DAILY) or at(tokens, k).word in _SKIPPED_WORDS:
        k += 1
    chinese = tokens[i].word[:1] > "z" or (tokens[i].kind is K.NOT and tokens[i].word[:1] < "a")
    if not chinese:
        return k
    far = next((n for n in range(k, min(k + 9, len(tokens))) if tokens[n].kind in (K.PUNCT, K.ASK, K.CALL)), k)
    if tokens[i].kind is K.CANCEL and any(t.kind not in _BETWEEN for t in tokens[k:far]):
        return k  # 删除文件会提醒我吗
    return far if at(tokens, far).kind in (K.ASK, K.CALL) and at(tokens, far + 1).kind is K.ME else k


def _is_reminding(tokens: list[Token], k: int, refusal: Token) -> bool:
    verb = at(tokens, k)
    if (verb.kind is K.ASK and verb.word != "吱一声") or verb.word in REMINDING:
        return True
    to_me = verb.kind is K.CALL and at(tokens, k + 1).kind is K.ME
    return to_me and refusal.kind is K.NOT and _is_about_time(tokens)


def _is_brief(tokens: list[Token]) -> bool:
    """For today, this week, three days: a pause, no end."""
    return any(
        t.word in _BRIEF
        or t.kind in (K.DAY, K.NEXT, K.HOLIDAY, K.WEEKEND)
        or "这两天" in t.word
        or (t.kind is K.VAGUE and t.word == "vague")
        or (t.kind is K.PERIOD and t.n == 2)
        or (t.kind is K.NUM and at(tokens, n + 1).kind is K.UNIT)
        for n, t in enumerate(tokens)
    )


def _is_about_time(tokens: list[Token]) -> bool:
    """别叫我 alone is talk; with getting up, a day or "again" it is about an alarm."""
    return any(
        t.kind in (K.DAY, K.DAILY, K.POINT, K.CLOCK, K.WEEKEND)
        or t.word in ("起床", "起来", "起身", "了")
        or t.word.endswith("再")
        for t in tokens
    )


_TIMES = frozenset({K.DAY, K.WEEKDAY, K.POINT, K.CLOCK, K.DAILY, K.EVERY, K.PERIOD, K.WORKDAY, K.WEEKEND, K.DATE})


def _pointed(tokens: list[Token], folded: str) -> Manage | None:
    """撤掉周五组会那条, 明早8点那个先停一下: by its time and a word that points at it."""
    verb = next((t for t in tokens if t.kind in (K.CANCEL, K.PAUSE)), None)
    if verb is None or is_done_by_other(tokens) or tells_of_self(tokens):
        return None
    if any(t.kind in (K.QUESTION, K.DONE, K.ASK, K.CREATE, K.OF) for t in tokens):
        return None
    if any(place in folded for place in ("那里", "那儿", "那边", "那段", "那一段", "这里")):
        return None  # 视频2:30那里暂停一下
    if verb is at(tokens, first_of_weight(tokens)) and _is_one_by_time(tokens):
        return Manage.CANCEL if verb.kind is K.CANCEL else Manage.PAUSE
    if not any(t.kind in _TIMES for t in tokens) or not any(points_at_one(tokens, i) for i in range(len(tokens))):
        return None
    return Manage.CANCEL if verb.kind is K.CANCEL else Manage.PAUSE


def _is_one_by_time(tokens: list[Token]) -> bool:
    """drop the 5pm one, remove the Friday one: nothing but a time says which."""
    end = len(tokens)
    while end and tokens[end - 1].kind in (K.PUNCT, K.POLITE, K.FILLER):
        end -= 1
    start = first_of_weight(tokens) + 1
    named = [t for t in tokens[start : end - 1] if t.word not in ("the", "my", "at")]
    timed = any(t.kind in _TIMES for t in named)
    return is_one(at(tokens, end - 1)) and timed and all(t.kind in _TIMES or t.kind is K.NUM for t in named)


def _bare(tokens: list[Token]) -> Manage | None:
    """unschedule the Friday report; mute the standup pings: verbs that can only mean reminders."""
    first = first_of_weight(tokens)
    verb = at(tokens, first)
    if verb.word == "unschedule":
        return Manage.CANCEL
    pings = any(t.word in ("pings", "nudges", "notifications", "alerts") for t in tokens)
    if pings and ((verb.word == "no" and at(tokens, first + 1).word == "more") or verb.word in _OFF_EN):
        return Manage.CANCEL
    if pings and verb.kind is K.PAUSE:
        return Manage.PAUSE
    return Manage.CANCEL if pings and verb.kind is K.CANCEL else None
