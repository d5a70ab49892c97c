"""A stored reminder with another time or other words: the same one, whose old times never come any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from kernel.changes import Changes
from kernel.reminders.creating import store
from kernel.reminders.desk import Desk, Stored
from kernel.schedule.values import ScheduleIntent
from kernel.texts import say, verbatim
from kernel.triggers import Trigger

TOO_LATE = timedelta(seconds=10)
"""So close to its time a reminder stays as it is: it could fire while the change is written, and then once more."""


def change(
    trigger: Trigger, due: datetime | None, desk: Desk, stored: Stored, *, when: ScheduleIntent | None, text: str
) -> Changes:
    """The stored `trigger`, next due at `due`, at the times of the understood request `when` (None: as before).

    Its words become `text` unless that is empty. One that rested goes on. Its card can change it back.
    """
    if due is not None and due - desk.now <= TOO_LATE:
        return desk.reply(say("reminder.firing", desk.language, body=verbatim(trigger.text)))
    drafted = replace(trigger, text=text or trigger.text, paused=False)
    if when is not None and when.schedule is not None:
        drafted = replace(drafted, schedule=when.schedule, zone=when.zone)
    return store(drafted, desk, stored, before=trigger)
