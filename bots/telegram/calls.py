"""One call of the Bot API, its failures turned into ours; no token, address or text leaves in a message."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final, TypeVar

import aiohttp
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import PRODUCTION, TelegramAPIServer
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.methods import DeleteMessage, Response, SendChatAction, SendMessageDraft, TelegramMethod
from aiogram.utils.token import TokenValidationError

from bots.adapter import AnswerLost, ChatGone, ChatMoved, Undeliverable, WrongToken
from bots.flood import Pace
from bots.telegram.people import PLATFORM
from kernel.errors import RetryLater, ZclawError
from kernel.ports import Clock, Floods, Limit

SETTING = "TELEGRAM_BOT_TOKEN"
CALL_TIMEOUT_S = 10.0
"""Shorter than an outbox lease with time to spare."""
_NOT_SENT_PAUSE = timedelta(seconds=1)
_BROKEN_PAUSE = timedelta(seconds=2)
_GATEWAY_TIMEOUT = 504

_BURST: Final = 3
_BURST_WINDOW: Final = timedelta(seconds=3.1)
"""A private chat takes a message a second, and short bursts."""
_GROUP: Final = 20
_GROUP_KEPT: Final = 10
_GROUP_WINDOW: Final = timedelta(seconds=61)
"""A group takes some 20 messages and edits a minute; the half of them is no draft's."""
_WHOLE: Final = 25
_WHOLE_KEPT: Final = 10
_WHOLE_KEPT_OF_PRIVATE: Final = 15
_WHOLE_WINDOW: Final = timedelta(seconds=1)
"""All chats together some 30 a second; a few less, for they do not arrive as evenly as they leave.

Drafts of private chats come every second and would leave nothing to those of groups, which come every three.
"""
_DRAFT_WINDOW: Final = timedelta(seconds=0.9)
"""Telegram tells no limit of its drafts: one a second in each chat."""
_UNCOUNTED: Final = (DeleteMessage, SendChatAction)

T = TypeVar("T")

_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_ABOUT_LOOKS = re.compile(r"entit|parse|\burl\b", re.IGNORECASE)
_MESSAGE_GONE = re.compile(
    r"message to (edit|delete) not found|message can't be (edited|deleted)|message_id_invalid", re.IGNORECASE
)
_CHAT_GONE = re.compile(
    r"bot was (kicked|blocked)|bot is not a member|bot can't initiate|bots can't send messages to bots"
    r"|user is deactivated|user_is_blocked|input_user_deactivated"
    r"|chat not found|peer_id_invalid|group chat was (deactivated|deleted)|channel_private"
    r"|rights to send (text messages|a message)|need administrator rights|chat_(write|send_plain)_forbidden",
    re.IGNORECASE,
)
"""As the Bot API server words it that nothing of ours will be taken in this chat any more."""


class Refused(Undeliverable):
    """Telegram understood the call and will not do it."""

    def __init__(self, method: str, description: str) -> None:
        super().__init__(f"Telegram refused {method}: {description[:200]}")
        self._description = description

    @property
    def is_about_looks(self) -> bool:
        """The same text without entities may pass."""
        return _ABOUT_LOOKS.search(self._description) is not None

    @property
    def is_nothing_to_do(self) -> bool:
        """An edit that would change nothing, or of a message that is gone."""
        return self.is_unchanged or self.is_message_gone

    @property
    def is_unchanged(self) -> bool:
        """The message is already what the edit would make of it."""
        return "not modified" in self._description

    @property
    def is_message_gone(self) -> bool:
        """There is no such message of ours that could be changed or deleted."""
        return _MESSAGE_GONE.search(self._description) is not None


def wrong_token() -> WrongToken:
    """What the operator reads when Telegram does not know the token."""
    return WrongToken(f"{SETTING} is not accepted by Telegram: copy it again from @BotFather.")


def server_of(api_url: str | None) -> TelegramAPIServer:
    """The server whose root is `api_url`; Telegram's own when there is none."""
    return TelegramAPIServer.from_base(api_url.rstrip("/")) if api_url else PRODUCTION


