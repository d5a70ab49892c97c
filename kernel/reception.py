"""What an inbound means: a command, a press, a request for a reminder, or words for the model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

from kernel import admission, commands, memories, usage
from kernel.access import Rights, Standing
from kernel.arrivals import Arrived, arrived
from kernel.card_ends import Why, undecided
from kernel.changes import Changes
from kernel.chat import (
    AccessRequested,
    ButtonPress,
    ConversationId,
    Expired,
    Inbound,
    Sender,
    UserMessage,
    command_of,
)
from kernel.errors import BadRecord
from kernel.lookups import Lookups
from kernel.messages import QUOTED, Message, Part, Text
from kernel.open_cards import open_cards
from kernel.ports import Grants, Memories, People, PromptRecord, Prompts, Triggers
from kernel.pressing import Pressing
from kernel.prompts import facts, memory_lines, memory_lines_in
from kernel.reaction import Reaction
from kernel.reminders.desk import Desk
from kernel.reminders.hearing import hear
from kernel.schedule.reading import moment
from kernel.session import Mode, Session
from kernel.session_events import Awaits, Denied, SessionEvent, Spoken
from kernel.settings import AccessRule
from kernel.texts import LANGUAGES, language_of, say, written_in
from kernel.transitions import apply

log = structlog.get_logger()

_COMMAND = re.compile(r"/[A-Za-z]\w*(?:\s|$)")
NOBODY_DECIDED = "Not run: nobody decided in time."


@dataclass(frozen=True, slots=True)
class Manners:
    """What the operator decided about conversations."""

    zone: str
    """Where nobody said otherwise."""
    language: str = "auto"
    has_model: bool = True
    prefix: str = ""
    """Digest of the system prompt and tools that a new frame begins with."""
    plans: bool = False
    """A turn begins with a plan."""
    allowance: usage.Allowance = field(default_factory=usage.Allowance)
    """Of each chat, for a day."""


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known beside a message when it is received; see `Reception.receive`."""

    notes: Sequence[str]
    seen: Sequence[Message]
    past: Sequence[Message]
    opens: datetime | None
    written: Callable[[str], str]


