"""Who and where, as Telegram vouches for it: values in, values out."""

from __future__ import annotations

from aiogram.enums import ChatType
from aiogram.types import Chat, InaccessibleMessage, Message, User

from kernel.chat import ConversationId, Sender

PLATFORM = "telegram"

_NOBODY = frozenset({777000, 1087968824, 136817688})
"""Accounts of Telegram's own that speak for a chat: a linked channel, an anonymous administrator, a channel."""
_GENERAL = 1
"""The topic that is the chat itself; its number is refused when one sends to it."""


def chat_of(chat: Chat) -> ConversationId:
    """The whole chat, threads not told apart."""
    return ConversationId(PLATFORM, str(chat.id))


def conversation_of(message: Message | InaccessibleMessage) -> ConversationId:
    """The chat, or the topic of it."""
    thread = ""
    # Replies carry a thread id too; only with `is_topic_message` is it a topic.
    if isinstance(message, Message) and message.is_topic_message and message.message_thread_id not in (None, _GENERAL):
        thread = str(message.message_thread_id)
    return ConversationId(PLATFORM, str(message.chat.id), thread)


def thread_of(conversation: ConversationId) -> int | None:
    """What to send with, where the conversation is a topic."""
    return int(conversation.thread) if conversation.thread not in ("", str(_GENERAL)) else None


def is_private(chat: Chat) -> bool:
    """Nobody else is in it but the bot."""
    return bool(chat.type == ChatType.PRIVATE)


def is_group(chat: Chat) -> bool:
    """A chat where many write; no channel, and none of those where people write to a channel."""
    return chat.type in (ChatType.GROUP, ChatType.SUPERGROUP) and not chat.is_direct_messages


def is_somebody(user: User) -> bool:
    """A person or a bot, and no account that stands for a chat."""
    return user.id not in _NOBODY


def sender_of(user: User) -> Sender:
    """Whom Telegram says that somebody is."""
    code = (user.language_code or "").lower()
    language = None if not code else "zh" if code.startswith("zh") else "en"
    return Sender(str(user.id), user.full_name, language, is_bot=user.is_bot)
