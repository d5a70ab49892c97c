"""`send_message`: words of the assistant for another chat, once a person has read them on a card and allowed them.

The chat is looked up before the card is made, and what it is called stands in the arguments beside its id
(`小李 #1002`): the card shows the one, the message goes to the other, the digest binds both. Before it goes out the two
must still belong together, and no other chat may be called the same.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from kernel.access import Rights, Standing
from kernel.builtin.visible import visible
from kernel.changes import Changes
from kernel.chat import ConversationId, Reply
from kernel.errors import ModelError
from kernel.messages import Concurrency, Json, ToolWords
from kernel.ports import Chats, KnownChat
from kernel.texts import say, verbatim
from kernel.tools import Approval, Requester, Tool, ToolContext, ToolOutcome

MAX_TEXT_CHARS = 3_000
"""What one card can show whole."""
_MAX_TITLE_CHARS = 100
_SUGGESTED = 5
_MARK = " #"
_SCHEMA = (
    '{"type":"object","properties":{'
    '"chat":{"type":"string","minLength":1,"maxLength":300,"description":"The name of the person or group, as people '
    'write it, or the id of the chat."},'
    f'"text":{{"type":"string","minLength":1,"maxLength":{MAX_TEXT_CHARS},"description":"The whole message, plain '
    'words; it is sent exactly so."}},'
    '"required":["chat","text"],"additionalProperties":false}'
)


def send_message(chats: Chats, rights: Rights) -> Tool:
    """Sends `text` to a chat of the same platform that the bot knows and the requester may talk in. Always asks."""

    async def allowed(conversation: ConversationId, requester: str) -> tuple[KnownChat, ...]:
        """Where somebody is still let in, and the requester too."""
        # Whom only a chat lets talk may be in another or not: nobody knows. What is more counts in all of them.
        if await rights.of_person(requester, conversation) < Standing.ALLOWED:
            return ()
        known = await chats.known(conversation.platform)
        # There may be thousands: asked at once they go to the store together.
        standings = await asyncio.gather(*(rights.of_person(each.person, each.conversation) for each in known))
        return tuple(each for each, standing in zip(known, standings, strict=True) if standing > Standing.STRANGER)

    async def resolve(arguments: Json, requester: Requester) -> Json:
        here = requester.conversation
        found = _named(str(arguments["chat"]), await allowed(here, requester.person))
        if found.conversation.chat == here.chat:
            raise ModelError("That is this very chat: say it in your answer instead.")
        return {**arguments, "chat": _handle(found)}

    async def run(arguments: Json, context: ToolContext) -> ToolOutcome:
        open_to = await allowed(context.conversation, context.requester)
        found = next((chat for chat in open_to if _handle(chat) == arguments["chat"]), None)
        if found is None:
            raise ModelError("Not sent: that chat is no longer called so, or is closed to the person. Ask them.")
        _named(_title(found), open_to)
        sent = Reply(found.conversation, verbatim(str(arguments["text"])))
        return ToolOutcome(f"On its way to “{_title(found)}”.", changes=Changes(outbound=(sent,)))

    return Tool(
        words=ToolWords(
            "send_message",
            "Sends a message to another chat that the bot knows. Only when the person asks for it. They are shown the "
            "chat and the whole text, and decide. To answer in this chat, just write.",
            _SCHEMA,
        ),
        concurrency=lambda _: Concurrency.EXCLUSIVE,
        approval=lambda _: Approval.ASK,
        timeout=timedelta(seconds=20),
        describe=_describe,
        run=run,
        resolve=resolve,
        needs=Standing.ALLOWED,
    )


def _describe(arguments: Json, language: str) -> str:
    """The chat first, then every sign of the text."""
    title = str(arguments["chat"]).rpartition(_MARK)[0]
    return say("send.card", language, chat=_shown(title), text=visible(str(arguments["text"])))


def _named(name: str, chats: tuple[KnownChat, ...]) -> KnownChat:
    """The one chat that `name` means: by its handle, its id, or its title. Raises `ModelError` otherwise."""
    wanted = _plain(name)
    by_id = [chat for chat in chats if name in (_handle(chat), chat.conversation.chat)]
    found = by_id or [chat for chat in chats if _plain(chat.title) == wanted]
    if not found:
        near = [_title(chat) for chat in chats if wanted and wanted in _plain(chat.title)][:_SUGGESTED]
        hint = (
            f" Perhaps: {', '.join(near)}." if near else " A chat is known once somebody has written to the bot there."
        )
        raise ModelError(f"No known chat is called {name!r}.{hint} Ask the person.")
    if len({chat.conversation for chat in chats if _plain(chat.title) == _plain(found[0].title)}) > 1:
        raise ModelError(
            f"Several chats are called {_title(found[0])!r}: a card could not tell which. Tell the person."
        )
    if not _plain(found[0].title):
        raise ModelError("That chat has no name that a card could show, so nothing can be sent there.")
    return found[0]


def _handle(chat: KnownChat) -> str:
    return f"{_title(chat)}{_MARK}{chat.conversation.chat}"


def _title(chat: KnownChat) -> str:
    return " ".join(chat.title.split())[:_MAX_TITLE_CHARS]


def _plain(name: str) -> str:
    """Names as they are compared."""
    return " ".join(name.casefold().split())


def _shown(title: str) -> str:
    return visible(title).removeprefix("│ ")
