"""Holidays fall where calendars printed elsewhere put them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from dateutil.easter import easter

from kernel.schedule.named_days import holiday


def test_easter_is_the_sunday_that_dateutil_reckons() -> None:
    years = range(1900, 2300)

    assert [holiday("复活节", year) for year in years] == [easter(year) for year in years]
    assert holiday("耶稣受难日", 2026) == easter(2026) - timedelta(days=2)


@pytest.mark.parametrize(
    ("name", "when"),
    [
        ("阵亡将士纪念日", "2026-05-25"),
        ("美国劳动节", "2026-09-07"),
        ("总统日", "2027-02-15"),
        ("感恩节", "2026-11-26"),
    ],
)
def test_a_holiday_by_its_weekday_falls_in_its_week(name: str, when: str) -> None:
    assert holiday(name, int(when[:4])) == date.fromisoformat(when)
