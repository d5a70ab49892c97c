"""Three places where people talk: the real adapters, each over the project's fake of its platform."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import Random
from typing import Any, Protocol

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import to_plain_text
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.plain_text import PlainTextOutput
from structlog.testing import capture_logs

from bots.adapter import Adapter
from bots.console import ConsoleAdapter, place
from bots.slack import SlackAdapter
from bots.telegram import TelegramAdapter
from kernel.chat import Sender
from kernel.ports import Clock
from kernel.texts import say
from tests.bots.slack import fake as slack_fake
from tests.bots.slack.fake import FakeSlack, fake_slack
from tests.bots.telegram import fake_api
from tests.bots.telegram.fake_api import FakeApi
from tests.bots.telegram.test_updates import U1, message, press

NAME = "小王"
_BUTTON = re.compile(r"\[(\d+)\] (\S.*?)(?=   \[|$)")


class Place(Protocol):
    """One person's private chat with the bot, from the person's side and from the platform's."""

    @property
    def adapter(self) -> Adapter:
        """The real one."""

    @property
    def draft_columns(self) -> int:
        """How long a text must be to be shown while it is written."""

    async def says(self, text: str) -> None:
        """The person writes."""

    async def presses(self, label: str) -> None:
        """The person presses the newest button of that label."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what the platform was given."""

    def messages(self) -> list[str]:
        """What the chat shows of the bot now, oldest first, without drafts; on paper, line by line."""

    def buttons(self) -> list[str]:
        """What can be pressed now."""

    def drafts(self) -> list[str]:
        """Everything that was shown while it was written, oldest first."""

    def received(self) -> str:
        """Every word that the platform was ever given."""


Opening = Callable[[Clock], AbstractAsyncContextManager[Place]]


def _words(value: object) -> Iterator[str]:
    """Every text inside a JSON value."""
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _words(each)
        case list():
            for each in value:
                yield from _words(each)


class Telegram:
    """See `Place`."""

    draft_columns = 1

    def __init__(self, api: FakeApi, clock: Clock) -> None:
        self.adapter = TelegramAdapter(fake_api.TOKEN, clock=clock, api_url=api.url)
        self._api = api
        self._clock = clock
        self._number = 0

    async def says(self, text: str) -> None:
        self._number += 1
        date = int(self._clock.now().timestamp())
        told = message(text=text, message_id=self._number, date=date, **{"from": self._person})
        await self._api.adds(told | {"update_id": self._number})

    async def presses(self, label: str) -> None:
        where, data = next(
            (n, d) for n, (_, row) in reversed(self._shown().items()) for name, d in row if name == label
        )
        self._number += 1
        shown = {"message_id": where, "date": 1, "chat": {"id": U1["id"], "type": "private"}, "text": "card"}
        pressed = press(id=f"p{self._number}", data=data, message=shown, **{"from": self._person})
        await self._api.adds(pressed | {"update_id": self._number})

    async def until(self, holds: Callable[[], bool]) -> None:
        await self._api.until(holds)

    def messages(self) -> list[str]:
        return [text for text, _ in self._shown().values()]

    def buttons(self) -> list[str]:
        return [name for _, row in self._shown().values() for name, _ in row]

    def drafts(self) -> list[str]:
        return [str(each["text"]) for each in self._api.of("sendMessageDraft") if each.get("text")]

    def received(self) -> str:
        return "\n".join(word for each in self._api.calls for word in _words(each.params))

    @property
    def _person(self) -> dict[str, Any]:
        return {**U1, "first_name": NAME, "last_name": ""}

    def _shown(self) -> dict[int, tuple[str, list[tuple[str, str]]]]:
        """By message id: its text, and the label and data of its buttons. The fake numbers sends and edits alike."""
        shown: dict[int, tuple[str, list[tuple[str, str]]]] = {}
        said = [each for each in self._api.calls if each.method in ("sendMessage", "editMessageText")]
        for number, each in enumerate(said, start=101):
            rows: Any = each.params.get("reply_markup") or {"inline_keyboard": []}
            buttons = [(b["text"], b["callback_data"]) for row in rows["inline_keyboard"] for b in row]
            where = each.params.get("message_id", number)
            assert isinstance(where, int)
            shown[where] = str(each.params["text"]), buttons
        return shown


