"""Letting people in: the card that asks an owner about a stranger or a group, and the list of who was let in."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from kernel.access import Standing
from kernel.changes import Changes, noticed
from kernel.chat import AccessRequested, ButtonPress, Choice, ConversationId, Look, Prompt, PromptClosed, Reply
from kernel.errors import BadRecord
from kernel.ports import Grant, PromptRecord, Right
from kernel.reminders.desk import Desk
from kernel.settings import PlatformId
from kernel.texts import language_of, say, verbatim

KIND = "admission"
LIST_KIND = "admission-list"
_BRACKETS = str.maketrans(dict.fromkeys("()（）[]［］{}【】", " "))
_LISTED = 12
"""Rights on one list; each has a button."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the record of a card about a stranger or a group holds, as a JSON object.

    `person` (`name`) wants in, or has added the bot; `chat` and `thread` are where, `title` is the group's, empty for
    a private chat. `language` is the owner's, `their_language` that of whom it is about.
    """

    platform: str
    person: str
    name: str
    chat: str
    thread: str
    title: str
    is_private: bool
    has_joined: bool
    language: str
    their_language: str

    @property
    def origin(self) -> ConversationId:
        """Where it began."""
        return ConversationId(self.platform, self.chat, self.thread)

    @property
    def who(self) -> str:
        """The person as the card shows them, with the id: a name anybody can take."""
        return verbatim(f"{self.name or '?'} ({self.platform}:{self.person})")

    @property
    def where(self) -> str:
        """The group as the card shows it."""
        return verbatim(self.title or self.chat)

    @property
    def text(self) -> str:
        """What the card asks."""
        key = "admit.joined" if self.has_joined else "admit.person" if self.is_private else "admit.in_chat"
        return say(key, self.language, who=self.who, where=self.where)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Its buttons."""
        person = Choice("person", say("admit.allow", self.language), Look.GOOD)
        chat = Choice("chat", say("admit.open", self.language), Look.GOOD if self.has_joined else Look.PLAIN)
        deny = Choice("deny", say("ask.deny", self.language), Look.DANGER)
        if self.has_joined:
            return (chat, deny)
        return (person, deny) if self.is_private else (person, chat, deny)


def card(asked: AccessRequested, language: str, setting: str, new_id: Callable[[], str]) -> Changes:
    """The card that asks an owner, who reads `language`. `setting` is the operator's language."""
    shown = Card(
        platform=asked.origin.platform,
        person=asked.person.id,
        name=plain(asked.person.name),
        chat=asked.origin.chat,
        thread=asked.origin.thread,
        title=plain(asked.title),
        is_private=asked.is_private,
        has_joined=asked.has_joined,
        language=language,
        their_language=language_of("", asked.person.language, setting),
    )
    token = new_id()
    record = PromptRecord(token, asked.conversation, KIND, json.dumps(asdict(shown), ensure_ascii=False))
    prompt = Prompt(asked.conversation, shown.text, token, shown.choices, language=language)
    return Changes(outbound=(prompt,), prompts=(record,))


def read(record: PromptRecord) -> Card:
    """The card of a record of our `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        return Card(**json.loads(record.data))
    except (ValueError, TypeError) as error:
        raise BadRecord("the record of an admission has an unknown shape") from error


def on_press(record: PromptRecord, asked: Card, press: ButtonPress, standing: Standing) -> tuple[Grant | None, Changes]:
    """What an owner's press on the card `asked` grants, and what people see of it; None: nothing is granted."""
    if standing is not Standing.OWNER:
        return None, noticed(press, "rights.owner", asked.language)
    person, chat = PlatformId(asked.platform, asked.person), PlatformId(asked.platform, asked.chat)
    match press.choice:
        case "person" if not asked.has_joined:
            grant, done, told = Grant(Right.PERSON, person, asked.name), "admit.allowed", "admit.welcome"
        case "chat" if not asked.is_private:
            grant, done, told = Grant(Right.CHAT, chat, asked.title), "admit.opened", "admit.welcome_chat"
        case "deny" if asked.has_joined:
            return None, _closed(record, "admit.left_closed", asked) + noticed(press, "press.noted", asked.language)
        case "deny":
            grant, done, told = Grant(Right.REFUSED, person, asked.name), "admit.denied", ""
        case _:
            return None, noticed(press, "press.unknown", asked.language)
    changes = _closed(record, done, asked) + noticed(press, "press.noted", asked.language)
    if told:
        changes += Changes(outbound=(Reply(asked.origin, say(told, asked.their_language)),))
    return grant, changes


