"""What a chat may still use up: as stored at the checkout and committed since, by the day there."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from kernel.ports import Checkout, Lease, Spending, Spent
from kernel.usage import Allowance
from tests.twins.clock import START, JumpingClock
from tests.twins.sessions import EMPTY, HERE
from workers.purse import Purse

MONDAY = date(2026, 11, 30)
ALLOWED = Allowance(tokens=100)


def purse(clock: JumpingClock, *, zone: str | None = None, allowance: Allowance = ALLOWED, **spent: int) -> Purse:
    stored = {MONDAY + timedelta(days=int(day[1:])): Spent(amount) for day, amount in spent.items()}
    checkout = Checkout(Lease(HERE, "w", 1, 1), EMPTY, (), (), {}, zone, stored)
    return Purse(checkout, allowance, clock, zone="Asia/Shanghai")


def test_it_is_open_until_the_allowance_is_reached_then_until_midnight() -> None:
    clock = JumpingClock()
    mine = purse(clock, d0=60)
    opens = [mine.opens]

    for more in (Spent(39), Spent(0, 1)):
        mine.take((Spending("1001", MONDAY, more),))
        opens.append(mine.opens)
    midnight = datetime(2026, 11, 30, 16, tzinfo=UTC)
    clock.set(midnight)

    assert opens == [None, None, midnight]
    assert mine.opens is None


def test_the_day_is_that_of_the_conversation() -> None:
    """At nine in Shanghai it is still Sunday in New York."""
    clock = JumpingClock(START)

    assert purse(clock, d0=100).opens is not None
    assert purse(clock, zone="America/New_York", d0=100).opens is None


def test_without_an_allowance_it_never_closes() -> None:
    assert purse(JumpingClock(), allowance=Allowance(), d0=10**12).opens is None