class Slack:
    """See `Place`."""

    draft_columns = 80

    def __init__(self, slack: FakeSlack, clock: Clock) -> None:
        tokens = slack_fake.BOT_TOKEN, slack_fake.APP_TOKEN
        self.adapter = SlackAdapter(*tokens, clock=clock, random=Random(7), api_url=slack.api_url)
        self._slack = slack
        self._number = 0
        slack.users[slack_fake.ANN]["profile"]["display_name"] = NAME

    async def says(self, text: str) -> None:
        await self._slack.until(lambda: bool(self._slack.sockets))
        await self._slack.send("events_api", slack_fake.event(self._ts(), text))

    async def presses(self, label: str) -> None:
        post, button = next((p, b) for p in reversed(self._posts()) for b in _elements(p) if b["text"]["text"] == label)
        container = {"type": "message", "channel_id": slack_fake.DM, "message_ts": post["ts"]}
        await self._slack.send("interactive", slack_fake.press(button["value"], self._ts(), container=container))

    async def until(self, holds: Callable[[], bool]) -> None:
        await self._slack.until(holds)

    def messages(self) -> list[str]:
        return [post["blocks"][0]["text"] for post in self._posts()]

    def buttons(self) -> list[str]:
        return [element["text"]["text"] for post in self._posts() for element in _elements(post)]

    def drafts(self) -> list[str]:
        said = self._slack.called("chat.postMessage") + self._slack.called("chat.update")
        return [each["blocks"][0]["text"] for each in said if _is_draft(each)]

    def received(self) -> str:
        return "\n".join(word for _, arguments in self._slack.calls for word in _words(arguments))

    def _posts(self) -> list[dict[str, Any]]:
        return [post for post in self._slack.posts if not _is_draft(post)]

    def _ts(self) -> str:
        self._number += 1
        return f"17960004{self._number:02}.000100"


def _is_draft(post: dict[str, Any]) -> bool:
    return bool(post.get("metadata", {}).get("event_type") == "zclaw_draft")


def _elements(post: dict[str, Any]) -> list[dict[str, Any]]:
    return [element for block in post["blocks"] if block["type"] == "actions" for element in block["elements"]]


WIDE = 1000
"""Columns of the terminal."""


class Paper(PlainTextOutput):
    """A terminal's output. The renderer writes signs; what is printed comes in whole lines."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(io.StringIO())
        self.written: list[str] = []
        self.printed = ""
        self._changed = changed

    def get_size(self) -> Size:
        """So wide that each message stands in a line."""
        return Size(rows=40, columns=WIDE)

    def write(self, data: str) -> None:
        super().write(data)
        self.written.append(data)
        if data.strip() and data.endswith("\n"):
            self.printed += data
            self._changed()


class Terminal:
    """See `Place`."""

    draft_columns = 1

    def __init__(self, keys: PipeInput, paper: Paper, changed: asyncio.Event, clock: Clock) -> None:
        self._session: PromptSession[str] = PromptSession()
        self._session.app.after_render += self._read_toolbar
        self._keys = keys
        self._paper = paper
        self._changed = changed
        self._drafts: list[str] = []
        self.adapter = ConsoleAdapter(
            clock=clock,
            process="p1",
            sender=Sender("me", NAME),
            language="zh",
            session=self._session,
            conversation=place(1),
            deserted=list,
        )

    async def says(self, text: str) -> None:
        await self.until(lambda: bool(self._paper.printed))
        self._keys.send_text(f"{text}\r")

    async def presses(self, label: str) -> None:
        number = next(n for n, name in reversed(_BUTTON.findall(self._lines()[-1])) if name == label)
        self._keys.send_text(f"{number}\r")

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    def messages(self) -> list[str]:
        welcome = say("chat.welcome", "zh").splitlines()
        return [line for line in self._lines() if line not in welcome and not _BUTTON.match(line)]

    def buttons(self) -> list[str]:
        return [name for _, name in _BUTTON.findall("".join(self._lines()[-1:]))]

    def drafts(self) -> list[str]:
        return self._drafts

    def received(self) -> str:
        return "\n".join(("".join(self._paper.written), *self._drafts))

    def _lines(self) -> list[str]:
        return [line for line in self._paper.printed.splitlines() if line.strip()]

    def _read_toolbar(self, _: object) -> None:
        shown = self._session.bottom_toolbar
        if shown is not None:
            self._drafts.append(to_plain_text(shown))
            self._changed.set()


@asynccontextmanager
async def telegram(clock: Clock) -> AsyncIterator[Place]:
    async with fake_api.serving() as api:
        yield Telegram(api, clock)


@asynccontextmanager
async def slack(clock: Clock) -> AsyncIterator[Place]:
    async with fake_slack() as fake:
        yield Slack(fake, clock)


@asynccontextmanager
async def terminal(clock: Clock) -> AsyncIterator[Place]:
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        # What is printed while no line is being read is written by a thread of the library's.
        loop.call_soon_threadsafe(changed.set)

    paper = Paper(wake)
    # A real terminal's process logs into a file.
    with (
        pytest.MonkeyPatch.context() as wide,
        capture_logs(),
        create_pipe_input() as keys,
        create_app_session(input=keys, output=paper),
    ):
        wide.setenv("COLUMNS", str(WIDE))
        yield Terminal(keys, paper, changed, clock)
