"""A card for a call with a long name and long arguments: on every platform people see all of it and can decide."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from bots.slack.calls import Calls
from bots.slack.sending import Sending
from bots.slack.updates import Workspace, translate
from bots.slack.wording import parts_of
from bots.telegram import TelegramAdapter
from bots.telegram.updates import CALLBACK_LIMIT_BYTES, read_update
from kernel.chat import ButtonPress, ConversationId, Prompt
from kernel.providers.scripted import call
from kernel.tools import Approval
from tests.bots.slack.fake import BOT_TOKEN, BOT_USER, DM, TEAM, HurriedClock, fake_slack
from tests.bots.slack.fake import press as slack_press
from tests.bots.telegram.fake_api import TOKEN, serving
from tests.bots.telegram.test_updates import ME
from tests.bots.telegram.test_updates import press as telegram_press
from tests.twins.clock import JumpingClock
from tests.twins.tools import Deeds
from tests.twins.world import world

NAME = "calendar_" * 6 + "create"
TEXT = "".join(f"第{number:03}项、" for number in range(500))
NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


async def card(conversation: ConversationId) -> Prompt:
    """As the kernel makes it."""
    async with world(tools=[Deeds().tool(NAME, approval=Approval.ASK)]) as here:
        here.model.then(call(NAME, text=TEXT))
        here.platform.says("都记下来")
        shown = await here.platform.sees("需要你同意")
        return Prompt(conversation, shown.text, shown.token, shown.choices, language="zh")


async def test_in_telegram_the_buttons_of_a_long_card_fit_and_bring_back_the_decision() -> None:
    prompt = await card(ConversationId("telegram", "1001"))
    async with serving() as api:
        adapter = TelegramAdapter(TOKEN, clock=JumpingClock(), api_url=api.url)
        shown = adapter.split(prompt)
        for number, part in enumerate(shown, 1):
            await adapter.send(prompt, part, key="k", is_doubtful=False, is_last=number == len(shown))
        await adapter._calls.close()

        sent = api.of("sendMessage")

    assert all(f"第{number:03}项" in "".join(str(each["text"]) for each in sent) for number in range(500))
    markup = sent[-1]["reply_markup"]
    assert isinstance(markup, dict)
    data = [button["callback_data"] for row in markup["inline_keyboard"] for button in row]
    assert all(len(each.encode()) <= CALLBACK_LIMIT_BYTES for each in data)
    assert not any(NAME[:8] in each for each in data)
    presses = [read_update(telegram_press(data=each), ME, NOW) for each in data]
    assert [each.choice for each in presses if isinstance(each, ButtonPress) and each.token == prompt.token] == [
        "allow",
        "deny",
    ]


async def test_in_slack_too() -> None:
    prompt = await card(ConversationId("slack", DM))
    clock = HurriedClock()
    async with fake_slack() as slack:
        calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
        sending = Sending(calls, clock, lambda _: None)
        shown = parts_of(prompt.text)
        for number, part in enumerate(shown, 1):
            await sending.send(prompt, part, key=f"k{number}", is_doubtful=False, is_last=number == len(shown))
        await calls.close()
        posts: list[dict[str, Any]] = slack.posts

    assert all(f"第{number:03}项" in json.dumps(posts, ensure_ascii=False) for number in range(500))
    values = [
        button["value"] for block in posts[-1]["blocks"] if block["type"] == "actions" for button in block["elements"]
    ]
    assert all(len(each) <= 2000 for each in values)
    here = Workspace(TEAM, BOT_USER, "BBOT")
    presses = [translate(slack_press(each), here, NOW) for each in values]
    assert [each.choice for each in presses if isinstance(each, ButtonPress) and each.token == prompt.token] == [
        "allow",
        "deny",
    ]
