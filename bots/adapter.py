"""What a platform must offer to be a place where people talk: one Protocol, and the ways in which sending fails."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from kernel.chat import Attachment, ConversationId, Draft, MessageRef, Notice, Prompt, PromptClosed, Reply
from kernel.errors import OperatorError, RetryError
from kernel.ports import Deliver


class Undeliverable(OperatorError):
    """The platform will never take this: the chat is gone, the bot was blocked. The message says why."""


class ChatGone(Undeliverable):
    """The bot was removed or blocked there, or the chat is closed: nothing else will arrive either."""


class ChatMoved(Undeliverable):
    """The chat has the id `to` now; the platform takes the same message there."""

    def __init__(self, why: str, to: str) -> None:
        super().__init__(why)
        self.to = to


class AnswerLost(RetryError):
    """The platform may or may not have taken it: the answer was lost after the request went out.

    `can_look`: the adapter looks whether it is there before it sends it again, so one more try makes no copy.
    """

    def __init__(self, why: str, *, can_look: bool = False) -> None:
        super().__init__(why)
        self.can_look = can_look


class WrongToken(OperatorError):
    """The platform does not know our token (exit 2); the message names the setting, never the value."""


class FileGone(Undeliverable):
    """The platform does not give this file to us, however often we ask. The message says why."""


class FileTooLarge(FileGone):
    """It is more than `MAX_FILE_BYTES`, whatever the platform said before."""


class Adapter(Protocol):
    """One platform. What sends raises `RetryLater`, `AnswerLost` or `Undeliverable`, and no error of a library."""

    @property
    def platform(self) -> str:
        """The first field of its `ConversationId`s."""

    async def run(self, deliver: Deliver) -> None:
        """Bring in what people do, until cancelled.

        An update is acknowledged only after `deliver` returned; one that cannot be understood is recorded and
        acknowledged. Raises `WrongToken`; everything else is retried inside with back-off.
        """

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """The Markdown of each platform message that will carry `outbound`, at least one; pure."""

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Send one part. A prompt's buttons and a reply's attachments go with the last one.

        `key` (24 ASCII characters) is this part's alone, and the same again after a crash. `is_doubtful`: an earlier
        try may have arrived; a platform that can be asked is asked before anything is sent.
        """

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """Change the prompt shown at `place`. One that was deleted meanwhile is no error."""

    async def notify(self, notice: Notice) -> None:
        """Answer one press. Too late is no error: the platform then shows nothing or a short message."""

    async def typing(self, conversation: ConversationId) -> None:
        """Show that work goes on; lapses by itself. Never raises for the platform's refusals."""

    @property
    def typing_every(self) -> timedelta:
        """How often `typing` must be repeated to stay visible."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """How a request to our own server is answered."""

    status: int
    body: str = ""
    content_type: str = "text/plain"


@runtime_checkable
class HasWebhook(Protocol):
    """An adapter that its platform may call over HTTP."""

    @property
    def webhook_path(self) -> str | None:
        """Where `zclaw bots` listens for it, like `/telegram`; None: it is not called, it asks."""

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """One request that the platform, or anybody, sent there; header names in lower case.

        Returns only when what it says is stored, and says 401 before anything else to who does not prove themselves;
        503 while it cannot be stored, so that it comes again. Raises nothing.
        """


@runtime_checkable
class HasFiles(Protocol):
    """An adapter of a platform that keeps what people send with their messages."""

    async def fetch(self, attachment: Attachment) -> bytes:
        """The bytes that the platform keeps under `attachment.source`, at most `MAX_FILE_BYTES`.

        Ends within a minute. Raises `FileGone`, `FileTooLarge`, and what passes: `RetryLater`, `AnswerLost`.
        """


@runtime_checkable
class HasStragglers(Protocol):
    """An adapter whose platform may bring two texts of one private chat in either order."""

    @property
    def straggles_for(self) -> timedelta:
        """How long after a text the one before it may still come."""


@runtime_checkable
class HasPlaces(Protocol):
    """An adapter that shares its platform's conversations with others of its kind (terminals of one machine)."""

    def places(self) -> Collection[ConversationId]:
        """The conversations that it may send to just now, at least one."""


@runtime_checkable
class HasDrafts(Protocol):
    """An adapter that can show an answer while it is written.

    `Adapter.send` to the conversation ends its draft: the message takes its place, or the draft is gone before the
    message is there. Neither method runs for a conversation while `send` does. Both raise as `Adapter` says; a
    `RetryLater` rests the conversation's drafts, everything else costs the one draft.
    """

    @property
    def draft_every(self) -> timedelta:
        """How often one conversation's draft may change."""

    async def show_draft(self, draft: Draft) -> None:
        """Show the text in the place of what was shown of this conversation; nothing where drafts cannot be shown.

        Empty text: what was shown is no answer and goes, while work goes on.
        """

    async def drop_draft(self, conversation: ConversationId) -> None:
        """Nobody writes any more: leave nothing of what was shown, unless it goes by itself."""
