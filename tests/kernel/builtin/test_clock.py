"""`now` tells the conversation's own date and time, with everything that a model would otherwise guess."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kernel.builtin.clock import NOW
from kernel.errors import BadArguments
from tests.kernel.builtin.calls import ask, context, workspace


async def told(zone: str, *moment: int) -> str:
    now = datetime(*moment, tzinfo=UTC)  # type: ignore[arg-type, misc]  # Five numbers at most.
    return await ask(NOW, context(await workspace(), zone, now))


async def test_it_says_weekday_date_time_zone_offset_and_week() -> None:
    words = await told("Asia/Shanghai", 2026, 11, 30, 1, 0)

    assert words == (
        "Monday, 2026-11-30 09:00:00, zone Asia/Shanghai (UTC+08:00), ISO week 49. In UTC: 2026-11-30 01:00:00."
    )


async def test_the_day_is_that_of_the_conversation_and_not_that_of_utc() -> None:
    assert (await told("Asia/Shanghai", 2026, 11, 30, 16, 0)).startswith("Tuesday, 2026-12-01 00:00:00")
    assert (await told("America/New_York", 2026, 11, 30, 1, 0)).startswith("Sunday, 2026-11-29 20:00:00")


async def test_the_offset_follows_the_clock_change() -> None:
    assert "UTC+02:00" in await told("Europe/Berlin", 2026, 10, 25, 0, 59)
    assert "UTC+01:00" in await told("Europe/Berlin", 2026, 10, 25, 1, 0)


async def test_an_offset_of_half_an_hour_is_whole() -> None:
    assert "UTC+05:30" in await told("Asia/Kolkata", 2026, 1, 1)
    assert "UTC-03:30" in await told("America/St_Johns", 2026, 1, 1)


async def test_the_first_days_of_a_year_can_be_in_the_last_week_of_the_old_one() -> None:
    assert "ISO week 53" in await told("UTC", 2027, 1, 1)


async def test_it_takes_no_arguments() -> None:
    with pytest.raises(BadArguments):
        await ask(NOW, context(await workspace()), zone="Mars/Olympus")
