"""Reminders that exist: shown, cancelled and paused in words, or picked from a list with buttons."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import add

from kernel.changes import Changes
from kernel.chat import Choice, Look, Prompt
from kernel.ports import TriggerGone, TriggerPut
from kernel.reminders.cards import Card, Kind
from kernel.reminders.desk import Desk, Stored
from kernel.schedule.reading import describe, moment, zone_name
from kernel.schedule.values import Manage, Once, ScheduleIntent
from kernel.texts import say, verbatim
from kernel.triggers import Trigger

LISTED = 20
"""How many reminders one list shows."""

_WORD = re.compile(r"[a-z0-9]{2,}|[\u3400-\u9fff]{2,}")
_SMALL = frozenset({"the", "to", "and", "my", "of", "for", "in", "on", "at", "up", "with", "about"})
"""Words too common to tell one reminder from another."""


def listing(desk: Desk, stored: Stored) -> Changes:
    """The reminders of the conversation, soonest first, each with a button that cancels it."""
    if not stored:
        return desk.reply(say("reminder.none", desk.language))
    return _choose(desk, stored, Kind.CANCEL, "reminder.list")


def manage(asked: ScheduleIntent, desk: Desk, stored: Stored) -> Changes:
    """List, cancel or pause as the words asked that were understood as `asked`.

    The one reminder that is surely meant is dealt with at once; of several, or when the words name none that is
    here, the person picks. Who wants all cancelled is asked once, about their own.
    """
    if asked.manage is Manage.LIST or not stored:
        return listing(desk, stored)
    is_cancel = asked.manage is Manage.CANCEL
    picked = _picked(asked, stored)
    if picked:
        return reduce(add, (_dealt_with(trigger, desk, is_cancel=is_cancel) for trigger, _ in picked))
    meant, is_sure = _meant(asked, stored)
    own = [each for each in meant if each[0].owner == desk.person]
    if is_cancel and is_sure and asked.is_all and own:
        return cancelled(own[0][0], desk) if len(own) == 1 else _confirm(desk, own)
    if len(meant) > 1 or not is_sure:
        heading = "reminder.cancel_which" if is_cancel else "reminder.pause_which"
        return _choose(desk, meant, Kind.CANCEL if is_cancel else Kind.PAUSE, heading)
    return _dealt_with(meant[0][0], desk, is_cancel=is_cancel)


def _dealt_with(trigger: Trigger, desk: Desk, *, is_cancel: bool) -> Changes:
    if is_cancel:
        return cancelled(trigger, desk)
    return desk.reply(say("reminder.paused", desk.language, body=verbatim(trigger.text))) + paused(trigger)


def cancelled(trigger: Trigger, desk: Desk) -> Changes:
    """The trigger goes, and the conversation is told; a press brings it back."""
    token = desk.new_id()
    text = say("reminder.cancelled", desk.language, body=verbatim(trigger.text))
    undo = Choice("undo", say("reminder.undo", desk.language))
    return Changes(
        outbound=(Prompt(desk.conversation, text, token, (undo,), language=desk.language),),
        prompts=(Card(Kind.GONE, (trigger,), desk.language).record(token, desk.conversation),),
        triggers=(TriggerGone(trigger.id),),
        notes=(f"reminder cancelled: {trigger.text}",),
    )


def paused(trigger: Trigger) -> Changes:
    """The trigger rests from now on."""
    rested = replace(trigger, paused=True, revision=trigger.revision + 1)
    return Changes(triggers=(TriggerPut(rested, None),), notes=(f"reminder paused: {trigger.text}",))


def _picked(asked: ScheduleIntent, stored: Stored) -> Stored:
    """Those at the places that the words name (第2个, the last one); none when one of them is not there."""
    among = fitting(asked.body, stored) if asked.body else stored
    places = [place - 1 if place > 0 else len(among) + place for place in asked.places]
    return [among[place] for place in dict.fromkeys(places)] if all(0 <= each < len(among) for each in places) else ()


def _meant(asked: ScheduleIntent, stored: Stored) -> tuple[Stored, bool]:
    """The reminders that the words can mean, and whether they are surely meant.

    Words that name no reminder at all (取消提醒) mean any; words that name a task or a time which is not here mean
    none surely.
    """
    named = asked.body.casefold()
    if asked.places:
        return stored, False
    if not named:
        return stored, asked.manage is Manage.PAUSE or not asked.is_narrowed
    found_here = fitting(named, stored)
    return (found_here, True) if found_here else (stored, False)


def fitting(named: str, stored: Stored) -> Stored:
    """The reminders that hold the words `named`; when none does, those that share a word with them."""
    named = named.casefold()
    whole = [(trigger, due) for trigger, due in stored if named in trigger.text.casefold()]
    return whole or [(trigger, due) for trigger, due in stored if _shares_a_word(named, trigger.text.casefold())]


def _shares_a_word(named: str, text: str) -> bool:
    """A whole word in English, any two characters in a row in Chinese."""
    known = set(_WORD.findall(text)) - _SMALL
    return any(
        word in known if word.isascii() else any(word[start : start + 2] in text for start in range(len(word) - 1))
        for word in _WORD.findall(named)
    )


def _choose(desk: Desk, stored: Stored, kind: Kind, heading: str) -> Changes:
    shown = stored[:LISTED]
    lines = [say(heading, desk.language)]
    lines += [_line(number, trigger, due, desk) for number, (trigger, due) in enumerate(shown, start=1)]
    button = "reminder.pause" if kind is Kind.PAUSE else "reminder.cancel"
    choices = tuple(
        Choice(str(number), say(button, desk.language, number=str(number + 1))) for number in range(len(shown))
    )
    token = desk.new_id()
    prompt = Prompt(desk.conversation, "\n".join(lines), token, choices, language=desk.language)
    card = Card(kind, tuple(trigger for trigger, _ in shown), desk.language)
    return Changes(outbound=(prompt,), prompts=(card.record(token, desk.conversation),))


def _confirm(desk: Desk, own: Stored) -> Changes:
    """Shows what would go, and goes no further without a press."""
    count = str(len(own))
    lines = [say("reminder.cancel_all", desk.language, number=count)]
    lines += [_line(number, trigger, due, desk) for number, (trigger, due) in enumerate(own[:LISTED], start=1)]
    if len(own) > LISTED:
        lines.append(say("reminder.more", desk.language, number=str(len(own) - LISTED)))
    choices = (
        Choice("all", say("reminder.all", desk.language, number=count), Look.DANGER),
        Choice("keep", say("reminder.keep", desk.language)),
    )
    token = desk.new_id()
    prompt = Prompt(desk.conversation, "\n".join(lines), token, choices, language=desk.language)
    card = Card(Kind.ALL, tuple(trigger for trigger, _ in own), desk.language)
    return Changes(outbound=(prompt,), prompts=(card.record(token, desk.conversation),))


def _line(number: int, trigger: Trigger, due: datetime | None, desk: Desk) -> str:
    fields = {
        "number": str(number),
        "body": verbatim(trigger.text),
        "reading": describe(trigger.schedule, trigger.zone, desk.language),
    }
    if due is None:
        return say("reminder.line_paused", desk.language, **fields)
    key = "reminder.line_once" if isinstance(trigger.schedule, Once) else "reminder.line"
    time = moment(due, trigger.zone, desk.language, desk.now)
    if trigger.zone != desk.zone:
        # It was made in another zone and keeps it: its times are not those of the clock here.
        kept = zone_name(trigger.zone)
        time = f"{time} ({kept})" if desk.language == "en" else f"{time}（{kept}）"
    return say(key, desk.language, time=time, **fields)
