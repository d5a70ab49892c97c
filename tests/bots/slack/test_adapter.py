"""Slack as people meet it: what they say is stored once before Slack hears so, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots.adapter import Adapter, AnswerLost, WrongToken
from bots.slack import SlackAdapter
from bots.slack import adapter as module
from kernel.chat import Address, ButtonPress, Change, ChatChanged, ConversationId, Reply, Sender, UserMessage
from kernel.errors import RetryLater
from tests.bots.slack.fake import (
    ANN,
    APP_TOKEN,
    BOT,
    BOT_TOKEN,
    BOT_USER,
    DM,
    RESET_BEFORE,
    TEAM,
    TEAM_CHANNEL,
    FakeSlack,
    Fault,
    HurriedClock,
    Store,
    event,
    in_channel,
    pair,
    person,
    press,
    slash,
    told,
)

CHAT = ConversationId("slack", DM)


def test_it_is_an_adapter(adapter: SlackAdapter) -> None:
    as_adapter: Adapter = adapter

    assert as_adapter.platform == "slack"
    assert as_adapter.split(Reply(CHAT, "hello")) == ("hello",)


async def test_a_message_is_stored_with_who_wrote_it(slack: FakeSlack, running: SlackAdapter, store: Store) -> None:
    await slack.acked(await slack.send("events_api", event(text="hi")))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert message.text == "hi"
    assert message.sender == Sender(ANN, "Ann", "zh", "Asia/Shanghai", TEAM)
    assert message.title == ""
    assert slack.called("conversations.info") == []


@pytest.mark.parametrize("first", ["message", "mention"])
async def test_a_mention_that_comes_twice_under_two_ids_is_one_message(
    slack: FakeSlack, running: SlackAdapter, store: Store, first: str
) -> None:
    """M5, in both orders; whichever comes first, the answer goes into the thread."""
    bodies = pair() if first == "message" else pair()[::-1]

    for body in bodies:
        await slack.acked(await slack.send("events_api", body))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert message.conversation == ConversationId("slack", TEAM_CHANNEL, "1700000001.000000")
    assert (message.address, message.text, message.title) == (Address.DIRECT, "hello", "查房")
    assert store.deliveries == 2


async def test_a_message_that_slack_sends_four_times_counts_once_and_each_is_acknowledged(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    """M3."""
    for number in range(4):
        await slack.acked(await slack.send("events_api", event(), retry_attempt=number, retry_reason="timeout"))

    assert len(store.all) == 1


async def test_a_retry_that_is_the_only_delivery_counts(slack: FakeSlack, running: SlackAdapter, store: Store) -> None:
    await slack.acked(await slack.send("events_api", event(), retry_attempt=3, retry_reason="timeout"))

    assert len(store.all) == 1


async def test_nothing_is_acknowledged_while_the_store_is_away(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    store.go_away()
    envelopes = [await slack.send("events_api", event(f"1700000000.{number:06}")) for number in range(20)]
    for _ in envelopes:
        await store.arrivals.get()
    assert not slack.acks

    store.come_back()
    for envelope in envelopes:
        await slack.acked(envelope)

    assert len(store.all) == 20


async def test_edits_deletions_outsiders_and_our_own_words_are_acknowledged_and_start_nothing(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    bodies = [
        event(subtype="message_changed"),
        event(subtype="message_deleted"),
        in_channel(subtype="channel_join", user=BOT_USER),
        in_channel(user=BOT_USER, bot_id=BOT, text="an answer"),
        event(user=BOT_USER),
        in_channel(team="T2", text=f"<@{BOT_USER}> hi"),
    ]

    for body in bodies:
        await slack.acked(await slack.send("events_api", body))

    assert store.deliveries == 0


async def test_what_has_no_words_breaks_nothing(slack: FakeSlack, running: SlackAdapter, store: Store) -> None:
    """M26: a file is told of, so that somebody can say what becomes of it; the rest is silence."""
    bodies = [
        event("1700000000.000001", text="", subtype="file_share", files=[{"id": "F1", "mimetype": "audio/mp4"}]),
        event("1700000000.000002", text=""),
        event("1700000000.000003", text="", blocks=[{"type": "image"}]),
        in_channel("1700000000.000004", text="", subtype="channel_topic"),
        in_channel("1700000000.000005", text=f"<@{BOT_USER}>"),
        event(type="reaction_added", item={"type": "message"}),
        event(type="file_shared"),
    ]

    with capture_logs() as logs:
        for body in bodies:
            await slack.acked(await slack.send("events_api", body))

    assert [message.event for message in store.all] == [f"slack:{TEAM}:{DM}:1700000000.000001"]
    assert all(line["log_level"] in ("debug", "info") for line in logs)


async def test_another_bot_is_delivered_as_one_and_nobody_is_asked_who_it_is(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    await slack.acked(await slack.send("events_api", in_channel(bot_id="B2", user="UB2")))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert message.sender == Sender("B2", is_bot=True)
    assert slack.called("users.info") == []


async def test_a_channels_title_is_asked_for_once_and_follows_its_changes(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    renamed = told("channel_rename", channel={"id": TEAM_CHANNEL, "name": "内科"})
    for body in (in_channel("1700000000.000001"), renamed, in_channel("1700000000.000002")):
        await slack.acked(await slack.send("events_api", body))

    assert [message.title for message in store.all if isinstance(message, UserMessage)] == ["查房", "内科"]
    assert len(slack.called("conversations.info")) == 1


async def test_a_message_rather_goes_without_title_and_profile_than_late(
    slack: FakeSlack, running: SlackAdapter, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOKUP_PATIENCE", module.LOOKUP_PATIENCE / 100)
    slack.stuck = {"users.info", "conversations.info"}

    await slack.acked(await slack.send("events_api", pair()[0]))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert (message.title, message.sender) == ("", Sender(ANN, is_guest=True))


async def test_what_becomes_of_a_channel_is_stored_once_with_who_did_it(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    joined = told("member_joined_channel", user=BOT_USER, inviter=ANN)
    gone = told("channel_left", event_ts="1700000021.000000")
    for body in (joined, joined, gone):
        await slack.acked(await slack.send("events_api", body))

    first, last = store.all
    assert isinstance(first, ChatChanged)
    assert isinstance(last, ChatChanged)
    assert (first.change, first.title) == (Change.JOINED, "查房")
    assert first.sender == Sender(ANN, "Ann", "zh", "Asia/Shanghai", TEAM)
    assert (last.change, last.title, last.sender) == (Change.GONE, "查房", None)


async def test_an_outsider_who_adds_the_bot_is_not_named(slack: FakeSlack, running: SlackAdapter, store: Store) -> None:
    slack.users[ANN] = person(team_id="T2")

    body = told("member_joined_channel", user=BOT_USER, inviter=ANN)
    await slack.acked(await slack.send("events_api", body))

    [joined] = store.all
    assert joined.sender is None


async def test_what_cannot_be_understood_is_recorded_without_its_words_and_acknowledged(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    with capture_logs() as logs:
        await slack.acked(await slack.send("events_api", event(ts="never", text="between us")))

    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["update not understood"]
    assert "between us" not in json.dumps(logs, default=repr)
    assert store.deliveries == 0


@pytest.mark.parametrize("mark", [{"is_restricted": True}, {"is_bot": True}, {"team_id": "T2"}, {"deleted": True}])
async def test_guests_bots_and_outsiders_are_not_people_who_may_talk(
    slack: FakeSlack, running: SlackAdapter, store: Store, mark: dict[str, Any]
) -> None:
    slack.users[ANN] = person(**mark)

    await slack.acked(await slack.send("events_api", event()))
    await slack.acked(await slack.send("events_api", pair()[0]))
    await slack.acked(await slack.send("interactive", press()))
    await slack.acked(await slack.send("slash_commands", slash(channel_id=TEAM_CHANNEL)))

    assert store.deliveries == 0


async def test_who_presses_first_after_a_start_is_known_as_a_member(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    await slack.acked(await slack.send("interactive", press()))

    [pressed] = store.all
    assert isinstance(pressed, ButtonPress)
    assert pressed.sender.team == TEAM


async def test_a_profile_is_asked_for_once_and_follows_its_changes(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    await slack.acked(await slack.send("events_api", event("1700000000.000001")))
    await slack.acked(await slack.send("events_api", event(type="user_change", user=person(tz="Europe/Berlin"))))
    await slack.acked(await slack.send("events_api", event("1700000000.000002")))

    zones = [inbound.sender.zone for inbound in store.all if isinstance(inbound, UserMessage)]
    assert zones == ["Asia/Shanghai", "Europe/Berlin"]
    assert len(slack.called("users.info")) == 1


@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(error="missing_scope"), Fault(body="x"), Fault(error="no_user")]
)
async def test_without_a_profile_a_message_still_counts(
    slack: FakeSlack, running: SlackAdapter, store: Store, fault: Fault
) -> None:
    slack.faults["users.info"] = [fault] * 2

    await slack.acked(await slack.send("events_api", event()))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert message.sender == Sender(ANN, is_guest=True)


async def test_a_profile_whose_answer_is_lost_is_asked_for_again(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    slack.faults["users.info"] = [Fault(status=500)]

    await slack.acked(await slack.send("events_api", event()))

    assert [message.sender.team for message in store.all if isinstance(message, UserMessage)] == [TEAM]


async def test_a_press_is_stored_before_it_is_acknowledged(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    assert "payload" not in await slack.acked(await slack.send("interactive", press("t:done")))

    [pressed] = store.all
    assert isinstance(pressed, ButtonPress)
    assert (pressed.token, pressed.choice) == ("t", "done")


async def test_a_press_that_cannot_be_stored_is_to_be_repeated(
    slack: FakeSlack, running: SlackAdapter, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PRESS_PATIENCE", module.PRESS_PATIENCE / 100)
    await slack.acked(await slack.send("events_api", event()))
    store.go_away()

    await slack.acked(await slack.send("interactive", press()))
    await slack.until(lambda: slack.called("chat.postEphemeral"))
    store.come_back()
    await slack.acked(await slack.send("interactive", press(at="1700000010.000001")))

    [told] = slack.called("chat.postEphemeral")
    assert (told["channel"], told["user"]) == (DM, ANN)
    assert told["text"] == "没能记下这次点击，请再按一次。"
    assert len(store.all) == 2


async def test_a_command_that_cannot_be_stored_is_answered_at_once(
    slack: FakeSlack, running: SlackAdapter, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PRESS_PATIENCE", module.PRESS_PATIENCE / 100)
    store.go_away()

    ack = await slack.acked(await slack.send("slash_commands", slash()))

    assert ack["payload"] == {"response_type": "ephemeral", "text": "没能记下这条命令，请再发一次。"}


async def test_a_slash_command_of_another_workspace_in_a_shared_channel_does_nothing(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    """T16: whether the command says whose it is or only the profile does."""
    slack.users["UOUT"] = person("UOUT", team_id="T2")
    foreign = [{"team_id": "T2"}, {"user_team_id": "T2"}, {"user_id": "UOUT"}]

    for number, changed in enumerate(foreign):
        body = slash("reset", f"11.22.{number}", channel_id=TEAM_CHANNEL, **changed)
        assert "payload" not in await slack.acked(await slack.send("slash_commands", body))

    assert store.deliveries == 0


async def test_a_command_in_time_is_acknowledged_without_words(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    assert "payload" not in await slack.acked(await slack.send("slash_commands", slash("status")))

    [message] = store.all
    assert isinstance(message, UserMessage)
    assert message.text == "/status"


async def test_work_shows_under_the_message_until_its_answer(slack: FakeSlack, running: SlackAdapter) -> None:
    await slack.acked(await slack.send("events_api", event("1700000000.000100")))

    await running.typing(CHAT)
    await running.send(Reply(CHAT, "hello"), "hello", key="k", is_doubtful=False, is_last=True)
    await running.typing(CHAT)

    shown = slack.called("assistant.threads.setStatus")
    assert [(each["thread_ts"], each["status"]) for each in shown] == [
        ("1700000000.000100", "…"),
        ("1700000000.000100", ""),
    ]


async def test_work_on_a_mention_shows_in_its_thread(slack: FakeSlack, running: SlackAdapter) -> None:
    thread = ConversationId("slack", TEAM_CHANNEL, "1700000001.000000")
    await slack.acked(await slack.send("events_api", in_channel("1700000000.000100", "just talk")))
    await slack.acked(await slack.send("events_api", pair("1700000001.000000")[0]))

    await running.typing(ConversationId("slack", TEAM_CHANNEL))
    await running.typing(thread)

    shown = slack.called("assistant.threads.setStatus")
    assert [(each["channel_id"], each["thread_ts"]) for each in shown] == [(TEAM_CHANNEL, "1700000001.000000")]


async def test_slack_that_is_away_at_the_start_is_waited_for(
    slack: FakeSlack, adapter: SlackAdapter, store: Store, clock: HurriedClock
) -> None:
    slack.faults["auth.test"] = [RESET_BEFORE, Fault(status=503, body="x")]
    task = asyncio.create_task(adapter.run(store.deliver))

    await slack.until(lambda: slack.sockets)

    assert len(clock.pauses) == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("method", "setting"), [("auth.test", "SLACK_BOT_TOKEN"), ("apps.connections.open", "SLACK_APP_TOKEN")]
)
async def test_a_wrong_token_is_one_error_that_names_its_setting(
    slack: FakeSlack, adapter: SlackAdapter, store: Store, method: str, setting: str
) -> None:
    slack.faults[method] = [Fault(error="invalid_auth")]

    with pytest.raises(WrongToken, match=setting) as wrong:
        await adapter.run(store.deliver)

    assert "canary" not in str(wrong.value)


async def test_a_token_that_stops_working_later_ends_the_run(
    slack: FakeSlack, adapter: SlackAdapter, store: Store
) -> None:
    task = asyncio.create_task(adapter.run(store.deliver))
    await slack.until(lambda: slack.sockets)
    slack.faults["chat.postMessage"] = [Fault(error="token_revoked")]

    with pytest.raises(RetryLater):
        await adapter.send(Reply(CHAT, "hello"), "hello", key="k", is_doubtful=False, is_last=True)

    with pytest.raises(WrongToken, match="SLACK_BOT_TOKEN"):
        await task
    assert not slack.sockets or all(socket.closed for socket in slack.sockets)


async def test_no_token_is_shown_or_logged(slack: FakeSlack, clock: HurriedClock, store: Store) -> None:
    adapter = SlackAdapter(BOT_TOKEN, APP_TOKEN, clock=clock, random=Random(1), api_url=slack.api_url)
    slack.faults["auth.test"] = [RESET_BEFORE, Fault(body="x"), Fault(error="no_such_team")]
    with capture_logs() as logs:
        task = asyncio.create_task(adapter.run(store.deliver))
        await slack.until(lambda: slack.sockets)
        slack.faults["chat.postMessage"] = [RESET_BEFORE]
        with pytest.raises(AnswerLost) as failed:
            await adapter.send(Reply(CHAT, "hello"), "hello", key="k", is_doubtful=False, is_last=True)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert "canary" not in json.dumps(logs, default=repr) + repr(adapter) + repr(failed.value)
