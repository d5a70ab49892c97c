"""The Slack adapter: private chats, channels and their threads, over Socket Mode or signed HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Final, assert_never

import structlog

from bots.adapter import AnswerLost, HttpAnswer, WrongToken
from bots.slack.calls import Calls, Refused
from bots.slack.drafts import DRAFT_EVERY
from bots.slack.files import Files
from bots.slack.people import Profiles
from bots.slack.sending import Sending
from bots.slack.socket import Ack, Socket, Take, jittered_pause
from bots.slack.status import LOOK_EVERY, Status
from bots.slack.titles import Titles
from bots.slack.updates import (
    PLATFORM,
    ChannelRenamed,
    Ignored,
    PersonChanged,
    Unreadable,
    Workspace,
    translate,
)
from bots.slack.webhook import PATH, Webhook
from bots.slack.wording import parts_of
from kernel.chat import (
    Address,
    Attachment,
    ButtonPress,
    Change,
    ChatChanged,
    ConversationId,
    Draft,
    Heard,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.errors import OperatorError, RetryError, RetryLater, first_error
from kernel.ports import Clock, Deliver, Floods
from kernel.texts import language_of, say

log = structlog.get_logger(__name__)

PUBLIC_API: Final = "https://slack.com/api/"
BOT_SETTING: Final = "SLACK_BOT_TOKEN"
APP_SETTING: Final = "SLACK_APP_TOKEN"
PRESS_PATIENCE: Final = timedelta(seconds=2)
"""Presses and slash commands are sent once: after this the person is told to press again, within Slack's 3 s."""
LOOKUP_PATIENCE: Final = timedelta(seconds=1.5)
"""A message rather goes without its writer's zone and its channel's title than unacknowledged."""
STRAGGLES_FOR: Final = timedelta(seconds=0.3)
_LOOKUP_TRIES: Final = 2


