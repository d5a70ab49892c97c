"""What people asked to be remembered: which shelf it stands on, and the list with a button to forget each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from kernel.changes import Changes
from kernel.chat import ButtonPress, Choice, ConversationId, Prompt, PromptClosed
from kernel.errors import BadRecord
from kernel.ports import Forget, PromptRecord, Shelf
from kernel.reminders.desk import Desk
from kernel.texts import say, verbatim

KIND = "memories"
KEPT = timedelta(days=37)
"""A week in which somebody may press, and 30 days more in which a late press gets an honest answer."""
LISTED = 20
"""Notes on one card; more of them are on more cards."""


def shelf_of(conversation: ConversationId, person: str, *, is_private: bool) -> Shelf:
    """Where notes of this conversation are kept: with nobody else in it the person's own, else the chat's.

    So what somebody said in private never enters a group, and what a group said stays there.
    """
    owner = person if is_private else conversation.chat
    return Shelf(conversation.platform, owner, is_private)


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows: notes as they were then, and the language it speaks."""

    shelf: Shelf
    texts: tuple[str, ...]
    language: str

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the prompt `token` will find."""
        content = {
            "owner": self.shelf.owner,
            "is_private": self.shelf.is_private,
            "texts": self.texts,
            "language": self.language,
        }
        return PromptRecord(token, conversation, KIND, json.dumps(content, ensure_ascii=False), kept=KEPT)


def read(record: PromptRecord) -> Card:
    """The card of a record of `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        content = json.loads(record.data)
        shelf = Shelf(record.conversation.platform, content["owner"], content["is_private"])
        return Card(shelf, tuple(content["texts"]), content["language"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecord("a list of notes has a record of unknown shape") from error


def listing(desk: Desk, shelf: Shelf, texts: Sequence[str]) -> Changes:
    """The notes on the shelf, newest first, each with a button that forgets it."""
    if not texts:
        return desk.reply(say("memory.none", desk.language))
    newest = tuple(reversed(texts))
    changes = Changes()
    for start in range(0, len(newest), LISTED):
        changes += _card(desk, shelf, newest[start : start + LISTED], start)
    return changes


def _card(desk: Desk, shelf: Shelf, texts: tuple[str, ...], start: int) -> Changes:
    head = "memory.list" if shelf.is_private else "memory.list_chat"
    lines = [] if start else [say(head, desk.language)]
    lines += [f"{number}. {verbatim(text)}" for number, text in enumerate(texts, start=start + 1)]
    choices = tuple(
        Choice(str(place), say("memory.forget", desk.language, number=str(start + place + 1)))
        for place in range(len(texts))
    )
    token = desk.new_id()
    prompt = Prompt(desk.conversation, "\n".join(lines), token, choices, language=desk.language)
    record = Card(shelf, texts, desk.language).record(token, desk.conversation)
    return Changes(outbound=(prompt,), prompts=(record,))


def on_press(record: PromptRecord, card: Card, press: ButtonPress, texts: Sequence[str]) -> Changes | None:
    """Forget the note that the button stands for, of those on the shelf now; None for a button that was never there."""
    choice = press.choice
    if not (choice.isascii() and choice.isdigit() and int(choice) < len(card.texts)):
        return None
    text = card.texts[int(choice)]
    key = "memory.forgotten" if text in texts else "memory.gone"
    words = say(key, card.language, text=verbatim(text))
    closed = PromptClosed(record.conversation, record.token, words)
    return Changes(outbound=(closed,), memories=(Forget(card.shelf, text),) if text in texts else ())