class Reception:
    """Turns one inbound after another into what it changes.

    Reads what is stored; writes nothing but what may be written twice: a conversation's zone, the language that is
    written in it, and what an owner grants.
    """

    def __init__(
        self,
        triggers: Triggers,
        prompts: Prompts,
        people: People,
        manners: Manners,
        new_id: Callable[[], str],
        *,
        rights: Rights,
        grants: Grants,
        memories: Memories,
        lookups: Lookups,
    ) -> None:
        self._triggers = triggers
        self._prompts = prompts
        self._people = people
        self._manners = manners
        self._new_id = new_id
        self._rights = rights
        self._grants = grants
        self._memories = memories
        self._lookups = lookups
        self._pressing = Pressing(triggers, memories, grants, people, manners.prefix, new_id)

    async def receive(
        self,
        inbound: Inbound,
        session: Session,
        *,
        notes: Sequence[str],
        may_speak: bool,
        now: datetime,
        seen: Sequence[Message] = (),
        past: Sequence[Message] = (),
        opens: datetime | None = None,
        written: Callable[[str], str] = lambda _: "",
        files: Mapping[str, str | None] | None = None,
    ) -> Reaction | None:
        """What `inbound` does; None when it must stay in the inbox for now.

        Only words for the model ever stay: while `may_speak` is False, or the session cannot take them yet. `seen` is
        what the model reads before them, `past` the newest messages of the history. With `opens` the model may not be
        asked before that instant. `written` gives what people have seen of the answer that a turn is writing;
        `files` are the paths of the workspace and their blobs (None: deleted).
        """
        match inbound:
            case UserMessage():
                desk = await self._desk(inbound.sender, inbound, now)
                if desk.standing is Standing.STRANGER:
                    log.info("no longer let in", conversation=inbound.conversation, person=inbound.sender.id)
                    return Reaction(session)
                around = _Around(notes, seen, past, opens, written)
                came = arrived(inbound, files or {})
                done = await self._at_the_desk(inbound, session, desk, around)
                if done is None and may_speak:
                    done = await self._speech(inbound, session, desk, around, _parts(inbound, came))
                return _with_files(done, came) if done is not None else None
            case ButtonPress():
                return await self._press(inbound, session, now)
            case Expired():
                return await self._expire(inbound, session)
            case AccessRequested():
                return Reaction(session, await self._admission(inbound))
            case _:
                assert_never(inbound)

    async def _at_the_desk(
        self, message: UserMessage, session: Session, desk: Desk, around: _Around
    ) -> Reaction | None:
        """What needs no model; None for words that are for it."""
        if _COMMAND.match(message.text):
            return await self._command(message, session, desk, around)
        heard = await hear(message, session, desk, self._triggers, self._record)
        if heard is not None and desk.standing < Standing.ALLOWED:
            return Reaction(session, desk.reply(say("rights.allowed", desk.language)))
        if heard is not None:
            return Reaction(apply(session, heard.awaits), heard.changes)
        return self._without_model(session, desk, around)

    def _without_model(self, session: Session, desk: Desk, around: _Around) -> Reaction | None:
        """What is said when the model may not be asked; None when it may."""
        if not self._manners.has_model:
            return Reaction(session, desk.reply(say("model.absent", desk.language)))
        if around.opens is not None:
            return Reaction(session, desk.reply(closed_until(around.opens, desk.zone, desk.language, desk.now)))
        return None

    async def _command(self, message: UserMessage, session: Session, desk: Desk, around: _Around) -> Reaction | None:
        known = command_of(message.text)
        if known is None:
            return Reaction(session, desk.reply(say("command.unknown", desk.language)))
        if known[0] in commands.OF_GRANTS and desk.standing is Standing.OWNER and self._has_lists_alone:
            return Reaction(session, desk.reply(say("rights.listed", desk.language)))
        stored = await self._triggers.list(session.conversation)
        looked = await self._lookups.of(*known, message, session, desk, around.written)
        answer = commands.answer(*known, session, desk, stored, replace(looked, past=around.past))
        if answer.says:
            unable = self._without_model(session, desk, around)
            return unable or await self._speech(message, session, desk, around, answer.says)
        if answer.zone is not None:
            await self._people.set_zone(session.conversation, answer.zone)
        if answer.gives is not None:
            await self._grants.give(answer.gives)
        after, changes = await self._apply(session, answer.events)
        return Reaction(after, answer.changes + changes, new_history=answer.new_history, rewritten=answer.rewritten)

    @property
    def _has_lists_alone(self) -> bool:
        return self._rights.rule is AccessRule.ALLOWLIST

    async def _speech(
        self, message: UserMessage, session: Session, desk: Desk, around: _Around, said: tuple[Part, ...]
    ) -> Reaction | None:
        shelf = memories.shelf_of(message.conversation, desk.person, is_private=message.is_private)
        head = facts(
            now=desk.now,
            zone=desk.zone,
            speaker=message.sender.name,
            notes=around.notes,
            waits=_still_waiting(session, message.sender.id),
            remembered=_news(await self._memories.on(shelf), around.seen),
        )
        parts = (Text(head), *said)
        mode = Mode.PLAN if self._manners.plans else Mode.WORK
        event = Spoken(
            self._new_id(),
            message.sender.id,
            parts,
            prefix=self._manners.prefix,
            mode=mode,
            is_private=message.is_private,
        )
        after = apply(session, event)
        if after is session:
            return None
        changes = await self.closings(session, after, Why.SUPERSEDED)
        after = apply(after, Awaits(message.sender.id, message.order))
        return Reaction(after, changes, notes_used=len(around.notes), is_speech=True)

    async def _admission(self, asked: AccessRequested) -> Changes:
        """The card for an owner, in the language that is written where they read it.

        In a group to which they just added the bot nothing is: there it is the language of their app.
        """
        written = await self._people.language(asked.conversation)
        theirs = asked.person.language if asked.conversation == asked.origin else None
        language = language_of("", written or theirs, self._manners.language)
        return admission.card(asked, language, self._manners.language, self._new_id)

    async def _press(self, press: ButtonPress, session: Session, now: datetime) -> Reaction:
        press = await self._named(press)
        desk = await self._desk(press.sender, press, now)
        return await self._pressing.press(await self._record(press.token), press, session, desk)

    async def _named(self, press: ButtonPress) -> ButtonPress:
        """The press with the name that we know its person by: Slack tells none with a press."""
        if press.sender.name:
            return press
        known = await self._people.get(press.conversation.platform, press.sender.id)
        return replace(press, sender=replace(press.sender, name=known.name)) if known else press

    async def _expire(self, expired: Expired, session: Session) -> Reaction:
        found = open_cards(session).get(expired.token)
        if found is None:
            record = await self._record(expired.token)  # Of a request that was put aside.
            return Reaction(session, undecided(record, Why.EXPIRED) if record else Changes())
        turn, gate = found
        after = apply(session, Denied(turn.id, gate.call.id, NOBODY_DECIDED))
        return Reaction(after, await self.closings(session, after, Why.EXPIRED))

    async def _apply(self, session: Session, events: Sequence[SessionEvent]) -> tuple[Session, Changes]:
        """The session after `events`, and the end of every card that they decided without a press."""
        after = session
        for event in events:
            after = apply(after, event)
        return after, await self.closings(session, after)

    async def closings(self, before: Session, after: Session, why: Why = Why.OVER) -> Changes:
        """What becomes of every card that was open before and is not any more, and that no press has closed."""
        changes = Changes()
        shown = open_cards(before)
        for token in sorted(shown.keys() - open_cards(after).keys()):
            record = await self._record(token)
            if record is not None:
                changes += undecided(record, why, shown[token])
        return changes

    async def _record(self, token: str) -> PromptRecord | None:
        """What the token stands for; None also when this version cannot read it: the rest must go on."""
        try:
            return await self._prompts.get(token)
        except BadRecord as error:
            log.warning("prompt that cannot be read", why=str(error))
            return None

    async def zone(self, conversation: ConversationId) -> str:
        """The zone in which times are read and shown there."""
        return await self._people.zone(conversation) or self._manners.zone

    async def _desk(self, sender: Sender, inbound: UserMessage | ButtonPress, now: datetime) -> Desk:
        text = inbound.text if isinstance(inbound, UserMessage) else ""
        zone, language, standing = await asyncio.gather(
            self._zone(sender, inbound.conversation),
            self._language(sender, inbound.conversation, text),
            self._rights.standing(sender, inbound.conversation),
        )
        return Desk(
            conversation=inbound.conversation,
            person=sender.id,
            name=sender.name,
            zone=zone,
            language=language,
            asked=inbound.at,
            now=now,
            new_id=self._new_id,
            standing=standing,
            is_private=inbound.is_private,
        )

    async def _zone(self, sender: Sender, conversation: ConversationId) -> str:
        kept = await self._people.zone(conversation)
        return next((zone for zone in (kept, sender.zone) if zone and _is_zone(zone)), self._manners.zone)

    async def _language(self, sender: Sender, conversation: ConversationId, text: str) -> str:
        """That of the words; of a command or a press what was written there before, else that of the person's app."""
        if self._manners.language in LANGUAGES:
            return self._manners.language
        before, written = await self._people.language(conversation), written_in(text)
        if written is not None and written != before:
            await self._people.set_language(conversation, written)
        return language_of(text, before or sender.language)


