"""Several reminders that go together: once more asked about, cancelled in one commit, and brought back the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, PromptClosed
from kernel.errors import BadSchedule
from kernel.ports import PromptRecord, TriggerGone, TriggerPut
from kernel.reminders.cards import Card, Kind, close
from kernel.reminders.creating import MAX_PER_CONVERSATION
from kernel.reminders.desk import Desk, Stored
from kernel.texts import say, verbatim
from kernel.triggers import Trigger, next_fire

NAMED = 10
"""How many are named in one line."""


def on_all(record: PromptRecord, press: ButtonPress, card: Card, stored: Stored) -> Changes | None:
    """They go, or stay. Only the person whose reminders they are decides; None for a button that was never there."""
    if press.choice not in ("all", "keep"):
        return None
    if any(shown.owner != press.sender.id for shown in card.triggers):
        return noticed(press, "ask.not_yours", card.language)
    if press.choice == "keep":
        return close(record, say("reminder.all_kept", card.language))
    shown = {each.id for each in card.triggers}
    here = tuple(trigger for trigger, _ in stored if trigger.id in shown)
    if not here:
        return close(record, say("reminder.all_gone", card.language))
    text = say("reminder.all_cancelled", card.language, number=str(len(here)), body=_named(here, card.language))
    undo = Choice("undo", say("reminder.undo", card.language))
    after = Card(Kind.GONE, here, card.language).record(record.token, record.conversation)
    return Changes(
        outbound=(PromptClosed(record.conversation, record.token, text, (undo,)),),
        prompts=(after,),
        triggers=tuple(TriggerGone(each.id) for each in here),
        notes=(f"{len(here)} reminders cancelled: {_named(here, 'en')}",),
    )


def bring_back(record: PromptRecord, card: Card, desk: Desk, stored: Stored) -> Changes:
    """Those whose time still comes are there again as they were."""
    room = MAX_PER_CONVERSATION - len(stored)
    puts = [put for put in (_again(each, desk.now) for each in card.triggers) if put is not None][: max(room, 0)]
    if not puts:
        key = "reminder.all_gone" if room > 0 else "reminder.full"
        return close(record, say(key, card.language, limit=str(MAX_PER_CONVERSATION)))
    back = [put.trigger for put in puts]
    key = "reminder.back" if len(back) == 1 else "reminder.all_back"
    text = say(key, card.language, number=str(len(back)), body=_named(back, card.language))
    note = f"{len(back)} cancelled reminders brought back"
    return replace(close(record, text), triggers=tuple(puts), notes=(note,))


def due_after(trigger: Trigger, now: datetime) -> datetime | None:
    """When the trigger is due next; None when it has ended."""
    try:
        return next_fire(trigger, now)
    except BadSchedule:
        return None


def _again(trigger: Trigger, now: datetime) -> TriggerPut | None:
    due = None if trigger.paused else due_after(trigger, now)
    is_over = due is None and not trigger.paused
    return None if is_over else TriggerPut(replace(trigger, revision=trigger.revision + 1), due)


def _named(triggers: Sequence[Trigger], language: str) -> str:
    """Their words in one line, the first ten."""
    words = [verbatim(each.text) for each in triggers[:NAMED]]
    more = ["…"] if len(triggers) > NAMED else []
    return ("、" if language == "zh" else ", ").join(words + more)
