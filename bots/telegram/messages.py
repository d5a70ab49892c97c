"""Messages of ours, sent and changed; without looks where Telegram does not take them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog
from aiogram.methods import EditMessageText, SendMessage
from aiogram.types import InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters

from bots.telegram.calls import Calls, Refused
from bots.telegram.entities import Rendered
from bots.telegram.people import thread_of
from kernel.chat import ConversationId

log = structlog.get_logger(__name__)

T = TypeVar("T")

_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)


class Messages:
    """The messages of one bot. All raise as `Calls.ask` does; what `is_draft` goes only while there is room."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def post(
        self,
        place: ConversationId,
        rendered: Rendered,
        keyboard: InlineKeyboardMarkup | None = None,
        quote: ReplyParameters | None = None,
        *,
        is_draft: bool = False,
    ) -> int:
        """Send one; its id."""
        chat = int(place.chat)

        async def send(said: Rendered, is_again: bool) -> int:
            method = SendMessage(
                chat_id=chat,
                message_thread_id=thread_of(place),
                text=said.text,
                entities=list(said.entities) or None,
                link_preview_options=_NO_PREVIEW,
                reply_parameters=quote,
                reply_markup=keyboard,
            )
            message = await self._calls.ask(method, chat, is_draft=is_draft, is_again=is_again)
            return message.message_id

        return await plainly(rendered, send)

    async def edit(
        self,
        place: ConversationId,
        number: int,
        rendered: Rendered,
        keyboard: InlineKeyboardMarkup | None = None,
        *,
        is_draft: bool = False,
    ) -> None:
        """Change one; its buttons are `keyboard` now."""
        chat = int(place.chat)

        async def edit(said: Rendered, is_again: bool) -> None:
            method = EditMessageText(
                chat_id=chat,
                message_id=number,
                text=said.text,
                entities=list(said.entities) or None,
                link_preview_options=_NO_PREVIEW,
                reply_markup=keyboard,
            )
            await self._calls.ask(method, chat, is_draft=is_draft, is_again=is_again)

        await plainly(rendered, edit)


async def plainly(rendered: Rendered, say: Callable[[Rendered, bool], Awaitable[T]]) -> T:
    """What `say` gives; told again without looks, and that it is again, when it was the looks that were refused."""
    try:
        return await say(rendered, False)
    except Refused as refusal:
        if not (rendered.entities and refusal.is_about_looks):
            raise
        log.warning("sent without looks", why=str(refusal))
    return await say(Rendered(rendered.text), True)
