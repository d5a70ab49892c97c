"""The twin of a chat platform: people write and press, and everything the bot shows can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TypeVar

from kernel.chat import (
    Attachment,
    ButtonPress,
    Change,
    ChatChanged,
    Choice,
    ConversationId,
    Heard,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.ports import Clock, Deliver

_T = TypeVar("_T")


@dataclass(slots=True)
class Shown:
    """One message of the bot as people see it now."""

    ref: MessageRef
    text: str
    token: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(slots=True)
class Platform:
    """An `Adapter` for tests; `shown` is the chat from the bot's side, oldest first."""

    clock: Clock
    platform: str = "twin"
    shown: list[Shown] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    typed: list[ConversationId] = field(default_factory=list)
    files: dict[str, bytes | Exception] = field(default_factory=dict)
    """What people have sent, by `Attachment.source`."""
    files_there: asyncio.Event = field(default_factory=asyncio.Event)
    """Nothing is given before it is set."""
    _inbound: asyncio.Queue[Heard] = field(default_factory=asyncio.Queue)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    # --- what people do ------------------------------------------------------------------------------------------

    def says(
        self,
        text: str,
        *,
        chat: str = "1",
        person: str = "1001",
        name: str = "小王",
        event: str = "",
        is_private: bool = True,
        quoted: str = "",
        title: str = "",
        attachments: tuple[Attachment, ...] = (),
        album: str = "",
    ) -> str:
        """A person writes, in a private chat when nobody says otherwise; the id of the update."""
        number = next(self._numbers)
        event = event or f"u{number}"
        message = UserMessage(
            event,
            ConversationId(self.platform, chat),
            Sender(person, name),
            number,
            self.clock.now(),
            text,
            quoted=quoted,
            is_private=is_private,
            title=title,
            attachments=attachments,
            album=album,
        )
        self._inbound.put_nowait(message)
        return event

    def presses(
        self, shown: Shown, label: str, *, person: str = "1001", name: str = "小王", is_private: bool = True
    ) -> None:
        """A person presses the button of that label, in a private chat when nobody says otherwise."""
        choice = next(choice for choice in shown.choices if choice.label == label)
        number = next(self._numbers)
        press = ButtonPress(
            f"u{number}",
            shown.ref.conversation,
            Sender(person, name),
            number,
            self.clock.now(),
            shown.token,
            choice.id,
            press=f"p{number}",
            ref=shown.ref,
            is_private=is_private,
        )
        self._inbound.put_nowait(press)

    def adds_the_bot(
        self, *, chat: str, title: str, person: str = "1001", name: str = "小王", language: str | None = None
    ) -> None:
        """A person adds the bot to a group."""
        event, where = f"u{next(self._numbers)}", ConversationId(self.platform, chat)
        self._inbound.put_nowait(
            ChatChanged(event, where, Change.JOINED, self.clock.now(), Sender(person, name, language=language), title)
        )

    def brings(self, heard: Heard) -> None:
        """The platform tells of something."""
        self._inbound.put_nowait(heard)

    # --- what people see -----------------------------------------------------------------------------------------

    async def sees(self, fits: Callable[[Shown], bool] | str, *, chat: str = "1", after: int = 0) -> Shown:
        """The first message from number `after` on that fits (a text: contains it), as soon as there is one."""

        def found() -> Shown | None:
            here = [each for each in self.shown[after:] if each.ref.conversation.chat == chat]
            test = (lambda each: fits in each.text) if isinstance(fits, str) else fits
            return next((each for each in here if test(each)), None)

        return await self._wait(found)

    async def is_told(self, text: str) -> Notice:
        """The first notice that contains `text`."""
        return await self._wait(lambda: next((each for each in self.notices if text in each.text), None))

    async def _wait(self, found: Callable[[], _T | None]) -> _T:
        async with asyncio.timeout(10), self._changed:
            while (result := found()) is None:
                await self._changed.wait()
            return result

    async def _note(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # --- what an adapter does ------------------------------------------------------------------------------------

    async def run(self, deliver: Deliver) -> None:
        """See `Adapter.run`."""
        while True:
            await deliver(await self._inbound.get())

    async def fetch(self, attachment: Attachment) -> bytes:
        """See `HasFiles.fetch`."""
        await self.files_there.wait()
        found = self.files[attachment.source]
        if isinstance(found, Exception):
            raise found
        return found

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """One part, whatever its length."""
        return (outbound.text,)

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Show it."""
        ref = MessageRef(outbound.conversation, str(len(self.shown)))
        prompt = outbound if isinstance(outbound, Prompt) else None
        self.shown.append(Shown(ref, part, prompt.token if prompt else "", prompt.choices if prompt else ()))
        await self._note()
        return ref

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """Change what is shown at `place`."""
        shown = self.shown[int(place.id)]
        shown.text, shown.choices = closed.text, closed.choices
        await self._note()

    async def notify(self, notice: Notice) -> None:
        """Answer the press."""
        self.notices.append(notice)
        await self._note()

    async def typing(self, conversation: ConversationId) -> None:
        """Remember it."""
        self.typed.append(conversation)

    @property
    def typing_every(self) -> timedelta:
        """As Telegram."""
        return timedelta(seconds=4)
