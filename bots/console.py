"""The terminal as a chat: a private conversation, an input line that stays readable, numbers for buttons."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import assert_never

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout

from bots.layout import Span, lay_out, width_of
from bots.markup import parse
from bots.numbers import Numbers, Refused
from bots.splitting import clean
from bots.waiting import first_of
from kernel import texts
from kernel.access import CONSOLE
from kernel.chat import (
    ButtonPress,
    Choice,
    ConversationId,
    Draft,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.ports import Clock, Deliver

_PATIENCE = timedelta(seconds=60)
"""Input from a pipe: without any sign of life for so long, nobody will answer."""
_QUIET = timedelta(seconds=0.5)
"""Input from a pipe: an answer is whole when nothing followed it for so long."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DRAFT_LINES = 4
_REMEMBERED = 100
_NOTED = frozenset(texts.say("press.noted", language) for language in texts.LANGUAGES)
"""What a press is answered with when all else is said by the card."""
_OPENING = frozenset("([{（［｛「『《〈【“‘")
_CLOSING = frozenset(")]},.;:!?）］｝」』》〉】”’，。、；：！？…")
# A model's text must not move the cursor, clear the screen or set the title.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def place(number: int) -> ConversationId:
    """The conversation of the `number`-th terminal that is open at the same time, from 1."""
    return ConversationId(CONSOLE, "terminal" if number == 1 else f"terminal-{number}")


