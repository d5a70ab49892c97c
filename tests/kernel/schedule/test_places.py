"""Which of the listed reminders are named by their place."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import ScheduleIntent

NOW = datetime.fromisoformat("2026-12-01T10:10:00+08:00")


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


@pytest.mark.parametrize(
    ("text", "places", "body"),
    [
        ("取消第1个提醒", (1,), ""),
        ("把第二个和第三个闹钟删掉", (2, 3), ""),
        ("把第2条提醒暂停", (2,), ""),
        ("取消最后一个提醒", (-1,), ""),
        ("取消提醒3", (3,), ""),
        ("第2个提醒不要了", (2,), ""),
        ("取消第二个吃药提醒", (2,), "吃药"),
        ("cancel the first reminder", (1,), ""),
        ("cancel reminders 2 and 3", (2, 3), ""),
        ("delete alarm #3", (3,), ""),
        ("cancel the 3rd and 5th reminders", (3, 5), ""),
        ("delete the last alarm", (-1,), ""),
        ("cancel reminder no 4 please", (4,), ""),
        ("取消第一和第三个提醒", (1, 3), ""),
        ("取消第1、3个提醒", (1, 3), ""),
        ("取消前两个提醒", (1, 2), ""),
        ("取消頭兩個提醒", (1, 2), ""),
        ("delete the last two reminders", (-1, -2), ""),
    ],
)
def test_a_place_in_the_list_is_no_time_and_no_task(text: str, places: tuple[int, ...], body: str) -> None:
    found = read(text)

    assert found.manage is not None
    assert (found.places, found.body, found.is_narrowed) == (places, body, False)


@pytest.mark.parametrize(
    "text",
    [
        "取消每月第二个周五的提醒",
        "cancel the first Monday reminder",
        "取消3点的提醒",
        "cancel the reminder for the 3rd",
    ],
)
def test_what_counts_days_names_no_place(text: str) -> None:
    found = read(text)

    assert found.manage is not None
    assert (found.places, found.is_narrowed) == ((), True)


def test_all_of_them_are_named_by_no_place() -> None:
    found = read("暂停所有提醒")

    assert (found.is_all, found.places, found.body) == (True, (), "")


@pytest.mark.parametrize(
    "text", ["取消the 3rd和", "delete the 2nd and", "取消第1、", "cancel the last", "每天9点提醒我 直到 the"]
)
def test_what_breaks_off_is_read_without_an_error(text: str) -> None:
    assert read(text).zone == "Asia/Shanghai"
