"""Recognises texts that no person wrote to ask for something: code, logs, the bot's own words, texts about texts."""

from __future__ import annotations

from kernel.schedule.tokens import words

_CODE = tuple(
    words(
        "() (\" (' range( => { }; ``` </ /> && $( == console. print( crontab schedule.every #!/ setinterval( "
        "settimeout( ); /bin/ \\n"
    )
)
_ABOUT_TEXT = (
    "提醒功能",
    "提醒的功能",
    "这句",
    "这段",
    "下面的话",
    "以下内容",
    "语法",
    "语病",
    "错别字",
    "造句",
    "近义词",
    ' = "',
    " = '",
)
_CODE_SIGNS = frozenset("(){}=><;/`&$#*\\")
_ECHO = (
    "已为你",
    "已为您",
    "已设置",
    "已创建",
    "已添加",
    "已取消",
    "已删除",
    "已暂停",
    "已经为你",
    "已经帮你",
    "我会在",
    "我将在",
    "设好了",
    "提醒已",
    "提醒设置成功",
    "创建成功",
    "设置成功",
    "reminder set",
    "reminder created",
    "i'll remind",
    "i will remind",
    "reminder:",
    "reminder -",
    "scheduled:",
    "reminders:",
    "got it,",
    "done! i",
    "下次提醒",
    "next:",
    "下一次提醒",
    "温馨提醒:",
    "友情提醒:",
    "温馨提示",
    "友情提示",
    "【",
    "[提醒]",
    "[reminder]",
    "系统提醒",
    "定时提醒:",
    "提醒:",
    "提醒事项:",
    "闹钟响了",
    "收到,我会",
    "已撤销",
    "已改回",
    "设一个提醒:\n",
    "改一个提醒:\n",
    "取消一个提醒:\n",
    "set a reminder:\n",
    "change a reminder:\n",
    "cancel a reminder:\n",
    "changed back:",
    "错过了,没有再提醒",
    "接下来:",
    "undone:",
    "paused:",
    "cancelled:",
    "missed and not repeated",
)
_RECEIPTS = ("已创建", "创建成功", "设置成功", "下次:", ",下次 ", "\n🕐", "\n✅")
"""Wherever they stand, somebody reports what was set."""
_PROGRAMS = ("写", "帮我写", "帮忙写", "用py", "开发", "做一个", "做个", "编一个", "编个", "搭一个", "搭个")
_PROGRAM_NOUNS = ("脚本", "程序", "代码", "函数", "插件", "app", "bot", "机器人")
"""Somebody wants a program that reminds, not to be reminded."""
_LOG = ("insert into", "[info]", "[error]", "[warn]", "[debug]", "traceback")
_LEVELS = (" info ", " error ", " warn ", " warning ", " debug ")
_STAMP_ENDS = frozenset("0123456789]z")


def _holds(folded: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110  (a generator costs more than all the look-ups)
        if mark in folded:
            return True
    return False


def _is_log(folded: str) -> bool:
    """A level right behind a stamp of time, and nobody who is to be warned."""
    for level in _LEVELS:
        found = folded.find(level)
        if found > 0 and folded[found - 1] in _STAMP_ENDS:
            return not folded.startswith(("me", "us", "@", "the "), found + len(level))
    return False


def is_foreign(folded: str) -> bool:
    """Code, a log line, or one of the bot's own texts."""
    signs = not _CODE_SIGNS.isdisjoint(folded)
    if signs and ("* * *" in folded or _holds(folded, _CODE)):
        return True
    if _holds(folded, _ABOUT_TEXT):
        return True
    if folded[:4].lstrip().startswith(_PROGRAMS) and _holds(folded, _PROGRAM_NOUNS):
        return True  # 写一个每天9点提醒我的脚本
    if _holds(folded, _LOG) or (":" in folded and _is_log(folded)) or ("select " in folded and " from " in folded):
        return True
    head = (
        (folded.partition(" ")[2] if folded[:1] == "@" else folded)
        .lstrip(" \n⏰🔔✅📌🎉👌")
        .removeprefix("好的,")
        .removeprefix("好的。")
        .removeprefix("好,")
        .removeprefix("ok,")
        .lstrip()
    )
    if head.startswith(_ECHO) or _holds(folded, _RECEIPTS):
        return True
    if head.startswith("done,") and "remind me" not in folded:
        return True
    return "提醒你" in folded[:60] or "提醒您" in folded[:60] or "remind you" in folded[:80]