class ConsoleAdapter:
    """See `bots.adapter.Adapter` and `HasDrafts`. `process` tells this terminal's events from those of others.

    What is typed is said in `conversation`. `deserted` gives the conversations of terminals that are closed now: what
    falls due there is shown here. `session` is the input line; None reads all of standard input, says it line by line,
    prints the answers, and ends.
    """

    platform = CONSOLE
    typing_every = timedelta(seconds=2)
    draft_every = timedelta(seconds=0.5)

    def __init__(
        self,
        *,
        clock: Clock,
        process: str,
        sender: Sender,
        language: str,
        session: PromptSession[str] | None,
        conversation: ConversationId,
        deserted: Callable[[], Sequence[ConversationId]],
    ) -> None:
        self._clock = clock
        self._process = process
        self._sender = sender
        self._language = language
        self._session = session
        self._conversation = conversation
        self._deserted = deserted
        self._counted = count(1)
        self._numbers = Numbers()
        self._heard = asyncio.Event()
        self._has_answer = False
        self._has_changed = False
        """A card was changed since the last press."""
        self._shown: dict[str, str] = {}
        """What the newest cards say, by their tokens."""
        self._works_until = _EPOCH
        self._draft = ""

    # --- in

    async def run(self, deliver: Deliver) -> None:
        """See `Adapter.run`; returns when the person leaves (Ctrl-D, Ctrl-C) or the input has been answered."""
        if self._session is None:
            await self._run_piped(deliver)
            return
        with patch_stdout():
            self._print(texts.say("chat.welcome", self._language))
            while True:
                try:
                    line = await self._session.prompt_async("> ", rprompt=self._sign, reserve_space_for_menu=0)
                except (EOFError, KeyboardInterrupt):
                    return
                if inbound := self._inbound(line):
                    await deliver(inbound)

    async def _run_piped(self, deliver: Deliver) -> None:
        lines = (await asyncio.to_thread(sys.stdin.read)).splitlines()
        await self._left_over()
        for line in lines:
            self._has_answer = False
            if inbound := self._inbound(line):
                await deliver(inbound)
                await self._answered()

    async def _left_over(self) -> None:
        """Wait for the end of what was left for this terminal: none of it answers what is said now."""
        is_alive = True
        while is_alive:
            self._heard.clear()
            await first_of(self._heard.wait(), self._clock.sleep_until(self._clock.now() + _QUIET))
            is_alive = self._heard.is_set()

    async def _answered(self) -> None:
        """Wait for an answer and for the end of it."""
        is_alive = True
        while is_alive:
            self._heard.clear()
            now = self._clock.now()
            patience = _QUIET if self._has_answer and now >= self._works_until else _PATIENCE
            await first_of(self._heard.wait(), self._clock.sleep_until(now + patience))
            is_alive = self._heard.is_set()

    def _inbound(self, line: str) -> UserMessage | ButtonPress | None:
        """What the line is; None when there is nothing to bring in: an empty one, a number without a button."""
        text = clean(line).strip()
        if not text:
            return None
        if refused := self._numbers.refused(text):
            self._print(self._why(refused))
            return None
        number = next(self._counted)
        now = self._clock.now()
        order = (now - _EPOCH) // timedelta(microseconds=1)
        # With the time in it, for a process of the same name may have counted like this yesterday.
        event = f"{CONSOLE}:{self._process}:{order}:{number}"
        if button := self._numbers.pressed(text):
            self._has_changed = False
            where, token, choice = button.conversation, button.token, button.choice
            return ButtonPress(event, where, self._sender, order, now, token, choice, press=event)
        return UserMessage(event, self._conversation, self._sender, order, now, text)

    def _why(self, refused: Refused) -> str:
        match refused:
            case Refused.GONE:
                return texts.say("press.decided", self._language)
            case Refused.UNKNOWN:
                return texts.say("press.no_number", self._language, number=self._numbers.open_ones())
            case _:
                assert_never(refused)

    # --- out

    def places(self) -> Sequence[ConversationId]:
        """See `bots.adapter.HasPlaces`. What a pipe prints answers the pipe: it takes nobody else's reminders."""
        return (self._conversation, *(self._deserted() if self._session is not None else ()))

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """See `Adapter.split`: a terminal takes everything."""
        return (clean(outbound.text),)

    async def send(
        self,
        outbound: Reply | Prompt,
        part: str,
        *,
        key: str,  # noqa: ARG002  (what is on the paper cannot be looked up)
        is_doubtful: bool,  # noqa: ARG002
        is_last: bool,
    ) -> MessageRef:
        """See `Adapter.send`."""
        where = outbound.conversation
        if where == self._conversation:
            self._show_below("")
        if isinstance(outbound, Prompt) and is_last:
            self._language = outbound.language
            self._show(part, where, outbound.token, outbound.choices)
        else:
            self._numbers.speech()
            self._print(plain(part))
        return MessageRef(where, f"{self._process}:{next(self._counted)}")

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:  # noqa: ARG002  (paper has no places)
        """See `Adapter.close`: what is on the paper stays, the new text is printed below."""
        self._has_changed = True
        if not closed.choices and closed.text == self._shown.get(closed.token):
            # A question that was answered: what comes of it is said next.
            self._numbers.spend(closed.token)
            return
        self._show(closed.text, closed.conversation, closed.token, closed.choices)

    async def notify(self, notice: Notice) -> None:
        """See `Adapter.notify`. What a card has just said below needs no second word."""
        if notice.text and not (self._has_changed and notice.text in _NOTED):
            self._print(plain(notice.text))

    async def typing(self, conversation: ConversationId) -> None:
        """See `Adapter.typing`: three dots at the right end of the input line."""
        if conversation != self._conversation:
            return
        self._works_until = self._clock.now() + self.typing_every * 1.5
        self._heard.set()
        if self._session is not None:
            self._session.app.invalidate()

    async def show_draft(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`: its last lines stand under the input line. A pipe prints answers only."""
        if draft.conversation == self._conversation:
            self._show_below(draft.text)

    async def drop_draft(self, conversation: ConversationId) -> None:
        """See `HasDrafts.drop_draft`."""
        if conversation == self._conversation:
            self._show_below("")

    def _show_below(self, draft: str) -> None:
        self._draft = draft
        if self._session is None:
            return
        # None, for an empty line would be an empty bar.
        self._session.bottom_toolbar = self._tail if draft.strip() else None
        self._session.app.invalidate()

    def _tail(self) -> StyleAndTextTuples:
        columns = get_app().output.get_size().columns
        return [("noreverse", "\n".join(folded(plain(self._draft), columns - 1)[-_DRAFT_LINES:]))]

    def _sign(self) -> str:
        return "…" if self._clock.now() < self._works_until else ""

    def _show(self, text: str, where: ConversationId, token: str, choices: Sequence[Choice]) -> None:
        self._shown[token] = text
        if len(self._shown) > _REMEMBERED:
            self._shown.pop(next(iter(self._shown)))
        numbers = self._numbers.give(where, token, choices)
        buttons = "   ".join(f"[{n}] {plain(choice.label)}" for n, choice in zip(numbers, choices, strict=True))
        self._print(f"{plain(text)}\n{buttons}" if buttons else plain(text))

    def _print(self, text: str) -> None:
        self._has_answer = True
        self._works_until = _EPOCH
        if self._session is not None:
            text = "\n".join(folded(text, shutil.get_terminal_size().columns))
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        self._heard.set()


def plain(markdown: str) -> str:
    """`markdown` as text for a terminal, without anything that a terminal would obey."""
    text = "".join(_written(span) for span in lay_out(parse(markdown)))
    return _CONTROL.sub("", text).strip("\n")


def folded(text: str, columns: int) -> list[str]:
    """`text` in lines that a terminal of so many columns shows whole, broken between words where there are some."""
    lines = []
    for line in text.expandtabs(4).split("\n"):
        rest, width = "", 0
        for char in line:
            wide = width_of(char)
            while rest and width + wide > columns:
                end = len(rest) if char == " " else _break_in(rest, char)
                lines.append(rest[:end].rstrip(" ") or rest[:end])
                rest = rest[end:].lstrip(" ")
                width = width_of(rest)
                if char == " ":
                    break  # It is the gap between the lines itself.
            else:
                rest, width = rest + char, width + wide
        lines.append(rest)
    return lines


def _break_in(line: str, following: str) -> int:
    """Where to break the line before `following`: behind a space, beside a wide character, or at its end.

    What opens stays with what follows it, and what closes with what is before.
    """
    after = following
    for at in range(len(line), 0, -1):
        before = line[at - 1]
        is_torn = before in _OPENING or after in _CLOSING
        if before == " " or (not is_torn and (width_of(before) > 1 or width_of(after) > 1)):
            # A lead of blanks is no word to break behind.
            return at if line[:at].strip() else len(line)
        after = before
    return len(line)


def _written(span: Span) -> str:
    if span.code is not None:
        return "    " + span.text.replace("\n", "\n    ")
    if span.link and span.link != span.text:
        return f"{span.text} ({span.link})"
    return span.text
