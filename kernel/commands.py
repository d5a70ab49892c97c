"""Chat commands: answers that need no model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo, available_timezones

from kernel.access import Standing
from kernel.admission import listing
from kernel.changes import Changes
from kernel.chat import Command
from kernel.memories import listing as memory_listing
from kernel.memories import shelf_of
from kernel.ports import Grant, Right, Shelf, Unanswered
from kernel.reminders.desk import Desk, Stored
from kernel.reminders.listing import listing as reminder_listing
from kernel.schedule.reading import moment
from kernel.session import Ending, Session
from kernel.session_events import Broken, SessionEvent
from kernel.settings import PlatformId
from kernel.texts import say, verbatim
from kernel.usage import Overview, overview


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command does: events for the session, changes beside it, and what only some commands do."""

    changes: Changes
    events: tuple[SessionEvent, ...] = ()
    new_history: bool = False
    zone: str | None = None
    """The zone that this conversation keeps from now on."""
    gives: Grant | None = None
    """A right that is granted."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What some commands were looked up for them; the others need nothing of it."""

    shelf: Shelf | None = None
    memories: tuple[str, ...] = ()
    usage: Overview = field(default_factory=Overview)
    written: Mapping[str, str] = field(default_factory=dict)
    """By turn, what people have seen of the answer that is being written."""
    grants: tuple[Grant, ...] = ()
    title: str = ""
    """What people call this chat."""
    code: str = ""
    """A pairing code that is good now."""
    unanswered: tuple[Unanswered, ...] = ()


_NEEDS = {
    **dict.fromkeys((Command.HELP, Command.START, Command.STOP, Command.ID, Command.WHY), Standing.MEMBER),
    **dict.fromkeys((Command.ALLOW, Command.PAIR), Standing.OWNER),
}


def needed(command: Command) -> Standing:
    """Who one must be in the conversation to give `command`."""
    return _NEEDS.get(command, Standing.ALLOWED)


def refusal(command: Command, desk: Desk) -> Changes | None:
    """What is said instead to somebody who may not give the command, and reveals nothing; None: they may."""
    if desk.standing >= needed(command):
        return None
    key = "rights.owner" if needed(command) is Standing.OWNER else "rights.allowed"
    return desk.reply(say(key, desk.language))


def answer(
    command: Command, rest: str, session: Session, desk: Desk, stored: Stored, looked: Looked | None = None
) -> Answer:
    """What `command` does here; `rest` is the rest of its line, `stored` the conversation's triggers."""
    looked = looked or Looked()
    refused = refusal(command, desk)
    if refused is not None:
        return Answer(refused)
    match command:
        case Command.HELP | Command.START:
            return _say(desk, "help")
        case Command.NEW:
            return Answer(desk.reply(say("new.done", desk.language)), _break_all(session), new_history=True)
        case Command.STOP:
            own = desk.person if desk.standing < Standing.ALLOWED else None
            going = _break_all(session, looked.written, own)
            said = say("stop.done" if going else "stop.idle", desk.language)
            # What was received stays, and this is its end.
            words = [event.said for event in going if event.said]
            return Answer(desk.reply("\n\n".join([*words, said])), going)
        case Command.STATUS:
            return _say(desk, _status(session), reminders=str(sum(due is not None for _, due in stored)))
        case Command.REMINDERS:
            return Answer(reminder_listing(desk, stored))
        case Command.MEMORY:
            shelf = looked.shelf or shelf_of(desk.conversation, desk.person, is_private=False)
            return Answer(memory_listing(desk, shelf, looked.memories))
        case Command.USAGE:
            return Answer(desk.reply(overview(looked.usage, desk.language)))
        case Command.TZ:
            return _zone(rest, desk)
        case Command.ID:
            here, platform = desk.conversation, desk.conversation.platform
            return _say(desk, "id.show", person=f"{platform}:{desk.person}", chat=f"{platform}:{here.chat}")
        case Command.WHY:
            return Answer(_why(looked.unanswered, desk))
        case Command.ALLOW:
            return _allow(rest, desk, looked)
        case Command.PAIR:
            return _say(desk, "pair.code", code=looked.code) if looked.code else _say(desk, "pair.private")
        case _:
            assert_never(command)


def _break_all(
    session: Session, written: Mapping[str, str] | None = None, requester: str | None = None
) -> tuple[Broken, ...]:
    """The end of every turn, or of every one of that requester."""
    said = written or {}
    return tuple(
        Broken(turn.id, Ending.STOPPED, said.get(turn.id, ""))
        for turn in session.turns
        if turn.ending is None and requester in (None, turn.requester)
    )


def _allow(rest: str, desk: Desk, looked: Looked) -> Answer:
    """The list of who was let in, or one more: this chat, or a person by id."""
    platform = desk.conversation.platform
    if not rest:
        return Answer(listing(desk, looked.grants)) if desk.is_private else _say(desk, "pair.private")
    if rest.casefold() == "here" and not desk.is_private:
        chat = PlatformId(platform, desk.conversation.chat)
        return replace(_say(desk, "admit.welcome_chat"), gives=Grant(Right.CHAT, chat, looked.title))
    person = rest.removeprefix(f"{platform}:")
    if not re.fullmatch(r"[A-Z0-9]{1,20}", person) or not any(sign.isdigit() for sign in person):
        return _say(desk, "admit.unknown")
    grant = Grant(Right.PERSON, PlatformId(platform, person))
    return replace(_say(desk, "admit.allowed", who=f"{platform}:{person}"), gives=grant)


def _why(unanswered: Sequence[Unanswered], desk: Desk) -> Changes:
    """What was not answered here, newest last; somebody who is a member reads no names."""
    if not unanswered:
        return desk.reply(say("why.none", desk.language))
    lines = [say("why.head", desk.language)]
    for each in unanswered:
        time = moment(each.at, desk.zone, desk.language, desk.now)
        name = verbatim(each.name) if desk.standing >= Standing.ALLOWED else "…"
        why = say(f"why.{each.why.value}", desk.language)
        lines.append(say("why.line", desk.language, time=time, name=name, why=why))
    return desk.reply("\n".join(lines))


def _status(session: Session) -> str:
    if session.running is not None:
        return "status.busy"
    return "status.waiting" if any(turn.is_waiting for turn in session.turns) else "status.idle"


def _zone(rest: str, desk: Desk) -> Answer:
    if not rest:
        return _say(desk, "tz.show", zone=desk.zone, time=_clock(desk.now, desk.zone))
    found = next((zone for zone in available_timezones() if zone.casefold() == rest.casefold()), None)
    if found is None:
        return _say(desk, "tz.unknown", zone=verbatim(rest[:40]))
    text = say("tz.set", desk.language, zone=found, time=_clock(desk.now, found))
    return Answer(desk.reply(text), zone=found)


def _clock(now: datetime, zone: str) -> str:
    return f"{now.astimezone(ZoneInfo(zone)):%H:%M}"


def _say(desk: Desk, key: str, **fields: str) -> Answer:
    return Answer(desk.reply(say(key, desk.language, **fields)))
