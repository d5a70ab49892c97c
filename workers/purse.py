"""What one conversation's chat may still use up today."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from kernel.changes import Changes
from kernel.ports import Checkout, Clock, Spending, Spent
from kernel.reception import closed_until
from kernel.usage import Allowance, day_of, next_day


class Purse:
    """The allowance of the chat against what was used up: as it stood at the checkout, and what was committed since.

    What other threads of the chat use up meanwhile is seen at the next checkout.
    """

    __slots__ = ("_allowance", "_clock", "_spent", "zone")

    def __init__(self, checkout: Checkout, allowance: Allowance, clock: Clock, *, zone: str) -> None:
        """`zone` is where nobody said otherwise."""
        self.zone = checkout.zone or zone
        self._allowance = allowance
        self._clock = clock
        self._spent = dict(checkout.spent)

    def take(self, spendings: Iterable[Spending]) -> None:
        """These were committed."""
        for spending in spendings:
            self._spent[spending.day] = self._on(spending.day) + spending.spent

    def _on(self, day: date) -> Spent:
        return self._spent.get(day, Spent())

    def upkeep(self, used: Spent) -> Changes:
        """What was used up for the conversation itself, and for no person in it."""
        day = day_of(self._clock.now(), self.zone)
        return Changes(spendings=(Spending("", day, used),) if used.tokens else ())

    @property
    def opens(self) -> datetime | None:
        """When the model may be asked again, at midnight there; None: it may be asked now."""
        if self._allowance == Allowance():
            return None
        now = self._clock.now()
        is_used_up = self._allowance.is_used_up(self._on(day_of(now, self.zone)))
        return next_day(now, self.zone) if is_used_up else None

    def closed(self, language: str) -> str:
        """What is said while the model may not be asked."""
        now = self._clock.now()
        return closed_until(self.opens or now, self.zone, language, now)
