"""What a press on a button under a reminder does; it can do nothing but what its button says."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from kernel.changes import Changes
from kernel.chat import ButtonPress
from kernel.ports import PromptRecord, TriggerGone, TriggerPut
from kernel.reminders.all_of_them import bring_back, due_after, on_all
from kernel.reminders.cards import Card, Kind, close, numbered, read
from kernel.reminders.creating import LATE_WINDOW_SOON, store
from kernel.reminders.desk import Desk, Stored
from kernel.reminders.listing import paused
from kernel.schedule.reading import describe, moment
from kernel.schedule.values import Once
from kernel.texts import say, verbatim
from kernel.triggers import Trigger

SNOOZE = timedelta(minutes=10)


def on_press(record: PromptRecord, press: ButtonPress, desk: Desk, stored: Stored) -> Changes | None:
    """What the press changes and shows; None for a choice that the prompt does not have.

    Raises BadRecord when the record cannot be read.
    """
    card = read(record)
    match card.kind:
        case Kind.CARD:
            return _undo(record, card, desk, stored) if press.choice == "undo" else None
        case Kind.FIRED:
            return _after_firing(record, press, card, desk)
        case Kind.QUESTION:
            answer = numbered(card.triggers, press.choice)
            return close(record, card.text) + store(answer, desk, stored) if answer else None
        case Kind.CANCEL:
            shown = numbered(card.triggers, press.choice)
            return _remove(record, shown, card, stored, "cancelled") if shown else None
        case Kind.PAUSE:
            shown = numbered(card.triggers, press.choice)
            return _pause(record, shown, card, stored) if shown else None
        case Kind.ALL:
            return on_all(record, press, card, stored)
        case Kind.GONE:
            return bring_back(record, card, desk, stored) if press.choice == "undo" else None
        case _:
            assert_never(card.kind)


def _undo(record: PromptRecord, card: Card, desk: Desk, stored: Stored) -> Changes:
    """What was set goes; what was changed becomes what it was, unless that would never come any more."""
    shown, *before = card.triggers
    current = _stored(shown, stored)
    if not before or current is None:
        return _remove(record, shown, card, stored, "undone")
    body = verbatim(current.text)
    if current.revision != shown.revision:
        return close(record, say("reminder.moved_on", card.language, body=body))
    former = replace(before[0], revision=current.revision + 1)
    due = due_after(former, desk.now)
    if due is None and not former.paused:
        return _remove(record, shown, card, stored, "undone")
    reading = describe(former.schedule, former.zone, card.language)
    text = say("reminder.restored", card.language, reading=reading, body=verbatim(former.text))
    note = f"reminder changed back: {former.text}"
    return replace(close(record, text), triggers=(TriggerPut(former, due),), notes=(note,))


def _remove(record: PromptRecord, shown: Trigger, card: Card, stored: Stored, done: str) -> Changes:
    """Take the trigger out; `done` is how the person (`reminder.<done>`) and the model hear of it."""
    if _stored(shown, stored) is None:
        return close(record, say("reminder.gone", card.language, body=verbatim(shown.text)))
    text = say(f"reminder.{done}", card.language, body=verbatim(shown.text))
    return replace(close(record, text), triggers=(TriggerGone(shown.id),), notes=(f"reminder {done}: {shown.text}",))


def _pause(record: PromptRecord, shown: Trigger, card: Card, stored: Stored) -> Changes:
    trigger = _stored(shown, stored)
    if trigger is None:
        return close(record, say("reminder.gone", card.language, body=verbatim(shown.text)))
    return close(record, say("reminder.paused", card.language, body=verbatim(trigger.text))) + paused(trigger)


def _stored(shown: Trigger, stored: Stored) -> Trigger | None:
    return next((trigger for trigger, _ in stored if trigger.id == shown.id), None)


def _whole_minute(instant: datetime) -> datetime:
    """The nearest one: nobody puts off to 09:10:37."""
    return (instant + timedelta(seconds=30)).replace(second=0, microsecond=0)


def _after_firing(record: PromptRecord, press: ButtonPress, card: Card, desk: Desk) -> Changes | None:
    trigger = card.triggers[0]
    body, name = verbatim(trigger.text), verbatim(press.sender.name)
    match press.choice:
        case "done":
            text = say("reminder.was_done", card.language, body=body, name=name)
            return replace(close(record, text), notes=(f"reminder done by {press.sender.name}: {trigger.text}",))
        case "snooze":
            again = _whole_minute(desk.now + SNOOZE)
            later = replace(
                trigger,
                id=desk.new_id(),
                schedule=Once((again,)),
                created=desk.now,
                revision=0,
                lateness=LATE_WINDOW_SOON,
            )
            time = moment(again, trigger.zone, card.language, desk.now)
            text = say("reminder.was_snoozed", card.language, body=body, name=name, time=time)
            note = f"reminder put off by {press.sender.name}: {trigger.text}"
            return replace(close(record, text), triggers=(TriggerPut(later, again),), notes=(note,))
        case _:
            return None
