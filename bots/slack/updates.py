"""From Slack's payloads to our words; pure and total: every JSON value gives an `Update`, nothing raises.

What is nobody's word to us, or not yet, is `Ignored`: edits, deletions, bots, our own echo, channels (their issue is
to come), people of other workspaces. `message` and `app_mention` of one text share team, channel and ts: one event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bots.slack.wording import as_command, read
from kernel.chat import ButtonPress, ConversationId, MessageRef, Sender, UserMessage, command_of

PLATFORM: Final = "slack"
CHOICE_ACTION: Final = "choice-"
"""What the `action_id` of our buttons begins with; its number makes it unique in the message."""

_TS: Final = re.compile(r"[0-9]{1,10}\.[0-9]{6}")
_PERSON: Final = re.compile(r"[UW][A-Z0-9]{1,30}")
_CHANNEL: Final = re.compile(r"[CDG][A-Z0-9]{1,30}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_WORDS_OF_PEOPLE: Final = frozenset({"file_share", "me_message", "thread_broadcast"})
"""The subtypes of messages that a person wrote."""
_WORD: Final = re.compile(r"[\x21-\x7e]{1,255}")
_SLACKBOT: Final = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the bot lives and who it is there (auth.test)."""

    team: str
    bot_user: str
    bot: str = ""


@dataclass(frozen=True, slots=True)
class PersonChanged:
    """A profile is no longer what was read; `user` is its new object as Slack shows it."""

    id: str
    user: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing for us; `why` is for the debug log."""

    why: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Looks like something for us but cannot be understood: recorded, then acknowledged like the rest."""

    why: str


Update = UserMessage | ButtonPress | PersonChanged | Ignored | Unreadable


def translate(body: object, here: Workspace, now: datetime) -> Update:
    """What `body`, the payload of one envelope, means to the bot that lives `here`.

    `now` (aware UTC) dates slash commands: they carry no time of their own.
    """
    payload = _object(body)
    match payload.get("type"):
        case "event_callback":
            return _event(payload, here)
        case "block_actions":
            return _press(payload, here)
        case None if "command" in payload:
            return _slash(payload, here, now)
        case str(other):
            return Ignored(f"payload {other[:40]}")
        case _:
            return Unreadable("payload without a type")


def _event(payload: Mapping[str, object], here: Workspace) -> Update:
    event = _object(payload.get("event"))
    match event.get("type"):
        case "message" | "app_mention":
            return _message(event, payload, here)
        case "user_change":
            user = _object(event.get("user"))
            person = _text(user.get("id"))
            return PersonChanged(person, user) if _PERSON.fullmatch(person) else Unreadable("user_change")
        case str(other):
            return Ignored(f"event {other[:40]}")
        case _:
            return Unreadable("event without a type")


def _message(event: Mapping[str, object], payload: Mapping[str, object], here: Workspace) -> Update:
    channel, person, ts = (_text(event.get(name)) for name in ("channel", "user", "ts"))
    subtype = event.get("subtype")
    if not (subtype is None or _text(subtype) in _WORDS_OF_PEOPLE) or event.get("hidden"):
        return Ignored("a message nobody wrote just now")
    if _is_bot(event, person, here):
        return Ignored("a bot's message")
    if not _is_private(channel, event):
        return Ignored("not a private chat")
    if not _PERSON.fullmatch(person) or not _CHANNEL.fullmatch(channel) or not _TS.fullmatch(ts):
        return Unreadable("a message without a person, a place or a time")
    teams = [event.get(name) for name in ("user_team", "source_team", "team")]
    if _is_outside(here, *teams, payload.get("team_id")):
        return Ignored("a person of another workspace")
    words = as_command(_without_address(_text(event.get("text")), here))
    quoted = _forwarded(event.get("attachments"))
    if not words and not quoted and not _items(event.get("files")):
        return Ignored("nothing in it")
    place = ConversationId(PLATFORM, channel, _thread(event.get("thread_ts"), ts))
    return UserMessage(
        event=f"{PLATFORM}:{here.team}:{channel}:{ts}",
        conversation=place,
        sender=Sender(person),
        order=_micros(ts),
        at=_instant(ts),
        text=words,
        quoted=quoted,
        ref=MessageRef(place, ts),
    )


