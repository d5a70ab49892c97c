"""The message in which an answer is written in a group, until the answer takes its place.

Private chats have drafts of Telegram's own; a group gets an ordinary message of ours that is edited as it grows. Bots
cannot read what they sent, so each process knows only its own:

    the message                                 becomes the answer, or goes
    -----------------------------------------   ----------------------------------------------------------------
    ours, nothing on its way to it              edited into the answer; deleted before a prompt, which shall ring
    ours, a call for it was broken off          deleted when that call has ended: it could overwrite the answer
    ours, the answer to that last edit lost     edited into the same words again: an edit may be repeated
    another process sends the answer            deleted by us when we hear that the turn has spoken
    Telegram's answer to its post was lost,     stays: nobody knows its id. No other is posted for that turn
      or its process was killed
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Final

import structlog
from aiogram.methods import DeleteMessage

from bots.adapter import AnswerLost, Undeliverable
from bots.flood import NotYet
from bots.layout import width_of
from bots.splitting import Measure, split_markdown, utf16_length
from bots.telegram.calls import Calls, Refused
from bots.telegram.entities import LIMIT, Rendered, render
from bots.telegram.messages import Messages
from kernel.chat import ConversationId, Draft
from kernel.errors import RetryLater, ZclawError
from kernel.ports import Clock

log = structlog.get_logger(__name__)

_WORTH_COLUMNS: Final = 80
"""Shorter drafts are not shown: a message makes phones ring, and most words before tools are short."""
_CHANGE_EVERY: Final = timedelta(seconds=3)
_MAX_HEARD: Final = 10_000
_GROWS: Final = " …"
_DELETE_AGAIN: Final = timedelta(seconds=1)
_FINISH_S: Final = 3.0


class DraftPosts:
    """The messages of one bot in groups that show what is being written."""

    def __init__(self, calls: Calls, clock: Clock, messages: Messages) -> None:
        self._calls = calls
        self._clock = clock
        self._messages = messages
        self._changed: dict[str, datetime] = {}
        """When each group last saw one change."""
        self._placed: dict[ConversationId, int] = {}
        self._becoming: dict[ConversationId, tuple[str, int]] = {}
        """By the key of the part that it becomes: an edit into it may have happened."""
        self._heard: OrderedDict[ConversationId, str] = OrderedDict()
        """Where we took in what a person said, and the turn that it came to: of several processes one shows it."""
        self._strays: dict[ConversationId, set[int]] = {}
        """What must go, and may have gone already."""
        self._running: set[asyncio.Task[None]] = set()

    def heard(self, place: ConversationId) -> None:
        """A person spoke to the bot there, and this process heard it: it shows the draft."""
        self._heard[place] = ""
        self._heard.move_to_end(place)
        if len(self._heard) > _MAX_HEARD:
            self._heard.popitem(last=False)

    async def show(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`."""
        place = draft.conversation
        if not draft.text.strip():
            await self.drop(place)
        elif place in self._placed or (width_of(draft.text) >= _WORTH_COLUMNS and self._is_ours(draft)):
            await self._clear(place)
            self._slow_down(place.chat)
            change = self._start(self._change(place, self._placed.pop(place, None), _shown(draft.text)))
            try:
                await asyncio.shield(change)
            except NotYet:
                self._changed.pop(place.chat, None)
                raise
            except asyncio.CancelledError:
                change.add_done_callback(lambda _: self._abandon(place))
                raise

    async def drop(self, place: ConversationId) -> None:
        """See `HasDrafts.drop_draft`. Raises `RetryLater` while it cannot be deleted."""
        if number := self._placed.pop(place, None):
            self._stray(place, number)
        await self._clear(place)

    async def become(self, place: ConversationId, key: str, rendered: Rendered) -> int | None:
        """The message that was a draft and is the part `key` now; None when that part must be sent.

        Raises as `Calls.ask` does; the same part may then be tried again.
        """
        await self._clear(place)
        begun_key, begun = self._becoming.pop(place, ("", 0))
        number = begun if begun_key == key else self._placed.pop(place, None)
        if number is None:
            return None
        # Stays noted when the call is broken off or its answer lost: the same part then changes the same message.
        self._becoming[place] = (key, number)
        try:
            await self._messages.edit(place, number, rendered)
        except RetryLater:
            self._becoming.pop(place, None)
            self._placed[place] = number
            raise
        except Refused as refusal:
            self._becoming.pop(place, None)
            if not refusal.is_unchanged:
                log.info("draft did not become the message", why=str(refusal))
                self._stray(place, number)
                await self._clear(place)
                return None
        self._becoming.pop(place, None)
        return number

    async def close(self) -> None:
        """Wait a little for calls that were broken off: they would leave something behind."""
        if self._running:
            await asyncio.wait(self._running, timeout=_FINISH_S)

    def _slow_down(self, chat: str) -> None:
        """Raises `NotYet` until the group may see another change."""
        now = self._clock.now()
        self._changed = {each: at for each, at in self._changed.items() if at > now - _CHANGE_EVERY}
        if chat in self._changed:
            raise NotYet("a draft of the group has just changed", self._changed[chat] + _CHANGE_EVERY - now)
        self._changed[chat] = now

    def _is_ours(self, draft: Draft) -> bool:
        turn = self._heard.get(draft.conversation)
        if turn is None or turn not in ("", draft.turn):
            return False
        self._heard[draft.conversation] = draft.turn
        return True

    async def _change(self, place: ConversationId, number: int | None, rendered: Rendered) -> None:
        """Post or edit; it is placed (again) when nothing is on its way to it."""
        if number is None:
            try:
                self._placed[place] = await self._messages.post(place, rendered, is_draft=True)
            except AnswerLost:
                self._heard.pop(place, None)
                raise
            return
        try:
            await self._messages.edit(place, number, rendered, is_draft=True)
        except AnswerLost:
            # The edit may still arrive, so nothing else may be made of this message.
            self._stray(place, number)
            raise
        except RetryLater:
            self._placed[place] = number
            raise
        except Refused as refusal:
            if refusal.is_message_gone:
                return
            self._placed[place] = number
            if not refusal.is_unchanged:
                raise
        else:
            self._placed[place] = number

    def _abandon(self, place: ConversationId) -> None:
        """A message overtook the draft: what its last call has left behind goes."""
        if number := self._placed.pop(place, None):
            self._stray(place, number)
        self._start(self._clear_quietly(place))

    def _start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def _stray(self, place: ConversationId, number: int) -> None:
        self._strays.setdefault(place, set()).add(number)

    async def _clear_quietly(self, place: ConversationId) -> None:
        try:
            await self._clear(place)
        except ZclawError as error:
            log.info("draft not deleted yet", why=str(error))

    async def _clear(self, place: ConversationId) -> None:
        """Delete what must go. Raises `RetryLater` when something may still be there; deleting can be repeated."""
        chat = int(place.chat)
        for number in sorted(self._strays.get(place, ())):
            try:
                await self._calls.ask(DeleteMessage(chat_id=chat, message_id=number), chat)
            except AnswerLost as error:
                raise RetryLater(str(error), _DELETE_AGAIN) from None
            except Undeliverable as refusal:
                log.info("draft could not be deleted", why=str(refusal))
            self._strays.get(place, set()).discard(number)
        if not self._strays.get(place):
            self._strays.pop(place, None)


def _shown(text: str) -> Rendered:
    """Of a text that fills messages, the one that is being written."""
    rendered = render(split_markdown(text, LIMIT - len(_GROWS), Measure.UTF16_UNITS)[-1])
    grows = f"{rendered.text}{_GROWS}".strip()
    return Rendered(grows, rendered.entities) if utf16_length(grows) <= LIMIT else rendered
