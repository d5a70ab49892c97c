"""From Slack's payloads to our words; pure and total: every JSON value gives an `Update`, nothing raises.

What is nobody's word to us is `Ignored`: edits, deletions, our own echo, people of other workspaces. `message` and
`app_mention` of one text share team, channel and ts: one event, with the same meaning whichever comes first.

    said                                          meant for us   conversation
    -------------------------------------------   ------------   ------------------------------
    in a private chat                             DIRECT         the chat, or the thread in it
    with our mention, at the top of a channel     DIRECT         the thread under that message
    with our mention, in a thread                 DIRECT         the thread
    without it, in a thread                       THREAD         the thread
    without it, at the top                        NONE           the channel
    `/zclaw …`                                    DIRECT         the channel (Slack sends none from threads)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bots.slack.attached import attachments_of
from bots.slack.payloads import (
    BOT,
    CHANNEL,
    PERSON,
    TS,
    WORD,
    as_items,
    as_name,
    as_object,
    as_text,
    instant_of,
    is_outside,
    micros_at,
    micros_of,
    thread_of,
)
from bots.slack.wording import as_command, read
from kernel.chat import (
    Address,
    ButtonPress,
    Change,
    ChatChanged,
    ConversationId,
    MessageRef,
    Sender,
    UserMessage,
    command_of,
)

PLATFORM: Final = "slack"
CHOICE_ACTION: Final = "choice-"
"""What the `action_id` of our buttons begins with; its number makes it unique in the message."""

_WORDS: Final = frozenset({"file_share", "me_message", "thread_broadcast", "bot_message"})
"""The subtypes of messages that somebody wrote."""
_SLACKBOT: Final = "USLACKBOT"
_BETWEEN: Final = " \t\n\u3000:,，、："
"""What people write between a name and what they say."""
_CHANGES: Final = {
    "channel_left": Change.GONE,
    "channel_archive": Change.GONE,
    "channel_deleted": Change.GONE,
    "channel_unarchive": Change.JOINED,
    "member_joined_channel": Change.JOINED,
    "member_left_channel": Change.GONE,
    "group_left": Change.GONE,
    "group_archive": Change.GONE,
    "group_deleted": Change.GONE,
    "group_unarchive": Change.JOINED,
}
_OF_ONE_MEMBER: Final = frozenset({"member_joined_channel", "member_left_channel"})
"""Told of everybody who comes and goes; all others are told of the channel or of ourselves."""


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
class ChannelRenamed:
    """A channel is called otherwise from now on."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing for us; `why` is for the debug log."""

    why: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Looks like something for us but cannot be understood: recorded, then acknowledged like the rest."""

    why: str


Update = UserMessage | ButtonPress | ChatChanged | PersonChanged | ChannelRenamed | Ignored | Unreadable


def translate(body: object, here: Workspace, now: datetime) -> Update:
    """What `body`, the payload of one envelope or request, means to the bot that lives `here`.

    `now` (aware UTC) dates what carries no time of its own. What payloads do not tell is left out: names, teams and
    zones of people, titles of channels.
    """
    payload = as_object(body)
    match payload.get("type"):
        case "event_callback":
            return _event(payload, here, now)
        case "block_actions":
            return _press(payload, here)
        case None if "command" in payload:
            return _slash(payload, here, now)
        case str(other):
            return Ignored(f"payload {other[:40]}")
        case _:
            return Unreadable("payload without a type")


def _event(payload: Mapping[str, object], here: Workspace, now: datetime) -> Update:
    event = as_object(payload.get("event"))
    match event.get("type"):
        case "message" | "app_mention":
            return _message(event, payload, here)
        case "user_change":
            user = as_object(event.get("user"))
            person = as_text(user.get("id"))
            return PersonChanged(person, user) if PERSON.fullmatch(person) else Unreadable("user_change")
        case "channel_rename" | "group_rename":
            channel = as_object(event.get("channel"))
            place, title = as_text(channel.get("id")), as_name(channel.get("name"))
            return ChannelRenamed(place, title) if CHANNEL.fullmatch(place) else Unreadable("channel_rename")
        case "channel_id_changed":
            old, new = as_text(event.get("old_channel_id")), as_text(event.get("new_channel_id"))
            return _chat_changed(event, payload, here, now, old, Change.MOVED, to=new)
        case str(kind) if kind in _CHANGES:
            if kind in _OF_ONE_MEMBER and event.get("user") != here.bot_user:
                return Ignored("somebody came or went")
            return _chat_changed(event, payload, here, now, as_text(event.get("channel")), _CHANGES[kind])
        case str(other):
            return Ignored(f"event {other[:40]}")
        case _:
            return Unreadable("event without a type")


def _chat_changed(
    event: Mapping[str, object],
    payload: Mapping[str, object],
    here: Workspace,
    now: datetime,
    channel: str,
    change: Change,
    *,
    to: str = "",
) -> Update:
    at, told = as_text(event.get("event_ts")), as_text(payload.get("event_id"))
    told = at if TS.fullmatch(at) else told
    if not CHANNEL.fullmatch(channel) or not WORD.fullmatch(told):
        return Unreadable("a change of a chat without a place or an id")
    if change is Change.MOVED and not CHANNEL.fullmatch(to):
        return Unreadable("a chat that moved nowhere")
    names = [as_text(event.get(name)) for name in ("inviter", "actor_id", "user")]
    by = next((name for name in names if PERSON.fullmatch(name) and name != here.bot_user), None)
    return ChatChanged(
        event=f"{PLATFORM}:{here.team}:{channel}:{change.value}:{told}",
        conversation=ConversationId(PLATFORM, channel),
        change=change,
        at=instant_of(at) if TS.fullmatch(at) else now,
        sender=Sender(by) if by else None,
        is_private=_is_private(channel, {}),
        to=to,
    )


def _message(event: Mapping[str, object], payload: Mapping[str, object], here: Workspace) -> Update:
    channel, ts, subtype = as_text(event.get("channel")), as_text(event.get("ts")), event.get("subtype")
    if not (subtype is None or as_text(subtype) in _WORDS) or event.get("hidden") or event.get("edited"):
        return Ignored("a message nobody wrote just now")
    if _is_own(event, payload, here):
        return Ignored("our own message")
    sender = _sender(event)
    if sender is None or not CHANNEL.fullmatch(channel) or not TS.fullmatch(ts):
        return Unreadable("a message without a person, a place or a time")
    teams = [event.get(name) for name in ("user_team", "source_team", "team")]
    if is_outside(here.team, *teams, payload.get("team_id")):
        return Ignored("a person of another workspace")
    said = as_text(event.get("text"))
    words = as_command(read(_without_address(said, here)))
    quoted = _forwarded(event.get("attachments"))
    attachments = attachments_of(event.get("files"))
    if not words and not quoted and not attachments:
        return Ignored("nothing in it")
    thread, is_private = thread_of(event.get("thread_ts"), ts), _is_private(channel, event)
    is_mention = event.get("type") == "app_mention" or _mention(here).search(said) is not None
    address = Address.THREAD if thread else Address.NONE
    if is_private:
        address = Address.DIRECT
    elif is_mention:
        address, thread = Address.DIRECT, thread or ts
    place = ConversationId(PLATFORM, channel, thread)
    return UserMessage(
        event=f"{PLATFORM}:{here.team}:{channel}:{ts}",
        conversation=place,
        sender=sender,
        order=micros_of(ts),
        at=instant_of(ts),
        text=words,
        attachments=attachments,
        quoted=quoted,
        is_private=is_private,
        ref=MessageRef(place, ts),
        address=address,
    )


def _press(payload: Mapping[str, object], here: Workspace) -> Update:
    user, container = as_object(payload.get("user")), as_object(payload.get("container"))
    person = as_text(user.get("id"))
    channel = as_text(as_object(payload.get("channel")).get("id")) or as_text(container.get("channel_id"))
    message = as_text(container.get("message_ts"))
    action = as_object(next(iter(as_items(payload.get("actions"))), None))
    if not as_text(action.get("action_id")).startswith(CHOICE_ACTION):
        return Ignored("not a button of ours")
    if is_outside(here.team, user.get("team_id"), as_object(payload.get("team")).get("id")):
        return Ignored("a person of another workspace")
    token, _, choice = as_text(action.get("value")).partition(":")
    at = as_text(action.get("action_ts"))
    places = CHANNEL.fullmatch(channel) and TS.fullmatch(message)
    if not places or not PERSON.fullmatch(person) or not TS.fullmatch(at):
        return Unreadable("a press without a person, a place or a time")
    if not WORD.fullmatch(token) or not WORD.fullmatch(choice):
        return Unreadable("a press without a choice")
    place = ConversationId(PLATFORM, channel, thread_of(container.get("thread_ts"), message))
    return ButtonPress(
        event=f"{PLATFORM}:{here.team}:{channel}:press:{person}:{at}",
        conversation=place,
        sender=Sender(person),
        order=micros_of(at),
        at=instant_of(at),
        token=token,
        choice=choice,
        press=to_press(place, at),
        ref=MessageRef(place, message),
        is_private=_is_private(channel, {}),
    )


def _slash(payload: Mapping[str, object], here: Workspace, now: datetime) -> Update:
    channel, person = as_text(payload.get("channel_id")), as_text(payload.get("user_id"))
    trigger = as_text(payload.get("trigger_id"))
    if is_outside(here.team, payload.get("team_id"), payload.get("user_team_id")):
        return Ignored("a person of another workspace")
    if not CHANNEL.fullmatch(channel) or not PERSON.fullmatch(person) or not WORD.fullmatch(trigger):
        return Unreadable("a slash command without a person, a place or an id")
    words = read(as_text(payload.get("text"))) or "help"
    spelled = words if words.startswith("/") else f"/{words}"
    return UserMessage(
        event=f"{PLATFORM}:{here.team}:{channel}:slash:{trigger}",
        conversation=ConversationId(PLATFORM, channel),
        sender=Sender(person),
        order=micros_at(now),
        at=now,
        text=spelled if command_of(spelled) else words,
        is_private=_is_private(channel, {}),
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


def _is_own(event: Mapping[str, object], payload: Mapping[str, object], here: Workspace) -> bool:
    app, bot = event.get("app_id"), event.get("bot_id")
    return bool(
        event.get("user") == here.bot_user
        or (bot and bot == here.bot)
        or (bot and app and app == payload.get("api_app_id"))
    )


def _sender(event: Mapping[str, object]) -> Sender | None:
    """Who wrote. A bot goes by its own id even where it writes in a person's name: that person has rights."""
    person, bot, profile = as_text(event.get("user")), as_text(event.get("bot_id")), as_object(event.get("bot_profile"))
    if person == _SLACKBOT:
        return Sender(_SLACKBOT, is_bot=True)
    if bot or profile or event.get("subtype") == "bot_message":
        bot = bot or as_text(profile.get("id"))
        name = as_name(profile.get("name")) or as_name(event.get("username"))
        return Sender(bot, name, is_bot=True) if BOT.fullmatch(bot) else None
    return Sender(person) if PERSON.fullmatch(person) else None


def _mention(here: Workspace) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(here.bot_user)}(?:\|[^<>]*)?>")


def _without_address(text: str, here: Workspace) -> str:
    """What was said, without the bot's own mention before or after it."""
    mention, words = _mention(here), text.strip()
    words = re.sub(rf"\A(?:{mention.pattern}[{_BETWEEN}]*)+", "", words)
    last = words.rfind("<@")
    return words[:last].rstrip(_BETWEEN) if last >= 0 and mention.fullmatch(words, last) else words


def _forwarded(attachments: object) -> str:
    shared = [as_object(each) for each in as_items(attachments)]
    texts = (read(as_text(each.get("text"))) for each in shared if each.get("is_share") or each.get("is_msg_unfurl"))
    return "\n".join(text for text in texts if text)
