"""The door: what an adapter brings in is checked, stored once, and a worker is woken."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, assert_never

import structlog

from bots.counters import Counters
from bots.limits import Meter, Room, SpeechLimits
from bots.moves import Moves
from bots.ports import BotPorts
from bots.presses import Presses
from bots.strangers import Strangers
from kernel import texts
from kernel.access import Rights, Standing
from kernel.chat import (
    Address,
    ButtonPress,
    Change,
    ChatChanged,
    ConversationId,
    Heard,
    Inbound,
    Outbound,
    Reply,
    Sender,
    UserMessage,
    command_of,
)
from kernel.errors import BadRecord, RetryLater, StoreRefuses
from kernel.patience import patiently, pause_after
from kernel.ports import KnownChat, Put, Silence, Unanswered

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
    """What `Adapter.run` delivers to. `language` is the operator's setting, `straggles_for` see `HasStragglers`."""

    def __init__(
        self,
        platform: str,
        *,
        rights: Rights,
        ports: BotPorts,
        presses: Presses,
        moves: Moves,
        counters: Counters,
        language: str,
        limits: SpeechLimits,
        straggles_for: timedelta = timedelta(),
    ) -> None:
        self._platform = platform
        self._rights = rights
        self._ports = ports
        self._clock = ports.clock
        self._presses = presses
        self._moves = moves
        self._counters = counters
        self._language = language
        self._straggles_for = straggles_for
        self._meter = Meter(ports.rates, ports.clock, limits)
        self._strangers = Strangers(rights, ports, language, store=self._store, say=self._say)
        self._homes: OrderedDict[str, ConversationId] = OrderedDict()
        self._told: OrderedDict[ConversationId, datetime] = OrderedDict()

    async def deliver(self, heard: Heard) -> None:
        """See `kernel.ports.Deliver`: returns when it is stored or dropped by a rule; waits for the store."""
        for failures in range(1, _TRIES + 1):
            try:
                return await self._take(heard)
            except StoreRefuses:
                # No update's fault: unconfirmed, it comes again when the operator has let us in.
                raise
            except Exception:  # One update's boundary: whatever is wrong with it, the ones behind it must come in.
                log.exception("update failed", update=heard.event, tries=failures)
            await self._clock.sleep_until(self._clock.now() + pause_after(failures))
        log.error("update dropped", update=heard.event)
        self._count("broken")
        if isinstance(heard, ButtonPress):
            await self._presses.failed(heard)
        return None

    async def _take(self, heard: Heard) -> None:
        match heard:
            case ChatChanged():
                await self._change(heard)
            case UserMessage():
                await self._message(heard if heard.is_private else replace(heard, conversation=await self._here(heard)))
            case ButtonPress():
                await self._press(heard if heard.is_private else replace(heard, conversation=await self._here(heard)))
            case _:
                assert_never(heard)

    async def _here(self, heard: Heard) -> ConversationId:
        return await self._moves.here(heard.conversation)

    # --- messages

    async def _message(self, message: UserMessage) -> None:
        standing = await self._standing(message.sender, message.conversation)
        if message.sender.is_bot and standing is Standing.STRANGER:
            self._count("refused")
            return
        if not await self._is_addressed(message):
            self._count("unaddressed")
            if standing > Standing.STRANGER:
                await self._note(message, Silence.NOT_ADDRESSED)
            return
        if standing < Standing.OWNER and await self._strangers.pairs(message):
            self._count("paired")
            return
        if standing is Standing.STRANGER:
            self._count("refused")
            await self._note(message, Silence.NOT_ALLOWED)
            await self._strangers.refuse(message)
            return
        if not await self._has_room(message, standing):
            return
        await self._see(message, standing)
        if _is_wordless(message):
            self._count("wordless")
            await self._note_wordless(message)
            return
        await self._store(message)
        if message.conversation.thread and not message.is_private:
            where, who = message.conversation, message.sender.id
            await patiently(self._clock, lambda: self._ports.chats.asked(where, who, message.order))

    async def _is_addressed(self, message: UserMessage) -> bool:
        """Whether it is meant for the bot; of what stands in a thread, its writer's earlier words there tell."""
        match message.address:
            case Address.DIRECT:
                return True
            case Address.NONE:
                return False
            case Address.THREAD:
                where, who = message.conversation, message.sender.id
                return await patiently(
                    self._clock, lambda: self._ports.chats.has_asked(where, who, before=message.order)
                )

    async def _has_room(self, inbound: UserMessage | ButtonPress, standing: Standing) -> bool:
        room = await self._meter.room(inbound, standing)
        if room is Room.FREE:
            return True
        self._count("limited")
        log.info("limited", platform=self._platform, person=inbound.sender.id)
        if isinstance(inbound, UserMessage):
            if room is Room.FULL_NOW:
                await self._say(Reply(inbound.conversation, texts.say("limit.reached", self._language_for(inbound))))
                await self._note(inbound, Silence.LIMITED)
        else:
            await self._presses.failed(inbound)
        return False

    async def _see(self, message: UserMessage, standing: Standing) -> None:
        """Remember who this is and where it was said; each time, as others may have forgotten it since."""
        sender, conversation = message.sender, message.conversation
        title = sender.name if message.is_private else message.title
        chat = KnownChat(_whole(conversation), title, sender.id, sender.team)
        await self._see_person(sender)
        await patiently(self._clock, lambda: self._ports.chats.see(chat, now=self._clock.now()))
        if standing is Standing.OWNER and message.is_private and self._homes.get(sender.id) != conversation:
            await self._strangers.settle(message)
            _remember(self._homes, sender.id, conversation)

    async def _see_person(self, sender: Sender) -> None:
        await patiently(self._clock, lambda: self._ports.people.see(self._platform, sender))

    async def _note_wordless(self, message: UserMessage) -> None:
        """A sticker, a location, a contact: nothing a worker could read."""
        now = self._clock.now()
        told = self._told.get(message.conversation)
        if not message.is_private or (told is not None and now - told < _NOTE_AGAIN):
            return
        _remember(self._told, message.conversation, now)
        await self._say(Reply(message.conversation, texts.say("sticker", self._language_for(message))))

    async def _note(self, message: UserMessage, why: Silence) -> None:
        """For who asks why there was no answer."""
        unanswered = Unanswered(message.at, why, message.sender.name)
        await patiently(self._clock, lambda: self._ports.silences.note(message.conversation, unanswered))

    # --- presses

    async def _press(self, press: ButtonPress) -> None:
        """Strangers may press where many read: a reminder is for whoever it was shown to. A worker looks closer."""
        standing = await self._standing(press.sender, press.conversation)
        if press.sender.is_bot or (standing is Standing.STRANGER and press.is_private):
            self._count("refused")
            await self._strangers.refuse(press)
            return
        if not await self._has_room(press, standing):
            return
        if standing > Standing.STRANGER:
            await self._see_person(press.sender)
        put = await self._store(await self._at_home(press))
        if put is not Put.DUPLICATE:
            self._presses.arrived(press)

    async def _at_home(self, press: ButtonPress) -> ButtonPress:
        """The press in the conversation of its card: a chat where it was shown may be another than where it is decided.

        Pressed where it never was shown, it stays where it is, and does nothing there.
        """
        try:
            record = await patiently(self._clock, lambda: self._ports.prompts.get(press.token))
        except BadRecord:
            return press  # The worker says that it is a button that does nothing.
        if record is None:
            return press
        shown = {_whole(record.conversation), *(_whole(place.conversation) for place in record.places)}
        is_shown_here = _whole(press.conversation) in shown
        return replace(press, conversation=record.conversation) if is_shown_here else press

    # --- chats

    async def _change(self, changed: ChatChanged) -> None:
        where = await self._here(changed)
        log.info("chat changed", platform=self._platform, chat=where.chat, change=changed.change.value)
        match changed.change:
            case Change.MOVED:
                if changed.to and changed.to != where.chat:
                    await self._moves.follow(where, changed.to)
            case Change.GONE:
                await patiently(self._clock, lambda: self._ports.chats.leave(where))
            case Change.JOINED:
                if changed.is_private or changed.sender is None:
                    return
                standing = await self._standing(changed.sender, where)
                await self._strangers.joined(replace(changed, conversation=where), changed.sender, standing)

    # --- the store's side

    async def _standing(self, sender: Sender, conversation: ConversationId) -> Standing:
        return await patiently(self._clock, lambda: self._rights.standing(sender, conversation))

    async def _store(self, inbound: Inbound) -> Put:
        settle = settle_time(inbound, self._straggles_for)
        put = await patiently(
            self._clock,
            lambda: self._ports.conversations.put(inbound, now=self._clock.now(), settle=settle),
        )
        self._count("duplicate" if put is Put.DUPLICATE else "stored")
        if put in (Put.HINTED, Put.DUPLICATE):
            # A duplicate may be our own first try, whose answer was lost, and the hint with it.
            await self._hint()
        return put

    async def _say(self, outbound: Outbound) -> None:
        await patiently(self._clock, lambda: self._ports.outbox.add(outbound, now=self._clock.now()))

    async def _hint(self) -> None:
        try:
            await self._ports.wakeups.hint()
        except RetryLater as error:
            # It is stored, and workers look every few seconds by themselves.
            log.warning("hint lost", why=str(error))

    def _language_for(self, message: UserMessage) -> str:
        return texts.language_of(message.text, message.sender.language, self._language)

    def _count(self, outcome: str) -> None:
        self._counters.count("inbound", platform=self._platform, outcome=outcome)


def _remember(known: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    known[key] = value
    if len(known) > _REMEMBERED:
        known.popitem(last=False)


def settle_time(inbound: Inbound, straggles_for: timedelta = timedelta()) -> timedelta:
    """How long after its arrival `inbound` may be read; see `HasStragglers` for private text."""
    if not isinstance(inbound, UserMessage) or command_of(inbound.text) is not None:
        return timedelta()
    if inbound.album:
        return SETTLE_ALBUM
    return straggles_for if inbound.is_private else SETTLE_GROUP


def _whole(conversation: ConversationId) -> ConversationId:
    """The chat, its threads not told apart."""
    return replace(conversation, thread="")


def _is_wordless(message: UserMessage) -> bool:
    return not (message.text.strip() or message.quoted.strip() or message.attachments)
