"""Words that may manage without naming a reminder are handed on as a hint, and never as an order."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import Manage, ScheduleIntent

NOW = datetime.fromisoformat("2026-09-16T14:20:00+08:00")  # a Wednesday


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


@pytest.mark.parametrize(
    ("text", "hint", "timed"),
    [
        ("取消查房", "查房", False),
        ("把查房取消", "查房", False),
        ("查房不用了", "查房", False),
        ("唔使食藥喇", "食藥", False),
        ("取消每周五的周报", "周报", True),
        ("cancel rent", "rent", False),
        ("cancel the insulin one", "insulin", False),
        ("cancel my 3pm meeting", "meeting", True),
    ],
)
def test_a_verb_of_cancelling_and_a_name_are_a_hint(text: str, hint: str, timed: bool) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)
    assert (found.hint, found.is_narrowed) == (hint, timed)


@pytest.mark.parametrize(
    "text",
    [
        "会议取消了",
        "取消",
        "cancel that",
        "stop it",
        "cancel everything",
        "取消了吗",
        "谁取消了会议",
        "别吃药了",
        "he cancelled rent",
    ],
)
def test_news_and_talk_are_no_hint(text: str) -> None:
    found = read(text)

    assert (found.hint, found.places, found.manage) == ("", (), None)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("取消第一和第三个", (1, 3)),
        ("取消第1、3个", (1, 3)),
        ("第2个取消", (2,)),
        ("取消前两个", (1, 2)),
        ("cancel the first and the third one", (1, 3)),
    ],
)
def test_places_of_a_list_that_are_cancelled_are_an_order(text: str, places: tuple[int, ...]) -> None:
    found = read(text)

    assert (found.manage, found.places) == (Manage.CANCEL, places)


@pytest.mark.parametrize(
    ("text", "places"), [("删第二个", (2,)), ("删掉第2和第3条", (2, 3)), ("delete the last one", (-1,))]
)
def test_places_that_are_deleted_may_be_of_anything(text: str, places: tuple[int, ...]) -> None:
    found = read(text)

    assert (found.manage, found.places) == (None, places)
