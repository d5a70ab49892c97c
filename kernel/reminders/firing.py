"""What a due time comes to: the reminder itself, said verbatim. Nothing in its text is ever read as a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from kernel.chat import Choice, Look, Outbound, Prompt, Reply
from kernel.errors import BadSchedule
from kernel.ports import PromptRecord
from kernel.reminders.cards import Card, Kind
from kernel.schedule.reading import moment
from kernel.texts import say, verbatim
from kernel.triggers import Firing, Lateness, Trigger, next_fire, settle


@dataclass(frozen=True, slots=True)
class Fired:
    """What goes out, and when the trigger is due next (None: it has ended)."""

    outbound: tuple[Outbound, ...]
    prompts: tuple[PromptRecord, ...]
    next_due: datetime | None
    outcome: str
    """For the ledger: `claimed` or `late` until it is delivered, or `skipped`."""
    note: str


def fire(firing: Firing, now: datetime, new_id: Callable[[], str]) -> Fired:
    """Say the trigger's text, with buttons; or say that it was missed for longer than its window.

    Of several missed times only the newest is said. When the statutory calendar ends before the next time, the
    reminder ends with it, and the person is told.
    """
    trigger = firing.trigger
    settlement = settle(trigger, firing.due, now)
    due = settlement.newest
    next_due, told = _next(trigger, due)
    if settlement.lateness is Lateness.SKIPPED:
        time = moment(due, trigger.zone, trigger.language, now)
        text = say("reminder.skipped", trigger.language, body=verbatim(trigger.text), time=time)
        missed = Reply(trigger.conversation, text)
        return Fired((missed, *told), (), next_due, "skipped", f"reminder missed and skipped: {trigger.text}")
    token = new_id()
    prompt = Prompt(
        trigger.conversation,
        say("reminder.fired", trigger.language, body=verbatim(trigger.text)),
        token,
        (
            Choice("done", say("reminder.done", trigger.language), Look.GOOD),
            Choice("snooze", say("reminder.snooze", trigger.language)),
        ),
        due=due,
        language=trigger.language,
    )
    record = Card(Kind.FIRED, (trigger,), trigger.language).record(token, trigger.conversation)
    outcome = "late" if settlement.lateness is Lateness.LATE else "claimed"
    return Fired((prompt, *told), (record,), next_due, outcome, f"reminder fired: {trigger.text}")


def _next(trigger: Trigger, after: datetime) -> tuple[datetime | None, tuple[Reply, ...]]:
    """The next time, and what the person is told when it cannot be known."""
    try:
        return next_fire(trigger, after), ()
    except BadSchedule as error:
        why = say(error.key, trigger.language, **error.fields)
        text = say("reminder.ended", trigger.language, body=verbatim(trigger.text), why=why)
        return None, (Reply(trigger.conversation, text),)
