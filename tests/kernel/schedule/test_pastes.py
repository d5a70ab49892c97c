"""Minutes, handovers and logs of a chat that somebody pastes ask for nothing; a form that one person fills in does."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.pastes import is_pasted
from kernel.schedule.values import ScheduleIntent

NOW = datetime.fromisoformat("2026-09-16T14:20:00+08:00")  # a Wednesday


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


@pytest.mark.parametrize(
    "text",
    [
        "会议纪要：下周三下午2点评审，由小李提醒大家",
        "今日晨会记录：\n1. 9点查房\n2. 下午3点会诊\n3. 提醒大家按时交病历",
        "交更紀錄：14:00 3床發燒，提咗家屬聽日9點嚟",
        "护理交班：3床每2小时翻身，6床8点抽血，提醒家属签字",
        "转发：明早9点提醒大家交表",
        "通知\n各位家长：明天8点到校，请提醒孩子带水杯",
        "Meeting notes\n- 9:00 kickoff\n- remind Bob about budget at 3pm",
        "Handover notes: bed 4 due at 22:00, remind family to call before 9",
        "张三 14:02\n明天9点提醒我开会\n李四 14:03\n收到",
        "王医生：明天8点叫我\n李护士：好",
        "[14:02] Tom: remind me at 5\n[14:03] Ann: sure",
        "10:02 AM - Dave: ping me at 11\n10:03 AM - Eve: will do",
        "8:00 晨会\n9:00 查房\n10:00 手术\n叫我准备",
    ],
)
def test_what_others_wrote_asks_for_nothing(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


@pytest.mark.parametrize(
    "text",
    [
        "时间：每天8点\n内容：吃药\n提醒我",
        "提醒我明天下午3点开会：\n1. 带电脑\n2. 带名片",
        "remind me tomorrow at 9:\n- buy milk\n- call mom",
        "会议纪要明天9点提醒我发",
        "会议纪要：明天9点提醒我发",
        "组会 14:00\n提醒我",
        "meeting notes: remind me at 5pm to send them",
        "Note to self: remind me at 5pm to call",
    ],
)
def test_a_form_or_a_label_of_ones_own_is_a_request(text: str) -> None:
    assert read(text).schedule is not None


def test_two_hours_in_lines_of_their_own_are_asked_about_rather_than_one_of_them_lost() -> None:
    assert read("8:00 吃药\n20:00 量血压\n提醒我").question is not None


@pytest.mark.parametrize("text", ["", "\n", ":", "[", "(:", "1:", " - :", "各位"])
def test_fragments_are_no_pastes(text: str) -> None:
    assert not is_pasted(text)
