"""What a person's words come to without a model: an answer to the last question, a request, words that manage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from kernel.awaiting import awaited_of
from kernel.changes import Changes
from kernel.chat import UserMessage
from kernel.errors import BadRecord
from kernel.ports import PromptRecord, Triggers
from kernel.reminders.answering import answer
from kernel.reminders.cards import Card, Kind, Said, read
from kernel.reminders.creating import create
from kernel.reminders.desk import Desk
from kernel.reminders.listing import manage
from kernel.schedule.parse import parse
from kernel.schedule.values import CREATE_FROM, ScheduleIntent
from kernel.session import Session
from kernel.session_events import Awaits

log = structlog.get_logger()

ANSWERABLE = timedelta(minutes=10)
"""How long after a question the next words may answer it: later, 8点 is more likely about something else."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the words change, and what the person's next words may answer."""

    changes: Changes
    awaits: Awaits


async def hear(
    message: UserMessage,
    session: Session,
    desk: Desk,
    triggers: Triggers,
    find: Callable[[str], Awaitable[PromptRecord | None]],
) -> Heard | None:
    """What `message` asks of our reminders; None when it is for the model. `find` gives the record of a token.

    A question is over for words, though not for its buttons, once the person has been answered anything else.
    """
    intent = _intent(message, desk)
    question = await _question(message, session, desk, find)
    if intent is None and question is None:
        return None
    stored = await triggers.list(desk.conversation)
    changes = answer(*question, message.text, desk, stored) if question is not None else None
    if changes is None and intent is not None:
        said = (Said(message.text, desk.asked, desk.zone),)
        changes = manage(intent, desk, stored) if intent.manage else create(intent, desk, stored, said=said)
    if changes is None:
        return None
    asks = next((each.token for each in changes.prompts if each.kind == Kind.QUESTION.value), "")
    return Heard(changes, Awaits(desk.person, message.order, asks, desk.now + ANSWERABLE))


async def _question(
    message: UserMessage, session: Session, desk: Desk, find: Callable[[str], Awaitable[PromptRecord | None]]
) -> tuple[PromptRecord, Card] | None:
    """The question that the message may answer: the person's own newest one, still open."""
    token = awaited_of(session, desk.person, message.order, desk.asked)
    record = await find(token) if token and not message.attachments else None
    if record is None or not record.is_open:
        return None
    try:
        return record, read(record)
    except BadRecord as error:
        log.warning("question that cannot be read", kind=record.kind, why=str(error))
        return None


def _intent(message: UserMessage, desk: Desk) -> ScheduleIntent | None:
    """What the words ask of our reminders; None when they are for the model."""
    intent = parse(message.text, now=desk.asked, zone=desk.zone)
    if intent.manage is not None:
        return intent
    if not intent.is_request or intent.is_agent_run:
        return None
    is_clear = intent.question is not None or intent.confidence >= CREATE_FROM
    return intent if is_clear else None
