"""Five cron fields: what is read, and that the dates found agree with croniter's own search."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.errors import BadSchedule
from kernel.schedule.cron import LAST, Fields, read
from kernel.schedule.values import Cron
from kernel.triggers import fires

AFTER = datetime(2026, 1, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "fields"),
    [
        ("0 9 * * *", Fields((0,), (9,))),
        ("*/20 9-11 * * *", Fields((0, 20, 40), (9, 10, 11))),
        ("0 9 * * 1-5", Fields((0,), (9,), weekdays=(0, 1, 2, 3, 4))),
        ("0 9 * * 0", Fields((0,), (9,), weekdays=(6,))),
        ("0 9 * * 7", Fields((0,), (9,), weekdays=(6,))),
        ("0 9 1,15 * *", Fields((0,), (9,), days=(1, 15))),
        ("0 9 L * *", Fields((0,), (9,), days=(), month_end=True)),
        ("0 9 * 5 0#2", Fields((0,), (9,), months=(5,), nth=((6, 2),))),
        ("0 9 * * L5", Fields((0,), (9,), nth=((4, LAST),))),
        ("0 9 1W * *", Fields((0,), (9,), first_workday=True)),
        ("0 9 LW 3 *", Fields((0,), (9,), months=(3,), last_workday=True)),
        ("0 9 L-2 * *", Fields((0,), (9,), from_end=2)),
    ],
)
def test_fields_are_read_with_monday_first(expression: str, fields: Fields) -> None:
    assert read(expression) == fields


@pytest.mark.parametrize(
    "expression",
    [
        "0 9 L-0 * *",
        "0 9 L-28 * *",
        "0 9 L-2,5 * *",
        "0 9 L-2 * 1",
        "0 9 15W * *",
        "0 9 W1 * *",
        "0 9 1W,15 * *",
        "0 9 * * LW",
        "0 9 * * 1,5#3",
        "0 9 1 * 5#3",
        "0 9 LW * 5#3",
    ],
)
def test_other_extras_of_croniter_are_refused(expression: str) -> None:
    with pytest.raises(BadSchedule):
        read(expression)


def test_the_first_workday_skips_the_weekend() -> None:
    found = fires(Cron(("0 9 1W * *",)), "UTC", AFTER, 4)

    assert [f"{each:%m-%d}" for each in found] == ["02-02", "03-02", "04-01", "05-01"]


@st.composite
def expressions(draw: st.DrawFn) -> str:
    def numbers(low: int, high: int) -> str:
        chosen = draw(st.sets(st.integers(low, high), min_size=1, max_size=3))
        return ",".join(map(str, sorted(chosen)))

    day = draw(st.sampled_from(["*", "*", numbers(1, 28), "L", "5,L", "29,30,31", "*/10", "10-12"]))
    month = draw(st.sampled_from(["*", "*", numbers(1, 12), "*/3"]))
    nth = ["5#3", "1#1,1#5", "L2"] if day == "*" else []
    weekday = draw(st.sampled_from(["*", "*", numbers(0, 6), "1-5", "6-7", *nth]))
    minute = draw(st.sampled_from([numbers(0, 59), "*/7"]))
    return f"{minute} {draw(st.sampled_from([numbers(0, 23), '8-18/2']))} {day} {month} {weekday}"


@given(expressions())
@settings(max_examples=300, deadline=None)
def test_any_expression_agrees_with_croniters_own_search(expression: str) -> None:
    search = croniter(expression, AFTER.replace(tzinfo=None))

    expected = [search.get_next(datetime).replace(tzinfo=UTC) for _ in range(8)]

    assert list(fires(Cron((expression,)), "UTC", AFTER, 8)) == expected


def test_a_day_and_a_weekday_together_mean_either() -> None:
    found = fires(Cron(("0 9 13 * 5",)), "UTC", AFTER + timedelta(days=2), 3)

    assert [f"{each:%m-%d}" for each in found] == ["02-06", "02-13", "02-20"]
