"""What people do on the platforms, in private, in groups and in threads; some of it is for the bot, some is not.

A scene is one chat: each text that is for the bot is to be answered in its place, once. Texts numbered 9 are nobody's
word to the bot. Between two texts of a chat lie seconds. Every update is told once or more.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.bots.slack.fake import BOT_USER
from tests.bots.telegram.fake_api import BOT
from tests.chaos.repeating import Json, Platform, place
from tests.chaos.slacks import Slack
from tests.chaos.telegrams import Telegram

COPIES = 4
"""An update is told once, and at most so many times more."""
SLACK_RETRIES_S = (3.0, 60.0, 300.0, 300.0)
TELEGRAM_REPEATS_S = 30.0
PAIR_S = 0.25
"""Between the two events of one mention."""
OTHERS = 100_000
"""From here on they are people who never speak to the bot."""


@dataclass
class Stage:
    """Both platforms, and what must come of all that is said; the copies come `hurry` times as late."""

    telegram: Telegram
    slack: Slack
    dice: random.Random
    apart_s: float
    """Between two texts of one chat."""
    hurry: float
    wanted: dict[Platform, set[tuple[str, str]]] = field(default_factory=dict)
    updates: int = 0
    copies: int = 0
    unaddressed: int = 0

    async def tell(self, platform: Platform, update: Json) -> None:
        """It happens; returns when all its copies have been told too."""
        self.updates += 1
        platform.give(update)
        copies = self.dice.randint(0, COPIES)
        self.copies += copies
        if platform is self.slack:
            delays = [each * self.hurry for each in SLACK_RETRIES_S[:copies]]
        else:
            delays = sorted(self.dice.uniform(0, TELEGRAM_REPEATS_S) * self.hurry for _ in range(copies))
        told = 0.0
        for attempt, delay in enumerate(delays, 1):
            await asyncio.sleep(delay - told)
            told = delay
            platform.repeat(update, attempt)

    async def aside(self, platform: Platform, update: Json) -> None:
        """It happens, and is nothing for the bot."""
        self.unaddressed += 1
        await self.tell(platform, update)

    def expect(self, platform: Platform, where: str, number: int) -> None:
        """Text `number` is to be answered there."""
        self.wanted.setdefault(platform, set()).add((where, f"read {number}"))

    def missing(self) -> int:
        """How many answers are still to come."""
        return sum(len(wanted - set(platform.shown())) for platform, wanted in self.wanted.items())


Scene = Callable[[Stage, int, int], Awaitable[None]]
"""Of a stage, the number of the chat, and how many texts it has at most."""


def text(number: int, chat: int) -> str:
    """As the workers of these runs count it."""
    return f"text {number} of chat {chat}"


async def telegram_private(stage: Stage, chat: int, most: int) -> None:
    """Two texts to the bot alone."""
    telegram = stage.telegram
    async with asyncio.TaskGroup() as tasks:
        for number in range(1, min(most, 2) + 1):
            if number > 1:
                await asyncio.sleep(stage.apart_s)
            stage.expect(telegram, telegram.home(chat), number)
            tasks.create_task(stage.tell(telegram, telegram.said(chat, text(number, chat))))


def _group(chat: int) -> Json:
    return {"id": -1_000_000 - chat, "type": "supergroup", "title": "office"}


async def telegram_mention(stage: Stage, chat: int, most: int) -> None:
    """In a group, by name; before it somebody talks to others, behind it somebody edits."""
    telegram, group = stage.telegram, _group(chat)
    name = f"@{BOT['username']}"
    named = {"entities": [{"type": "mention", "offset": 0, "length": len(name)}]}
    stage.expect(telegram, str(group["id"]), 1)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(stage.aside(telegram, telegram.message(chat, group, text(9, chat))))
        said = telegram.message(chat, group, f"{name} {text(1, chat)}", **named)
        tasks.create_task(stage.tell(telegram, said))
        edited = telegram.message(chat, group, f"{name} {text(9, chat)}", **named)
        edited["edited_message"] = edited.pop("message") | {"edit_date": said["message"]["date"]}
        tasks.create_task(stage.aside(telegram, edited))


async def telegram_reply(stage: Stage, chat: int, most: int) -> None:
    """In a group, as a reply to the bot; and one to somebody else."""
    telegram, group = stage.telegram, _group(chat)
    stage.expect(telegram, str(group["id"]), 1)
    someone = {"id": 7, "is_bot": False, "first_name": "B"}
    answered = {"message_id": 1, "date": 1, "chat": group, "text": "good morning"}
    async with asyncio.TaskGroup() as tasks:
        for number, whom in ((9, someone), (1, BOT)):
            reply = {"reply_to_message": answered | {"from": whom}}
            said = telegram.message(chat, group, text(number, chat), **reply)
            tasks.create_task(stage.aside(telegram, said) if number == 9 else stage.tell(telegram, said))


async def telegram_topic(stage: Stage, chat: int, most: int) -> None:
    """In a topic of a forum, by a link to the bot; in another topic people talk to each other."""
    telegram, group = stage.telegram, _group(chat) | {"is_forum": True}
    named = {"entities": [{"type": "text_mention", "offset": 0, "length": 5, "user": BOT}]}
    topic = {"is_topic_message": True, "message_thread_id": 5}
    stage.expect(telegram, place(group["id"], 5), 1)
    async with asyncio.TaskGroup() as tasks:
        aside = telegram.message(chat, group, text(9, chat), is_topic_message=True, message_thread_id=6)
        tasks.create_task(stage.aside(telegram, aside))
        said = telegram.message(chat, group, f"zclaw {text(1, chat)}", **named, **topic)
        tasks.create_task(stage.tell(telegram, said))


async def slack_private(stage: Stage, chat: int, most: int) -> None:
    """Two texts to the bot alone; the first is edited between them."""
    slack = stage.slack
    async with asyncio.TaskGroup() as tasks:
        for number in range(1, min(most, 2) + 1):
            if number > 1:
                edited = slack.message(chat, slack.home(chat), "", subtype="message_changed", hidden=True)
                edited["event"]["message"] = edited["event"] | {"text": text(9, chat)}
                tasks.create_task(stage.aside(slack, edited))
                await asyncio.sleep(stage.apart_s)
            stage.expect(slack, slack.home(chat), number)
            tasks.create_task(stage.tell(slack, slack.said(chat, text(number, chat))))


def _pair(slack: Slack, chat: int, said: str, **more: object) -> tuple[Json, Json]:
    """A mention in a channel: Slack tells it as two events with ids of their own."""
    message = slack.message(chat, f"C{chat}", f"<@{BOT_USER}> {said}", channel_type="channel", **more)
    mention = message | {"event_id": f"EvMention{message['event']['ts']}"}
    mention["event"] = {name: value for name, value in message["event"].items() if name != "channel_type"}
    mention["event"]["type"] = "app_mention"
    return message, mention


async def _tell_pair(stage: Stage, first: Json, second: Json) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(stage.tell(stage.slack, first))
        await asyncio.sleep(PAIR_S)
        tasks.create_task(stage.tell(stage.slack, second))


async def slack_mention(stage: Stage, chat: int, most: int) -> None:
    """In a channel, by name, either event first; then in the thread, without the name, and by somebody else."""
    slack = stage.slack
    message, mention = _pair(slack, chat, text(1, chat))
    first, second = (message, mention) if stage.dice.random() < 0.5 else (mention, message)
    thread = str(message["event"]["ts"])
    stage.expect(slack, place(f"C{chat}", thread), 1)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_tell_pair(stage, first, second))
        aside = slack.message(chat, f"C{chat}", text(9, chat), channel_type="channel")
        tasks.create_task(stage.aside(slack, aside))
        if most > 1:
            await asyncio.sleep(stage.apart_s)
            inside = {"channel_type": "channel", "thread_ts": thread}
            other = slack.message(OTHERS + chat, f"C{chat}", text(9, chat), **inside)
            tasks.create_task(stage.aside(slack, other))
            stage.expect(slack, place(f"C{chat}", thread), 2)
            tasks.create_task(stage.tell(slack, slack.message(chat, f"C{chat}", text(2, chat), **inside)))


async def slack_thread(stage: Stage, chat: int, most: int) -> None:
    """In a thread of other people, by name; before it the same person talks to them."""
    slack = stage.slack
    root = slack.message(OTHERS + chat, f"C{chat}", text(9, chat), channel_type="channel")
    thread = str(root["event"]["ts"])
    stage.expect(slack, place(f"C{chat}", thread), 1)
    # Told again after the question below, they are no questions either.
    inside = slack.message(chat, f"C{chat}", text(9, chat), channel_type="channel", thread_ts=thread)
    message, mention = _pair(slack, chat, text(1, chat), thread_ts=thread)
    first, second = (message, mention) if stage.dice.random() < 0.5 else (mention, message)
    async with asyncio.TaskGroup() as tasks:
        for each in (root, inside):
            tasks.create_task(stage.aside(slack, each))
        tasks.create_task(_tell_pair(stage, first, second))


SCENES: tuple[tuple[Scene, int], ...] = (
    (telegram_private, 2),
    (slack_mention, 2),
    (telegram_mention, 1),
    (slack_private, 2),
    (telegram_reply, 1),
    (slack_thread, 1),
    (telegram_topic, 1),
    (slack_mention, 2),
)
"""Each with how many answers it has."""
