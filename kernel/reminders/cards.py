"""What the buttons under reminders stand for: the one shape of their prompt records, and how a prompt is closed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from kernel.changes import Changes
from kernel.chat import ConversationId, PromptClosed
from kernel.codec import decode, encode
from kernel.errors import BadRecord
from kernel.ports import PromptRecord
from kernel.triggers import Trigger


class Kind(Enum):
    """What a prompt about reminders is for."""

    CARD = "reminder"
    """Says what was set, and can undo it; a second trigger is what it was before it was changed."""
    FIRED = "reminder-fired"
    """The reminder itself: done, or once more later."""
    QUESTION = "reminder-question"
    """Asks what was meant; its triggers are the possible answers, not stored yet."""
    CANCEL = "reminder-cancel"
    PAUSE = "reminder-pause"
    ALL = "reminder-all"
    """Asks once more before several go together."""
    GONE = "reminder-gone"
    """Says that they went, and can bring them back."""


KEPT = timedelta(days=37)
"""A week in which somebody may press, and 30 days more in which a late press gets an honest answer."""
KINDS = frozenset(kind.value for kind in Kind)
"""The `PromptRecord.kind`s that are ours."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a person, when they were said (aware UTC) and the zone of the chat then."""

    text: str
    at: datetime
    zone: str


@dataclass(frozen=True, slots=True)
class Card:
    """What a prompt shows: triggers as they were then, the language it speaks, the words that stay when it closes."""

    kind: Kind
    triggers: tuple[Trigger, ...]
    language: str
    text: str = ""
    said: tuple[Said, ...] = ()
    """Of a question: the request it is about, and the answers to it so far."""

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the prompt `token` will find."""
        shown = [encode(trigger) for trigger in self.triggers]
        content: dict[str, object] = {"triggers": shown, "language": self.language, "text": self.text}
        if self.said:
            content["said"] = [[each.text, each.at.isoformat(), each.zone] for each in self.said]
        data = json.dumps(content, ensure_ascii=False)
        return PromptRecord(token, conversation, self.kind.value, data, kept=KEPT)


def read(record: PromptRecord) -> Card:
    """The card of a record whose kind is one of `KINDS`. Raises BadRecord when this version cannot read it."""
    try:
        content = json.loads(record.data)
        shown, language, text = content["triggers"], content["language"], content["text"]
        kind = Kind(record.kind)
        said = tuple(Said(words, datetime.fromisoformat(at), zone) for words, at, zone in content.get("said", ()))
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecord(f"a prompt's record of kind {record.kind[:20]!r} has an unknown shape") from error
    return Card(kind, tuple(decode(Trigger, each) for each in shown), language, text, said)


def numbered(triggers: Sequence[Trigger], choice: str) -> Trigger | None:
    """The trigger that the button `choice` (0, 1, …) stands for; None for a button that was never there."""
    is_one = choice.isascii() and choice.isdigit() and int(choice) < len(triggers)
    return triggers[int(choice)] if is_one else None


def close(record: PromptRecord, text: str) -> Changes:
    """The prompt becomes `text`, without buttons."""
    return Changes(outbound=(PromptClosed(record.conversation, record.token, text),))