def _still_waiting(session: Session, person: str) -> int:
    """How many turns wait for a decision that `person` does not take by speaking now."""
    waiting = [turn for turn in session.turns if turn.is_waiting]
    return len(waiting) - any(turn.requester == person for turn in waiting)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _parts(message: UserMessage, came: Arrived) -> tuple[Part, ...]:
    """The person's words and pictures; what they quoted comes first, as data that cannot pass for anything else."""
    parts: list[Part] = []
    if message.quoted.strip():
        quoted = "\n".join(f"> {line}" for line in message.quoted.strip().splitlines())
        parts.append(Text(f"{QUOTED}\n{quoted}"))
    parts += came.parts
    if message.text.strip():
        parts.append(Text(message.text))
    return tuple(parts)


def _with_files(reaction: Reaction, came: Arrived) -> Reaction:
    """The files are kept also when no model reads of them now; it reads of them in a note then."""
    notes = () if reaction.is_speech else tuple(f"a file came: {path}" for path in came.files)
    return replace(reaction, changes=reaction.changes + Changes(files=came.files, notes=notes))


def closed_until(opens: datetime, zone: str, language: str, now: datetime) -> str:
    """What is said instead of asking the model before `opens`."""
    return say("usage.over", language, opens=moment(opens, zone, language, now))


def _news(texts: Sequence[str], seen: Sequence[Message]) -> tuple[str, ...]:
    """The lines of what is to be remembered, when the model does not know them so already."""
    known = memory_lines_in(seen)
    lines = memory_lines(texts) if texts or known else ()
    return () if lines == known else lines
