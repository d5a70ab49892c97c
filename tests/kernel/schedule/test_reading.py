"""Readings: a table of values and what they are called, in both languages; the way back is tested below it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from kernel.errors import BadSchedule
from kernel.schedule.calendars import covered_until
from kernel.schedule.reading import caveat, describe, moment, zone_name
from kernel.schedule.values import Calendar, Cron, Every, Once, Schedule, Step, Unit

ZONE = "Asia/Shanghai"
NOW = datetime(2026, 3, 10, 10, 0, tzinfo=ZoneInfo(ZONE))
TODAY = NOW.date()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(ZONE)).astimezone(UTC)


def cron(*expressions: str) -> Cron:
    return Cron(expressions)


READINGS: list[tuple[Schedule, str, str]] = [
    (cron("0 9 * * *"), "每天 09:00", "every day at 09:00"),
    (cron("0 9,21 * * *"), "每天 09:00、21:00", "every day at 09:00 and 21:00"),
    (cron("0 9 * * *", "30 13 * * *"), "每天 09:00、13:30", "every day at 09:00 and 13:30"),
    (cron("0 9 * * 1-5"), "每个工作日 09:00", "every weekday at 09:00"),
    (cron("0 10 * * 0,6"), "每周末 10:00", "every weekend at 10:00"),
    (cron("30 7 * * 3"), "每周三 07:30", "every Wednesday at 07:30"),
    (cron("0 9 * * 1,3,5"), "每周一、周三、周五 09:00", "every Monday, Wednesday and Friday at 09:00"),
    (cron("0 9 15 * *"), "每月15号 09:00", "on the 15th of every month at 09:00"),
    (cron("0 9 1,15 * *"), "每月1号、15号 09:00", "on the 1st and the 15th of every month at 09:00"),
    (cron("0 18 L * *"), "每月最后一天 18:00", "on the last day of every month at 18:00"),
    (cron("0 18 L-2 * *"), "每月倒数第3天 18:00", "on the 3rd to last day of every month at 18:00"),
    (cron("0 18 L-1 2 *"), "每年2月倒数第2天 18:00", "every year on the 2nd to last day of February at 18:00"),
    (cron("0 9 1W * *"), "每月第一个工作日 09:00", "on the first workday of every month at 09:00"),
    (cron("0 18 LW * *"), "每月最后一个工作日 18:00", "on the last workday of every month at 18:00"),
    (cron("0 9 * * 5#3"), "每月第三个周五 09:00", "on the third Friday of every month at 09:00"),
    (cron("0 9 * * L5"), "每月最后一个周五 09:00", "on the last Friday of every month at 09:00"),
    (cron("0 8 1 1,4,7,10 *"), "每季度第一天 08:00", "on the first day of every quarter at 08:00"),
    (cron("0 8 L 3,6,9,12 *"), "每季度最后一天 08:00", "on the last day of every quarter at 08:00"),
    (cron("0 8 4 4 *"), "每年4月4日 08:00", "every year on 4 April at 08:00"),
    (cron("0 8 1 1,7 *"), "每年1月1日、7月1日 08:00", "every year on 1 January and 1 July at 08:00"),
    (cron("0 8 * 5 0#2"), "每年5月第二个周日 08:00", "every year on the second Sunday of May at 08:00"),
    (cron("0 8 L 2 *"), "每年2月最后一天 08:00", "every year on the last day of February at 08:00"),
    (cron("0 * * * *"), "每个整点", "every hour on the hour"),
    (cron("0 * * * 1-5"), "每个工作日每个整点", "every hour on the hour every weekday"),
    (cron("30 * * * *"), "每小时的第30分钟", "at 30 minutes past every hour"),
    (cron("0 9-18 * * *"), "每天 09:00到18:00每小时", "every hour from 09:00 to 18:00 every day"),
    (
        cron("0,30 9-17 * * 1-5", "0 18 * * 1-5"),
        "每个工作日 09:00到18:00每30分钟",
        "every 30 minutes from 09:00 to 18:00 every weekday",
    ),
    (cron("0 8-20/2 * * *"), "每天 08:00到20:00每2小时", "every 2 hours from 08:00 to 20:00 every day"),
    (cron("0 0,6,12,18 * * *"), "每天 00:00、06:00、12:00、18:00", "every day at 00:00, 06:00, 12:00 and 18:00"),
    (
        cron("0 9 * * 1-5", "0 10 * * 6"),
        "每个工作日 09:00，每周六 10:00",
        "every weekday at 09:00 and every Saturday at 10:00",
    ),
    (
        Cron(("0 9 * * *",), step=Step(2, Unit.DAY, TODAY)),
        "每2天 09:00",
        "every 2 days at 09:00",
    ),
    (
        Cron(("0 9 * * 1",), step=Step(2, Unit.WEEK, TODAY)),
        "每2周的周一 09:00",
        "every 2 weeks on Monday at 09:00",
    ),
    (
        Cron(("0 9 * * 1-5",), step=Step(2, Unit.WEEK, TODAY)),
        "每2周的工作日 09:00",
        "every 2 weeks on weekdays at 09:00",
    ),
    (
        Cron(("0 9 1 * *",), step=Step(3, Unit.MONTH, TODAY)),
        "每3个月的1号 09:00",
        "every 3 months on the 1st at 09:00",
    ),
    (
        Cron(("0 9 4 4 *",), step=Step(2, Unit.YEAR, TODAY)),
        "每2年的4月4日 09:00",
        "every 2 years on 4 April at 09:00",
    ),
    (Cron(("0 9 * * *",), excluded_weekdays=(6,)), "除周日外每天 09:00", "every day except Sunday at 09:00"),
    (
        Cron(("0 9 * * *",), excluded_dates=(date(2026, 3, 12),)),
        "除2026年3月12日外每天 09:00",
        "every day except 12 March 2026 at 09:00",
    ),
    (
        Cron(("0 9 * * 1-5",), calendar=Calendar.STATUTORY_WORKDAYS),
        "每个工作日 09:00，法定节假日除外",
        "every weekday at 09:00 except public holidays",
    ),
    (
        Cron(("0 18 * * *",), calendar=Calendar.STATUTORY_WORKDAYS),
        "每个法定工作日 18:00",
        "every Chinese workday at 18:00",
    ),
    (
        Cron(("0 10 * * *",), calendar=Calendar.STATUTORY_HOLIDAYS),
        "每个法定节假日 10:00",
        "every Chinese public holiday at 10:00",
    ),
    (
        Cron(("0 18 15 8 *",), calendar=Calendar.LUNAR),
        "每年农历八月十五 18:00",
        "every year on the 15th of lunar month 8 at 18:00",
    ),
    (
        Cron(("0 7 1,15 * *",), calendar=Calendar.LUNAR),
        "农历每月初一、十五 07:00",
        "on the 1st and the 15th of every lunar month at 07:00",
    ),
    (
        Cron(("0 8 18-24 12 *",), calendar=Calendar.SOLAR_TERMS),
        "每年冬至 08:00",
        "every year on Winter Solstice at 08:00",
    ),
    (
        Cron(("0 8 3-9 12 *",), calendar=Calendar.SOLAR_TERMS),
        "每年大雪节气 08:00",
        "every year on Major Snow at 08:00",
    ),
    (
        Cron(("0 9 LW * *",), calendar=Calendar.STATUTORY_WORKDAYS),
        "每月最后一个法定工作日 09:00",
        "on the last Chinese workday of every month at 09:00",
    ),
    (Cron(("0 15 L 12 *",), calendar=Calendar.LUNAR), "每年除夕 15:00", "every Chinese New Year's Eve at 15:00"),
    (
        Cron(("30 18 * * *",), end=at("2026-03-13T23:59:59")),
        "每天 18:30，到2026年3月13日为止",
        "every day at 18:30 until 13 March 2026",
    ),
    (
        Cron(("0 8 * * *",), start=at("2026-03-10T10:00"), count=3),
        "从2026年3月11日起每天 08:00，共3次",
        "every day at 08:00 starting 11 March 2026, 3 times",
    ),
    (
        Cron(("*/15 9-17 * * *", "0 18 * * *"), end=at("2026-03-13T12:00")),
        "每天 09:00到18:00每15分钟，到2026年3月13日 12:00为止",
        "every 15 minutes from 09:00 to 18:00 every day until 13 March 2026 at 12:00",
    ),
    (
        Every(timedelta(minutes=45), at("2026-03-10T10:45")),
        "从10:45起每45分钟",
        "every 45 minutes starting at 10:45",
    ),
    (
        Every(timedelta(hours=36), at("2026-03-11T22:00")),
        "从2026年3月11日 22:00起每36小时",
        "every 36 hours starting 11 March 2026 at 22:00",
    ),
    (Every(timedelta(minutes=45), at("2026-03-10T10:45:17")), "每45分钟", "every 45 minutes"),
    (Every(timedelta(hours=24), at("2026-03-11T10:00:17")), "每24小时", "every 24 hours"),
    (Every(timedelta(seconds=90), at("2026-03-10T10:01:47")), "每90秒", "every 90 seconds"),
    (Every(timedelta(hours=1), at("2026-03-10T11:00:17"), count=4), "每小时，共4次", "every hour, 4 times"),
    (
        Every(timedelta(minutes=90), at("2026-03-10T11:30:17"), end=at("2026-03-10T18:00")),
        "每90分钟，到2026年3月10日 18:00为止",
        "every 90 minutes until 10 March 2026 at 18:00",
    ),
    (
        Every(timedelta(minutes=20), at("2026-03-10T14:00"), end=at("2026-03-10T15:00")),
        "2026年3月10日 14:00到15:00每20分钟",
        "every 20 minutes from 14:00 to 15:00 on 10 March 2026",
    ),
    (
        Cron(("0 0,2,4,6,22 * * *",)),
        "每天 22:00到06:00每2小时",
        "every 2 hours from 22:00 to 06:00 every day",
    ),
    (Once((at("2026-03-11T09:00"),)), "2026年3月11日 周三 09:00", "on Wednesday 11 March 2026 at 09:00"),
    (
        Once((at("2026-03-11T09:00"), at("2026-03-11T15:00"), at("2026-03-12T09:00"))),
        "2026年3月11日 周三 09:00、15:00，2026年3月12日 周四 09:00",
        "on Wednesday 11 March 2026 at 09:00 and 15:00 and on Thursday 12 March 2026 at 09:00",
    ),
]


@pytest.mark.parametrize(("schedule", "zh", "en"), READINGS)
def test_a_schedule_is_called(schedule: Schedule, zh: str, en: str) -> None:
    assert describe(schedule, ZONE, "zh") == zh
    assert describe(schedule, ZONE, "en") == en


def test_different_schedules_have_different_readings() -> None:
    assert len({zh for _, zh, _ in READINGS}) == len({en for _, _, en in READINGS}) == len(READINGS)


def test_a_reading_is_in_the_zone_of_the_trigger() -> None:
    once = Once((at("2026-03-11T09:00"),))

    assert describe(once, "Europe/Berlin", "zh") == "2026年3月11日 周三 02:00"


def test_a_bounded_statutory_series_can_be_read_up_to_the_last_published_day() -> None:
    last = datetime.combine(covered_until(), time(23, 59), ZoneInfo(ZONE))
    schedule = Cron(("0 9 * * *",), end=last, calendar=Calendar.STATUTORY_WORKDAYS)

    assert describe(schedule, ZONE, "en") == f"every Chinese workday at 09:00 until 31 December {last.year}"


def test_what_cannot_be_read_has_no_reading() -> None:
    with pytest.raises(BadSchedule):
        describe(cron("0 9 * *"), ZONE, "zh")


@pytest.mark.parametrize(
    ("zone", "name"),
    [("Etc/GMT-8", "UTC+8"), ("Etc/GMT+3", "UTC-3"), ("Etc/GMT", "UTC"), ("Asia/Shanghai", "Asia/Shanghai")],
)
def test_a_zone_is_named_as_people_write_it(zone: str, name: str) -> None:
    assert zone_name(zone) == name


@pytest.mark.parametrize(
    ("moment_at", "zh", "en"),
    [
        ("2026-03-10T15:00", "今天 15:00", "today 15:00"),
        ("2026-03-11T09:00", "明天 09:00", "tomorrow 09:00"),
        ("2026-03-12T09:00", "3月12日 周四 09:00", "Thu 12 Mar 09:00"),
        ("2027-03-12T09:00", "2027年3月12日 周五 09:00", "Fri 12 Mar 2027 09:00"),
        ("2026-03-09T09:00", "3月9日 周一 09:00", "Mon 9 Mar 09:00"),
        ("2026-03-10T10:01:30", "今天 10:01:30", "today 10:01:30"),
        ("2026-03-10T10:45:17", "今天 10:45", "today 10:45"),
    ],
)
def test_a_moment_in_a_list(moment_at: str, zh: str, en: str) -> None:
    assert moment(at(moment_at), ZONE, "zh", NOW) == zh
    assert moment(at(moment_at), ZONE, "en", NOW) == en


def test_today_is_the_day_of_the_zone_not_of_utc() -> None:
    now = datetime(2026, 3, 10, 17, 0, tzinfo=UTC)

    assert moment(datetime(2026, 3, 11, 1, 0, tzinfo=UTC), ZONE, "zh", now) == "今天 09:00"
    assert moment(datetime(2026, 3, 11, 1, 0, tzinfo=UTC), "UTC", "zh", now) == "明天 01:00"


@pytest.mark.parametrize(
    ("schedule", "zh", "en"),
    [
        (cron("0 9 31 * *"), "没有31号的月份会跳过", "months without a 31st are skipped"),
        (cron("0 9 29 * *"), "没有29号的月份会跳过", "months without a 29th are skipped"),
        (
            cron("0 9 29 2 *"),
            "只有闰年才有2月29日，其他年份会跳过",
            "29 February only exists in leap years; other years are skipped",
        ),
        (cron("0 9 31 1,3 *"), "", ""),
        (cron("0 9 28 * *"), "", ""),
        (cron("0 9 L * *"), "", ""),
        (Once((at("2026-03-31T09:00"),)), "", ""),
    ],
)
def test_days_that_do_not_always_exist_are_named(schedule: Schedule, zh: str, en: str) -> None:
    assert caveat(schedule, "zh") == zh
    assert caveat(schedule, "en") == en
