"""Lengths of time as Cantonese and short English say them, and which of them close a series."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import Every, Once, ScheduleIntent
from kernel.triggers import ends, fires

NOW = datetime.fromisoformat("2026-09-16T14:20:00+08:00")  # a Wednesday
HONG_KONG = "Asia/Hong_Kong"


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone=HONG_KONG)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("個半鐘之後提我收衫", 90),
        ("个半小时后提醒我", 90),
        ("半粒鐘後叫我", 30),
        ("一粒半鐘後提我", 90),
        ("三個字後提我熄火", 15),
        ("兩個骨後提我", 30),
        ("仨小时后叫我", 180),
        ("in an hour n a half remind me to eat", 90),
        ("remind me in 1hr30 to eat", 90),
    ],
)
def test_a_length_is_counted_from_now(text: str, minutes: int) -> None:
    found = read(text)

    assert found.schedule == Once((NOW.astimezone(UTC) + timedelta(minutes=minutes),))


@pytest.mark.parametrize(
    ("text", "minutes"), [("每個半鐘提我", 90), ("每个半小时提醒我", 30), ("每半粒鐘提我飲水", 30)]
)
def test_a_step_in_cantonese(text: str, minutes: int) -> None:
    found = read(text)

    assert isinstance(found.schedule, Every)
    assert found.schedule.step == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "text", ["大半個鐘後提我", "個零鐘後提我", "三個多小時後提我", "十零分鐘後提我", "成個鐘後提我"]
)
def test_a_rough_length_is_asked_about(text: str) -> None:
    found = read(text)

    assert found.question is not None
    assert found.body == ""


@pytest.mark.parametrize(
    ("text", "at"), [("下晝三點搭九提我", "15:45"), ("夜晚八點半鐘提我", "20:30"), ("下晝三點一個骨提我", "15:15")]
)
def test_minutes_by_the_hand_of_the_clock(text: str, at: str) -> None:
    found = read(text)

    assert found.schedule is not None
    first = fires(found.schedule, found.zone, NOW.astimezone(UTC), 1)[0]
    assert f"{first.astimezone(NOW.tzinfo):%H:%M}" == at


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("每晚十點提我食藥，食七日", "09-22"),
        ("每晚十點提我食藥，一連七日", "09-22"),
        ("每晚十點提我食藥，食夠十日為止", "09-25"),
        ("每晚十点提醒我吃药，7天疗程", "09-22"),
        ("每晚十點提我食藥，食到中秋", "09-25"),
        ("每日食藥兩次朝九晚九提我，食到中秋", "09-25"),
        ("remind me every day at 10pm to take pills, 10 days total", "09-25"),
        ("remind me daily at 9pm to take pills until the winter solstice", "12-22"),
    ],
)
def test_the_end_of_a_series_is_kept(text: str, last: str) -> None:
    found = read(text)

    assert found.schedule is not None
    end = ends(found.schedule, found.zone, NOW.astimezone(UTC))
    assert end is not None
    assert f"{end.astimezone(NOW.tzinfo):%m-%d}" == last


def test_an_end_that_is_not_known_is_asked_about() -> None:
    assert read("每晚十點提我食藥，到過年為止").question is not None


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("remind me every hour from 6 to 9 tonight to check the IV", ["18:00", "19:00", "20:00", "21:00"]),
        ("every hour from 8 to 10 tomorrow night remind me to check", ["20:00", "21:00", "22:00"]),
        ("every 45 minutes from 3 to 4:30 this afternoon remind me to look", ["15:00", "15:45", "16:30"]),
        ("下午3点到5点每小时提醒我巡视一次，就今天", ["15:00", "16:00", "17:00"]),
    ],
)
def test_a_window_of_one_day_keeps_its_hours_and_its_day(text: str, times: list[str]) -> None:
    found = read(text)

    assert found.schedule is not None
    due = fires(found.schedule, found.zone, NOW.astimezone(UTC), 9)
    assert [f"{each.astimezone(NOW.tzinfo):%H:%M}" for each in due] == times


@pytest.mark.parametrize("text", ["from 9 tonight to 1 remind me every hour to check", "会议8点，7点半叫我"])
def test_a_part_that_is_not_understood_is_asked_about(text: str) -> None:
    assert read(text).question is not None
