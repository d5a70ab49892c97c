"""Work shows under the message that waits, not for longer than it waits, and never breaks anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bots.slack.calls import Calls
from bots.slack.status import REPEAT_EVERY, Status
from kernel.chat import ConversationId
from tests.bots.slack.fake import BOT_TOKEN, DM, RESET_BEFORE, FakeSlack, Fault, HurriedClock

CHAT = ConversationId("slack", DM)
THREAD = ConversationId("slack", DM, "1700000000.000100")
METHOD = "assistant.threads.setStatus"


@pytest.fixture
async def status(slack: FakeSlack, clock: HurriedClock) -> AsyncIterator[Status]:
    calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
    yield Status(calls, clock)
    await calls.close()


def shown(slack: FakeSlack) -> list[tuple[str, str]]:
    return [(call["thread_ts"], call["status"]) for call in slack.called(METHOD)]


async def test_it_shows_under_the_message_that_waits_and_goes_with_the_answer(status: Status, slack: FakeSlack) -> None:
    status.expect(CHAT, "1700000001.000000")

    await status.show(CHAT)
    await status.answered(CHAT)
    await status.show(CHAT)

    assert shown(slack) == [("1700000001.000000", "…"), ("1700000001.000000", "")]


async def test_an_answer_in_a_thread_clears_it_by_itself(status: Status, slack: FakeSlack) -> None:
    status.expect(THREAD, "1700000001.000000")

    await status.show(THREAD)
    await status.answered(THREAD)

    assert shown(slack) == [(THREAD.thread, "…")]


async def test_where_nobody_waits_nothing_shows(status: Status, slack: FakeSlack) -> None:
    await status.show(CHAT)
    await status.answered(CHAT)

    assert not slack.calls


async def test_it_is_repeated_before_slack_takes_it_away_and_not_sooner(
    status: Status, slack: FakeSlack, clock: HurriedClock
) -> None:
    status.expect(CHAT, "1700000001.000000")
    await status.show(CHAT)
    await status.show(CHAT)
    assert len(shown(slack)) == 1

    clock.ahead += REPEAT_EVERY + timedelta(seconds=1)
    await status.show(CHAT)

    assert len(shown(slack)) == 2


@pytest.mark.parametrize("fault", [RESET_BEFORE, Fault(status=500), Fault(status=429, error="ratelimited")])
async def test_a_failure_is_no_error(status: Status, slack: FakeSlack, fault: Fault) -> None:
    slack.faults[METHOD] = [fault]
    status.expect(CHAT, "1700000001.000000")

    await status.show(CHAT)


@pytest.mark.parametrize("code", ["missing_scope", "unknown_method", "not_allowed_token_type"])
async def test_an_app_that_may_not_show_it_stops_asking(status: Status, slack: FakeSlack, code: str) -> None:
    slack.faults[METHOD] = [Fault(error=code)]
    status.expect(CHAT, "1700000001.000000")

    await status.show(CHAT)
    status.expect(CHAT, "1700000002.000000")
    await status.show(CHAT)

    assert len(shown(slack)) == 1


async def test_where_channels_may_not_show_it_private_chats_still_do(status: Status, slack: FakeSlack) -> None:
    channel = ConversationId("slack", "C1", "1700000001.000000")
    slack.faults[METHOD] = [Fault(error="not_allowed")]
    status.expect(channel, "1700000001.000000")
    status.expect(CHAT, "1700000002.000000")

    await status.show(channel)
    await status.show(CHAT)

    assert shown(slack) == [("1700000001.000000", "…"), ("1700000002.000000", "…")]
