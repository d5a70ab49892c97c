"""The Telegram adapter: updates by long polling or by webhook, messages with entities, drafts where there are some."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256

import structlog
from aiogram.methods import (
    AnswerCallbackQuery,
    GetMe,
    SendChatAction,
    SendMessageDraft,
    SetMyCommands,
)
from aiogram.types import (
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    ReplyParameters,
)

from bots.adapter import HttpAnswer, Undeliverable
from bots.layout import width_of
from bots.splitting import Measure, clean, split_markdown
from bots.telegram.addressing import Me
from bots.telegram.albums import Albums
from bots.telegram.calls import Calls, Refused, server_of, wrong_token
from bots.telegram.drafts import DraftPosts
from bots.telegram.entities import LIMIT, Rendered, render
from bots.telegram.files import Files
from bots.telegram.messages import Messages, plainly
from bots.telegram.people import PLATFORM, thread_of
from bots.telegram.polling import LONGEST_PAUSE, Polling, PollTurns
from bots.telegram.updates import Skipped, pack, read_update
from bots.telegram.webhook import Webhook
from kernel import texts
from kernel.chat import (
    Address,
    Attachment,
    Choice,
    Command,
    ConversationId,
    Draft,
    Heard,
    Look,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    UserMessage,
)
from kernel.errors import RetryError, RetryLater, ZclawError
from kernel.patience import pause_after
from kernel.ports import Clock, Deliver, Floods, Locks

log = structlog.get_logger(__name__)

_TOAST_LIMIT = 200
_REMEMBERED = 10_000
_ROW_COLUMNS = 26
_ROW_BUTTONS = 4
_NOT_RUNNING = HttpAnswer(503)
_NOT_CALLED = HttpAnswer(404)
_MENU = (
    *(Command.HELP, Command.REMINDERS, Command.MEMORY, Command.NEW, Command.STOP, Command.RETRY, Command.UNDO),
    *(Command.STATUS, Command.WHY, Command.USAGE, Command.MODEL, Command.TZ, Command.ID, Command.FORGET),
    *(Command.PAIR, Command.ALLOW),
)
_STYLES = {Look.PLAIN: None, Look.GOOD: "success", Look.DANGER: "danger"}


class TelegramAdapter:
    """See `bots.adapter.Adapter`, `HasDrafts`, `HasFiles` and `HasWebhook`.

    `api_url` is the root of a Bot API server, Telegram's own when None. With `locks`, processes of one token take
    turns: only one polls, as `holder`, and all send; with `floods` they keep to Telegram's pace together. With
    `webhook_url` nobody polls, and Telegram calls us there.
    Raises `WrongToken` when `token` cannot be one, `BadSettings` when the webhook could not be trusted.
    """

    platform = PLATFORM
    typing_every = timedelta(seconds=4)
    draft_every = timedelta(seconds=1)

    def __init__(
        self,
        token: str,
        *,
        clock: Clock,
        api_url: str | None = None,
        locks: Locks | None = None,
        holder: str = "",
        floods: Floods | None = None,
        webhook_url: str | None = None,
        webhook_secret: str | None = None,
    ) -> None:
        server = server_of(api_url)
        self._calls = Calls(token, server, clock, floods)
        self._messages = Messages(self._calls)
        self._clock = clock
        self._files = Files(token, server, self._calls)
        turns = PollTurns(self._calls.bot_id, clock, locks, holder)
        self._polling = Polling(token, server, clock, turns, self._take_in)
        self._webhook = Webhook(webhook_url, webhook_secret, self._calls, clock) if webhook_url else None
        self._posts = DraftPosts(self._calls, clock, self._messages)
        self._albums = Albums()
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._me: Me | None = None
        self._deliver: Deliver | None = None

    # --- in

    async def run(self, deliver: Deliver) -> None:
        """See `Adapter.run`. Nothing is taken in before the bot knows its own name."""
        try:
            self._me = await self._who_am_i()
            await self._set_menu()
            self._deliver = deliver
            if self._webhook is None:
                await self._polling.run()
            else:
                await self._webhook.set()
                await asyncio.Event().wait()
        finally:
            self._deliver = None
            await self._posts.close()
            await self._files.close()
            await self._calls.close()

    @property
    def webhook_path(self) -> str | None:
        """See `HasWebhook.webhook_path`."""
        return self._webhook.path if self._webhook is not None else None

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """See `HasWebhook.take`."""
        if self._webhook is None:
            return _NOT_CALLED
        return await self._webhook.take(headers, body, self._take_in)

    async def _take_in(self, raw: object) -> None:
        """Return when an update is stored, or means nothing to us. Raises `RetryLater` while nobody takes any."""
        if self._me is None or self._deliver is None:
            raise RetryLater("the bot is not running", timedelta(seconds=1))
        heard = read_update(raw, self._me, self._clock.now())
        if isinstance(heard, Skipped):
            number = raw.get("update_id") if isinstance(raw, dict) else None
            log.info("update skipped", update=number, why=heard.why)
            return
        parts: tuple[Heard, ...] = self._albums.together(heard) if isinstance(heard, UserMessage) else (heard,)
        for each in parts:
            await self._deliver(each)
            if isinstance(each, UserMessage) and each.address is Address.DIRECT and not each.is_private:
                self._posts.heard(each.conversation)

    async def _who_am_i(self) -> Me:
        """The bot's own id and name, asked for until Telegram tells. Raises `WrongToken`."""
        failures = 0
        while True:
            try:
                user = await self._calls.ask(GetMe())
                return Me(str(user.id), user.username or "")
            except Refused:
                # Telegram knows no other reason not to tell a bot who it is (404: the token has a wrong shape).
                raise wrong_token() from None
            except RetryError as error:
                failures += 1
                log.warning("telegram does not answer", why=str(error))
            await self._clock.sleep_until(self._clock.now() + pause_after(failures + 2, LONGEST_PAUSE))

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

    async def fetch(self, attachment: Attachment) -> bytes:
        """See `HasFiles.fetch`."""
        return await self._files.fetch(attachment)

    # --- out

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """See `Adapter.split`."""
        return split_markdown(outbound.text, LIMIT, Measure.UTF16_UNITS)

    async def send(
        self,
        outbound: Reply | Prompt,
        part: str,
        *,
        key: str,
        is_doubtful: bool,  # noqa: ARG002  (bots cannot read what they sent)
        is_last: bool,
    ) -> MessageRef:
        """See `Adapter.send`. A draft in a group becomes the reply; it is deleted before a prompt."""
        keyboard = None
        quote = None
        if isinstance(outbound, Prompt) and is_last:
            keyboard = _keyboard(outbound.token, outbound.choices)
        if isinstance(outbound, Reply) and outbound.quote is not None and part == self.split(outbound)[0]:
            quote = ReplyParameters(message_id=int(outbound.quote.id), allow_sending_without_reply=True)
        rendered = render(part)
        if not rendered.text:
            raise Undeliverable("a message without any text")
        place = outbound.conversation
        number = None
        if isinstance(outbound, Reply):
            number = await self._posts.become(place, key, rendered)
        else:
            await self._posts.drop(place)
        if number is None:
            number = await self._messages.post(place, rendered, keyboard, quote)
        return MessageRef(place, str(number))

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """See `Adapter.close`."""
        rendered = render(split_markdown(closed.text, LIMIT, Measure.UTF16_UNITS)[0])
        keyboard = _keyboard(closed.token, closed.choices)
        try:
            await self._messages.edit(place.conversation, int(place.id), rendered, keyboard)
        except Refused as refusal:
            if not refusal.is_nothing_to_do:
                raise

    async def notify(self, notice: Notice) -> None:
        """See `Adapter.notify`. A press can be answered once; what comes after that is a message."""
        text = clean(notice.text)
        if notice.press in self._answered:
            if text.strip():
                await self._messages.post(notice.conversation, Rendered(text))
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
        method = SendChatAction(chat_id=chat, message_thread_id=thread_of(conversation), action="typing")
        try:
            await self._calls.ask(method, chat)
        except ZclawError as error:
            log.debug("typing refused", why=str(error))

    async def show_draft(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`. In a group a message of ours stands for it (`bots.telegram.drafts`).

        Of a text that fills messages the one being written is shown; without text, Telegram's own "Thinking…".
        """
        if _is_group(draft.conversation):
            await self._posts.show(draft)
            return
        rendered = Rendered("")
        if draft.text.strip():
            rendered = render(split_markdown(draft.text, LIMIT, Measure.UTF16_UNITS)[-1])

        async def show(said: Rendered, is_again: bool) -> None:
            chat = int(draft.conversation.chat)
            method = SendMessageDraft(
                chat_id=chat,
                message_thread_id=thread_of(draft.conversation),
                draft_id=_draft_id(draft.turn),
                text=said.text,
                entities=list(said.entities) or None,
            )
            await self._calls.ask(method, chat, is_draft=True, is_again=is_again)

        await plainly(rendered, show)

    async def drop_draft(self, conversation: ConversationId) -> None:
        """See `HasDrafts.drop_draft`: a private one goes with the next message, and by itself after half a minute."""
        if _is_group(conversation):
            await self._posts.drop(conversation)


def _draft_id(turn: str) -> int:
    """The same for all drafts of a turn, whichever process shows them; never zero."""
    return int.from_bytes(sha256(turn.encode()).digest()[:4]) >> 1 | 1


def _is_group(conversation: ConversationId) -> bool:
    return int(conversation.chat) < 0


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
