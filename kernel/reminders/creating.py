"""From an understood sentence to a stored trigger and the card that confirms it; or to a question."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from kernel.changes import Changes
from kernel.chat import Choice, Prompt, Reply
from kernel.errors import BadSchedule
from kernel.ports import TriggerPut
from kernel.reminders.cards import Card, Kind, Said
from kernel.reminders.desk import Desk, Stored
from kernel.schedule.reading import caveat, describe, moment, zone_name
from kernel.schedule.values import Cron, Every, Once, Question, Schedule, ScheduleIntent
from kernel.texts import say, verbatim
from kernel.triggers import Action, Trigger, fires, first_fire

MAX_PER_CONVERSATION = 200
MIN_INTERVAL = timedelta(minutes=1)
SHOWN_NEXT = 3
"""How many next times a confirmation shows."""
LATE_WINDOW = timedelta(hours=12)
"""How long after its time a missed reminder is still delivered in full: the rest of its day."""
LATE_WINDOW_SOON = timedelta(hours=3)
"""Likewise for what was asked for within the hour: it is of the moment."""


def create(intent: ScheduleIntent, desk: Desk, stored: Stored, *, said: tuple[Said, ...] = ()) -> Changes:
    """A trigger and its card for a request that is understood; a question for one that is not.

    `said` are the words of the request, which those of an answer complete (`kernel.reminders.answering`).
    """
    if intent.question is not None:
        return _ask(intent, intent.question, desk, said)
    if intent.schedule is None:
        raise ValueError("not a request")
    return store(_drafted(intent.schedule, intent, desk), desk, stored)


def store(drafted: Trigger, desk: Desk, stored: Stored, *, before: Trigger | None = None) -> Changes:
    """The trigger with a window for lateness, and its card; or why it cannot be.

    It is a new one with an id of its own, or what becomes of the stored trigger `before`, whose old times are over.
    """
    schedule, zone, language = drafted.schedule, drafted.zone, drafted.language
    if before is None and len(stored) >= MAX_PER_CONVERSATION:
        return desk.reply(say("reminder.full", language, limit=str(MAX_PER_CONVERSATION)))
    if isinstance(schedule, Every) and schedule.step < MIN_INTERVAL:
        return desk.reply(say("reminder.too_often", language))
    try:
        due = first_fire(schedule, zone, desk.asked)
    except BadSchedule as error:
        return desk.reply(say(error.key, language, **error.fields))
    trigger = replace(
        drafted,
        id=before.id if before else desk.new_id(),
        owner=before.owner if before else desk.person,
        lateness=_window(schedule, due, desk.asked),
        created=desk.asked,
        revision=before.revision + 1 if before else 0,
    )
    token = desk.new_id()
    undo = Choice("undo", say("reminder.undo", language))
    card = Prompt(desk.conversation, _confirmation(trigger, desk.now), token, (undo,), language=language)
    return Changes(
        outbound=(card,),
        prompts=(
            Card(Kind.CARD, (trigger, before) if before else (trigger,), language).record(token, desk.conversation),
        ),
        triggers=(TriggerPut(trigger, due),),
        notes=(f"reminder {'changed' if before else 'set'}: {describe(schedule, zone, language)}: {trigger.text}",),
    )


def _drafted(schedule: Schedule, intent: ScheduleIntent, desk: Desk) -> Trigger:
    """What the sentence asks for with this schedule, not stored yet."""
    return Trigger(
        id="",
        conversation=desk.conversation,
        owner=desk.person,
        schedule=schedule,
        zone=intent.zone,
        text=intent.body or say("reminder.body", desk.language),
        language=desk.language,
        action=Action.SAY,
        lateness=LATE_WINDOW_SOON,
        created=desk.asked,
        mentions=intent.mentions,
    )


def _window(schedule: Schedule, due: datetime, asked: datetime) -> timedelta:
    match schedule:
        case Once():
            return LATE_WINDOW if due - asked >= timedelta(hours=1) else LATE_WINDOW_SOON
        case Every():
            return max(MIN_INTERVAL, min(schedule.step, LATE_WINDOW))
        case Cron():
            return LATE_WINDOW
        case _:
            assert_never(schedule)


def _confirmation(trigger: Trigger, now: datetime) -> str:
    """What was understood, the next times with the zone, and what the rule does not do."""
    zone, language = trigger.zone, trigger.language
    coming = [moment(at, zone, language, now) for at in fires(trigger.schedule, zone, trigger.created, SHOWN_NEXT)]
    times = ("、" if language == "zh" else ", ").join(coming)
    body = verbatim(trigger.text)
    if isinstance(trigger.schedule, Once):
        return say("reminder.set_once", language, times=times, body=body, zone=zone_name(zone))
    lines = [
        say("reminder.set", language, reading=describe(trigger.schedule, zone, language), body=body),
        say("reminder.next", language, times=times, zone=zone_name(zone)),
        caveat(trigger.schedule, language),
    ]
    return "\n".join(line for line in lines if line)


def _ask(intent: ScheduleIntent, question: Question, desk: Desk, said: tuple[Said, ...]) -> Changes:
    """The question; also without buttons there is a record of it, which the person's own words may find."""
    token = desk.new_id()
    choices = tuple(Choice(str(number), choice.label) for number, choice in enumerate(question.choices))
    prompt = Prompt(desk.conversation, question.text, token, choices, language=desk.language)
    answers = tuple(_drafted(choice.schedule, intent, desk) for choice in question.choices)
    card = Card(Kind.QUESTION, answers, desk.language, question.text, said)
    return Changes(
        outbound=(prompt if choices else Reply(desk.conversation, question.text),),
        prompts=(card.record(token, desk.conversation),) if choices or said else (),
        notes=(f"asked back about a reminder: {question.text}",),
    )
