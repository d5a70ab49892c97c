"""Tells requests to be called (叫我, 喊我, 提我, 通知我) from talk of somebody else who calls.

Such a verb asks by itself only where it opens the message with a task, or stands right behind what is waited for.
"""

from __future__ import annotations

from kernel.schedule.asks import Ask, clause_start
from kernel.schedule.body import VERBS
from kernel.schedule.clocks import at
from kernel.schedule.phrases import Found
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_CALLING = frozenset(words("叫 喊 唤 催 提 叫醒 喊醒"))
_TELLING = frozenset(words("通知 告诉 告知 知会 说一声"))
_OPENING = frozenset({K.FILLER, K.POLITE, K.HELP, K.PUNCT, K.MENTION, K.YOU, K.PERIOD, K.DAY})
_NEVER = frozenset({K.DONE, K.SAID, K.QUESTION, K.NOT, K.QUOTE, K.CANCEL, K.PAUSE})
_ENDS = tuple(
    words(
        "了 到 完 来 返 醒 时 时候 那阵 前 之前 后 之后 以后 放学 放工 下班 收工 散会 开会 散场 下课 落堂 开饭 食饭 "
        "吃饭 到家 到站 到咗 屋企 楼下 门口 查房 交班 出门 上车 下车 落车 登机 开门 关门"
    )
)
"""What a clause ends with that says what is waited for."""
_HAPPENED = frozenset("到来完好醒走回停开齐出返熟干退")
"""Before 了 they tell of what happens by itself, whenever it does (饭好了)."""
_LONGEST_EVENT, _LONGEST = 16, 48
_JUDGING = ("没", "就", "不行", "还行", "的人", "有用")
"""What is said of being called, not asked for: 叫我写代码还行."""
_MIND = frozenset(words("记得 麻烦 务必 千万 一定 一定要 记住 记着 拜托 请 劳烦"))
_PRONOUNS = frozenset("我你您他她它咱")


def _clause(tokens: list[Token], folded: str, ask: Ask) -> str:
    """The text of the clause before the ask."""
    start = clause_start(tokens, ask.i)
    if start >= ask.i:
        return ""
    return folded[tokens[start].start : tokens[ask.i].start].strip().removesuffix("再").removesuffix("就")


def _is_talk(tokens: list[Token], ask: Ask) -> bool:
    """Somebody tells or asks: words of the past, of saying, of denying."""
    if tokens[-1].end > _LONGEST or tokens[-1].word == "?":
        return True
    return any(
        (t.kind in _NEVER and t.word != "派") or (t.kind is K.DAY and t.n < 0) or t.word == "昨"
        for t in tokens[: ask.i + 1]
    )


def asks_alone(tokens: list[Token], folded: str, ask: Ask) -> bool:
    """记得喊我交班, 提我買餸, 快递到了叫我: a request although no time is named."""
    word = tokens[ask.i].word
    if not ask.to_me or word[:1] < "z" or ask.is_noun or _is_talk(tokens, ask):
        return False
    head, rest = tokens[: ask.i], tokens[ask.j :]
    if any(t.kind is K.QUESTION for t in rest) or any(sign in folded[rest[0].start :] for sign in _JUDGING if rest):
        return False
    if all((t.kind in _OPENING and t.n != 2) or t.word in _MIND for t in head):
        return _names_task(tokens, folded, ask)
    return waits(tokens, folded, ask) or (word == "提" and all(t.kind is not K.PERSON for t in head))


def _names_task(tokens: list[Token], folded: str, ask: Ask) -> bool:
    """Behind 叫我 stands what is to be done, and not a name to be called by (叫我小王)."""
    word = tokens[ask.i].word
    k = ask.j
    while k < len(tokens) and tokens[k].kind in (K.FILLER, K.PUNCT):
        k += 1
    task = folded[tokens[k].start :] if k < len(tokens) else ""
    minded = any(t.word in _MIND for t in tokens[: ask.i])
    if not task:
        return minded and word in _CALLING
    if len(task) == 1:
        return False  # 请喊我一声哥
    does = task[0] in VERBS
    if word in _TELLING:
        return minded and does and word == "通知"
    return does or word == "提" or (minded and word in ("喊", "催"))


