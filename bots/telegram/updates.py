"""Telegram's updates as our words: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from aiogram.enums import ContentType
from aiogram.types import CallbackQuery, Message, Update
from pydantic import ValidationError

from bots.telegram.addressing import Me, address_of, is_forwarded, is_topic_root, own_words, words_of
from bots.telegram.attached import attachments_of
from bots.telegram.changes import MembershipUpdate, membership, move
from bots.telegram.people import PLATFORM, conversation_of, is_group, is_private, is_somebody, sender_of
from kernel.chat import Attachment, ButtonPress, ChatChanged, Heard, MessageRef, UserMessage

WANTED = ("message", "callback_query", "my_chat_member")
"""Kinds of updates we ask for. Edits are not among them: an edited command is not said again."""
CALLBACK_LIMIT_BYTES = 64

_WORDLESS = frozenset(
    {
        ContentType.ANIMATION,
        ContentType.AUDIO,
        ContentType.CHECKLIST,
        ContentType.CONTACT,
        ContentType.DICE,
        ContentType.DOCUMENT,
        ContentType.GAME,
        ContentType.LIVE_PHOTO,
        ContentType.LOCATION,
        ContentType.PAID_MEDIA,
        ContentType.PHOTO,
        ContentType.POLL,
        ContentType.STICKER,
        ContentType.STORY,
        ContentType.VENUE,
        ContentType.VIDEO,
        ContentType.VIDEO_NOTE,
        ContentType.VOICE,
    }
)
"""What people send, be it a file or nothing that we can read; all else without words is the platform talking."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An update that means nothing to us, and why; to be recorded and acknowledged."""

    why: str


def read_update(raw: object, me: Me, now: datetime) -> Heard | Skipped:
    """What one element of `getUpdates`, or the body of a webhook call, says, whatever it is: never raises.

    `now` (aware UTC) is when a press happened. Events carry the bot's id: another bot counts its updates anew.
    """
    try:
        if isinstance(raw, dict) and "my_chat_member" in raw:
            return _membership(MembershipUpdate.model_validate(raw), me)
        update = Update.model_validate(raw)
    except (ValidationError, ValueError, RecursionError) as error:
        return Skipped(f"malformed: {type(error).__name__}")
    event = f"{PLATFORM}:{me.id}:{update.update_id}"
    if update.message is not None:
        return move(update.message, f"{PLATFORM}:{me.id}") or _message(update.message, event, me)
    if update.callback_query is not None:
        return _press(update.callback_query, event, update.update_id, now)
    return Skipped("of no kind that we read")


def _membership(update: MembershipUpdate, me: Me) -> ChatChanged | Skipped:
    chat = update.my_chat_member.chat
    if not (is_private(chat) or is_group(chat)):
        return Skipped("in a channel")
    changed = membership(update, f"{PLATFORM}:{me.id}:{update.update_id}")
    return changed or Skipped("the bot's rights have changed")


def _message(message: Message, event: str, me: Me) -> UserMessage | Skipped:
    if not (is_private(message.chat) or is_group(message.chat)):
        return Skipped("in a channel")
    if message.sender_chat is not None or message.from_user is None or not is_somebody(message.from_user):
        return Skipped("in a chat's name: nobody who could have rights")
    if str(message.from_user.id) == me.id:
        return Skipped("our own")
    if not words_of(message).strip() and message.content_type not in _WORDLESS:
        return Skipped("a service message")
    conversation = conversation_of(message)
    return UserMessage(
        event=event,
        conversation=conversation,
        sender=sender_of(message.from_user),
        order=message.message_id,
        at=message.date,
        text="" if is_forwarded(message) else own_words(message, me),
        attachments=attachments_of(message) or _quoted_files(message),
        quoted=words_of(message).strip() if is_forwarded(message) else _quoted(message),
        album=message.media_group_id or "",
        is_private=is_private(message.chat),
        ref=MessageRef(conversation, str(message.message_id)),
        address=address_of(message, me),
        title=message.chat.title or "",
    )


def _press(query: CallbackQuery, event: str, order: int, now: datetime) -> ButtonPress | Skipped:
    if query.message is None or query.data is None:
        return Skipped("a press on nothing of ours")
    if not (is_private(query.message.chat) or is_group(query.message.chat)):
        return Skipped("in a channel")
    if query.from_user.is_bot:
        return Skipped("not from a person")
    conversation = conversation_of(query.message)
    token, choice = unpack(query.data)
    return ButtonPress(
        event=event,
        conversation=conversation,
        sender=sender_of(query.from_user),
        order=order,
        at=now,
        token=token,
        choice=choice,
        press=query.id,
        ref=MessageRef(conversation, str(query.message.message_id)),
        is_private=is_private(query.message.chat),
    )


def pack(token: str, choice: str) -> str:
    """What a button carries. Raises ValueError when it is longer than Telegram's 64 bytes."""
    data = f"{token}:{choice}"
    if len(data.encode()) > CALLBACK_LIMIT_BYTES:
        raise ValueError(f"callback data of {len(data.encode())} bytes, Telegram takes {CALLBACK_LIMIT_BYTES}")
    return data


def unpack(data: str) -> tuple[str, str]:
    """The token and the choice; anything may come back, as clients can be changed."""
    token, _, choice = data.partition(":")
    return token, choice


def _quoted(message: Message) -> str:
    if not words_of(message).strip():
        return ""
    if message.quote is not None:
        return message.quote.text
    replied = _replied(message)
    return words_of(replied) if replied is not None else ""


def _quoted_files(message: Message) -> tuple[Attachment, ...]:
    """What stands in the message that words are a reply to: `@bot what is this?` under somebody's photo."""
    replied = _replied(message)
    return attachments_of(replied) if replied is not None and words_of(message).strip() else ()


def _replied(message: Message) -> Message | None:
    replied = message.reply_to_message
    return replied if replied is not None and not is_topic_root(replied, message) else None
