"""An answer in words to a question about a reminder: it does what the matching button would have done.

The record of the question holds the words it is about. They are read once more, by the same code that read them
first, with the answer in them: nothing that was understood half has to be written down.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from kernel.changes import Changes
from kernel.ports import PromptRecord
from kernel.reminders.cards import Card, Kind, Said, close, numbered
from kernel.reminders.creating import create, store
from kernel.reminders.desk import Desk, Stored
from kernel.schedule.answers import Chosen, Refused, completed, names_days, read_answer
from kernel.schedule.parse import Understood, understand
from kernel.schedule.values import CREATE_FROM
from kernel.texts import say


def answer(record: PromptRecord, card: Card, text: str, desk: Desk, stored: Stored) -> Changes | None:
    """What `text` changes as an answer to the open question `card` of `record`; None when it is no answer to it."""
    desk = replace(desk, language=card.language)
    asked = _recalled(card)
    if asked is None:
        return None
    meant = read_answer(text, asked, now=desk.asked)
    if meant is None:
        meant = _said_again(text, asked, desk)
    closed = close(record, card.text)
    match meant:
        case None:
            return None
        case Chosen(number):
            trigger = numbered(card.triggers, str(number))
            return closed + store(trigger, desk, stored) if trigger else None
        case Refused():
            return closed + desk.reply(say("reminder.not_set", desk.language))
        case Understood(intent=intent):
            said = (*card.said, Said(text, desk.asked, desk.zone))
            return closed + create(intent, desk, stored, said=said)
        case _:
            assert_never(meant)


def _recalled(card: Card) -> Understood | None:
    """The request as it stands, its earlier answers in it; None when this version reads it differently."""
    if card.kind is not Kind.QUESTION or not card.said:
        return None
    first, *answers = card.said
    asked = understand(first.text, now=first.at, zone=first.zone)
    for each in answers:
        if asked.intent.question is None:
            return None
        meant = read_answer(each.text, asked, now=each.at) or _said_again(each.text, asked, each)
        if not isinstance(meant, Understood):
            return None
        asked = meant
    return asked if asked.intent.question is not None else None


def _said_again(text: str, asked: Understood, said: Desk | Said) -> Understood | None:
    """The same task in a whole sentence: 8点提醒我吃药 fills in the hour; with 明天 it is a new request."""
    at = said.asked if isinstance(said, Desk) else said.at
    again = understand(text, now=at, zone=said.zone)
    intent = again.intent
    is_same = bool(intent.body) and intent.body.casefold() == asked.intent.body.casefold()
    if not is_same or not intent.is_request or intent.is_agent_run:
        return None
    if names_days(again):
        return again if intent.question is not None or intent.confidence >= CREATE_FROM else None
    return completed(asked, list(again.phrases), at)
