"""The way back: what a message means, said as a reading, means the same again, in either language."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.schedule.parse import parse
from kernel.schedule.reading import describe
from kernel.schedule.values import Calendar, Cron, Every, Once, Schedule
from kernel.triggers import ends, fires, first_fire
from tests.kernel.schedule.test_reading import NOW, READINGS, ZONE

NOWS = {
    "Asia/Shanghai": datetime(2026, 3, 10, 2, 0, tzinfo=UTC),
    "Europe/Berlin": datetime(2026, 10, 20, 17, 42, 17, tzinfo=UTC),
    "America/New_York": datetime(2026, 1, 31, 4, 30, 59, tzinfo=UTC),
}

DAYS_ZH = (
    *(
        "每天",
        "每个工作日",
        "每周末",
        "每周三",
        "每周一、三、五",
        "周一到周四每天",
        "每月15号",
        "每月1号和15号",
        "每月31号",
    ),
    *("每月最后一天", "每月第一个工作日", "每月最后一个工作日", "每月第三个周五", "每月最后一个周日", "每季度第一天"),
    *("每月倒数第三天", "这个月倒数第二天", "每季度头一个月的5号", "每季度第二个月的最后一天"),
    *("每季度最后一天", "每年4月4号", "每年2月29号", "每年国庆节"),
    *("除周日外每天", "每隔一天", "每3天", "每两周的周五", "隔周周一", "明天", "3月18号", "下周三", "5月1号"),
)
CHINESE_DAYS = (
    *("每年除夕", "每年中秋节", "每年农历三月初三", "法定工作日", "每个法定节假日", "每月第一个法定工作日"),
    *("每年冬至", "每年清明节", "每年大雪当天", "农历每月初一", "每月农历初一和十五"),
)
SPOKEN = [
    schedule
    for schedule, *_ in READINGS
    if not (isinstance(schedule, Cron) and schedule.step)
    and not (isinstance(schedule, Every) and schedule.start.second)
]
"""All but those whose anchor is the moment of asking; these come back from messages, above."""
TERM_DAYS = [
    Cron((f"0 8 {'18-24' if term % 2 else '3-9'} {term // 2 + 1} *",), calendar=Calendar.SOLAR_TERMS)
    for term in range(24)
]
TIMES_ZH = ("09:00", "早上6点半", "8点和20点", "中午12点", "9点、13点和17点半")
DAYS_EN = (
    *("every day", "every weekday", "every weekend", "every Wednesday", "every Monday, Wednesday and Friday"),
    *("on the 15th of every month", "on the last day of every month", "on the third Friday of every month"),
    *("on the second to last day of every month", "every hour and a half", "on weekends"),
    *("on the last Sunday of every month", "every year on April 4", "every 3 days", "every other Friday"),
    *("every day except Sunday", "tomorrow", "on March 18", "on the first workday of every month"),
    *("on the first day of every quarter", "every other day"),
)
TIMES_EN = ("at 09:00", "at 6:30am", "at 8am and 8pm", "at noon")
OTHERS = (
    "每45分钟提醒我休息眼睛",
    "每2小时提醒我翻身",
    "每36小时提醒我换药",
    "从下午2点开始每20分钟提醒我看一下",
    "每天9点到18点每小时提醒我喝水",
    "工作日9点到18点每半小时提醒我站起来",
    "每小时整点提醒我记录",
    "每小时的第30分钟提醒我记录",
    "连续三天早上8点提醒我空腹抽血",
    "每天18:30提醒我锻炼，到3月31号为止",
    "从3月25号开始每天7点提醒我量体温，连续10天",
    "每天8点提醒我吃药，一共5次",
    "每周一早上9点提醒我查药，直到4月底",
    "30分钟后提醒我关火",
    "90秒后提醒我翻面",
    "8点和20点提醒我喝水",
    "除3月12号外每天9点提醒我吃药",
    "every 45 minutes remind me to rest my eyes",
    "remind me every 2 hours to turn the patient",
    "remind me every hour from 9am to 6pm on weekdays to drink water",
    "remind me every hour on the hour to take notes",
    "remind me at 15 minutes past every hour to look at the queue",
    "for the next three days at 8am remind me to fast",
    "remind me every day at 18:30 until March 31 to train",
    "remind me in 30 minutes to turn off the stove",
)
MESSAGES = (
    *(f"{day}{time}提醒我喝水" for day, time in product(DAYS_ZH, TIMES_ZH)),
    *(f"remind me {day} {time} to drink water" for day, time in product(DAYS_EN, TIMES_EN)),
    *OTHERS,
)


def same(one: Schedule, other: Schedule | None, zone: str, now: datetime) -> bool:
    """Equal, or bounded by other instants that make no difference to any fire."""
    return other is not None and (
        one == other
        or (
            type(one) is type(other)
            and fires(one, zone, now, 20) == fires(other, zone, now, 20)
            and ends(one, zone, now) == ends(other, zone, now)
        )
    )


@pytest.mark.parametrize("zone", NOWS)
@pytest.mark.parametrize("message", MESSAGES)
def test_a_reading_says_what_was_meant(message: str, zone: str) -> None:
    now = NOWS[zone]
    schedule = parse(message, now=now, zone=zone).schedule
    if schedule is None:
        return  # Asked back: nothing was understood that could be read out. The share is bounded below.

    zh, en = describe(schedule, zone, "zh"), describe(schedule, zone, "en")

    again_zh = parse(f"{zh}提醒我喝水", now=now, zone=zone)
    again_en = parse(f"remind me {en} to drink water", now=now, zone=zone)
    assert same(schedule, again_zh.schedule, zone, now), (zh, schedule, again_zh)
    assert same(schedule, again_en.schedule, zone, now), (en, schedule, again_en)
    assert (again_zh.body, again_en.body) == ("喝水", "drink water")


@pytest.mark.parametrize("day", CHINESE_DAYS)
def test_days_of_chinese_calendars_come_back_in_either_language(day: str) -> None:
    zone, now = "Asia/Shanghai", NOWS["Asia/Shanghai"]
    schedule = parse(f"{day}早上9点提醒我喝水", now=now, zone=zone).schedule
    assert isinstance(schedule, Cron)
    assert schedule.calendar is not None

    zh, en = describe(schedule, zone, "zh"), describe(schedule, zone, "en")

    again_zh = parse(f"{zh}提醒我喝水", now=now, zone=zone)
    again_en = parse(f"remind me {en} to drink water", now=now, zone=zone)
    assert (again_zh.schedule, again_zh.body) == (schedule, "喝水")
    assert (again_en.schedule, again_en.body) == (schedule, "drink water")


@pytest.mark.parametrize("schedule", [*SPOKEN, *TERM_DAYS], ids=lambda schedule: describe(schedule, ZONE, "en"))
def test_every_kind_of_schedule_comes_back_from_its_reading(schedule: Schedule) -> None:
    now = NOW.astimezone(UTC)

    zh, en = describe(schedule, ZONE, "zh"), describe(schedule, ZONE, "en")

    again_zh = parse(f"{zh}提醒我喝水", now=now, zone=ZONE)
    again_en = parse(f"remind me {en} to drink water", now=now, zone=ZONE)
    assert same(schedule, again_zh.schedule, ZONE, now), (zh, again_zh)
    assert same(schedule, again_en.schedule, ZONE, now), (en, again_en)
    assert (again_zh.body, again_en.body) == ("喝水", "drink water")


_DAYS: tuple[tuple[str, Calendar | None], ...] = (
    *(("* * *", None), ("* * 1-5", None), ("* * 0,6", None), ("* * 3", None), ("* * 1,3,5", None), ("15 * *", None)),
    *(
        ("1,15 * *", None),
        ("31 * *", None),
        ("L * *", None),
        ("L-1 * *", None),
        ("1W * *", None),
        ("LW * *", None),
        ("* * 5#3", None),
    ),
    *(
        ("* * L0", None),
        ("4 4 *", None),
        ("5 1,4,7,10 *", None),
        ("L-9 3 *", None),
        ("29 2 *", None),
        ("1 1,4,7,10 *", None),
        ("L 3,6,9,12 *", None),
    ),
    *(("* 5 0#2", None), ("* * *", Calendar.STATUTORY_WORKDAYS), ("* * *", Calendar.STATUTORY_HOLIDAYS)),
    *(("1W * *", Calendar.STATUTORY_WORKDAYS), ("15 8 *", Calendar.LUNAR), ("L 12 *", Calendar.LUNAR)),
    *(("1,15 * *", Calendar.LUNAR), ("18-24 12 *", Calendar.SOLAR_TERMS), ("3-9 4 *", Calendar.SOLAR_TERMS)),
)
"""Day, month and weekday fields with their calendar."""
_MINUTES = st.integers(0, 1439)
_CLOCKS = st.sets(_MINUTES, min_size=1, max_size=3)


@st.composite
def _crons(draw: st.DrawFn) -> Cron:
    """Rules as the grammar builds them: days, up to three times, perhaps an end, a start, a count, exclusions."""
    days, calendar = draw(st.sampled_from(_DAYS))
    by_minute: dict[int, list[int]] = {}
    for minute in draw(_CLOCKS):
        by_minute.setdefault(minute % 60, []).append(minute // 60)
    expressions = tuple(f"{minute} {','.join(map(str, sorted(hours)))} {days}" for minute, hours in by_minute.items())
    rule = Cron(expressions, calendar=calendar)
    if days != "* * *" or calendar is not None:
        return rule
    day = NOW.date() + timedelta(days=draw(st.integers(2, 60)))
    match draw(st.integers(0, 4)):
        case 0:
            return replace(
                rule, excluded_weekdays=tuple(sorted(draw(st.sets(st.integers(0, 6), min_size=1, max_size=3))))
            )
        case 1:
            return replace(rule, end=datetime.combine(day, time(23, 59, 59), NOW.tzinfo).astimezone(UTC))
        case 2:
            return replace(rule, start=datetime.combine(day, time(), NOW.tzinfo).astimezone(UTC))
        case 3:
            return replace(rule, excluded_dates=(day,))
    return rule


@st.composite
def _onces(draw: st.DrawFn) -> Once:
    minutes = draw(st.sets(st.integers(1, 500_000), min_size=1, max_size=4))
    return Once(tuple(sorted((NOW + timedelta(minutes=each)).astimezone(UTC) for each in minutes)))


@st.composite
def _intervals(draw: st.DrawFn) -> Every:
    """From now on, with a step that no clock on the wall counts, perhaps bounded."""
    step = timedelta(minutes=draw(st.integers(1, 3000)))
    start = NOW.astimezone(UTC) + step
    match draw(st.integers(0, 2)):
        case 0:
            return Every(step, start, count=draw(st.integers(2, 20)))
        case 1:
            return Every(step, start, end=start + draw(st.integers(1, 9)) * step)
    return Every(step, start)


@given(st.one_of(_crons(), _onces(), _intervals()))
def test_any_schedule_of_the_grammar_comes_back_from_its_reading(schedule: Schedule) -> None:
    now = NOW.astimezone(UTC)

    for language, frame in (("zh", "{}提醒我喝水"), ("en", "remind me {} to drink water")):
        reading = describe(schedule, ZONE, language)
        again = parse(frame.format(reading), now=now, zone=ZONE)
        assert same(schedule, again.schedule, ZONE, now), (reading, again)


def test_most_messages_are_understood_and_what_is_understood_fires() -> None:
    understood = 0
    for message, (zone, now) in product(MESSAGES, NOWS.items()):
        schedule = parse(message, now=now, zone=zone).schedule
        if schedule is not None:
            understood += 1
            assert first_fire(schedule, zone, now) > now, message

    assert understood >= 0.97 * len(MESSAGES) * len(NOWS)
