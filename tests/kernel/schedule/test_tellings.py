"""Talk of reminders that went, of other things that are to go, and questions about it cancel nothing."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import Manage, ScheduleIntent

NOW = datetime.fromisoformat("2026-12-01T10:10:00+08:00")


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


@pytest.mark.parametrize(
    "text",
    [
        *("昨天我已经把吃药的提醒删了", "昨晚我把闹钟关了", "今早老婆把我的闹钟关了", "上周我妈把闹钟删掉了"),
        *("吃药的提醒我昨天删了", "提醒我已经关了", "闹钟我关掉了"),
        *("吃药提醒昨天就删了", "已经把喝水提醒关了，你别发了", "刚把提醒都删完", "医嘱里的提醒被护士删了"),
        *("I already cancelled the 9am reminder", "yesterday I removed the pill reminder", "the alarm was cancelled"),
    ],
)
def test_what_was_done_before_is_not_done_again(text: str) -> None:
    assert read(text).manage is None


@pytest.mark.parametrize(
    "text",
    [
        *("删掉文档里关于提醒的那段", "把草稿里写提醒的那一段删掉", "删除提醒的那一页", "删掉群公告里提醒家属的那句"),
        *("关掉提醒的声音", "取消提醒这个功能好难找", "删除报告里有关闹钟的句子", "把提醒邮件删掉"),
        *("Delete the paragraph about reminders in the draft", "remove the section on alarms from the doc"),
        *("delete the file with my reminders", "can you delete the reminder email draft?"),
        *("remove the sentence that mentions reminders", "把PPT里闹钟那一页删了", "删掉代码里的提醒模块"),
        *("删掉公众号里提醒那篇", "把第二段关于提醒的内容删掉", "视频2:30那里暂停一下"),
        *("the alarm went off, cancel the drill", "cancel the order for the alarm clock"),
    ],
)
def test_other_things_go_without_the_reminders_they_speak_of(text: str) -> None:
    assert read(text).manage is None


@pytest.mark.parametrize(
    "text",
    [
        *("小王说他把提醒取消了", "写个通知：下周起取消每日提醒", "把“取消提醒”这个按钮放大", "停止提醒是哪个按钮"),
        *("你能取消提醒吗", "要是下雨就取消提醒", 'please rewrite: "cancel my alarm"', "can you cancel reminders?"),
        *("will you cancel the reminder if I ask", "is there a way to pause reminders"),
    ],
)
def test_told_quoted_and_asked_about_is_no_order(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


@pytest.mark.parametrize(
    ("text", "manage"),
    [
        ("刚才设的那个提醒撤了吧", Manage.CANCEL),
        ("把我昨天设的闹钟关了", Manage.CANCEL),
        ("把已经过期的提醒都删掉", Manage.CANCEL),
        ("医生说不用吃了，把吃药提醒取消", Manage.CANCEL),
        ("取消提醒的那条", Manage.CANCEL),
        ("能帮我取消吃药的提醒吗", Manage.CANCEL),
        ("如果可以的话，取消提醒", Manage.CANCEL),
        ("把每小时翻身的提醒挂起", Manage.PAUSE),
        ("get rid of the reminder about rent", Manage.CANCEL),
        ("cancel all of my reminders", Manage.CANCEL),
        ("can you cancel the reminder?", Manage.CANCEL),
        ("no more pings about the timesheet please", Manage.CANCEL),
        ("scratch the reminder to call home", Manage.CANCEL),
    ],
)
def test_an_order_stays_an_order(text: str, manage: Manage) -> None:
    assert read(text).manage is manage
