from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.providers.tries import PATIENCE, Ear, Patience, Persistence, asked_pause
from tests.twins.clock import JumpingClock
from tests.twins.hasty import HastyClock

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


class Failing:
    """Fails with each of `errors`, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.count = 0

    async def __call__(self) -> str:
        self.count += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


def persistence(clock: JumpingClock, patience: Patience = PATIENCE) -> Persistence:
    return Persistence("twin:m", patience, clock, random.Random(5))


async def test_pauses_grow_with_jitter_and_have_a_bound(clock: HastyClock) -> None:
    once = Failing(*[ProviderFailed("busy")] * 5)

    assert await persistence(clock).keep_trying(once, Ear(None)) == "answer"

    bounds = [1, 3, 9, 27, 81]
    assert all(bound <= pause.total_seconds() <= bound * 1.5 for pause, bound in zip(clock.pauses, bounds, strict=True))


async def test_six_tries_and_no_more(clock: HastyClock) -> None:
    once = Failing(*[ProviderFailed("busy")] * 20)

    with pytest.raises(ProviderFailed, match="busy"):
        await persistence(clock).keep_trying(once, Ear(None))

    assert once.count == 6


async def test_a_pause_that_is_asked_for_is_kept(clock: HastyClock) -> None:
    once = Failing(ProviderFailed("busy", timedelta(seconds=20)))

    await persistence(clock).keep_trying(once, Ear(None))

    assert timedelta(seconds=20) < clock.pauses[0] <= timedelta(seconds=20.5)


async def test_a_service_that_asks_for_an_hour_is_not_waited_for(clock: HastyClock) -> None:
    once = Failing(ProviderFailed("busy", timedelta(hours=1)))

    with pytest.raises(ProviderFailed) as failed:
        await persistence(clock).keep_trying(once, Ear(None))

    assert failed.value.after == timedelta(hours=1)
    assert clock.pauses == []


async def test_of_tries_that_break_off_in_the_middle_only_the_first_is_heard_and_all_are_counted(
    clock: HastyClock,
) -> None:
    heard: list[str] = []
    ear, tries = Ear(heard.append), count(1)

    async def once() -> str:
        number = next(tries)
        ear.hear("" if number == 1 else f"beginning {number}")
        raise ProviderFailed("cut")

    with pytest.raises(ProviderFailed):
        await persistence(clock).keep_trying(once, ear)

    assert heard == ["beginning 2"]
    assert next(tries) == PATIENCE.tries + 1


async def test_a_refusal_is_final(clock: HastyClock) -> None:
    once = Failing(ProviderRefused("key"))

    with pytest.raises(ProviderRefused):
        await persistence(clock).keep_trying(once, Ear(None))

    assert once.count == 1


async def test_all_tries_together_have_an_end() -> None:
    """The clock of the pauses stands still: the deadline is the event loop's."""
    patience = Patience(whole=timedelta(seconds=0.05))
    once = Failing(ProviderFailed("busy"))

    with pytest.raises(ProviderFailed, match=r"twin:m did not answer within 0 s \(1 tries\)"):
        await persistence(JumpingClock(), patience).keep_trying(once, Ear(None))


async def test_a_cancelled_call_stays_cancelled() -> None:
    clock = JumpingClock()
    call = asyncio.create_task(persistence(clock).keep_trying(Failing(ProviderFailed("busy")), Ear(None)))
    await clock.sleeper()

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize(
    ("header", "pause_s"),
    [
        ("7", 7),
        ("0.25", 0.25),
        ("-5", 0),
        ("Mon, 30 Nov 2026 01:00:10 GMT", 10),
        ("Mon, 30 Nov 2026 00:00:00 GMT", 0),
        ("soon", None),
        ("inf", None),
        ("nan", 0),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(header: str | None, pause_s: float | None) -> None:
    pause = asked_pause(header, NOW)

    assert pause == (None if pause_s is None else timedelta(seconds=pause_s))
