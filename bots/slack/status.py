"""The line under a message that says work goes on (`assistant.threads.setStatus`), where Slack lets us show it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

import structlog

from bots.adapter import WrongToken
from bots.slack.calls import Calls, Refused
from kernel.chat import ConversationId
from kernel.errors import OperatorError, RetryError
from kernel.ports import Clock

log = structlog.get_logger(__name__)

LOOK_EVERY: Final = timedelta(seconds=5)
REPEAT_EVERY: Final = timedelta(seconds=60)
"""Slack clears a status after two minutes."""
_PATIENCE_S: Final = 3.0
_MAX_WAITING: Final = 10_000
_WORKING: Final = "…"
"""Slack puts the bot's name before it; needs no language."""
_NEVER: Final = frozenset(["unknown_method", "not_allowed", "feature_not_enabled", "access_denied", "not_an_assistant"])


class Status:
    """Shows work on the newest message of a conversation that has no answer yet; never raises for Slack."""

    def __init__(self, calls: Calls, clock: Clock) -> None:
        self._calls = calls
        self._clock = clock
        self._waiting: OrderedDict[ConversationId, str] = OrderedDict()
        self._shown: dict[ConversationId, tuple[str, datetime]] = {}
        self._off: set[str] = set()
        """The kinds of chats, by the first letter of their ids, where Slack never lets us."""

    def expect(self, conversation: ConversationId, ts: str) -> None:
        """The message `ts` waits for an answer."""
        self._waiting[conversation] = conversation.thread or ts
        self._waiting.move_to_end(conversation)
        while len(self._waiting) > _MAX_WAITING:
            dropped, _ = self._waiting.popitem(last=False)
            self._shown.pop(dropped, None)

    async def show(self, conversation: ConversationId) -> None:
        """Show that work goes on; nothing where no message waits."""
        root = self._waiting.get(conversation)
        if root is None or conversation.chat[:1] in self._off:
            return
        now = self._clock.now()
        where, at = self._shown.get(conversation, ("", now))
        if where == root and now - at < REPEAT_EVERY:
            return
        self._shown[conversation] = root, now
        await self._set(conversation, root, _WORKING)

    async def answered(self, conversation: ConversationId) -> None:
        """An answer is out. One in the thread clears the status by itself, one beside it does not."""
        self._waiting.pop(conversation, None)
        root, _ = self._shown.pop(conversation, ("", None))
        if root and not conversation.thread:
            await self._set(conversation, root, "")

    async def _set(self, conversation: ConversationId, root: str, status: str) -> None:
        arguments = {"channel_id": conversation.chat, "thread_ts": root, "status": status}
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._calls.ask("assistant.threads.setStatus", arguments)
        except (RetryError, TimeoutError) as error:
            log.debug("status not shown", error=type(error).__name__)
        except OperatorError as error:
            if isinstance(error, WrongToken) or (isinstance(error, Refused) and error.code in _NEVER):
                self._off.add(conversation.chat[:1])
            log.info("status refused", error=str(error), off=sorted(self._off))
