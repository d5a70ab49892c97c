"""Where series begin and end, several leads to one event, and what of a request is asked about or kept in its task."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import Cron, Doubt, Every, ScheduleIntent
from kernel.triggers import fires

NOW = datetime.fromisoformat("2026-04-22T10:30:00+08:00")  # a Wednesday


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


def next_times(found: ScheduleIntent, count: int = 5) -> list[str]:
    assert found.schedule is not None
    zone = timedelta(hours=8)
    return [f"{at + zone:%m-%d %H:%M}" for at in fires(found.schedule, found.zone, NOW.astimezone(UTC), count)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("每6小时提醒我喂药，今晚8点开始", ["04-22 20:00", "04-23 02:00"]),
        ("每6小时提醒我喂药，从明天早上8点开始", ["04-23 08:00", "04-23 14:00"]),
        ("下周一9点开始每2小时提醒我喂药", ["04-27 09:00", "04-27 11:00"]),
        ("每4小时提醒我喂药，第一次在下午2点", ["04-22 14:00", "04-22 18:00"]),
        ("半小时后每10分钟提醒我喂药", ["04-22 11:00", "04-22 11:10"]),
        ("2小时后开始每30分钟提醒我喂药", ["04-22 12:30", "04-22 13:00"]),
        ("every 6 hours remind me to 喂药, starting at 8pm tonight", ["04-22 20:00", "04-23 02:00"]),
        ("remind me every 6 hours to 喂药 starting at 8am tomorrow", ["04-23 08:00", "04-23 14:00"]),
        ("starting tomorrow at 6am ping me every 3 hours to 喂药", ["04-23 06:00", "04-23 09:00"]),
        ("every 4 hours remind me to 喂药 beginning tonight at 10", ["04-22 22:00", "04-23 02:00"]),
    ],
)
def test_steps_begin_where_it_is_said_wherever_that_stands(text: str, times: list[str]) -> None:
    found = read(text)

    assert next_times(found, 2) == times
    assert found.body == "喂药"


@pytest.mark.parametrize(
    ("text", "count", "last"),
    [
        ("今天下午两点开始每15分钟提醒我巡视，到三点半为止", 7, "04-22 15:30"),
        ("every 40 minutes between 1pm and 5pm today remind me to stretch", 7, "04-22 17:00"),
        ("每2小时提醒我喝水，明天9点到18点", 5, "04-23 17:00"),
        ("今天每小时提醒我喝水，到晚上9点", 11, "04-22 21:00"),
        ("今晚10点到明早6点每2小时提醒我翻身", 5, "04-23 06:00"),
    ],
)
def test_steps_of_one_stretch_are_a_series_with_an_end(text: str, count: int, last: str) -> None:
    found = read(text)

    assert isinstance(found.schedule, Every)
    times = next_times(found, 50)
    assert (len(times), times[-1]) == (count, last)


@pytest.mark.parametrize(
    "text",
    [
        "每天晚上10点到早上6点每2小时提醒我翻身",
        "22:00-06:00每2小时提醒我翻身",
        "every 2 hours from 10pm to 6am remind me to turn",
    ],
)
def test_a_window_may_go_on_into_the_morning(text: str) -> None:
    assert read(text).schedule == Cron(("0 0,2,4,6,22 * * *",))


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("周五16:00交论文，提前两小时和提前半小时都提醒我", ["04-24 14:00", "04-24 15:30"]),
        ("周五16:00交论文，提前两小时和半小时提醒我", ["04-24 14:00", "04-24 15:30"]),
        ("周五16:00交论文，提前1天、1小时提醒我", ["04-23 16:00", "04-24 15:00"]),
    ],
)
def test_several_leads_in_one_breath_are_all_kept(text: str, times: list[str]) -> None:
    found = read(text)

    assert (next_times(found), found.body) == (times, "交论文")


@pytest.mark.parametrize(
    "text",
    [
        *("高考前每天早上6点提醒我背单词", "3月以后每天早上7点提醒我跑步", "明年以后每天7点提醒我跑步"),
        *("调休上班的周末早上7点叫我起床", "没课的周三早上9点提醒我健身", "不下雨的日子早上7点提醒我跑步"),
        *("每小时提醒我喝水，今天下午5点结束", "工作日晚上10点到早上6点每2小时提醒我翻身"),
        *("remind me at 9 to call mom and at 10 to call dad", "remind me to call mom at 9 and to call dad at 10"),
        *("at 9 tonight remind me every 30 minutes to check the oven", "every day in May at 9am remind me to water"),
    ],
)
def test_what_no_rule_can_hold_is_asked_about(text: str) -> None:
    assert read(text).question is not None


@pytest.mark.parametrize("text", ["提醒我", "帮我记个提醒", "设个提醒", "remind me", "set a reminder"])
def test_a_bare_wish_is_asked_for_its_task(text: str) -> None:
    question = read(text).question

    assert question is not None
    assert (question.doubt, question.choices) == (Doubt.NO_TASK, ())


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("吃阿司匹林 每晚八点半 提醒一下爷爷", "爷爷吃阿司匹林"),
        ("量血压，每天早上7点提醒奶奶", "奶奶量血压"),
        ("今晚9点提醒我下线", "下线"),
        ("9点提醒我下明天的医嘱", "下明天的医嘱"),
        ("9点提醒我下交电费", "交电费"),
        ("9点提醒我就诊", "就诊"),
        ("remind me at noon to move the 3pm review to Friday", "move the 3pm review to Friday"),
    ],
)
def test_no_word_of_the_task_is_lost(text: str, body: str) -> None:
    assert read(text).body == body


def test_a_bit_is_no_hour() -> None:
    assert not read("把提醒语改得温柔一点").is_request


def test_midnight_tonight_ends_this_evening() -> None:
    assert next_times(read("remind me at midnight tonight to submit the form")) == ["04-23 00:00"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("从明天起每月第一个工作日上午9点提醒我报考勤", "05-01 09:00"),
        ("从明天起每月最后一个工作日上午9点提醒我报考勤", "04-30 09:00"),
        ("从下个月开始每月1到3号上午9点提醒我报考勤", "05-01 09:00"),
    ],
)
def test_a_first_day_goes_with_any_rule_of_the_month(text: str, first: str) -> None:
    assert next_times(read(text), 1) == [first]


def test_steps_that_do_not_fill_the_hour_count_from_now() -> None:
    assert next_times(read("今天每45分钟提醒我喝水"), 2) == ["04-22 11:15", "04-22 12:00"]
    assert read("工作日每90分钟提醒我喝水").question is not None


def test_full_hours_go_on_past_midnight() -> None:
    found = read("晚上10点到早上6点每个整点提醒我巡视")

    assert next_times(found, 4) == ["04-22 22:00", "04-22 23:00", "04-23 00:00", "04-23 01:00"]