def _press(payload: Mapping[str, object], here: Workspace) -> Update:
    user, container = _object(payload.get("user")), _object(payload.get("container"))
    person = _text(user.get("id"))
    channel = _text(_object(payload.get("channel")).get("id")) or _text(container.get("channel_id"))
    message = _text(container.get("message_ts"))
    action = _object(next(iter(_items(payload.get("actions"))), None))
    if not _text(action.get("action_id")).startswith(CHOICE_ACTION):
        return Ignored("not a button of ours")
    if not _is_private(channel, {}):
        return Ignored("not a private chat")
    if _is_outside(here, user.get("team_id"), _object(payload.get("team")).get("id")):
        return Ignored("a person of another workspace")
    token, _, choice = _text(action.get("value")).partition(":")
    at = _text(action.get("action_ts"))
    places = _CHANNEL.fullmatch(channel) and _TS.fullmatch(message)
    if not places or not _PERSON.fullmatch(person) or not _TS.fullmatch(at):
        return Unreadable("a press without a person, a place or a time")
    if not _WORD.fullmatch(token) or not _WORD.fullmatch(choice):
        return Unreadable("a press without a choice")
    place = ConversationId(PLATFORM, channel, _thread(container.get("thread_ts"), message))
    return ButtonPress(
        event=f"{PLATFORM}:{here.team}:{channel}:press:{person}:{at}",
        conversation=place,
        sender=Sender(person),
        order=_micros(at),
        at=_instant(at),
        token=token,
        choice=choice,
        press=to_press(place, at),
        ref=MessageRef(place, message),
    )


def _slash(payload: Mapping[str, object], here: Workspace, now: datetime) -> Update:
    channel, person = _text(payload.get("channel_id")), _text(payload.get("user_id"))
    trigger = _text(payload.get("trigger_id"))
    if not _is_private(channel, {}):
        return Ignored("not a private chat")
    if _is_outside(here, payload.get("team_id"), payload.get("user_team_id")):
        return Ignored("a person of another workspace")
    if not _CHANNEL.fullmatch(channel) or not _PERSON.fullmatch(person) or not _WORD.fullmatch(trigger):
        return Unreadable("a slash command without a person, a place or an id")
    words = read(_text(payload.get("text"))) or "help"
    spelled = words if words.startswith("/") else f"/{words}"
    return UserMessage(
        event=f"{PLATFORM}:{here.team}:{channel}:slash:{trigger}",
        conversation=ConversationId(PLATFORM, channel),
        sender=Sender(person),
        order=(now - _EPOCH) // timedelta(microseconds=1),
        at=now,
        text=spelled if command_of(spelled) else words,
    )


def to_press(place: ConversationId, at: str) -> str:
    """`ButtonPress.press`: where and when it happened; the place need not be where its answer is decided."""
    return f"{place.chat}:{place.thread}:{at}"


def from_press(press: str) -> ConversationId | None:
    """The place in `press`; None when it is not one of ours."""
    match press.split(":"):
        case [chat, thread, _] if chat:
            return ConversationId(PLATFORM, chat, thread)
        case _:
            return None


def _is_private(channel: str, event: Mapping[str, object]) -> bool:
    return channel.startswith("D") and event.get("channel_type") in (None, "im")


def _is_bot(event: Mapping[str, object], person: str, here: Workspace) -> bool:
    return bool(event.get("bot_id") or event.get("bot_profile")) or person in (here.bot_user, _SLACKBOT)


def _is_outside(here: Workspace, *teams: object) -> bool:
    """Whether any of `teams` is another workspace. Organisations (`E…`) are above workspaces, not beside them."""
    return any(isinstance(team, str) and team.startswith("T") and team != here.team for team in teams)


def _without_address(text: str, here: Workspace) -> str:
    """What was said, without the bot's own mention before it."""
    return read(re.sub(rf"^\s*<@{re.escape(here.bot_user)}(?:\|[^<>]*)?>[\s:,，、：]*", "", text))


def _forwarded(attachments: object) -> str:
    shared = [_object(each) for each in _items(attachments)]
    texts = (read(_text(each.get("text"))) for each in shared if each.get("is_share") or each.get("is_msg_unfurl"))
    return "\n".join(text for text in texts if text)


def _thread(thread_ts: object, ts: str) -> str:
    """The thread a message stands in; its root, which carries its own ts once it has replies, stands outside."""
    thread = _text(thread_ts)
    return thread if thread != ts and _TS.fullmatch(thread) else ""


def _micros(ts: str) -> int:
    seconds, _, micros = ts.partition(".")
    return int(seconds) * 1_000_000 + int(micros)


def _instant(ts: str) -> datetime:
    return _EPOCH + timedelta(microseconds=_micros(ts))


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
