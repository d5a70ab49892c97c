"""Every way in which a call can fail is one of four, and none of them tells a secret."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bots.adapter import AnswerLost, Undeliverable, WrongToken
from bots.slack.calls import LIMITED, Calls, Refused
from kernel.errors import RetryLater
from tests.bots.slack.fake import BOT_TOKEN, RESET_AFTER, RESET_BEFORE, FakeSlack, Fault, HurriedClock

PRIVATE = "between us"


@pytest.fixture
async def calls(slack: FakeSlack, clock: HurriedClock) -> AsyncIterator[Calls]:
    calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
    yield calls
    await calls.close()


async def test_an_answer_comes_through(calls: Calls) -> None:
    assert (await calls.ask("auth.test", {}))["user_id"] == "UBOT"


@pytest.mark.parametrize(
    "fault",
    [
        RESET_BEFORE,
        RESET_AFTER,
        Fault(status=500, error="x"),
        Fault(status=503, body="<html>"),
        Fault(body="<html>a proxy speaks</html>"),
        Fault(error="internal_error"),
        Fault(error="fatal_error"),
        Fault(error=""),
    ],
)
async def test_without_a_clear_answer_it_may_have_happened(calls: Calls, slack: FakeSlack, fault: Fault) -> None:
    slack.faults["chat.postMessage"] = [fault]

    with pytest.raises(AnswerLost):
        await calls.ask("chat.postMessage", {"channel": "D1"})

    assert len(slack.called("chat.postMessage")) == 1


async def test_a_closed_door_means_nothing_happened(clock: HurriedClock) -> None:
    calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", "http://127.0.0.1:1/api/", clock)

    with pytest.raises(RetryLater):
        await calls.ask("chat.postMessage", {})

    await calls.close()


async def test_slack_is_left_alone_for_as_long_as_it_asks(calls: Calls, slack: FakeSlack, clock: HurriedClock) -> None:
    slack.faults["chat.postMessage"] = [Fault(status=429, error="ratelimited", retry_after="7")]

    with pytest.raises(RetryLater) as first:
        await calls.ask("chat.postMessage", {}, bucket="D1")
    with pytest.raises(RetryLater) as second:
        await calls.ask("chat.postMessage", {}, bucket="D1")
    await calls.ask("chat.postMessage", {"channel": "D2"}, bucket="D2")
    clock.ahead += timedelta(seconds=7)
    await calls.ask("chat.postMessage", {"channel": "D1"}, bucket="D1")

    assert first.value.after == timedelta(seconds=7)
    assert timedelta(seconds=6) < second.value.after <= timedelta(seconds=7)
    assert len(slack.called("chat.postMessage")) == 3


@pytest.mark.parametrize("said", ["", "soon", "nan"])
async def test_a_limit_without_a_time_still_waits(calls: Calls, slack: FakeSlack, said: str) -> None:
    slack.faults["users.info"] = [Fault(status=429, error="ratelimited", retry_after=said)]

    with pytest.raises(RetryLater) as limited:
        await calls.ask("users.info", {}, reads=True)

    assert limited.value.after in (LIMITED, timedelta(seconds=0.1))


@pytest.mark.parametrize("code", ["channel_not_found", "is_archived", "messages_tab_disabled", "user_disabled"])
async def test_what_slack_refuses_for_good_is_undeliverable(calls: Calls, slack: FakeSlack, code: str) -> None:
    slack.faults["chat.postMessage"] = [Fault(error=code)]

    with pytest.raises(Undeliverable, match=code) as refused:
        await calls.ask("chat.postMessage", {})

    assert isinstance(refused.value, Refused)


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive", "not_allowed_token_type"])
async def test_a_wrong_token_names_the_setting(calls: Calls, slack: FakeSlack, code: str) -> None:
    slack.faults["auth.test"] = [Fault(error=code)]

    with pytest.raises(WrongToken, match="SLACK_BOT_TOKEN"):
        await calls.ask("auth.test", {})


async def test_a_missing_scope_is_named(calls: Calls, slack: FakeSlack) -> None:
    slack.faults["chat.postMessage"] = [Fault(error="missing_scope", needed="chat:write")]

    with pytest.raises(WrongToken, match="SLACK_BOT_TOKEN lacks the scope chat:write"):
        await calls.ask("chat.postMessage", {})


@pytest.mark.parametrize(
    "fault", [RESET_AFTER, Fault(error="invalid_auth"), Fault(error="is_archived"), Fault(body="x")]
)
async def test_no_failure_shows_the_token(calls: Calls, slack: FakeSlack, fault: Fault) -> None:
    slack.faults["chat.postMessage"] = [fault]

    with pytest.raises(Exception) as failed:  # noqa: PT011  (which one is told above)
        await calls.ask("chat.postMessage", {"text": PRIVATE})

    shown = "".join(traceback.format_exception(failed.value)) + repr(failed.value) + repr(calls)
    assert BOT_TOKEN not in shown
    assert PRIVATE not in shown
    assert "SlackApiError" not in shown
