"""Reminders that exist: shown, cancelled and paused in words, or picked from a list with buttons."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from kernel.changes import Changes
from kernel.chat import Choice, Prompt
from kernel.ports import TriggerGone, TriggerPut
from kernel.reminders.cards import Card, Kind
from kernel.reminders.desk import Desk, Stored
from kernel.schedule.reading import describe, moment
from kernel.schedule.values import Manage, Once
from kernel.texts import say, verbatim
from kernel.triggers import Trigger

LISTED = 20
"""How many reminders one list shows."""

_GENERIC = re.compile(
    r"取消|删除|删掉|去掉|停止|停掉|关闭|关掉|暂停|别再|不要|不用|提醒|闹钟|定时|任务|所有|全部|这个|那个|那条|这条|一下|"
    r"[别停关删我把的了吧请帮给先再掉]|"
    r"\b(?:cancel|delete|remove|stop|pause|turn|off|the|this|that|my|all|a|an|any|of|for|to|about|me|it|please|"
    r"reminders?|alarms?|timers?|reminding|remind|don't|do|not|no|more|i|you|can|could)\b",
    re.IGNORECASE,
)
"""Words that say what to do, not with which reminder."""
_WORD = re.compile(r"[a-z0-9]{2,}|[\u3400-\u9fff]{2,}", re.IGNORECASE)


def listing(desk: Desk, stored: Stored) -> Changes:
    """The reminders of the conversation, soonest first, each with a button that cancels it."""
    if not stored:
        return desk.reply(say("reminder.none", desk.language))
    return _choose(desk, stored, Kind.CANCEL, "reminder.list")


def manage(what: Manage, words: str, desk: Desk, stored: Stored) -> Changes:
    """List, cancel or pause as `words` ask.

    The one reminder that is surely meant is dealt with at once; of several, or when the words name none that is
    here, the person picks.
    """
    if what is Manage.LIST or not stored:
        return listing(desk, stored)
    is_cancel = what is Manage.CANCEL
    fitting, is_sure = _meant(words, stored)
    if len(fitting) > 1 or not is_sure:
        heading = "reminder.cancel_which" if is_cancel else "reminder.pause_which"
        return _choose(desk, fitting, Kind.CANCEL if is_cancel else Kind.PAUSE, heading)
    trigger = fitting[0][0]
    body = verbatim(trigger.text)
    if is_cancel:
        note = f"reminder cancelled: {trigger.text}"
        said = desk.reply(say("reminder.cancelled", desk.language, body=body))
        return replace(said, triggers=(TriggerGone(trigger.id),), notes=(note,))
    return desk.reply(say("reminder.paused", desk.language, body=body)) + paused(trigger)


def paused(trigger: Trigger) -> Changes:
    """The trigger rests from now on."""
    rested = replace(trigger, paused=True, revision=trigger.revision + 1)
    return Changes(triggers=(TriggerPut(rested, None),), notes=(f"reminder paused: {trigger.text}",))


def _meant(words: str, stored: Stored) -> tuple[Stored, bool]:
    """The reminders that `words` can mean, and whether they are surely meant.

    Words that name no reminder at all (取消提醒) mean any; words that name one which is not here mean none surely.
    """
    named = [each.casefold() for each in _WORD.findall(_GENERIC.sub(" ", words))]
    if not named:
        return stored, True
    fitting = [(trigger, due) for trigger, due in stored if any(_is_in(name, trigger.text) for name in named)]
    return (fitting, True) if fitting else (stored, False)


def _is_in(name: str, text: str) -> bool:
    """Whether they share the word: whole in English, any two characters in a row in Chinese."""
    text = text.casefold()
    if name.isascii():
        return name in re.findall(r"[a-z0-9]+", text)
    return any(name[start : start + 2] in text for start in range(len(name) - 1))


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
        time = f"{time} ({trigger.zone})" if desk.language == "en" else f"{time}（{trigger.zone}）"
    return say(key, desk.language, time=time, **fields)
