"""The Telegram adapter: long polling with an offset that moves only after the write, sending with entities.

We read `getUpdates` ourselves: aiogram moves its offset before or whatever a handler did, and an update it cannot
parse would stop it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256

import aiohttp
import structlog
from aiogram.methods import (
    AnswerCallbackQuery,
    EditMessageText,
    SendChatAction,
    SendMessage,
    SendMessageDraft,
    SetMyCommands,
)
from aiogram.types import (
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    ReplyParameters,
)

from bots.adapter import Undeliverable
from bots.layout import width_of
from bots.splitting import Measure, clean, split_markdown
from bots.telegram.calls import Calls, Refused, server_of, wrong_token
from bots.telegram.entities import LIMIT, Rendered, render
from bots.telegram.updates import PLATFORM, WANTED, Skipped, pack, read_update
from kernel import texts
from kernel.chat import (
    Choice,
    Command,
    ConversationId,
    Draft,
    Look,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
)
from kernel.errors import RetryLater, ZclawError
from kernel.patience import pause_after
from kernel.ports import Clock, Deliver

log = structlog.get_logger(__name__)

POLL = timedelta(seconds=10)
"""How long Telegram may hold a `getUpdates`; shorter than a lease."""
_POLL_TIMEOUT_S = POLL.total_seconds() + 4
_LONGEST_PAUSE = timedelta(seconds=30)
_CONFLICT_PAUSE = timedelta(seconds=5)
_TOAST_LIMIT = 200
_REMEMBERED = 10_000
_ROW_COLUMNS = 26
_ROW_BUTTONS = 4
_MENU = (
    *(Command.HELP, Command.REMINDERS, Command.MEMORY, Command.NEW, Command.STOP, Command.STATUS, Command.USAGE),
    Command.TZ,
)
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_STYLES = {Look.PLAIN: None, Look.GOOD: "success", Look.DANGER: "danger"}


class _PollFailed(Exception):
    """`getUpdates` gave nothing; try again after `after`, or after the usual pause."""

    def __init__(self, why: str, after: timedelta | None = None) -> None:
        super().__init__(why)
        self.after = after


class TelegramAdapter:
    """See `bots.adapter.Adapter` and `HasDrafts`. `api_url` is the root of a Bot API server, Telegram's own when None.

    Raises `WrongToken` when `token` cannot be one.
    """

    platform = PLATFORM
    typing_every = timedelta(seconds=4)
    draft_every = timedelta(seconds=1)

    def __init__(self, token: str, *, clock: Clock, api_url: str | None = None) -> None:
        server = server_of(api_url)
        self._calls = Calls(token, server, clock)
        self._poll_url = server.api_url(token, "getUpdates")
        self._webhook_url = server.api_url(token, "deleteWebhook")
        self._clock = clock
        self._answered: OrderedDict[str, None] = OrderedDict()

    # --- in

    async def run(self, deliver: Deliver) -> None:
        """See `Adapter.run`."""
        timeout = aiohttp.ClientTimeout(total=_POLL_TIMEOUT_S, sock_connect=_POLL_TIMEOUT_S / 2)
        try:
            # A pool of its own, so that slow sends never starve the poll nor the poll them.
            async with aiohttp.ClientSession(timeout=timeout) as http:
                await self._set_menu()
                await self._poll(http, deliver)
        finally:
            await self._calls.close()

    async def _poll(self, http: aiohttp.ClientSession, deliver: Deliver) -> None:
        offset: int | None = None
        failures = 0
        while True:
            try:
                updates = await self._get_updates(http, offset)
            except _PollFailed as failure:
                failures += 1
                pause = failure.after or pause_after(failures + 2, _LONGEST_PAUSE)
                log.warning("telegram poll failed", why=str(failure), pause_s=pause.total_seconds())
                await self._clock.sleep_until(self._clock.now() + pause)
                continue
            failures = 0
            for raw in updates:
                offset = await self._bring_in(raw, deliver) or offset

    async def _bring_in(self, raw: object, deliver: Deliver) -> int | None:
        """Deliver one update; the offset that acknowledges it."""
        number = raw.get("update_id") if isinstance(raw, dict) else None
        inbound = read_update(raw, self._calls.bot_id, self._clock.now())
        if isinstance(inbound, Skipped):
            log.info("update skipped", update=number, why=inbound.why)
        else:
            await deliver(inbound)
        return number + 1 if isinstance(number, int) else None

    async def _get_updates(self, http: aiohttp.ClientSession, offset: int | None) -> Sequence[object]:
        question: dict[str, object] = {"timeout": int(POLL.total_seconds()), "allowed_updates": list(WANTED)}
        if offset is not None:
            question["offset"] = offset
        try:
            async with http.post(self._poll_url, json=question) as response:
                status = response.status
                answer = json.loads(await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            why = type(error).__name__
        else:
            result = answer.get("result") if isinstance(answer, dict) and answer.get("ok") is True else None
            if isinstance(result, list):
                return result
            await self._explain(http, status, answer)
            why = f"HTTP {status}"
        # Outside the handler: the library's error may hold the address, the token in it.
        raise _PollFailed(why)

    async def _explain(self, http: aiohttp.ClientSession, status: int, answer: object) -> None:
        """Raise what Telegram's refusal means, where it means something particular."""
        details = answer if isinstance(answer, dict) else {}
        if status in (401, 404):
            raise wrong_token()
        if status == 409 and "webhook" in str(details.get("description", "")):
            await self._delete_webhook(http)
            raise _PollFailed("a webhook was set; it is removed now")
        if status == 409:
            raise _PollFailed("another process polls with this token", _CONFLICT_PAUSE)
        parameters = details.get("parameters")
        after = parameters.get("retry_after") if isinstance(parameters, dict) else None
        if isinstance(after, int):
            raise _PollFailed("Telegram limits us", timedelta(seconds=after))

    async def _delete_webhook(self, http: aiohttp.ClientSession) -> None:
        try:
            async with http.post(self._webhook_url, json={}) as response:
                await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("webhook not removed", why=type(error).__name__)

    async def _set_menu(self) -> None:
        """The commands that Telegram offers while people type; English where the person's language is not ours."""
        try:
            for language, code in (("en", None), ("zh", "zh")):
                commands = [
                    BotCommand(command=each.value, description=texts.say(f"menu.{each.value}", language))
                    for each in _MENU
                ]
                await self._calls.ask(SetMyCommands(commands=commands, language_code=code))
        except ZclawError as error:
            log.info("menu not set", why=str(error))

    # --- out

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """See `Adapter.split`."""
        return split_markdown(outbound.text, LIMIT, Measure.UTF16_UNITS)

    async def send(
        self,
        outbound: Reply | Prompt,
        part: str,
        *,
        key: str,  # noqa: ARG002  (bots cannot read what they sent)
        is_doubtful: bool,  # noqa: ARG002
        is_last: bool,
    ) -> MessageRef:
        """See `Adapter.send`."""
        keyboard = None
        quote = None
        if isinstance(outbound, Prompt) and is_last:
            keyboard = _keyboard(outbound.token, outbound.choices)
        if isinstance(outbound, Reply) and outbound.quote is not None and part == self.split(outbound)[0]:
            quote = ReplyParameters(message_id=int(outbound.quote.id), allow_sending_without_reply=True)
        rendered = render(part)
        if not rendered.text:
            raise Undeliverable("a message without any text")
        try:
            number = await self._send(outbound.conversation, rendered, keyboard, quote)
        except Refused as refusal:
            if not (rendered.entities and refusal.is_about_looks):
                raise
            log.warning("sent without looks", why=str(refusal))
            number = await self._send(outbound.conversation, Rendered(rendered.text), keyboard, quote)
        return MessageRef(outbound.conversation, str(number))

    async def _send(
        self,
        conversation: ConversationId,
        rendered: Rendered,
        keyboard: InlineKeyboardMarkup | None = None,
        quote: ReplyParameters | None = None,
    ) -> int:
        chat = int(conversation.chat)
        message = await self._calls.ask(
            SendMessage(
                chat_id=chat,
                message_thread_id=_thread(conversation),
                text=rendered.text,
                entities=list(rendered.entities) or None,
                link_preview_options=_NO_PREVIEW,
                reply_parameters=quote,
                reply_markup=keyboard,
            ),
            chat,
        )
        return message.message_id

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """See `Adapter.close`."""
        rendered = render(split_markdown(closed.text, LIMIT, Measure.UTF16_UNITS)[0])
        try:
            try:
                await self._edit(closed, place, rendered)
            except Refused as refusal:
                if not (rendered.entities and refusal.is_about_looks):
                    raise
                await self._edit(closed, place, Rendered(rendered.text))
        except Refused as refusal:
            if not refusal.is_nothing_to_do:
                raise

    async def _edit(self, closed: PromptClosed, place: MessageRef, rendered: Rendered) -> None:
        chat = int(place.conversation.chat)
        await self._calls.ask(
            EditMessageText(
                chat_id=chat,
                message_id=int(place.id),
                text=rendered.text,
                entities=list(rendered.entities) or None,
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(closed.token, closed.choices),
            ),
            chat,
        )

    async def notify(self, notice: Notice) -> None:
        """See `Adapter.notify`. A press can be answered once; what comes after that is a message."""
        text = clean(notice.text)
        if notice.press in self._answered:
            if text.strip():
                await self._send(notice.conversation, Rendered(text))
            return
        self._answered[notice.press] = None
        if len(self._answered) > _REMEMBERED:
            self._answered.popitem(last=False)
        try:
            await self._calls.ask(AnswerCallbackQuery(callback_query_id=notice.press, text=text[:_TOAST_LIMIT] or None))
        except Refused as refusal:
            log.info("press not answered", why=str(refusal))
        except RetryLater:
            del self._answered[notice.press]
            raise

    async def typing(self, conversation: ConversationId) -> None:
        """See `Adapter.typing`."""
        chat = int(conversation.chat)
        method = SendChatAction(chat_id=chat, message_thread_id=_thread(conversation), action="typing")
        try:
            await self._calls.ask(method, chat)
        except ZclawError as error:
            log.debug("typing refused", why=str(error))

    async def show_draft(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`. Groups have none; of a text that fills messages the one being written is shown.

        An empty draft shows Telegram's own "Thinking…".
        """
        if int(draft.conversation.chat) < 0:
            return
        rendered = Rendered("")
        if draft.text.strip():
            rendered = render(split_markdown(draft.text, LIMIT, Measure.UTF16_UNITS)[-1])
        try:
            await self._draft(draft, rendered)
        except Refused as refusal:
            if not (rendered.entities and refusal.is_about_looks):
                raise
            await self._draft(draft, Rendered(rendered.text))

    async def _draft(self, draft: Draft, rendered: Rendered) -> None:
        chat = int(draft.conversation.chat)
        method = SendMessageDraft(
            chat_id=chat,
            message_thread_id=_thread(draft.conversation),
            draft_id=_draft_id(draft.turn),
            text=rendered.text,
            entities=list(rendered.entities) or None,
        )
        await self._calls.ask(method, chat, is_draft=True)

    async def drop_draft(self, conversation: ConversationId) -> None:
        """See `HasDrafts.drop_draft`: it goes with the next message, and by itself after half a minute."""


def _draft_id(turn: str) -> int:
    """The same for all drafts of a turn, whichever process shows them; never zero."""
    return int.from_bytes(sha256(turn.encode()).digest()[:4]) >> 1 | 1


def _thread(conversation: ConversationId) -> int | None:
    return int(conversation.thread) if conversation.thread else None


def _keyboard(token: str, choices: Sequence[Choice]) -> InlineKeyboardMarkup | None:
    """Short labels side by side, long ones each in a row. Raises `Undeliverable` when a choice's id is too long."""
    rows: list[list[InlineKeyboardButton]] = []
    width = 0
    for choice in choices:
        try:
            data = pack(token, choice.id)
        except ValueError as error:
            raise Undeliverable(f"a choice that Telegram cannot carry: {error}") from None
        button = InlineKeyboardButton(text=clean(choice.label), callback_data=data, style=_STYLES[choice.look])
        width += width_of(choice.label)
        if rows and width <= _ROW_COLUMNS and len(rows[-1]) < _ROW_BUTTONS:
            rows[-1].append(button)
        else:
            rows.append([button])
            width = width_of(choice.label)
    return InlineKeyboardMarkup(inline_keyboard=rows) if rows else None
