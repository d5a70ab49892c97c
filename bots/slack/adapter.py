"""The Slack adapter: private chats over Socket Mode."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Final, assert_never

import structlog

from bots.adapter import WrongToken
from bots.slack.calls import Calls, Refused
from bots.slack.drafts import DRAFT_EVERY
from bots.slack.people import Profiles
from bots.slack.sending import Sending
from bots.slack.socket import Ack, Socket, jittered_pause
from bots.slack.status import LOOK_EVERY, Status
from bots.slack.updates import (
    PLATFORM,
    Ignored,
    PersonChanged,
    Unreadable,
    Workspace,
    translate,
)
from bots.slack.wording import parts_of
from kernel.chat import (
    ButtonPress,
    ConversationId,
    Draft,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    UserMessage,
)
from kernel.errors import OperatorError, RetryError, RetryLater, first_error
from kernel.ports import Clock, Deliver
from kernel.texts import language_of, say

log = structlog.get_logger(__name__)

PUBLIC_API: Final = "https://slack.com/api/"
BOT_SETTING: Final = "SLACK_BOT_TOKEN"
APP_SETTING: Final = "SLACK_APP_TOKEN"
PRESS_PATIENCE: Final = timedelta(seconds=2)
"""Presses and slash commands are sent once: after this the person is told to press again, within Slack's 3 s."""
PROFILE_PATIENCE: Final = timedelta(seconds=1.5)
"""A message rather goes without its writer's zone than unacknowledged."""


class SlackAdapter:
    """Slack as an `Adapter` that `HasDrafts`.

    `api_url` ends in `/api/`; `language` is the operator's setting (`auto`, `zh`, `en`).
    """

    def __init__(
        self,
        bot_token: str,
        app_token: str,
        *,
        clock: Clock,
        random: Random,
        api_url: str = PUBLIC_API,
        language: str = "auto",
    ) -> None:
        self._calls = Calls(bot_token, BOT_SETTING, api_url, clock)
        self._app_calls = Calls(app_token, APP_SETTING, api_url, clock)
        self._clock = clock
        self._language = language
        self._random = random
        self._status = Status(self._calls, clock)
        self._profiles = Profiles(self._read_user, clock)
        self._sending = Sending(self._calls, clock, self._refuse_token)
        self._team = ""
        self._wrong_token: WrongToken | None = None
        self._is_refused = asyncio.Event()

    @property
    def platform(self) -> str:
        """`slack`."""
        return PLATFORM

    @property
    def team(self) -> str:
        """The workspace's id; empty until Slack has told it."""
        return self._team

    @property
    def typing_every(self) -> timedelta:
        """Short, so that the next message shows work soon; Slack itself is asked once a minute."""
        return LOOK_EVERY

    async def run(self, deliver: Deliver) -> None:
        """Bring in private messages, presses and slash commands, until cancelled. Raises `WrongToken`."""
        wrong: BaseException | None = None
        try:
            here = await self._introduction()
            self._team = here.team
            socket = Socket(self._app_calls, partial(self._take, deliver, here), self._clock, self._random)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(socket.run())
                tasks.create_task(self._watch_token())
        except* WrongToken as group:
            wrong = first_error(group)
        finally:
            await self._calls.close()
            await self._app_calls.close()
        if wrong is not None:
            raise wrong

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
        """Show the text in a post that will become the answer; only in private chats."""
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
            case UserMessage() | ButtonPress():
                if comes_again:
                    await self._store(deliver, here, update)
                elif not await self._stored_in_time(deliver, here, update):
                    return self._please_again(update)
            case _:
                assert_never(update)
        return Ack()

    async def _stored_in_time(self, deliver: Deliver, here: Workspace, inbound: UserMessage | ButtonPress) -> bool:
        try:
            async with asyncio.timeout(PRESS_PATIENCE.total_seconds()):
                await self._store(deliver, here, inbound)
        except Exception as error:  # Boundary: one press. Whatever failed, its person is told to press again.
            log.warning("press not stored", inbound=inbound.event, error=type(error).__name__)
            return False
        return True

    async def _store(self, deliver: Deliver, here: Workspace, inbound: UserMessage | ButtonPress) -> None:
        sender = inbound.sender
        if isinstance(inbound, ButtonPress):
            profile = self._profiles.cached(sender.id)
        else:
            profile = await self._profiles.get(sender.id, here.team)
        if profile is not None:
            if not profile.is_member:
                log.info("not a member of the workspace", person=sender.id)
                return
            sender = profile.on(sender)
        if isinstance(inbound, UserMessage) and inbound.ref is not None:
            self._status.expect(inbound.conversation, inbound.ref.id)
        self._sending.drafts.heard(inbound.conversation)
        await deliver(replace(inbound, sender=sender))

    def _please_again(self, inbound: UserMessage | ButtonPress) -> Ack:
        profile = self._profiles.cached(inbound.sender.id)
        known = profile.language if profile else None
        language = language_of("", known, self._language)
        match inbound:
            case UserMessage():
                return Ack(payload={"response_type": "ephemeral", "text": say("command.failed", language)})
            case ButtonPress():
                words = say("press.failed", language)
                notice = Notice(inbound.conversation, inbound.press, inbound.sender.id, words)
                return Ack(after=partial(self._apologise, notice))
            case _:
                assert_never(inbound)

    async def _apologise(self, notice: Notice) -> None:
        try:
            await self._sending.notify(notice)
        except RetryError as error:
            log.info("apology not shown", error=str(error))

    async def _read_user(self, person: str) -> Mapping[str, object] | None:
        arguments = {"user": person, "include_locale": True}
        try:
            async with asyncio.timeout(PROFILE_PATIENCE.total_seconds()):
                answer = await self._calls.ask("users.info", arguments, reads=True)
        except (RetryError, OperatorError, TimeoutError) as error:
            log.info("profile not read", error=str(error) or type(error).__name__)
            return None
        user = answer.get("user")
        return user if isinstance(user, dict) else None
