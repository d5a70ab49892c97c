"""Telegram's updates as our words: values in, values out. Private chats only; groups have their own issue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from aiogram.enums import ChatType, ContentType
from aiogram.types import CallbackQuery, InaccessibleMessage, Message, Update, User
from pydantic import ValidationError

from kernel.chat import ButtonPress, ConversationId, MessageRef, Sender, UserMessage

PLATFORM = "telegram"
WANTED = ("message", "callback_query")
"""Kinds of updates we ask for. Edits are not among them: an edited command is not said again."""
CALLBACK_LIMIT_BYTES = 64

_WORDLESS = frozenset(
    {
        ContentType.ANIMATION,
        ContentType.AUDIO,
        ContentType.CONTACT,
        ContentType.DICE,
        ContentType.DOCUMENT,
        ContentType.GAME,
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
"""What people send and we cannot read yet; everything else without words is the platform talking."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An update that means nothing to us, and why; to be recorded and acknowledged."""

    why: str


def read_update(raw: object, bot: str, now: datetime) -> UserMessage | ButtonPress | Skipped:
    """What one element of `getUpdates` says, whatever it is: never raises.

    `bot` is the bot's id: another bot counts its updates anew. `now` (aware UTC) is when a press happened.
    """
    try:
        update = Update.model_validate(raw)
    except (ValidationError, ValueError, RecursionError) as error:
        return Skipped(f"malformed: {type(error).__name__}")
    event = f"{PLATFORM}:{bot}:{update.update_id}"
    if update.message is not None:
        return _message(update.message, event)
    if update.callback_query is not None:
        return _press(update.callback_query, event, update.update_id, now)
    return Skipped("of no kind that we read")


def _message(message: Message, event: str) -> UserMessage | Skipped:
    if message.chat.type != ChatType.PRIVATE:
        return Skipped("not a private chat")
    if message.from_user is None or message.from_user.is_bot:
        return Skipped("not from a person")
    words = (message.text or message.caption or "").strip()
    if not words and message.content_type not in _WORDLESS:
        return Skipped("a service message")
    is_forwarded = message.forward_origin is not None
    conversation = _conversation(message)
    return UserMessage(
        event=event,
        conversation=conversation,
        sender=_sender(message.from_user),
        order=message.message_id,
        at=message.date,
        text="" if is_forwarded else _plain_command(words),
        quoted=words if is_forwarded else _quoted(message) if words else "",
        album=message.media_group_id or "",
        ref=MessageRef(conversation, str(message.message_id)),
    )


def _press(query: CallbackQuery, event: str, order: int, now: datetime) -> ButtonPress | Skipped:
    if query.message is None or query.data is None:
        return Skipped("a press on nothing of ours")
    if query.message.chat.type != ChatType.PRIVATE:
        return Skipped("not a private chat")
    if query.from_user.is_bot:
        return Skipped("not from a person")
    conversation = _conversation(query.message)
    token, choice = unpack(query.data)
    return ButtonPress(
        event=event,
        conversation=conversation,
        sender=_sender(query.from_user),
        order=order,
        at=now,
        token=token,
        choice=choice,
        press=query.id,
        ref=MessageRef(conversation, str(query.message.message_id)),
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


def _conversation(message: Message | InaccessibleMessage) -> ConversationId:
    thread = ""
    # Replies carry a thread id too; only with `is_topic_message` is it a topic. Topic 1 is the chat itself.
    if isinstance(message, Message) and message.is_topic_message and message.message_thread_id not in (None, 1):
        thread = str(message.message_thread_id)
    return ConversationId(PLATFORM, str(message.chat.id), thread)


def _sender(user: User) -> Sender:
    code = (user.language_code or "").lower()
    language = None if not code else "zh" if code.startswith("zh") else "en"
    return Sender(str(user.id), user.full_name, language)


def _quoted(message: Message) -> str:
    if message.quote is not None:
        return message.quote.text
    replied = message.reply_to_message
    return (replied.text or replied.caption or "") if replied is not None else ""


def _plain_command(text: str) -> str:
    """`/help@bot rest` as `/help rest`: in a private chat there is no other bot to mean."""
    return re.sub(r"^(/\w+)@\w+", r"\1", text)
