"""How sure a schedule is: each piece of evidence lowers it, and what is plain creates."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.confidence import BASE, DOUBTS
from kernel.schedule.parse import parse
from kernel.schedule.values import CREATE_FROM

NOW = datetime.fromisoformat("2026-04-22T10:30:00+08:00")


def sure(text: str) -> float:
    found = parse(text, now=NOW, zone="Asia/Shanghai")
    assert found.schedule is not None, text
    return found.confidence


@pytest.mark.parametrize(
    "text",
    [
        "每天早上9点提醒我查房",
        "明天下午3点提醒我开会",
        "30分钟后提醒我关火",
        "remind me every weekday at 9:00 to stretch",
    ],
)
def test_what_is_plain_is_as_sure_as_it_gets(text: str) -> None:
    assert sure(text) == BASE


@pytest.mark.parametrize(
    ("plain", "doubtful"),
    [
        ("明天下午3点提醒我开会", "明天3点提醒我开会"),
        ("明天上午9点提醒我开会", "明天9点提醒我开会"),
        ("明天下午3点提醒我开会", "明天下午3点提型我开会"),
        ("明天下午3点提醒我开会", "明天下午3点叫我开会"),
        ("明天下午3点提醒我开会", "明天下午3点提醒我看周五上午9点的会"),
        ("每天早上8点提醒我看新闻", "每天早上8点帮我搜新闻发给我"),
        ("每天早上8点提醒我吃药", "每天早上8点提醒我吃药，到月底为止"),
        ("9月10日下午3点提醒我交表", "9/10下午3点提醒我交表"),
        ("remind me tomorrow at 3pm to call", "remnid me tomorrow at 3pm to call"),
    ],
)
def test_evidence_against_it_makes_it_less_sure(plain: str, doubtful: str) -> None:
    assert CREATE_FROM <= sure(doubtful) < sure(plain)


def test_what_is_taken_back_in_the_same_message_is_never_created_unasked() -> None:
    assert sure("明天下午3点提醒我开会，不对，是交表") < CREATE_FROM


def test_every_share_leaves_something_and_takes_something() -> None:
    assert all(0 < doubt.leaves < 1 for doubt in DOUBTS)
    assert len({doubt.name for doubt in DOUBTS}) == len(DOUBTS)
