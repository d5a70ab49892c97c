"""What a press on any of our buttons means: the record of its token says what it stands for, and who may press."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import structlog

from kernel import admission, approvals, asides, forgetting, memories, questions
from kernel.access import Standing
from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Notice
from kernel.errors import BadRecord
from kernel.ports import Grant, Grants, Memories, People, PromptRecord, Right, Triggers
from kernel.prompts import facts
from kernel.reaction import Reaction
from kernel.reminders import cards
from kernel.reminders.desk import Desk
from kernel.reminders.pressing import on_press
from kernel.session import Session
from kernel.transitions import apply

log = structlog.get_logger()

Card = (
    approvals.Card
    | asides.Aside
    | questions.Card
    | memories.Card
    | forgetting.Card
    | admission.Card
    | admission.Rights
    | cards.Card
)


class Pressing:
    """Turns one press after another into what it changes. `prefix` is that of `Manners`."""

    def __init__(
        self,
        triggers: Triggers,
        memories: Memories,
        grants: Grants,
        people: People,
        prefix: str,
        new_id: Callable[[], str],
    ) -> None:
        self._triggers = triggers
        self._memories = memories
        self._grants = grants
        self._people = people
        self._prefix = prefix
        self._new_id = new_id

    async def press(self, record: PromptRecord | None, press: ButtonPress, session: Session, desk: Desk) -> Reaction:
        """What the press on the card `record` does; None, and cards of another conversation, are no card of ours."""
        if record is None or record.conversation != session.conversation:
            return Reaction(session, noticed(press, "press.unknown", desk.language))
        try:
            card = read(record)
            if not _may_press(card, desk, press):
                return Reaction(session, noticed(press, "rights.allowed", card.language))
            if not record.is_open:
                return Reaction(session, noticed(press, _late(card), card.language))
            return await self._on(card, record, press, session, desk)
        except BadRecord as error:
            log.warning("press on a record that cannot be read", kind=record.kind, why=str(error))
            return Reaction(session, noticed(press, "press.unknown", desk.language))

    async def _as_known(self, grant: Grant) -> Grant:
        """The grant for the chat as we know it: it may have moved while the card stood there."""
        if grant.right is not Right.CHAT:
            return grant
        known = await self._grants.known_as(grant.whose.platform, grant.whose.id)
        return replace(grant, whose=replace(grant.whose, id=known))

    async def _on(self, card: Card, record: PromptRecord, press: ButtonPress, session: Session, desk: Desk) -> Reaction:
        decides = desk.standing is Standing.OWNER
        match card:
            case memories.Card():
                kept = await self._memories.on(card.shelf)
                return _pressed(press, session, card.language, memories.on_press(record, card, press, kept))
            case asides.Aside():
                head = facts(now=desk.now, zone=desk.zone, speaker=press.sender.name, notes=(), waits=0)
                restored, changes = asides.on_press(record, press, head, self._prefix, self._new_id)
                return Reaction(apply(session, restored) if restored else session, changes)
            case approvals.Card():
                event, changes = approvals.on_press(record, press, session, decides=decides)
                return Reaction(apply(session, event) if event else session, changes)
            case questions.Card():
                worded, changes = questions.on_press(record, press, session, decides=decides)
                return Reaction(apply(session, worded) if worded else session, changes)
            case forgetting.Card():
                pressed = forgetting.on_press(record, card, press, session, desk.standing)
                if pressed.person:
                    await self._people.forget(session.conversation.platform, pressed.person)
                return pressed.reaction
            case admission.Card():
                grant, changes = admission.on_press(record, card, press, desk.standing)
                if grant is not None:
                    await self._grants.give(await self._as_known(grant))
                return Reaction(session, changes)
            case admission.Rights():
                grant, changes = admission.on_list_press(record, card, press, desk.standing)
                if grant is not None:
                    await self._grants.take_back(grant)
                return Reaction(session, changes)
            case cards.Card():
                stored = await self._triggers.list(session.conversation)
                done = on_press(record, press, replace(desk, language=card.language), stored)
                return _pressed(press, session, card.language, done)


def read(record: PromptRecord) -> Card:
    """The card of any record. Raises BadRecord when this version cannot read it."""
    match record.kind:
        case memories.KIND:
            return memories.read(record)
        case approvals.KIND:
            return approvals.read(record)
        case asides.KIND:
            return asides.read(record)
        case questions.KIND:
            return questions.read(record)
        case forgetting.KIND:
            return forgetting.read(record)
        case admission.KIND:
            return admission.read(record)
        case admission.LIST_KIND:
            return admission.read_list(record)
        case _:
            return cards.read(record)


def _may_press(card: Card, desk: Desk, press: ButtonPress) -> bool:
    """Whether somebody of that standing may press at all; whose decision it is, the card's module says.

    A reminder that came is for whoever reads it: to say that it is done, or to put it off, and nothing else.
    """
    match card:
        case cards.Card(kind=cards.Kind.FIRED):
            return desk.standing > Standing.STRANGER or not press.is_private
        case cards.Card() | memories.Card():
            return desk.standing >= Standing.ALLOWED
        case _:
            return desk.standing > Standing.STRANGER


def _late(card: Card) -> str:
    """What a press on a closed card is told."""
    is_expired = isinstance(card, approvals.Card) and card.is_expired
    return "press.expired" if is_expired else "press.decided"


def _pressed(press: ButtonPress, session: Session, language: str, done: Changes | None) -> Reaction:
    """What the press did, with a short answer to it; None: the card has no such button."""
    if done is None:
        return Reaction(session, noticed(press, "press.unknown", language))
    is_told = any(isinstance(each, Notice) for each in done.outbound)
    return Reaction(session, done if is_told else done + noticed(press, "press.noted", language))
