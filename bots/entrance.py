"""The door: what an adapter brings in is checked, stored once, and a worker is woken."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from bots.adapter import Adapter, HasTeam
from bots.presses import Presses
from kernel import texts
from kernel.access import Access
from kernel.chat import (
    ButtonPress,
    ConversationId,
    Expired,
    Inbound,
    Notice,
    Outbound,
    Reply,
    Sender,
    UserMessage,
    command_of,
)
from kernel.errors import RetryLater, StoreRefuses
from kernel.patience import patiently, pause_after
from kernel.ports import Chats, Clock, Conversations, KnownChat, Outbox, People, Put, Wakeups

log = structlog.get_logger(__name__)

SETTLE_GROUP = timedelta(seconds=0.3)
"""Group text is read that late, so that one which overtook another can be put back in order."""
SETTLE_ALBUM = timedelta(seconds=1.2)
"""An album is read that long after its last part."""
_K = TypeVar("_K")
_V = TypeVar("_V")

_TRIES = 3
_REMEMBERED = 10_000
_NOTE_AGAIN = timedelta(minutes=1)
"""A person who sends ten stickers hears once that we cannot read them."""


class Entrance:
    """What `Adapter.run` delivers to."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        access: Access,
        conversations: Conversations,
        people: People,
        chats: Chats,
        outbox: Outbox,
        wakeups: Wakeups,
        presses: Presses,
        clock: Clock,
        language: str,
    ) -> None:
        self._adapter = adapter
        self._access = access
        self._conversations = conversations
        self._people = people
        self._chats = chats
        self._outbox = outbox
        self._wakeups = wakeups
        self._presses = presses
        self._clock = clock
        self._language = language
        self._seen: OrderedDict[str, Sender] = OrderedDict()
        self._places: OrderedDict[str, KnownChat] = OrderedDict()
        self._told: OrderedDict[ConversationId, datetime] = OrderedDict()

    async def deliver(self, inbound: Inbound) -> None:
        """See `kernel.ports.Deliver`: returns when `inbound` is stored or dropped by a rule; waits for the store."""
        for failures in range(1, _TRIES + 1):
            try:
                return await self._take(inbound)
            except StoreRefuses:
                # No update's fault: unconfirmed, it comes again when the operator has let us in.
                raise
            except Exception:  # One update's boundary: whatever is wrong with it, the ones behind it must come in.
                log.exception("update failed", update=inbound.event, tries=failures)
            await self._clock.sleep_until(self._clock.now() + pause_after(failures))
        log.error("update dropped", update=inbound.event)
        if isinstance(inbound, ButtonPress):
            await self._presses.failed(inbound)
        return None

    async def _take(self, inbound: Inbound) -> None:
        if isinstance(inbound, Expired):
            raise TypeError("an adapter delivers what people do; expiries come from the scheduler")
        team = self._adapter.team if isinstance(self._adapter, HasTeam) else ""
        if not self._access.may_talk(inbound.sender, inbound.conversation, team):
            await self._refuse(inbound)
            return
        await self._see(inbound, team)
        if isinstance(inbound, UserMessage) and _is_wordless(inbound):
            await self._note_wordless(inbound)
            return
        put = await patiently(
            self._clock,
            lambda: self._conversations.put(inbound, now=self._clock.now(), settle=settle_time(inbound)),
        )
        if isinstance(inbound, ButtonPress) and put is not Put.DUPLICATE:
            self._presses.arrived(inbound)
        if put in (Put.HINTED, Put.DUPLICATE):
            # A duplicate may be our own first try, whose answer was lost, and the hint with it.
            await self._hint()

    async def _refuse(self, inbound: UserMessage | ButtonPress) -> None:
        platform, person = inbound.conversation.platform, inbound.sender.id
        is_first = await patiently(self._clock, lambda: self._people.refuse(platform, person, now=self._clock.now()))
        log.info("stranger refused", platform=platform, person=person, is_first=is_first)
        if not is_first:
            return
        text = texts.say("stranger", self._language_for(inbound), id=f"{platform}:{person}")
        if isinstance(inbound, ButtonPress):
            await self._say(Notice(inbound.conversation, inbound.press, person, text))
        else:
            await self._say(Reply(inbound.conversation, text))

    async def _see(self, inbound: UserMessage | ButtonPress, team: str) -> None:
        """Remember who this is and, of words, where they were said."""
        sender, conversation = inbound.sender, inbound.conversation
        if self._seen.get(sender.id) != sender:
            await patiently(self._clock, lambda: self._people.see(conversation.platform, sender))
            _remember(self._seen, sender.id, sender)
        if not isinstance(inbound, UserMessage):
            return
        title = sender.name if inbound.is_private else ""
        chat = KnownChat(replace(conversation, thread=""), title, sender.id, team)
        if self._places.get(conversation.chat) != chat:
            await patiently(self._clock, lambda: self._chats.see(chat, now=self._clock.now()))
            _remember(self._places, conversation.chat, chat)

    async def _note_wordless(self, message: UserMessage) -> None:
        """A sticker, a location, a contact: nothing a worker could read."""
        now = self._clock.now()
        told = self._told.get(message.conversation)
        if not message.is_private or (told is not None and now - told < _NOTE_AGAIN):
            return
        _remember(self._told, message.conversation, now)
        await self._say(Reply(message.conversation, texts.say("sticker", self._language_for(message))))

    def _language_for(self, inbound: UserMessage | ButtonPress) -> str:
        words = inbound.text if isinstance(inbound, UserMessage) else ""
        return texts.language_of(words, inbound.sender.language, self._language)

    async def _say(self, outbound: Outbound) -> None:
        await patiently(self._clock, lambda: self._outbox.add(outbound, now=self._clock.now()))

    async def _hint(self) -> None:
        try:
            await self._wakeups.hint()
        except RetryLater as error:
            # It is stored, and workers look every few seconds by themselves.
            log.warning("hint lost", why=str(error))


def _remember(known: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    known[key] = value
    if len(known) > _REMEMBERED:
        known.popitem(last=False)


def settle_time(inbound: UserMessage | ButtonPress) -> timedelta:
    """How long after its arrival `inbound` may be read."""
    if isinstance(inbound, ButtonPress) or command_of(inbound.text) is not None:
        return timedelta()
    if inbound.album:
        return SETTLE_ALBUM
    return timedelta() if inbound.is_private else SETTLE_GROUP


def _is_wordless(message: UserMessage) -> bool:
    return not (message.text.strip() or message.quoted.strip() or message.attachments)