@dataclass(frozen=True, slots=True)
class Rights:
    """What the record of a list holds: the rights on it, in the order of its buttons."""

    grants: tuple[Grant, ...]
    language: str


def listing(desk: Desk, grants: Sequence[Grant]) -> Changes:
    """Who was let in, each with a button that takes it back; of too many the rest is counted."""
    known = [each for each in grants if each.right is not Right.REFUSED]
    shown = known[:_LISTED]
    if not shown:
        return desk.reply(say("admit.nobody", desk.language))
    lines = [say("admit.list", desk.language)]
    lines += [f"{number}. {_line(each, desk.language)}" for number, each in enumerate(shown, start=1)]
    if len(known) > len(shown):
        lines.append(say("admit.more", desk.language, number=str(len(known) - len(shown))))
    choices = [
        Choice(str(number), say("admit.remove", desk.language, number=str(number + 1)), Look.DANGER)
        for number, each in enumerate(shown)
        if each.whose.id != desk.person
    ]
    token = desk.new_id()
    held = [[each.right.value, each.whose.platform, each.whose.id, each.name] for each in shown]
    data = json.dumps({"grants": held, "language": desk.language}, ensure_ascii=False)
    prompt = Prompt(desk.conversation, "\n".join(lines), token, tuple(choices), language=desk.language)
    return Changes(outbound=(prompt,), prompts=(PromptRecord(token, desk.conversation, LIST_KIND, data),))


def read_list(record: PromptRecord) -> Rights:
    """The list of a record of our `LIST_KIND`. Raises BadRecord when this version cannot read it."""
    try:
        content = json.loads(record.data)
        grants = [Grant(Right(right), PlatformId(of, whose), name) for right, of, whose, name in content["grants"]]
        return Rights(tuple(grants), str(content["language"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecord("the record of a list of rights has an unknown shape") from error


def on_list_press(
    record: PromptRecord, shown: Rights, press: ButtonPress, standing: Standing
) -> tuple[Grant | None, Changes]:
    """The right that an owner's press takes back, and what people see of it."""
    if standing is not Standing.OWNER:
        return None, noticed(press, "rights.owner", shown.language)
    if not (press.choice.isdecimal() and int(press.choice) < len(shown.grants)):
        return None, noticed(press, "press.unknown", shown.language)
    grant = shown.grants[int(press.choice)]
    text = say("admit.removed", shown.language, who=verbatim(_named(grant)))
    closed = PromptClosed(record.conversation, record.token, text)
    return grant, Changes(outbound=(closed,)) + noticed(press, "press.noted", shown.language)


def _line(grant: Grant, language: str) -> str:
    return say(f"admit.right_{grant.right.value}", language, who=verbatim(_named(grant)))


def _named(grant: Grant) -> str:
    return f"{plain(grant.name) or '?'} ({grant.whose.platform}:{grant.whose.id})"


def plain(name: str) -> str:
    """The name in one line, without brackets and invisible signs: what stands in brackets behind it is the id."""
    seen = "".join(sign for sign in name if sign.isspace() or unicodedata.category(sign)[0] != "C")
    return " ".join(seen.translate(_BRACKETS).split())[:60].strip()


def _closed(record: PromptRecord, key: str, asked: Card) -> Changes:
    text = say(key, asked.language, who=asked.who, where=asked.where)
    return Changes(outbound=(PromptClosed(record.conversation, record.token, text),))
