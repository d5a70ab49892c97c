"""One request put in many ways: order, politeness, another verb and slips do not change what is meant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import ScheduleIntent

NOW = datetime.fromisoformat("2026-04-22T10:30:00+08:00")


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


_PLAIN = (
    *("每天早上9点提醒我查房", "明天下午3点半提醒我去接孩子", "每周三晚上7点提醒我上课", "20分钟后提醒我关火"),
    *("每月15号下午2点提醒我还信用卡", "下周五上午10点提醒我交报告", "每45分钟提醒我休息眼睛"),
    *("每天22点到6点每2小时提醒我翻身", "从3天后开始每天早上8点提醒我吃药", "今晚8点开始每6小时提醒我喂药"),
    *("明天9点到11点每半小时提醒我看点滴", "每月第二个周六上午10点提醒我打扫"),
)
_WAYS: dict[str, Callable[[str], str]] = {
    "greeting": lambda text: f"你好，{text}",
    "please": lambda text: f"麻烦{text}",
    "a question": lambda text: f"能不能{text}？",
    "thanks": lambda text: f"{text}，谢谢",
    "a particle": lambda text: f"{text}哈",
    "another verb": lambda text: text.replace("提醒我", "叫我"),
    "a slip": lambda text: text.replace("提醒我", "提想我"),
    "blanks": lambda text: text.replace("提醒我", " 提醒我 "),
    "full width": lambda text: text.translate({ord("0") + n: ord("０") + n for n in range(10)}),
    "time behind": lambda text: "提醒我" + "，".join(reversed(text.split("提醒我"))),
    "ask first": lambda text: "提醒我" + "".join(text.split("提醒我")),
    "ask last": lambda text: "，".join(reversed(text.split("提醒我"))) + "提醒我",
}


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("text", _PLAIN)
def test_how_it_is_put_does_not_change_what_is_meant(text: str, way: str) -> None:
    plain, other = read(text), read(_WAYS[way](text))

    assert (other.schedule, other.body) == (plain.schedule, plain.body)
