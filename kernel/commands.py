"""Chat commands: answers that need no model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo, available_timezones

from kernel.access import Standing
from kernel.admission import listing, plain
from kernel.changes import Changes
from kernel.chat import Command
from kernel.exchanges import ANEW, TOOK_BACK, said_last, taken_back
from kernel.forgetting import Kept, Scope, asks, scope_of
from kernel.memories import listing as memory_listing
from kernel.memories import shelf_of
from kernel.messages import Message, Part, Text
from kernel.models import Models, choose, shown
from kernel.ports import Grant, Holdings, Right, Shelf, Unanswered
from kernel.reminders.desk import Desk, Stored
from kernel.reminders.listing import listing as reminder_listing
from kernel.schedule.reading import moment
from kernel.session import Ending, Session
from kernel.session_events import Broken, SessionEvent, Undone
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
    says: tuple[Part, ...] = ()
    """What the person says to the model with it."""
    rewritten: tuple[Message, ...] | None = None
    """What the history is from now on."""


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
    holdings: Holdings = field(default_factory=Holdings)
    models: Models | None = None
    """None: there is no model at all."""
    past: Sequence[Message] = ()
    """The newest messages of the history."""


_NEEDS = {
    **dict.fromkeys((Command.HELP, Command.START, Command.STOP, Command.ID, Command.WHY), Standing.MEMBER),
    **dict.fromkeys((Command.RETRY, Command.UNDO, Command.FORGET), Standing.MEMBER),
    **dict.fromkeys((Command.ALLOW, Command.PAIR), Standing.OWNER),
}


_PERSONS = {"slack": r"[UW][A-Z0-9]{2,20}"}
"""How ids of persons look where they are no numbers; a group or a channel is let in where it is."""
OF_GRANTS = frozenset({Command.ALLOW, Command.PAIR})
"""What gives rights in a chat: nothing, where only the operator's lists count."""


def needed(command: Command, rest: str = "", *, is_private: bool = True) -> Standing:
    """Who one must be in the conversation to give `command`; `rest` is the rest of its line."""
    if command is Command.FORGET and not is_private and scope_of(rest) is Scope.CHAT:
        return Standing.OWNER
    if command is Command.MODEL and rest:
        return Standing.OWNER
    return _NEEDS.get(command, Standing.ALLOWED)


def refusal(command: Command, rest: str, desk: Desk) -> Changes | None:
    """What is said instead to somebody who may not give the command, and reveals nothing; None: they may."""
    needs = needed(command, rest, is_private=desk.is_private)
    if desk.standing >= needs:
        return None
    key = "rights.owner" if needs is Standing.OWNER else "rights.allowed"
    return desk.reply(say(key, desk.language))


def answer(
    command: Command, rest: str, session: Session, desk: Desk, stored: Stored, looked: Looked | None = None
) -> Answer:
    """What `command` does here; `rest` is the rest of its line, `stored` the conversation's triggers."""
    looked = looked or Looked()
    refused = refusal(command, rest, desk)
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
        case Command.RETRY:
            return _retry(session, desk, looked.past)
        case Command.UNDO:
            return _undo(session, desk, looked.past)
        case Command.FORGET:
            return _forget(rest, session, desk, stored, looked)
        case Command.STATUS:
            return _say(desk, _status(session), reminders=str(sum(due is not None for _, due in stored)))
        case Command.REMINDERS:
            return Answer(reminder_listing(desk, stored))
        case Command.MEMORY:
            shelf = looked.shelf or shelf_of(desk.conversation, desk.person, is_private=False)
            return Answer(memory_listing(desk, shelf, looked.memories))
        case Command.MODEL:
            return _model(rest, session, desk, looked.models)
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


def _retry(session: Session, desk: Desk, past: Sequence[Message]) -> Answer:
    """The person's last words once more, with a note to the model; their effects are not repeated."""
    if busy := _busy(session, desk.person):
        return _say(desk, f"retry.{busy}")
    said = said_last(session, desk.person, past)
    return Answer(Changes(), says=(Text(ANEW), *said)) if said else _say(desk, "retry.nothing")


def _undo(session: Session, desk: Desk, past: Sequence[Message]) -> Answer:
    """The newest exchange goes out of what the model reads, when it is the person's own; its effects stay."""
    if session.turns:
        busy = _busy(session, desk.person)
        return _say(desk, f"undo.{busy or 'waiting'}")
    gone = taken_back(session, desk.person, past)
    if gone is None:
        return _say(desk, "undo.nothing" if desk.is_private else "undo.not_yours")
    done = _say(desk, "undo.done_acted" if gone.has_acted else "undo.done")
    notes = (TOOK_BACK,) if gone.has_acted else ()
    event = Undone(session.history_length, gone.start)
    kept = tuple(past[: len(past) - gone.length])
    return replace(done, events=(event,), rewritten=kept, changes=done.changes + Changes(notes=notes))


def _forget(rest: str, session: Session, desk: Desk, stored: Stored, looked: Looked) -> Answer:
    scope = scope_of(rest)
    if scope is None:
        return _say(desk, "forget.usage")
    kept = Kept(looked.holdings, len(looked.memories), len(stored), len(session.turns))
    return Answer(asks(desk, scope, kept))


def _model(rest: str, session: Session, desk: Desk, known: Models | None) -> Answer:
    if not rest:
        return Answer(shown(known, session, desk))
    chosen, changes = choose(rest, known, desk)
    return Answer(changes, (chosen,) if chosen else ())


def _busy(session: Session, person: str) -> str:
    """Why the model cannot be asked anew now: something runs, or waits for the person; empty when it can."""
    if session.running is not None:
        return "busy"
    return "waiting" if session.waiting_for(person) is not None else ""


def _allow(rest: str, desk: Desk, looked: Looked) -> Answer:
    """The list of who was let in, or one more: this chat, or a person by id; of who is on the list, their line."""
    platform = desk.conversation.platform
    if not rest:
        return Answer(listing(desk, looked.grants)) if desk.is_private else _say(desk, "pair.private")
    if rest.casefold() == "here" and not desk.is_private:
        chat = PlatformId(platform, desk.conversation.chat)
        return replace(_say(desk, "admit.welcome_chat"), gives=Grant(Right.CHAT, chat, looked.title))
    person = rest.removeprefix(f"{platform}:")
    if not re.fullmatch(_PERSONS.get(platform, r"[0-9]{1,20}"), person):
        return _say(desk, "admit.unknown")
    already = [each for each in looked.grants if each.whose.id == person and each.right is not Right.REFUSED]
    if already and desk.is_private:
        return Answer(listing(desk, already))
    name = next((each.name for each in already if each.right is Right.PERSON), "")
    grant = Grant(Right.PERSON, PlatformId(platform, person), name)
    return replace(_say(desk, "admit.allowed", who=f"{platform}:{person}"), gives=grant)


def _why(unanswered: Sequence[Unanswered], desk: Desk) -> Changes:
    """What was not answered here, newest last; somebody who is a member reads no names."""
    if not unanswered:
        return desk.reply(say("why.none", desk.language))
    lines = [say("why.head", desk.language)]
    for each in unanswered:
        time = moment(each.at, desk.zone, desk.language, desk.now)
        name = verbatim(plain(each.name)) if each.name and desk.standing >= Standing.ALLOWED else "…"
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