class SlackAdapter:
    """Slack as an `Adapter` that `HasDrafts`, `HasFiles`, `HasStragglers` and `HasWebhook`.

    With `app_token` it asks Slack for a connection (Socket Mode); without, Slack calls us and signs with
    `signing_secret`. `api_url` ends in `/api/`; `language` is the operator's setting (`auto`, `zh`, `en`).
    With `floods`, processes of one bot keep to Slack's pace together. Raises ValueError when it gets neither an
    `app_token` nor a `signing_secret`.
    """

    def __init__(
        self,
        bot_token: str,
        app_token: str | None,
        *,
        clock: Clock,
        random: Random,
        signing_secret: str | None = None,
        api_url: str = PUBLIC_API,
        floods: Floods | None = None,
        language: str = "auto",
    ) -> None:
        self._calls = Calls(bot_token, BOT_SETTING, api_url, clock, floods)
        self._files = Files(bot_token, api_url)
        self._app_calls = Calls(app_token, APP_SETTING, api_url, clock) if app_token else None
        self._webhook = None if app_token else Webhook(signing_secret or "", clock)
        self._clock = clock
        self._language = language
        self._random = random
        self._status = Status(self._calls, clock)
        self._profiles = Profiles(self._read_user, clock)
        self._titles = Titles(self._read_channel, clock)
        self._sending = Sending(self._calls, clock, self._refuse_token)
        self._wrong_token: WrongToken | None = None
        self._is_refused = asyncio.Event()

    @property
    def platform(self) -> str:
        """`slack`."""
        return PLATFORM

    @property
    def webhook_path(self) -> str | None:
        """`/slack/events` for everything that Slack sends; None in Socket Mode."""
        return None if self._webhook is None else PATH

    @property
    def straggles_for(self) -> timedelta:
        """Slack keeps no order between connections, and a process that must ask who wrote is that much slower."""
        return STRAGGLES_FOR

    @property
    def typing_every(self) -> timedelta:
        """Short, so that the next message shows work soon; Slack itself is asked once a minute."""
        return LOOK_EVERY

    async def run(self, deliver: Deliver) -> None:
        """Bring in messages, presses, slash commands and what becomes of channels, until cancelled.

        Raises `WrongToken`.
        """
        wrong: BaseException | None = None
        try:
            here = await self._introduction()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(partial(self._take, deliver, here)))
                tasks.create_task(self._watch_token())
        except* WrongToken as group:
            wrong = first_error(group)
        finally:
            await self._files.close()
            await self._calls.close()
            if self._app_calls is not None:
                await self._app_calls.close()
        if wrong is not None:
            raise wrong

    async def _listen(self, take: Take) -> None:
        if self._app_calls is not None:
            await Socket(self._app_calls, take, self._clock, self._random).run()
        elif self._webhook is not None:
            await self._webhook.run(take)

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """See `HasWebhook.take`."""
        return HttpAnswer(404) if self._webhook is None else await self._webhook.take(headers, body)

    async def fetch(self, attachment: Attachment) -> bytes:
        """The bytes of a file that somebody sent."""
        return await self._files.fetch(attachment, self._calls.proxy)

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """The Markdown of each message; pure."""
        return parts_of(outbound.text)

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Post one part, with the buttons of a prompt on the last one; a doubtful one is looked for first."""
        ref = await self._sending.send(outbound, part, key=key, is_doubtful=is_doubtful, is_last=is_last)
        if is_last:
            await self._status.answered(outbound.conversation)
        return ref

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """Change the prompt at `place`."""
        await self._sending.close(closed, place)

    async def notify(self, notice: Notice) -> None:
        """Show `notice` to the person who pressed, and to nobody else."""
        await self._sending.notify(notice)

    async def typing(self, conversation: ConversationId) -> None:
        """Show a status under the message that waits, where Slack lets us."""
        await self._status.show(conversation)

    @property
    def draft_every(self) -> timedelta:
        """Slack takes fewer edits than others, and counts them for all conversations together."""
        return DRAFT_EVERY

    async def show_draft(self, draft: Draft) -> None:
        """Show the text in a post that will become the answer; in channels only in their threads."""
        await self._sending.drafts.show(draft)

    async def drop_draft(self, conversation: ConversationId) -> None:
        """Delete the post."""
        await self._sending.drafts.drop(conversation)

    async def _introduction(self) -> Workspace:
        """Who we are and where; asked until Slack answers."""
        failures = 0
        while True:
            try:
                answer = await self._calls.ask("auth.test", {})
            except (RetryError, Refused) as error:
                failures += 1
                log.warning("slack is not reached", error=str(error), failures=failures)
                after = error.after if isinstance(error, RetryLater) else timedelta()
                await self._clock.sleep_until(self._clock.now() + max(jittered_pause(failures, self._random), after))
            else:
                team, user, bot = (str(answer.get(name) or "") for name in ("team_id", "user_id", "bot_id"))
                return Workspace(team, user, bot)

    async def _watch_token(self) -> None:
        await self._is_refused.wait()
        if self._wrong_token is not None:
            raise self._wrong_token

    def _refuse_token(self, error: WrongToken) -> None:
        self._wrong_token = error
        self._is_refused.set()

    async def _take(self, deliver: Deliver, here: Workspace, payload: object, comes_again: bool) -> Ack:
        """Store what `payload` means. Events wait for the store, for Slack sends them again; the rest cannot."""
        update = translate(payload, here, self._clock.now())
        match update:
            case Ignored(why):
                log.debug("update ignored", why=why)
            case Unreadable(why):
                log.warning("update not understood", why=why)
            case PersonChanged(person, user):
                self._profiles.keep(person, user, here.team)
            case ChannelRenamed(channel, title):
                self._titles.keep(channel, title)
            case UserMessage() | ButtonPress() | ChatChanged():
                if comes_again:
                    await self._store(deliver, here, update)
                elif not await self._stored_in_time(deliver, here, update):
                    return self._please_again(update)
            case _:
                assert_never(update)
        return Ack()

    async def _stored_in_time(self, deliver: Deliver, here: Workspace, heard: Heard) -> bool:
        try:
            async with asyncio.timeout(PRESS_PATIENCE.total_seconds()):
                await self._store(deliver, here, heard)
        except Exception as error:  # Boundary: one press. Whatever failed, its person is told to press again.
            log.warning("press not stored", heard=heard.event, error=type(error).__name__)
            return False
        return True

    async def _store(self, deliver: Deliver, here: Workspace, heard: Heard) -> None:
        sender, title = await asyncio.gather(self._vouched(heard.sender, here), self._title_of(heard))
        match heard:
            case ChatChanged():
                await deliver(replace(heard, sender=sender, title=title))
            case _ if sender is None:
                log.info("not a member of the workspace", person=heard.sender.id)
            case ButtonPress():
                self._sending.drafts.heard(heard.conversation)
                await deliver(replace(heard, sender=sender))
            case UserMessage():
                if heard.address is not Address.NONE:
                    self._expect(heard)
                await deliver(replace(heard, sender=sender, title=title))
            case _:
                assert_never(heard)

    def _expect(self, message: UserMessage) -> None:
        """An answer may be written to this: here is where that shows."""
        if message.ref is not None:
            self._status.expect(message.conversation, message.ref.id)
        self._sending.drafts.heard(message.conversation)

    async def _vouched(self, sender: Sender | None, here: Workspace) -> Sender | None:
        """The sender with what Slack tells of them; None for those who are not let in."""
        if sender is None or sender.is_bot:
            return sender
        profile = await self._profiles.get(sender.id, here.team)
        if profile is None:
            return replace(sender, is_guest=True)
        return profile.on(sender) if profile.is_member else None

    async def _title_of(self, heard: Heard) -> str:
        if heard.is_private or isinstance(heard, ButtonPress):
            return ""
        channel = heard.conversation.chat
        if isinstance(heard, ChatChanged) and heard.change is not Change.JOINED:
            return self._titles.cached(channel)
        return await self._titles.get(channel)

    def _please_again(self, heard: Heard) -> Ack:
        match heard:
            case UserMessage():
                words = say("command.failed", self._language_of(heard.sender))
                return Ack(payload={"response_type": "ephemeral", "text": words})
            case ButtonPress():
                words = say("press.failed", self._language_of(heard.sender))
                notice = Notice(heard.conversation, heard.press, heard.sender.id, words)
                return Ack(after=partial(self._apologise, notice))
            case ChatChanged():
                return Ack()
            case _:
                assert_never(heard)

    def _language_of(self, sender: Sender) -> str:
        profile = self._profiles.cached(sender.id)
        return language_of("", profile.language if profile else None, self._language)

    async def _apologise(self, notice: Notice) -> None:
        try:
            await self._sending.notify(notice)
        except RetryError as error:
            log.info("apology not shown", error=str(error))

    async def _read_user(self, person: str) -> Mapping[str, object] | None:
        return await self._looked_up("users.info", {"user": person, "include_locale": True}, "user")

    async def _read_channel(self, channel: str) -> Mapping[str, object] | None:
        return await self._looked_up("conversations.info", {"channel": channel}, "channel")

    async def _looked_up(self, method: str, arguments: Mapping[str, object], name: str) -> Mapping[str, object] | None:
        """The object `name` of the answer; None when there is none in time. A lost answer is asked for once more."""
        answer: Mapping[str, object] = {}
        try:
            async with asyncio.timeout(LOOKUP_PATIENCE.total_seconds()):
                for tries in range(1, _LOOKUP_TRIES + 1):
                    try:
                        answer = await self._calls.ask(method, arguments, reads=True)
                        break
                    except AnswerLost:
                        if tries == _LOOKUP_TRIES:
                            raise
        except (RetryError, TimeoutError) as error:
            log.info("not looked up", method=method, error=str(error) or type(error).__name__)
        except OperatorError as error:
            log.warning("cannot be looked up", method=method, error=str(error))
        found = answer.get(name)
        return found if isinstance(found, dict) else None
