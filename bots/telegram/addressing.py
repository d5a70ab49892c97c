"""Whether words in a Telegram group are meant for the bot, and what they are without its name: values in and out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import Message, MessageEntity

from kernel.chat import Address

_COMMAND = re.compile(r"(/[a-z0-9_]{1,64})(?:@([a-z0-9_]{3,32}))?(?![\w/<>@])", re.IGNORECASE | re.ASCII)
"""As Telegram itself finds commands, at the beginning alone."""
_AROUND_A_NAME = " \t\n\u3000,，:：、"
"""What stands between a name and the words for its bearer."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as `getMe` tells it: numeric id, and name without `@`."""

    id: str
    username: str


def words_of(message: Message) -> str:
    """What is written in it, as it was written; a picture's words are its caption."""
    return message.text or message.caption or ""


def is_forwarded(message: Message) -> bool:
    """Somebody else's words, whoever sent them on."""
    return message.forward_origin is not None


def address_of(message: Message, me: Me) -> Address:
    """Whether the message is for the bot: in a private chat all are; forwarded words call nobody."""
    if message.chat.type == ChatType.PRIVATE:
        return Address.DIRECT
    if is_forwarded(message):
        return Address.NONE
    if command := _COMMAND.match(words_of(message).strip()):
        return Address.DIRECT if _is_mine(command[2], me) else Address.NONE
    if _names(message, me) or _answers(message, me):
        return Address.DIRECT
    return Address.NONE


def own_words(message: Message, me: Me) -> str:
    """The words without the bot's name at either end, and a command without its `@bot`.

    Of a message that is nothing but the name the name stays.
    """
    written = _units(words_of(message))
    first, last = 0, len(written)
    for entity in _names(message, me):
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        if not _text(written[first:start]).strip(_AROUND_A_NAME):
            first = max(first, min(end, last))
    for entity in reversed(_names(message, me)):
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        if first <= start and not _text(written[end:last]).strip(_AROUND_A_NAME):
            last = min(last, start)
    kept = _text(written[first:last])
    kept = kept.lstrip(_AROUND_A_NAME) if first else kept
    kept = kept.rstrip(_AROUND_A_NAME) if last < len(written) else kept
    return _plain_command(kept.strip() or words_of(message).strip(), message.chat.type == ChatType.PRIVATE, me)


def is_topic_root(replied: Message, message: Message) -> bool:
    """Whether Telegram, and no person, made `message` a reply: what is said in a topic replies to its beginning."""
    if replied.forum_topic_created is not None:
        return True
    return bool(message.is_topic_message) and replied.message_id == message.message_thread_id


def _answers(message: Message, me: Me) -> bool:
    replied = message.reply_to_message
    if replied is None or replied.from_user is None or is_topic_root(replied, message):
        return False
    return str(replied.from_user.id) == me.id


def _names(message: Message, me: Me) -> list[MessageEntity]:
    """Where the bot is named, in order."""
    marked = (message.entities if message.text else message.caption_entities) or []
    names = [
        each
        for each in marked
        if each.type in (MessageEntityType.MENTION, MessageEntityType.TEXT_MENTION)
        and each.offset >= 0
        and each.length > 0
    ]
    if not names:
        return []
    written = _units(words_of(message))
    return sorted((each for each in names if _is_named(each, written, me)), key=lambda each: each.offset)


def _is_named(entity: MessageEntity, written: bytes, me: Me) -> bool:
    if entity.type == MessageEntityType.TEXT_MENTION:
        return entity.user is not None and str(entity.user.id) == me.id
    name = _text(written[2 * entity.offset : 2 * (entity.offset + entity.length)])
    return name.lower() == f"@{me.username.lower()}"


def _is_mine(name: str | None, me: Me) -> bool:
    """Whether a command with this name behind its `@` is the bot's; one without is anybody's."""
    return name is None or name.lower() == me.username.lower()


def _plain_command(words: str, is_private: bool, me: Me) -> str:
    """`/help@bot rest` as `/help rest`; in a private chat there is no other bot to mean."""
    command = _COMMAND.match(words)
    if command is None or not (is_private or _is_mine(command[2], me)):
        return words
    return command[1] + words[command.end() :]


def _units(text: str) -> bytes:
    """Two bytes for each unit that Telegram counts by."""
    return text.encode("utf-16-le", "surrogatepass")


def _text(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")