class Calls:
    """The Bot API for one token. A chat that Telegram told us to leave alone is left alone, others are not.

    With `floods`, all processes of the bot keep its limits together.
    """

    def __init__(self, token: str, server: TelegramAPIServer, clock: Clock, floods: Floods | None = None) -> None:
        try:
            self._bot = Bot(token, session=_Session(api=server, timeout=CALL_TIMEOUT_S))
        except TokenValidationError:
            malformed = True
        else:
            malformed = False
        if malformed:
            raise wrong_token()
        self._pace = Pace(clock, floods)

    @property
    def bot_id(self) -> str:
        """The bot's id, which its token begins with."""
        return str(self._bot.id)

    async def close(self) -> None:
        """Let go of the connections; a later call opens new ones."""
        await self._bot.session.close()

    async def ask(
        self, method: TelegramMethod[T], chat: int = 0, *, is_draft: bool = False, is_again: bool = False
    ) -> T:
        """The result of `method`, which concerns `chat`. A draft goes only while others leave enough room.

        `is_again`: the same in another form after a refusal, which does not wait for a second place.
        Raises `NotYet` (Telegram was not asked), `RetryLater` (nothing happened), `AnswerLost` (it may have),
        `WrongToken`, `ChatGone`, `ChatMoved`, `Refused`.
        """
        key = _key(method, chat)
        if chat and not is_again and not isinstance(method, _UNCOUNTED):
            await self._pace.take(_limits(method, chat, is_draft=is_draft))
        else:
            self._pace.check(key)
        try:
            return await self._bot(method)
        except (AiogramError, aiohttp.ClientError, OSError, UnicodeEncodeError) as error:
            failure = _failure(type(method).__name__, error)
            if isinstance(error, TelegramRetryAfter) and isinstance(failure, RetryLater):
                await self._pace.rest(key, failure.after)
        # Outside the handler: the library's error holds the whole request, and its cause the address with the token.
        raise failure


class _Session(AiohttpSession):
    """aiogram's, except that a page of a gateway in between is a server error and not an unreadable success."""

    def check_response(self, bot: Bot, method: TelegramMethod[Any], status_code: int, content: str) -> Response[Any]:
        try:
            return super().check_response(bot, method, status_code, content)
        except ClientDecodeError:
            if status_code < 500 or status_code == _GATEWAY_TIMEOUT:
                raise
        raise TelegramServerError(method=method, message=f"HTTP {status_code}")


def _key(method: TelegramMethod[Any], chat: int) -> str:
    """What rests when `method` is told to wait: the chat, or only what nobody waits for."""
    if not chat or isinstance(method, SendChatAction | SendMessageDraft):
        return f"{PLATFORM}/{chat}/{type(method).__name__}"
    return f"{PLATFORM}/{chat}"


def _limits(method: TelegramMethod[Any], chat: int, *, is_draft: bool) -> list[Limit]:
    place = f"{PLATFORM}/{chat}"
    if isinstance(method, SendMessageDraft):
        whole = Limit(PLATFORM, _WHOLE, _WHOLE_WINDOW, _WHOLE_KEPT_OF_PRIVATE)
        return [Limit(place), Limit(_key(method, chat), 1, _DRAFT_WINDOW), whole]
    whole = Limit(PLATFORM, _WHOLE, _WHOLE_WINDOW, _WHOLE_KEPT if is_draft else 0)
    if chat < 0:
        return [Limit(place, _GROUP, _GROUP_WINDOW, _GROUP_KEPT if is_draft else 0), whole]
    return [Limit(place, _BURST, _BURST_WINDOW, refills=True), whole]


def _refusal(method: str, description: str) -> Undeliverable:
    if gone := _CHAT_GONE.search(description):
        return ChatGone(f"Telegram refused {method}: {gone[0]}")
    return Refused(method, description)


def _failure(method: str, error: Exception) -> ZclawError:
    match error:
        case TelegramRetryAfter():
            return RetryLater(f"{method}: Telegram limits us", timedelta(seconds=error.retry_after))
        case TelegramUnauthorizedError():
            return wrong_token()
        case TelegramMigrateToChat():
            return ChatMoved(f"{method}: the group has become a supergroup", str(error.migrate_to_chat_id))
        case TelegramEntityTooLarge() | UnicodeEncodeError():
            # Half a character, in an id that came with an update: no request carries that.
            return Refused(method, type(error).__name__)
        case TelegramBadRequest() | TelegramForbiddenError() | TelegramNotFound():
            return _refusal(method, error.message or "")
        case TelegramNetworkError() if isinstance(error.__cause__, _NEVER_SENT):
            return RetryLater(f"{method}: {type(error.__cause__).__name__}", _NOT_SENT_PAUSE)
        case TelegramServerError() | TelegramConflictError():
            return RetryLater(f"{method}: {type(error).__name__}", _BROKEN_PAUSE)
        case TelegramAPIError() if not isinstance(error, TelegramNetworkError):
            return RetryLater(f"{method}: refused without a known reason", _BROKEN_PAUSE)
        case _:
            return AnswerLost(f"{method}: {type(error.__cause__ or error).__name__}")
