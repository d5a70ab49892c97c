"""`/forget`: a card that says what goes and asks once more, and what a press on it does."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import Enum

from kernel.access import Standing
from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, ConversationId, Look, Prompt, PromptClosed
from kernel.errors import BadRecord
from kernel.memories import shelf_of
from kernel.open_cards import open_cards
from kernel.ports import ForgetAll, Forgetting, Holdings, PromptRecord
from kernel.reaction import Reaction
from kernel.reminders.desk import Desk
from kernel.session import Session
from kernel.session_events import Forgotten
from kernel.texts import say
from kernel.transitions import apply

KIND = "forget"
_ME = ("me", "我")


class Scope(Enum):
    """What a card is about."""

    CHAT = "chat"
    """Everything that is kept of the conversation."""
    PERSON = "person"
    """What is kept of one person beside conversations."""
    OVER = "over"
    """Nothing any more: it was forgotten what the card said."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the record of a card holds, as a JSON object; `person` asked."""

    scope: str
    language: str
    person: str = ""
    is_private: bool = True

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the card `token` will find."""
        return PromptRecord(token, conversation, KIND, json.dumps(asdict(self), ensure_ascii=False))


def read(record: PromptRecord) -> Card:
    """The card of a record of our `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        card = Card(**json.loads(record.data))
        Scope(card.scope)
    except (ValueError, TypeError) as error:
        raise BadRecord("the record of what is to be forgotten has an unknown shape") from error
    return card


def scope_of(rest: str) -> Scope | None:
    """What the rest of the command's line asks for; None: nothing that there is."""
    if not rest:
        return Scope.CHAT
    return Scope.PERSON if rest.casefold() in _ME else None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept, by number; `memories` are those on the shelf that would be emptied."""

    holdings: Holdings
    memories: int
    reminders: int
    requests: int


def asks(desk: Desk, scope: Scope, kept: Kept) -> Changes:
    """The card: what goes, how much of it, what stays; and its two buttons."""
    if scope is Scope.PERSON:
        number = str(kept.memories)
        lines = [say("forget.asks_me", desk.language, number=number), say("forget.rest_me", desk.language)]
    else:
        lines = [say("forget.asks", desk.language), *_listed(desk, kept), say("forget.rest", desk.language)]
    token = desk.new_id()
    choices = (
        Choice("forget", say("forget.yes", desk.language), Look.DANGER),
        Choice("keep", say("forget.no", desk.language)),
    )
    prompt = Prompt(desk.conversation, "\n".join(lines), token, choices, language=desk.language)
    record = Card(scope.value, desk.language, desk.person, desk.is_private).record(token, desk.conversation)
    return Changes(outbound=(prompt,), prompts=(record,))


def _listed(desk: Desk, kept: Kept) -> list[str]:
    held = kept.holdings
    counts = {
        "history": held.messages,
        "old": held.old_histories,
        "requests": kept.requests,
        "memories" if desk.is_private else "memories_chat": kept.memories,
        "files": held.files,
        "reminders": kept.reminders,
        "parked": held.parked,
    }
    return [say(f"forget.{what}", desk.language, number=str(count)) for what, count in counts.items() if count]


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a press does; with `person` everything known of them in the records of people goes too."""

    reaction: Reaction
    person: str = ""


def on_press(record: PromptRecord, card: Card, press: ButtonPress, session: Session, standing: Standing) -> Pressed:
    """What the press does, which is checked as the command was."""
    if card.is_private or card.scope == Scope.PERSON.value:
        if press.sender.id != card.person:
            return Pressed(Reaction(session, noticed(press, "forget.not_yours", card.language)))
    elif standing is not Standing.OWNER:
        return Pressed(Reaction(session, noticed(press, "rights.owner", card.language)))
    match press.choice:
        case "keep":
            return Pressed(Reaction(session, _ends(record, card, "forget.kept", press)))
        case "forget" if card.scope == Scope.CHAT.value:
            return Pressed(_forget_chat(record, card, press, session))
        case "forget":
            shelf = shelf_of(record.conversation, card.person, is_private=True)
            changes = replace(_ends(record, card, "forget.done_me", press), memories=(ForgetAll(shelf),))
            return Pressed(Reaction(session, changes), card.person)
        case _:
            return Pressed(Reaction(session, noticed(press, "press.unknown", card.language)))


def _forget_chat(record: PromptRecord, card: Card, press: ButtonPress, session: Session) -> Reaction:
    """All of it; the cards of open requests lose their words and their buttons with it."""
    changes, text = Changes(), say("forget.card", card.language)
    over = Card(Scope.OVER.value, card.language)
    for token in sorted(open_cards(session)):
        closed = PromptClosed(session.conversation, token, text)
        changes += Changes(outbound=(closed,), prompts=(over.record(token, session.conversation),))
    shelf = shelf_of(session.conversation, card.person, is_private=card.is_private)
    changes += _ends(record, card, "forget.done", press)
    return Reaction(apply(session, Forgotten()), changes, forgets=Forgetting(shelf))


def _ends(record: PromptRecord, card: Card, key: str, press: ButtonPress) -> Changes:
    closed = PromptClosed(record.conversation, record.token, say(key, card.language))
    over = Card(Scope.OVER.value, card.language).record(record.token, record.conversation)
    return Changes(outbound=(closed,), prompts=(over,)) + noticed(press, "press.noted", card.language)
