"""When schedules fire: two years in five zones against an independent enumeration, and the promises one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import rrule, tz
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.chat import ConversationId
from kernel.errors import BadSchedule
from kernel.schedule import calendars
from kernel.schedule.calendars import BeyondCalendar
from kernel.schedule.values import Calendar, Cron, Every, Once, Schedule, Step, Unit
from kernel.triggers import (
    Action,
    Firing,
    Lateness,
    Trigger,
    ends,
    fires,
    first_fire,
    next_fire,
    next_fire_of,
    settle,
)

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
BEGIN = datetime.fromisoformat("2026-01-01T00:00")
FINISH = datetime.fromisoformat("2028-01-01T00:00")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def local(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def shown(moments: tuple[datetime, ...], zone: str) -> list[str]:
    return [f"{each.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" for each in moments]


def instants(local_times: Iterator[datetime] | list[datetime], zone: str) -> list[datetime]:
    """RFC 5545 by dateutil: imaginary times move by the gap, ambiguous ones are the first pass, doubles melt."""
    place = tz.gettz(zone)
    assert place is not None
    return sorted({tz.resolve_imaginary(each.replace(tzinfo=place)).astimezone(UTC) for each in local_times})


def walk(schedule: Schedule, zone: str, after: datetime, until: datetime) -> list[datetime]:
    found = []
    fire = next_fire_of(schedule, zone, after)
    while fire is not None and fire < until:
        found.append(fire)
        fire = next_fire_of(schedule, zone, fire)
    return found


RULES: dict[str, tuple[Cron, Any]] = {  # any keywords that rrule takes
    "daily": (Cron(("30 2 * * *",)), {"freq": rrule.DAILY, "byhour": 2, "byminute": 30}),
    "twice a day, also where clocks change": (
        Cron(("0 2 * * *", "15 3 * * *")),
        [
            {"freq": rrule.DAILY, "byhour": 2, "byminute": 0},
            {"freq": rrule.DAILY, "byhour": 3, "byminute": 15},
        ],
    ),
    "weekdays": (Cron(("0 9 * * 1-5",)), {"freq": rrule.DAILY, "byweekday": range(5), "byhour": 9}),
    "Sundays in the night": (
        Cron(("10 2 * * 0",)),
        {"freq": rrule.WEEKLY, "byweekday": 6, "byhour": 2, "byminute": 10},
    ),
    "the 31st": (Cron(("0 9 31 * *",)), {"freq": rrule.MONTHLY, "bymonthday": 31, "byhour": 9}),
    "last day": (Cron(("0 18 L * *",)), {"freq": rrule.MONTHLY, "bymonthday": -1, "byhour": 18}),
    "last workday": (
        Cron(("0 18 LW * *",)),
        {"freq": rrule.MONTHLY, "byweekday": range(5), "bysetpos": -1, "byhour": 18},
    ),
    "third Friday": (
        Cron(("0 9 * * 5#3",)),
        {"freq": rrule.MONTHLY, "byweekday": rrule.FR(3), "byhour": 9},
    ),
    "last Friday": (Cron(("0 9 * * L5",)), {"freq": rrule.MONTHLY, "byweekday": rrule.FR(-1), "byhour": 9}),
    "quarterly": (
        Cron(("0 8 1 1,4,7,10 *",)),
        {"freq": rrule.MONTHLY, "bymonth": (1, 4, 7, 10), "bymonthday": 1, "byhour": 8},
    ),
    "yearly": (
        Cron(("0 0 4 4 *",)),
        {"freq": rrule.YEARLY, "bymonth": 4, "bymonthday": 4, "byhour": 0},
    ),
    "every other day": (
        Cron(("0 3 * * *",), step=Step(2, Unit.DAY, BEGIN.date())),
        {"freq": rrule.DAILY, "interval": 2, "byhour": 3},
    ),
    "every third week": (
        Cron(("0 9 * * 1,4",), step=Step(3, Unit.WEEK, BEGIN.date())),
        {"freq": rrule.WEEKLY, "interval": 3, "byweekday": (0, 3), "byhour": 9, "wkst": rrule.MO},
    ),
    "every fifth month": (
        Cron(("0 9 15 * *",), step=Step(5, Unit.MONTH, BEGIN.date())),
        {"freq": rrule.MONTHLY, "interval": 5, "bymonthday": 15, "byhour": 9},
    ),
    "hourly window": (
        Cron(("0 9-18 * * 1-5",)),
        {"freq": rrule.DAILY, "byweekday": range(5), "byhour": range(9, 19)},
    ),
    "every quarter of an hour in the night": (
        Cron(("*/15 1-3 * * *",)),
        {"freq": rrule.DAILY, "byhour": (1, 2, 3), "byminute": (0, 15, 30, 45)},
    ),
    "not on Sundays": (
        Cron(("0 7 * * *",), excluded_weekdays=(6,)),
        {"freq": rrule.DAILY, "byweekday": range(6), "byhour": 7},
    ),
}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("name", RULES)
def test_two_years_agree_with_rrule(name: str, zone: str) -> None:
    schedule, rules = RULES[name]
    expected: list[datetime] = []
    for each in rules if isinstance(rules, list) else [rules]:
        chosen = {"byminute": 0, "bysecond": 0, **each}
        expected += rrule.rrule(dtstart=BEGIN, until=FINISH, **chosen)
    begin, finish = (instants([each], zone)[0] for each in (BEGIN, FINISH))

    found = walk(schedule, zone, begin - timedelta(microseconds=1), finish)

    assert found == [each for each in instants(expected, zone) if begin <= each < finish]


@pytest.mark.parametrize("zone", ZONES)
def test_a_daily_rule_fires_once_for_each_local_date(zone: str) -> None:
    for minute in range(0, 24 * 60, 30):
        schedule = Cron((f"{minute % 60} {minute // 60} * * *",))
        for day in (date(2026, 3, 27), date(2026, 4, 3), date(2026, 9, 30), date(2026, 10, 23), date(2026, 10, 31)):
            after = local(f"{day} 00:00", zone) - timedelta(microseconds=1)
            dates = [each.astimezone(ZoneInfo(zone)).date() for each in fires(schedule, zone, after, 5)]

            assert dates == [day + timedelta(days=n) for n in range(5)]


# --- clock changes


def test_a_time_in_the_gap_fires_at_the_new_clock_and_the_next_day_as_ever() -> None:
    found = fires(Cron(("30 2 * * *",)), "Europe/Berlin", utc("2026-03-28T02:00"), 2)

    assert shown(found, "Europe/Berlin") == ["2026-03-29 03:30", "2026-03-30 02:30"]


def test_a_doubled_time_fires_once_at_the_first_pass() -> None:
    found = fires(Cron(("30 2 * * *",)), "Europe/Berlin", utc("2026-10-24T12:00"), 2)

    assert found == (utc("2026-10-25T00:30"), utc("2026-10-26T01:30"))


def test_a_time_moved_by_the_gap_keeps_the_order_of_instants() -> None:
    found = fires(Cron(("30 2 * * *", "15 3 * * *")), "Europe/Berlin", utc("2026-03-28T12:00"), 2)

    assert shown(found, "Europe/Berlin") == ["2026-03-29 03:15", "2026-03-29 03:30"]


def test_a_time_moved_by_the_gap_may_land_behind_a_later_one_of_its_own_rule() -> None:
    found = fires(Cron(("15,40 2 * * *",)), "Australia/Lord_Howe", utc("2026-10-03T14:00"), 2)

    assert shown(found, "Australia/Lord_Howe") == ["2026-10-04 02:40", "2026-10-04 02:45"]


def test_two_local_times_that_fall_together_in_the_gap_fire_once() -> None:
    found = fires(Cron(("30 2 * * *", "30 3 * * *")), "Europe/Berlin", utc("2026-03-28T12:00"), 2)

    assert shown(found, "Europe/Berlin") == ["2026-03-29 03:30", "2026-03-30 02:30"]


def test_lord_howe_moves_by_half_an_hour() -> None:
    spring = fires(Cron(("15 2 * * *",)), "Australia/Lord_Howe", utc("2026-10-03T00:00"), 1)
    autumn = fires(Cron(("45 1 * * *",)), "Australia/Lord_Howe", utc("2026-04-04T00:00"), 2)

    assert shown(spring, "Australia/Lord_Howe") == ["2026-10-04 02:45"]
    assert autumn == (utc("2026-04-04T14:45"), utc("2026-04-05T15:15"))


def test_a_day_that_samoa_left_out_falls_onto_the_next() -> None:
    found = fires(Cron(("0 9 * * *",)), "Pacific/Apia", local("2011-12-29 08:00", "Pacific/Apia"), 3)

    assert shown(found, "Pacific/Apia") == ["2011-12-29 09:00", "2011-12-31 09:00", "2012-01-01 09:00"]


# --- days that do not exist


def test_the_31st_skips_short_months() -> None:
    found = fires(Cron(("0 9 31 * *",)), "Asia/Shanghai", utc("2026-01-31T02:00"), 3)

    assert shown(found, "Asia/Shanghai") == ["2026-03-31 09:00", "2026-05-31 09:00", "2026-07-31 09:00"]


def test_29_february_waits_for_leap_years_also_past_2100() -> None:
    leap_day = Cron(("0 9 29 2 *",))

    assert shown(fires(leap_day, "UTC", utc("2026-03-01"), 2), "UTC") == ["2028-02-29 09:00", "2032-02-29 09:00"]
    assert shown(fires(leap_day, "UTC", utc("2096-03-01"), 1), "UTC") == ["2104-02-29 09:00"]


@pytest.mark.parametrize(
    "schedule",
    [
        Cron(("0 9 31 2 *",)),
        Cron(("0 9 * * 1",), excluded_weekdays=(0,)),
        Cron(("0 9 * * 1",), step=Step(7, Unit.DAY, date(2026, 3, 10))),
        Cron(("0 9 30 2 *",), calendar=Calendar.STATUTORY_WORKDAYS),
        Cron(("0 9 * 5 *",), step=Step(12, Unit.MONTH, date(2026, 4, 1))),
    ],
    ids=["31 February", "Mondays but not Mondays", "Mondays that are Tuesdays", "30 February", "May in April"],
)
def test_a_rule_that_can_never_fire_says_so_quickly(schedule: Cron) -> None:
    begun = perf_counter()

    assert next_fire_of(schedule, "Asia/Shanghai", utc("2026-03-10")) is None
    with pytest.raises(BadSchedule):
        first_fire(schedule, "Asia/Shanghai", utc("2026-03-10"))
    assert perf_counter() - begun < 2


@pytest.mark.parametrize(
    "expression",
    [
        *("", "* * * *", "0 0 9 * * *", "0 9 * * * 2027", "@daily", "R 9 * * *", "0 9 * * mon", "0  9 * * *"),
        *("61 9 * * *", "0 24 * * *", "0 9 0 * *", "0 9 * 13 *", "0 9 * * 5#6", "0 9 LW,3 * *", "*/0 * * * *"),
    ],
)
def test_an_expression_we_do_not_offer_is_refused(expression: str) -> None:
    with pytest.raises(BadSchedule):
        next_fire_of(Cron((expression,)), "Asia/Shanghai", utc("2026-03-10"))


@given(st.text(alphabet="0123456789*,/#LW- ", min_size=1, max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_expression_gives_a_time_or_bad_schedule(expression: str) -> None:
    after = utc("2026-03-10")
    for calendar in (None, Calendar.LUNAR):
        try:
            fire = next_fire_of(Cron((expression,), calendar=calendar), "Asia/Shanghai", after)
        except BadSchedule:
            continue
        assert fire is None or fire > after


@pytest.mark.parametrize(
    "schedule",
    [
        Cron(()),
        Cron(("0 9 * * *",), count=3),
        Cron(("0 9 * * *",), start=utc("2026-03-10"), count=0),
        Cron(("0 9 * * *",), step=Step(0, Unit.DAY, date(2026, 3, 10))),
        Cron(("0 9 * * *",), excluded_weekdays=tuple(range(7))),
        Every(timedelta(0), utc("2026-03-10")),
    ],
)
def test_a_value_that_means_nothing_is_refused(schedule: Schedule) -> None:
    with pytest.raises(BadSchedule):
        next_fire_of(schedule, "Asia/Shanghai", utc("2026-03-10"))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Asia"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(BadSchedule):
        next_fire_of(Cron(("0 9 * * *",)), zone, utc("2026-03-10"))


# --- bounds, steps, exclusions, calendars


def test_after_is_strict_and_start_and_end_are_inclusive() -> None:
    start, end = utc("2026-03-10T01:00"), utc("2026-03-12T01:00")
    schedule = Cron(("0 9 * * *",), start=start, end=end)

    assert fires(schedule, "Asia/Shanghai", start - timedelta(days=9), 9) == (start, utc("2026-03-11T01:00"), end)
    assert next_fire_of(schedule, "Asia/Shanghai", end) is None
    assert next_fire_of(schedule, "Asia/Shanghai", start) == utc("2026-03-11T01:00")


def test_a_count_is_counted_from_the_start_whenever_one_asks() -> None:
    schedule = Cron(("0 9 * * *", "0 21 * * *"), start=utc("2026-03-10T02:00"), count=3)
    all_three = (utc("2026-03-10T13:00"), utc("2026-03-11T01:00"), utc("2026-03-11T13:00"))

    assert fires(schedule, "Asia/Shanghai", utc("2026-03-01"), 9) == all_three
    assert fires(schedule, "Asia/Shanghai", all_three[1], 9) == all_three[2:]
    assert ends(schedule, "Asia/Shanghai", utc("2026-03-10T02:00")) == all_three[2]


def test_an_interval_is_elapsed_time_through_a_clock_change() -> None:
    schedule = Every(timedelta(minutes=45), utc("2026-03-28T23:30"), count=4)

    found = fires(schedule, "Europe/Berlin", utc("2026-03-28"), 9)

    assert shown(found, "Europe/Berlin") == [f"2026-03-29 {t}" for t in ("00:30", "01:15", "03:00", "03:45")]
    assert ends(schedule, "Europe/Berlin", utc("2026-03-28")) == found[-1]
    assert fires(replace(schedule, count=None, end=found[2]), "Europe/Berlin", found[0], 9) == found[1:3]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC"])
def test_an_interval_is_elapsed_time_whatever_zone_its_start_bears(zone: str) -> None:
    start = utc("2026-03-28T23:30").astimezone(ZoneInfo(zone))

    found = fires(Every(timedelta(hours=1), start), "Europe/Berlin", start, 3)

    assert found == (utc("2026-03-29T00:30"), utc("2026-03-29T01:30"), utc("2026-03-29T02:30"))
    assert all(each.tzinfo is UTC for each in found)


def test_one_shots_fire_each_once() -> None:
    times = (utc("2026-03-10T07:00"), utc("2026-03-11T07:00"))

    assert fires(Once(times), "UTC", times[0] - timedelta(seconds=1), 9) == times
    assert fires(Once(times), "UTC", times[0], 9) == times[1:]
    assert ends(Once(times), "UTC", times[0]) is None


def test_excluded_dates_never_fire() -> None:
    schedule = Cron(("0 9,21 * * *",), excluded_dates=(date(2026, 3, 11),))

    found = fires(schedule, "Asia/Shanghai", local("2026-03-10 20:00", "Asia/Shanghai"), 2)

    assert shown(found, "Asia/Shanghai") == ["2026-03-10 21:00", "2026-03-12 09:00"]


def test_steps_hold_before_their_anchor_too() -> None:
    schedule = Cron(("0 9 * * *",), step=Step(3, Unit.DAY, date(2026, 3, 20)))

    found = fires(schedule, "Asia/Shanghai", utc("2026-03-10"), 3)

    assert shown(found, "Asia/Shanghai") == ["2026-03-11 09:00", "2026-03-14 09:00", "2026-03-17 09:00"]


def test_asked_in_a_week_off_the_whole_next_week_counts() -> None:
    schedule = Cron(("0 9 * * 1,4",), step=Step(2, Unit.WEEK, date(2026, 3, 2)))

    found = fires(schedule, "Asia/Shanghai", local("2026-03-10 12:00", "Asia/Shanghai"), 3)

    assert shown(found, "Asia/Shanghai") == ["2026-03-16 09:00", "2026-03-19 09:00", "2026-03-30 09:00"]


def test_leap_years_in_step_are_found() -> None:
    schedule = Cron(("0 9 29 2 *",), step=Step(3, Unit.YEAR, date(2026, 1, 1)))

    assert shown(fires(schedule, "UTC", utc("2026-03-01"), 1), "UTC") == ["2032-02-29 09:00"]


def test_statutory_workdays_include_make_up_saturdays() -> None:
    schedule = Cron(("0 18 * * *",), calendar=Calendar.STATUTORY_WORKDAYS)

    found = fires(schedule, "Asia/Shanghai", utc("2026-02-13T02:00"), 4)

    assert shown(found, "Asia/Shanghai") == [f"2026-02-{d} 18:00" for d in (13, 14, 24, 25)]


def test_the_last_statutory_workday_minds_the_holidays() -> None:
    found = fires(Cron(("0 18 LW * *",), calendar=Calendar.STATUTORY_WORKDAYS), "Asia/Shanghai", utc("2026-02-01"), 1)

    assert shown(found, "Asia/Shanghai") == ["2026-02-28 18:00"]


def test_beyond_the_statutory_calendar_nothing_is_guessed() -> None:
    schedule = Cron(("0 18 * * *",), calendar=Calendar.STATUTORY_WORKDAYS)
    with pytest.raises(BeyondCalendar) as beyond:
        next_fire_of(schedule, "Asia/Shanghai", utc("2094-03-10"))
    eve = local(f"{beyond.value.until - timedelta(days=20)} 00:00", "Asia/Shanghai")

    assert 5 < len(fires(schedule, "Asia/Shanghai", eve, 99)) < 25
    assert next_fire_of(replace(schedule, end=eve), "Asia/Shanghai", eve) is None


def test_a_fire_that_is_known_counts_though_another_line_leaves_the_calendar() -> None:
    last = calendars.covered_until()
    january, december = "0 9 * 1 *", "0 9 20-31 12 *"
    schedule = Cron((january, december), calendar=Calendar.STATUTORY_WORKDAYS)

    fire = next_fire_of(schedule, "UTC", datetime(last.year, 12, 20, tzinfo=UTC))

    assert fire is not None
    assert fire.date() == calendars.next_workday(date(last.year, 12, 20))


def test_a_bounded_statutory_series_ends_where_its_end_says() -> None:
    last_day = local("2026-12-31 23:59", "Asia/Shanghai")
    schedule = Cron(("0 18 * * *",), end=last_day, calendar=Calendar.STATUTORY_WORKDAYS)

    assert next_fire_of(schedule, "Asia/Shanghai", last_day - timedelta(hours=1)) is None
    assert ends(schedule, "Asia/Shanghai", utc("2026-12-01")) == utc("2026-12-31T10:00")


def test_lunar_rules_find_new_years_eve_be_it_the_29th_or_the_30th() -> None:
    found = fires(Cron(("0 15 L 12 *",), calendar=Calendar.LUNAR), "Asia/Shanghai", utc("2026-03-10"), 3)

    assert shown(found, "Asia/Shanghai") == ["2027-02-05 15:00", "2028-01-25 15:00", "2029-02-12 15:00"]


def test_lunar_first_and_fifteenth_of_every_month() -> None:
    found = fires(Cron(("0 7 1,15 * *",), calendar=Calendar.LUNAR), "Asia/Shanghai", utc("2026-09-01"), 3)

    assert shown(found, "Asia/Shanghai") == ["2026-09-11 07:00", "2026-09-25 07:00", "2026-10-10 07:00"]


def test_the_end_of_all_dates_is_an_end_not_a_crash() -> None:
    late = datetime(9990, 1, 1, tzinfo=UTC)

    assert next_fire_of(Cron(("0 9 * * *",), start=late), "UTC", utc("2026-03-10")) is None
    assert next_fire_of(Every(timedelta(days=900_000), late), "UTC", late) is None
    assert next_fire_of(Every(timedelta(days=900_000), BEGIN.replace(tzinfo=UTC), count=99), "UTC", late) is None


# --- random rules against plain enumeration


@st.composite
def rules(draw: st.DrawFn) -> tuple[Cron, set[int], set[int], set[int], set[int]]:
    def some(low: int, high: int, most: int) -> set[int]:
        return draw(st.sets(st.integers(low, high), min_size=1, max_size=most))

    def field(numbers: set[int]) -> str:
        return ",".join(map(str, sorted(numbers)))

    minutes, hours, excluded = some(0, 59, 3), some(0, 23, 4), draw(st.sets(st.integers(0, 6), max_size=3))
    days, weekdays = set(range(1, 32)), set(range(7))
    text = f"{field(minutes)} {field(hours)} * * *"
    if draw(st.booleans()):
        weekdays = some(0, 6, 4)
        text = f"{field(minutes)} {field(hours)} * * {field({(each + 1) % 7 for each in weekdays})}"
    elif draw(st.booleans()):
        days = some(1, 31, 4)
        text = f"{field(minutes)} {field(hours)} {field(days)} * *"
    return Cron((text,), excluded_weekdays=tuple(excluded)), minutes, hours, days, weekdays - excluded


@given(rules(), st.sampled_from(ZONES), st.datetimes(BEGIN, FINISH))
@settings(max_examples=200, deadline=None)
def test_random_rules_agree_with_a_plain_enumeration(
    rule: tuple[Cron, set[int], set[int], set[int], set[int]], zone: str, moment: datetime
) -> None:
    schedule, minutes, hours, days, weekdays = rule
    after = moment.replace(tzinfo=UTC)
    until = after + timedelta(days=40)
    dates = [moment.date() + timedelta(days=n) for n in range(-2, 43)]
    chosen = [each for each in dates if each.day in days and each.weekday() in weekdays]
    walls = [datetime.combine(each, time(hour, minute)) for each in chosen for hour in hours for minute in minutes]
    expected = [each for each in instants(walls, zone) if after < each <= until]

    bounded = replace(schedule, end=until)

    assert list(fires(bounded, zone, after, 1000)) == expected
    assert ends(bounded, zone, after) == (expected[-1] if expected else None)


# --- triggers and lateness


def trigger(schedule: Schedule, *, lateness: timedelta = timedelta(hours=6), paused: bool = False) -> Trigger:
    return Trigger(
        id="t1",
        conversation=ConversationId("telegram", "7"),
        owner="42",
        schedule=schedule,
        zone="Asia/Shanghai",
        text="查房",
        language="zh",
        action=Action.SAY,
        lateness=lateness,
        created=utc("2026-03-01"),
        paused=paused,
    )


DAILY = Cron(("0 6 * * *",))


def test_a_firing_is_named_by_trigger_and_due_time() -> None:
    due = datetime.fromisoformat("2026-03-10T06:00:00+08:00")

    assert Firing(trigger(DAILY), due).id == "t1:20260309T220000Z"


def test_a_paused_trigger_does_not_fire() -> None:
    assert next_fire(trigger(DAILY, paused=True), utc("2026-03-10")) is None
    assert next_fire(trigger(DAILY), utc("2026-03-10")) == utc("2026-03-10T22:00")


@pytest.mark.parametrize(
    ("by", "lateness"),
    [
        (timedelta(), Lateness.ON_TIME),
        (timedelta(seconds=60), Lateness.ON_TIME),
        (timedelta(seconds=61), Lateness.LATE),
        (timedelta(hours=6), Lateness.LATE),
        (timedelta(hours=6, seconds=1), Lateness.SKIPPED),
    ],
)
def test_a_missed_time_is_delivered_within_its_window(by: timedelta, lateness: Lateness) -> None:
    due = utc("2026-03-09T22:00")

    settled = settle(trigger(DAILY), due, due + by)

    assert (settled.lateness, settled.by, settled.newest, settled.is_superseded) == (lateness, by, due, False)


def test_of_several_missed_days_only_the_newest_counts() -> None:
    due, now = utc("2026-03-01T22:00"), utc("2026-03-10T02:00")

    settled = settle(trigger(DAILY), due, now)

    assert settled.newest == utc("2026-03-09T22:00")
    assert settled.is_superseded
    assert (settled.lateness, settled.by) == (Lateness.LATE, timedelta(hours=4))


def test_a_minutely_trigger_missed_for_a_year_settles_at_once() -> None:
    begun = perf_counter()

    settled = settle(trigger(Cron(("* * * * *",))), utc("2025-03-10"), utc("2026-03-10T00:00:30"))

    assert settled.newest == utc("2026-03-10")
    assert settled.lateness is Lateness.ON_TIME
    assert perf_counter() - begun < 1


def test_a_due_time_that_the_rule_no_longer_names_is_settled_as_it_stands() -> None:
    due = utc("2026-03-09T23:17")

    settled = settle(trigger(DAILY), due, due + timedelta(hours=1))

    assert (settled.newest, settled.lateness) == (due, Lateness.LATE)
