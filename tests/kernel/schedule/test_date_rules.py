"""Dates a rule allows: the first one on or after the asked day, whichever rules meet."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from kernel.errors import BadSchedule
from kernel.schedule.cron import read
from kernel.schedule.date_rules import first_allowed, rule_of_fields, shared_rules
from kernel.schedule.values import Calendar, Cron, Step, Unit

ANCHOR = date(2026, 3, 11)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("step", "asked", "allowed"),
    [
        (Step(3, Unit.DAY, ANCHOR), "2026-03-11", "2026-03-11"),
        (Step(3, Unit.DAY, ANCHOR), "2026-03-12", "2026-03-14"),
        (Step(3, Unit.DAY, ANCHOR), "2026-03-06", "2026-03-08"),
        (Step(2, Unit.WEEK, ANCHOR), "2026-03-09", "2026-03-09"),
        (Step(2, Unit.WEEK, ANCHOR), "2026-03-15", "2026-03-15"),
        (Step(2, Unit.WEEK, ANCHOR), "2026-03-16", "2026-03-23"),
        (Step(2, Unit.WEEK, ANCHOR), "2026-03-20", "2026-03-23"),
        (Step(3, Unit.MONTH, ANCHOR), "2026-03-31", "2026-03-31"),
        (Step(3, Unit.MONTH, ANCHOR), "2026-04-01", "2026-06-01"),
        (Step(5, Unit.MONTH, ANCHOR), "2026-12-31", "2027-01-01"),
        (Step(2, Unit.YEAR, ANCHOR), "2027-01-01", "2028-01-01"),
        (Step(2, Unit.YEAR, ANCHOR), "2025-05-05", "2026-01-01"),
    ],
)
def test_a_step_leaps_to_the_next_period_that_counts(step: Step, asked: str, allowed: str) -> None:
    rules = shared_rules(Cron(("0 9 * * *",), step=step))

    assert first_allowed(rules, date.fromisoformat(asked)) == date.fromisoformat(allowed)


def test_rules_that_meet_must_all_agree() -> None:
    schedule = Cron(
        ("0 9 * * 3",),
        step=Step(2, Unit.WEEK, ANCHOR),
        excluded_dates=(date(2026, 3, 25),),
        calendar=Calendar.STATUTORY_WORKDAYS,
    )
    rules = (rule_of_fields(read("0 9 * * 3"), schedule.calendar), *shared_rules(schedule))

    assert first_allowed(rules, date(2026, 3, 12)) == date(2026, 4, 8)


def test_rules_that_contradict_each_other_give_up() -> None:
    rules = (rule_of_fields(read("0 9 * * 1"), None), *shared_rules(Cron(("0 9 * * 1",), excluded_weekdays=(0,))))

    assert first_allowed(rules, ANCHOR) is None


@pytest.mark.parametrize(
    ("expression", "calendar", "asked", "allowed"),
    [
        ("0 9 29 2 *", None, "2026-03-01", "2028-02-29"),
        ("0 9 30 2 *", None, "2026-03-01", None),
        ("0 9 L 2 *", None, "2026-03-01", "2027-02-28"),
        ("0 9 * * 0#5", None, "2026-03-30", "2026-05-31"),
        ("0 9 * * L0", None, "2026-03-11", "2026-03-29"),
        ("0 9 1W 8 *", None, "2026-03-01", "2026-08-03"),
        ("0 9 LW 5 *", None, "2026-06-01", "2027-05-31"),
        ("0 9 L-2 * *", None, "2028-02-28", "2028-03-29"),
        ("0 9 L-27 2 *", None, "2026-03-01", "2027-02-01"),
        ("0 9 1W 5 *", Calendar.STATUTORY_WORKDAYS, "2026-03-01", "2026-05-06"),
        ("0 9 15 8 *", Calendar.LUNAR, "2026-03-01", "2026-09-25"),
        ("0 9 * 1 *", Calendar.LUNAR, "2026-03-10", "2026-03-10"),
        ("0 9 1 * 1", Calendar.LUNAR, "2026-03-01", "2026-06-15"),
    ],
)
def test_the_next_date_that_the_fields_name(
    expression: str, calendar: Calendar | None, asked: str, allowed: str | None
) -> None:
    found = rule_of_fields(read(expression), calendar)(date.fromisoformat(asked))

    assert found == (allowed and date.fromisoformat(allowed))


def test_a_solar_term_is_the_one_day_of_its_half_month_on_which_a_term_begins() -> None:
    schedule = Cron(("0 8 18-24 12 *",), calendar=Calendar.SOLAR_TERMS)
    rules = (rule_of_fields(read(schedule.expressions[0]), schedule.calendar), *shared_rules(schedule))

    assert first_allowed(rules, date(2026, 3, 1)) == date(2026, 12, 22)
    assert first_allowed(rules, date(2026, 12, 23)) == date(2027, 12, 22)
    assert first_allowed(rules, date(2100, 12, 31)) is None


def test_a_step_below_one_and_a_week_without_days_are_refused() -> None:
    for schedule in (
        Cron(("0 9 * * *",), step=Step(0, Unit.WEEK, ANCHOR)),
        Cron(("0 9 * * *",), excluded_weekdays=(0, 1, 2, 3, 4, 5, 6)),
    ):
        with pytest.raises(BadSchedule):
            shared_rules(schedule)


def test_an_allowed_date_is_never_before_the_asked_one_and_asking_for_it_changes_nothing() -> None:
    for expression in ("0 9 * * 1-5", "0 9 31 * *", "0 9 LW * *", "0 9 1W * *", "0 9 L-2 * *", "0 9 L 2 *"):
        rule = rule_of_fields(read(expression), None)
        for days in range(400):
            asked = ANCHOR + timedelta(days=days)
            found = rule(asked)
            assert found is not None
            assert found >= asked
            assert rule(found) == found
