"""What a next fire costs: one kind of rule at a time, croniter beside it, and ten thousand due in one minute.

Run: python -m benchmarks.triggers
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from time import perf_counter
from zoneinfo import ZoneInfo

from croniter import croniter

from kernel.schedule.values import Calendar, Cron, Every, Once, Schedule, Step, Unit
from kernel.triggers import next_fire_of

ZONE = "Asia/Shanghai"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
CALLS = 2000

KINDS: dict[str, Schedule] = {
    "once": Once((datetime(2026, 6, 1, tzinfo=UTC),)),
    "every 45 minutes": Every(timedelta(minutes=45), BEGIN),
    "daily": Cron(("0 9 * * *",)),
    "weekdays": Cron(("0 9 * * 1-5",)),
    "every 15 minutes": Cron(("*/15 * * * *",)),
    "monthly": Cron(("0 9 15 * *",)),
    "last day of the month": Cron(("0 9 L * *",)),
    "29 February": Cron(("0 9 29 2 *",)),
    "every 2 weeks": Cron(("0 9 * * 1",), step=Step(2, Unit.WEEK, date(2026, 1, 1))),
    "statutory workdays": Cron(("0 9 * * *",), calendar=Calendar.STATUTORY_WORKDAYS),
    "lunar, yearly": Cron(("0 9 15 8 *",), calendar=Calendar.LUNAR),
    "counted": Cron(("0 9 * * *",), start=BEGIN, count=365),
    "never": Cron(("0 9 31 2 *",)),
}

CRONITER = {
    "daily": "0 9 * * *",
    "weekdays": "0 9 * * 1-5",
    "every 15 minutes": "*/15 * * * *",
    "monthly": "0 9 15 * *",
    "last day of the month": "0 9 L * *",
    "29 February": "0 9 29 2 *",
}


def timed_us(call: Callable[[datetime], object]) -> float:
    """Microseconds a call, over moments spread through ten months."""
    moments = [BEGIN + n * timedelta(minutes=213) for n in range(CALLS)]
    call(BEGIN)
    begun = perf_counter()
    for each in moments:
        call(each)
    return (perf_counter() - begun) / CALLS * 1e6


def croniter_us(expression: str) -> float:
    place = ZoneInfo(ZONE)
    return timed_us(lambda after: croniter(expression, after.astimezone(place)).get_next(datetime))


def main() -> None:
    print(f"{'kind':24}{'us a next fire':>16}{'croniter us':>14}   ({CALLS} moments each)")
    for name, schedule in KINDS.items():
        ours = timed_us(partial(next_fire_of, schedule, ZONE))
        theirs = f"{croniter_us(CRONITER[name]):14.1f}" if name in CRONITER else ""
        print(f"{name:24}{ours:16.1f}{theirs}")

    due = datetime(2026, 3, 10, 1, 0, tzinfo=UTC)
    same = [Cron(("0 9 * * *",)) for _ in range(10_000)]
    own = [Cron((f"0 9 * * {n % 7}",), start=BEGIN + timedelta(seconds=n)) for n in range(10_000)]
    for name, triggers in (("one rule", same), ("each its own rule", own)):
        begun = perf_counter()
        for schedule in triggers:
            next_fire_of(schedule, ZONE, due)
        spent = perf_counter() - begun
        print(f"10,000 due at once, {name}: {spent * 1e3:.0f} ms, {len(triggers) / spent:,.0f} a second")


if __name__ == "__main__":
    main()
