"""Recognises texts that were written before, for other people, and pasted here: minutes, handovers, logs of a chat."""

from __future__ import annotations

from itertools import pairwise

from kernel.schedule.tokens import words

_TO_ME = (
    *words("提醒我 提醒一下我 叫我 喊我 通知我 提我 叫醒我"),
    *("remind me", "ping me", "nudge me", "wake me", "alert me"),
)
"""Whoever pastes minutes and asks for something says so for himself."""
_HEADINGS_ZH = tuple(
    words(
        "纪要 记录 纪录 交班 交更 日志 公告 转发 议程 待办清单 备忘录 小结 简报 通知 总结 安排 汇报 会议要点 "
        "行动项 转述"
    )
)
_HEADINGS_EN = (
    *("meeting notes", "notes from", "minutes", "action items", "agenda", "shift notes", "handover", "handoff"),
    *("call notes", "standup notes", "fwd", "fw", "forwarded", "recap", "summary of", "transcript", "chat log"),
    *("team notes", "meeting summary", "meeting minutes", "notice", "announcement"),
)
_ASKING = ("提醒", "remind", "每天", "每周", "每月", "每个")
"""In a heading they make a request of it: 每周五17点提醒大家交总结:…"""
_HEADED = ("of ", "from ", "for ", "notes", "note", "summary", "report")
"""What may follow a heading: anything else goes on with a sentence."""
_MAIL = ("from:", "to:", "sent:", "subject:", "cc:", "发件人:", "收件人:", "主题:", "发送时间:", "抄送:")
"""Lines at the head of a forwarded mail."""
_FIELDS = frozenset(
    words(
        "时间 事项 内容 地点 日期 提醒 任务 主题 标题 备注 频率 名称 提醒内容 提醒时间 开始 结束 周期 对象 早上 "
        "上午 中午 下午 晚上 早 中 晚 凌晨 睡前 饭前 饭后 工作日 周末 time date task what when where note body "
        "subject title text start end repeat message who morning noon evening night weekdays weekend ps todo"
    )
)
"""Labels of a form, which one person fills in."""
_LONGEST_HEADING = 40
_LONGEST_NAME = 14
_MOST_LINES = 40
_MARKS = "-*•·、.) \t"


def is_pasted(folded: str) -> bool:
    """The message (folded) is a record of what others said or agreed, with nothing asked of the assistant."""
    if ":" not in folded and "\n" not in folded:
        return False
    lines = [line.strip() for line in folded.split("\n", _MOST_LINES) if line.strip()]
    if not lines:
        return False
    if sum(line.startswith(_MAIL) for line in lines[:6]) > 1:
        return True
    if any(_is_stamped(line) for line in lines[:3]) or _is_chat(lines) or _is_timetable(lines):
        return True
    if not _is_headed(lines[0], alone=len(lines) > 1) and not any(_greets_all(line) for line in lines[:2]):
        return False
    return not any(ask in folded for ask in _TO_ME)


def _is_headed(line: str, *, alone: bool) -> bool:
    """会议纪要:…, meeting notes: what follows was written down elsewhere; `alone` when more lines follow."""
    head, colon, _ = line.partition(":")
    if not colon and not alone:
        return False
    head = head.strip("# 【】[]*")
    if len(head) > _LONGEST_HEADING or any(sign in head for sign in _ASKING):
        return False
    if head.startswith(_HEADINGS_EN):
        heading = next(each for each in _HEADINGS_EN if head.startswith(each))
        follow = head[len(heading) :].lstrip()
        return not follow or not follow[0].isalpha() or follow.startswith(_HEADED) or " " in heading
    bare = head.rstrip("0123456789年月日号./- ()（）")
    return bare.endswith(_HEADINGS_ZH) or head.startswith("转发 ")


def _greets_all(line: str) -> bool:
    """各位家长:"""
    return line.startswith("各位") and ":" in line[:10]


def _is_stamped(line: str) -> bool:
    """[14:02] Tom: …; Tom (2:05 PM): …; 14:02 - Tom: …: somebody said it at that time."""
    stamp, dash, behind = line.partition(" - ")
    if dash and line[0] in "0123456789" and ":" in stamp and not stamp.strip("0123456789:/.-, apm"):
        name, colon, _ = behind.partition(":")
        return bool(colon) and 0 < len(name) <= _LONGEST_NAME and not name[0].isdigit()
    opening, closing = ("[", "]") if line[0] == "[" else ("(", ")")
    i = line.find(opening)
    j = line.find(closing, i)
    if i < 0 or j < 0 or i > _LONGEST_NAME or j - i > 2 * _LONGEST_NAME:
        return False
    inside, behind = line[i + 1 : j], line[j + 1 :].lstrip()
    if ":" not in inside or not any(c.isdigit() for c in inside):
        return False
    if opening == "(":
        return behind.startswith(":") and i > 0 and not any(c.isdigit() for c in line[:i])
    name, colon, _ = behind.partition(":")
    return bool(colon) and 0 < len(name) <= _LONGEST_NAME


def _speaker(line: str) -> str:
    """The name in front of a colon; empty when none stands there."""
    name, colon, said = line.partition(":")
    name = name.strip()
    if not colon or not said.strip() or not 0 < len(name) <= _LONGEST_NAME or name in _FIELDS:
        return ""
    if any(c.isdigit() or c in ",。;!?提每周" for c in name) or name.startswith(("remind", "星期", "礼拜")):
        return ""
    return name if name.count(" ") <= 1 else ""


def _is_chat(lines: list[str]) -> bool:
    """Two people speak, one line each or below a line with name and time."""
    speakers = {name for line in lines if (name := _speaker(line))}
    asks = any(_speaker(line) and any(ask in line for ask in _TO_ME) for line in lines)
    if len(speakers) > 1 and asks:
        return True
    stamps = [n for n, line in enumerate(lines) if _is_name_and_time(line)]
    return len(stamps) > 1 and stamps[0] == 0 and all(b - a > 1 for a, b in pairwise(stamps))


def _is_name_and_time(line: str) -> bool:
    """张三 14:02"""
    name = line.rstrip("0123456789:/-. apm[]()")
    rest = line[len(name) :]
    short = 0 < len(name) <= _LONGEST_NAME and not any(c.isdigit() or c in ",:。;" for c in name)
    return short and ":" in rest and len(rest) > 3


def _is_timetable(lines: list[str]) -> bool:
    """8:00 晨会, 9:00 查房, 10:00 手术: one line for each hour of a day, and no request before them."""
    timed = sum(_opens_with_time(line) for line in lines)
    if any(ask in lines[0] for ask in _TO_ME):
        return False
    return timed > 2 or (timed > 1 and not any(ask in line for line in lines for ask in _TO_ME))


def _opens_with_time(line: str) -> bool:
    line = line.lstrip(_MARKS)
    digits = len(line) - len(line.lstrip("0123456789"))
    return 0 < digits <= 2 and line[digits : digits + 1] in (":", "点") and line[digits + 1 : digits + 2] != ""
