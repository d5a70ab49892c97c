"""Chat commands: answers that need no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo, available_timezones

from kernel.changes import Changes
from kernel.chat import Command
from kernel.memories import listing as memory_listing
from kernel.memories import shelf_of
from kernel.ports import Shelf
from kernel.reminders.desk import Desk, Stored
from kernel.reminders.listing import listing
from kernel.session import Ending, Session
from kernel.session_events import Broken, SessionEvent
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


@dataclass(frozen=True, slots=True)
class Looked:
    """What some commands were looked up for them; the others need nothing of it."""

    shelf: Shelf | None = None
    memories: tuple[str, ...] = ()
    usage: Overview = field(default_factory=Overview)
    written: Mapping[str, str] = field(default_factory=dict)
    """By turn, what people have seen of the answer that is being written."""


def answer(
    command: Command, rest: str, session: Session, desk: Desk, stored: Stored, looked: Looked | None = None
) -> Answer:
    """What `command` does here; `rest` is the rest of its line, `stored` the conversation's triggers."""
    looked = looked or Looked()
    match command:
        case Command.HELP | Command.START:
            return _say(desk, "help")
        case Command.NEW:
            return Answer(desk.reply(say("new.done", desk.language)), _break_all(session), new_history=True)
        case Command.STOP:
            going = _break_all(session, looked.written)
            said = say("stop.done" if going else "stop.idle", desk.language)
            # What was received stays, and this is its end.
            return Answer(desk.reply("\n\n".join([*looked.written.values(), said])), going)
        case Command.STATUS:
            return _say(desk, _status(session), reminders=str(sum(due is not None for _, due in stored)))
        case Command.REMINDERS:
            return Answer(listing(desk, stored))
        case Command.MEMORY:
            shelf = looked.shelf or shelf_of(desk.conversation, desk.person, is_private=False)
            return Answer(memory_listing(desk, shelf, looked.memories))
        case Command.USAGE:
            return Answer(desk.reply(overview(looked.usage, desk.language)))
        case Command.TZ:
            return _zone(rest, desk)
        case _:
            assert_never(command)


def _break_all(session: Session, written: Mapping[str, str] | None = None) -> tuple[SessionEvent, ...]:
    said = written or {}
    return tuple(
        Broken(turn.id, Ending.STOPPED, said.get(turn.id, "")) for turn in session.turns if turn.ending is None
    )


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
