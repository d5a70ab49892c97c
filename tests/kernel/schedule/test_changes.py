"""Who wants a reminder changed or set going again gets no second one: the model does it."""

from __future__ import annotations

from datetime import datetime

import pytest

from kernel.schedule.parse import parse
from kernel.schedule.values import ScheduleIntent

NOW = datetime.fromisoformat("2026-12-01T10:10:00+08:00")


def read(text: str) -> ScheduleIntent:
    return parse(text, now=NOW, zone="Asia/Shanghai")


@pytest.mark.parametrize(
    "text",
    [
        *("把吃药提醒改到晚上8点", "吃药提醒改成每天9点", "喝水提醒每2小时改成每小时", "编辑提醒 改做夜晚9点"),
        *("闹钟改7点半吧", "提醒改到晚上8点", "以后吃药提醒改在晚上8点", "将每周一的交班提醒改到每周二"),
        *("把会议提醒提前10分钟", "遛狗提醒推后一个小时", "帮我把明天的闹钟调早半小时", "遛狗提醒时间设成6点"),
        *("遛狗提醒不要8点了，9点吧", "复查提醒换个时间，下午3点", "改成9点提醒我吃药", "修改吃药提醒为每天8点"),
        *("更新一下吃药提醒，晚上8点", "推迟一小时再提醒我", "我想把闹钟删了重新设一个8点的"),
        *("make my pill reminder daily at 9pm instead of 8", "make the feeding reminder every 4 hours"),
        *(
            "make that alarm 6:45",
            "move the dentist reminder to Thursday at 3pm",
            "push the meeting reminder by 30 minutes",
        ),
        *("set the feeding reminder to every 4 hours", "set my pill reminder for 9pm instead of 8"),
        *("remind me at 9 instead of 8 to take my pills", "I want the pill reminder at 9pm, not 8pm"),
        *("can you make the alarm 7 instead of 6:30", "postpone it and remind me at 5"),
    ],
)
def test_a_change_sets_no_second_reminder(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


@pytest.mark.parametrize(
    "text",
    [
        *("重新开始每天8点的吃药提醒", "继续每天8点提醒我吃药", "再打开每天8点的闹钟", "恢复每天8点的吃药提醒"),
        *("start the weekly report reminders again", "start my water reminders again every 2 hours"),
        *("turn the standup reminder back on at 9", "bring back the water reminder every 2 hours"),
        *("put my gym reminder back on", "get my pump reminders going again"),
    ],
)
def test_what_is_set_going_again_is_not_set_anew(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


@pytest.mark.parametrize(
    "text",
    [
        *("先别提醒，1小时后再提醒我", "不要8点提醒我，9点提醒我", "取消8点的闹钟，9点叫我"),
        *("don't remind me at 8, remind me at 9", "cancel the 8am alarm and wake me at 9"),
    ],
)
def test_one_for_another_neither_cancels_alone_nor_sets_alone(text: str) -> None:
    found = read(text)

    assert (found.is_request, found.manage) == (False, None)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("晚上8点提醒我把闹钟改到6点", "把闹钟改到6点"),
        ("明天8点提醒我修改论文", "修改论文"),
        ("设个明天9点的提醒，修改论文", "修改论文"),
        ("下午4点提醒我重新打开引流管", "重新打开引流管"),
        ("remind me at 5pm to change my alarm", "change my alarm"),
        ("set a reminder for tomorrow 9am to move the car", "move the car"),
        ("at 1pm remind me to start the dishwasher again", "start the dishwasher again"),
        ("remind me to take the bus instead of driving at 8am tomorrow", "take the bus instead of driving"),
        ("set my alarm for 7am tomorrow", ""),
        ("set the alarm to 6:30", ""),
    ],
)
def test_a_task_may_speak_of_changing(text: str, body: str) -> None:
    found = read(text)

    assert found.schedule is not None
    assert found.body == body