def waits(tokens: list[Token], folded: str, ask: Ask) -> bool:
    """快递到了叫我, 放工提我買餸: what is waited for stands right before the ask."""
    clause = _clause(tokens, folded, ask)
    if (
        not 1 < len(clause) <= _LONGEST_EVENT
        or clause[0] in _PRONOUNS
        or not (clause.endswith(_ENDS) or "完" in clause)
    ):
        return False
    word, start = tokens[ask.i].word, clause_start(tokens, ask.i)
    work = at(tokens, start).kind in (K.NOW, K.AGENT) and clause.removesuffix("了")[-1:] in ("完", "好")
    if work or (len(clause) == len("好了") and clause.endswith("了")):
        return False  # 跑完了叫我, 好了叫我: the work at hand
    if word not in _CALLING and (
        word not in _TELLING or (word != "通知" and "一" not in folded[tokens[ask.i].start :])
    ):
        return False
    told_to_go = folded.startswith(("去", "过去", "过来", "回去"), at(tokens, ask.j).start)
    return not (told_to_go and word in ("叫", "喊") and any(t.kind is K.PERSON for t in tokens[start : ask.i]))


def is_awaited(tokens: list[Token], folded: str, ask: Ask) -> bool:
    """阿媽返嚟嗰陣嗌我: whoever stands before the ask is waited for, and does not call."""
    return ask.is_mild and ask.to_me and not _is_talk(tokens, ask) and waits(tokens, folded, ask)


def waits_besides(tokens: list[Token], folded: str, ask: Ask, used: list[Found]) -> bool:
    """下午三点快递来了叫我: at three, or when it comes?"""
    if at(tokens, ask.i - 1).word not in ("了", "就") or tokens[ask.i].word[:1] < "z":
        return False
    if any(f.j == ask.i for f in used):
        return False
    k = ask.i - 1
    thus = at(tokens, k).word == "就"
    if thus:
        k -= 1
    last = at(tokens, k)
    if k < 1 or any(f.i <= k < f.j for f in used) or any(f.i > k for f in used):
        return False
    said = folded[last.start : last.end]
    if last.word == "了" and k and not any(f.i <= k - 1 < f.j for f in used):
        due = any(sign in _clause(tokens, folded, ask) for sign in ("该", "快要", "就要", "要不"))
        return not due and folded[last.start - 1] in _HAPPENED
    return thus and (said[-1:] in _HAPPENED or "有" in _clause(tokens, folded, ask))


def is_told(tokens: list[Token], folded: str, ask: Ask, used: list[Found]) -> bool:
    """张三叫我明天9点去, 小刘明天七点叫我起床, 前台会打电话通知我: somebody else calls."""
    if tokens[ask.i].word[:1] < "z" or not ask.to_me or not used:
        return False
    if ("你" in folded or "您" in folded) and _clause(tokens, folded, ask).startswith(_COMPLAINTS):
        return True  # 你没9点提醒我
    if tokens[ask.i].kind is not K.CALL:
        return False
    before, first = at(tokens, ask.i - 1), used[0]
    counted = before.kind is K.NUM and at(tokens, ask.i - 2).kind is K.TEXT  # 张三
    named = (before.kind in (K.TEXT, K.PERSON) or counted) and before.end == tokens[ask.i].start
    tasked = any(t.kind not in (K.PUNCT, K.FILLER, K.POLITE) for t in tokens[used[-1].j :])
    if named and first.i == ask.j and tasked:
        return True
    opening = tokens[0]
    if opening.kind is K.CALL and first.i == 2 and first.j <= ask.i and tokens[1].kind in (K.TEXT, K.PERSON):
        return True  # 叫小李明早8点叫我
    if opening.kind is K.TEXT and first.i == 1 and opening.end == tokens[1].start and first.j <= ask.i:
        return is_name(folded[opening.start : opening.end]) and ask.j < len(tokens)
    will = next((k for k in range(clause_start(tokens, ask.i), ask.i - 1) if tokens[k].word in _WILL), None)
    if will is None or tokens[will + 1].kind is not K.TEXT:
        return False
    return all(t.kind is not K.YOU for t in tokens[:will])  # 到了会打电话通知我


_COMPLAINTS = ("你没", "您没", "你又", "你刚", "你居然", "你竟", "你才", "你从来", "你冇", "你早就")
_WILL = frozenset(words("会 将 将会 都会"))
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡林郭何罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘"
    "杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文陳劉張楊黃趙吳"
    "孫馬羅鄭謝韓馮蕭許鄧呂蘇盧蔣賈葉閻"
)
_NICK = frozenset("小老阿")
_TITLES = ("姐", "哥", "叔", "姨", "总", "工", "老师", "医生", "主任", "师傅", "经理", "同学", "护士", "教授")


def is_name(text: str) -> bool:
    """小刘, 阿明, 陈姐, 张三: likely a person."""
    if text.endswith(_TITLES) and len(text) <= 4:
        return True
    return (len(text) == 2 and text[0] in _NICK) or (2 <= len(text) <= 3 and text[0] in _SURNAMES)
