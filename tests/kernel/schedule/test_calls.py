"""Who is to be called and by whom: 叫我, 喊我, 提我, 通知我 as requests, and as talk of somebody else who calls."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import Doubt, ScheduleIntent

NOW = datetime.fromisoformat("2026-09-16T14:20:00+08:00")  # a Wednesday


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Hong_Kong")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "张三到了通知我",
            "等李主任到了叫我",
            "快递到了叫我",
            "饭好了叫我",
            "老板来了通知我一声",
            "检查结果出来了通知我",
        ),
        *("查房前喊我一声", "查完房叫我", "放工提我買餸", "散会喊我", "阿媽返嚟嗰陣嗌我", "妈妈下班了叫我"),
        *("下午三点快递来了叫我", "班主任9点到，到了叫我", "9点以后有人来就叫我", "等雨停了提醒我收衣服"),
    ],
)
def test_what_is_waited_for_is_asked_about_and_never_guessed(text: str) -> None:
    found = read(text)

    assert found.schedule is None
    assert found.manage is None
    assert found.question is not None


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("记得喊我交班啊", "交班"),
        ("提我買餸", "買餸"),
        ("記得提我交水費呀", "交水費"),
        ("麻烦催我写病历", "写病历"),
        ("叫我起床", "起床"),
        ("daily reminder for insulin please", "insulin"),
        ("monthly reminder: check the smoke alarm", "check the smoke alarm"),
    ],
)
def test_a_task_without_a_time_is_asked_about(text: str, body: str) -> None:
    found = read(text)

    assert found.question is not None
    assert found.question.doubt in (Doubt.NO_TIME, Doubt.VAGUE_PERIOD)
    assert found.body == body


@pytest.mark.parametrize(
    "text",
    [
        *("张三叫我明天9点去他办公室", "小刘明天7点叫我起床", "陈姐明天7点嗌我起身", "下午3点前台会打电话通知我"),
        *("阿媽聽日七點嗌我起身", "我阿媽每日九點提我食藥", "护士小王每天8点提醒我", "領導叫我聽日九點返公司"),
        *("叫我小王", "请喊我一声哥", "叫我写代码还行", "好了叫我", "领导来了叫我去开会", "催我也没用"),
    ],
)
def test_talk_of_who_calls_is_no_request(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


def test_a_person_before_a_noun_is_no_subject() -> None:
    found = read("妈妈生日明天8点提醒我买蛋糕")

    assert found.schedule is not None
    assert found.body == "买蛋糕"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("吃二甲双胍 每晚七点半 提醒一下外公", "外公吃二甲双胍"),
        ("换床单 周三和周六 上午十点 提醒下护工", "护工换床单"),
        ("食藥 每晚八點 提阿爺", "阿爺食藥"),
        ("take aspirin, every night at 8:30, remind grandpa", "grandpa, take aspirin"),
        ("每天8点提醒开会", "开会"),
    ],
)
def test_a_name_behind_the_ask_does_not_replace_the_task(text: str, body: str) -> None:
    assert read(text).body == body
