"""What people do in Slack becomes our words; what is nobody's word starts nothing; nothing crashes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from bots.slack.updates import (
    Ignored,
    PersonChanged,
    Unreadable,
    Update,
    Workspace,
    from_press,
    translate,
)
from kernel.chat import ButtonPress, ConversationId, MessageRef, UserMessage
from tests.bots.slack.fake import ANN, BOT_USER, DM, TEAM, event, person, press, slash

HERE = Workspace(TEAM, BOT_USER, "BBOT")
NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


def read(body: object) -> Update:
    return translate(body, HERE, NOW)


def message(body: object) -> UserMessage:
    update = read(body)
    assert isinstance(update, UserMessage), update
    return update


def test_a_private_message_carries_who_where_when_and_what() -> None:
    update = message(event("1700000000.000100", "每天早上9点提醒我查房"))

    assert update.event == "slack:T1:DANN:1700000000.000100"
    assert update.conversation == ConversationId("slack", DM)
    assert update.sender.id == ANN
    assert update.order == 1_700_000_000_000_100
    assert update.at == datetime(2023, 11, 14, 22, 13, 20, 100, tzinfo=UTC)
    assert update.text == "每天早上9点提醒我查房"
    assert update.is_private
    assert update.ref == MessageRef(update.conversation, "1700000000.000100")


def test_message_mention_and_redelivery_of_one_text_are_one_event() -> None:
    first = message(event())
    mention = message(event(type="app_mention", channel_type=None))
    again = message(event() | {"event_id": "Ev-other"})

    assert first.event == mention.event == again.event


def test_order_follows_the_platforms_time_to_the_microsecond() -> None:
    earlier, later = message(event("1700000000.000100")), message(event("1700000000.000101"))

    assert earlier.order + 1 == later.order


def test_a_reply_in_a_thread_is_another_conversation_and_its_root_is_not() -> None:
    reply = message(event("1700000001.000000", thread_ts="1700000000.000100"))
    root = message(event("1700000000.000100", thread_ts="1700000000.000100"))

    assert reply.conversation.thread == "1700000000.000100"
    assert root.conversation.thread == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"subtype": "message_changed", "message": {"user": ANN, "text": "/new"}},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message", "user": None},
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"hidden": True},
        {"bot_id": "B2"},
        {"bot_profile": {"id": "B2"}},
        {"user": BOT_USER},
        {"user": "USLACKBOT"},
        {"channel": "C1", "channel_type": "channel"},
        {"channel": "G1", "channel_type": "mpim"},
        {"channel": "C1", "channel_type": None, "type": "app_mention"},
        {"team": "T2"},
        {"user_team": "T2"},
        {"source_team": "T2"},
        {"text": "   "},
        {"text": f"<@{BOT_USER}>"},
        {"type": "reaction_added"},
    ],
)
def test_what_nobody_said_to_us_just_now_starts_nothing(changed: dict[str, Any]) -> None:
    assert isinstance(read(event(**changed)), Ignored)


@pytest.mark.parametrize(
    "changed",
    [{"user": None}, {"user": "ann"}, {"channel": "D 1"}, {"ts": None}, {"ts": "yesterday"}, {"ts": "1"}, {"ts": 17.5}],
)
def test_a_message_without_person_place_or_time_is_unreadable(changed: dict[str, Any]) -> None:
    assert isinstance(read(event(**changed)), Unreadable)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("&lt;!channel&gt;", "<!channel>"),
        (f"<@{BOT_USER}> 你好", "你好"),
        (f"<@{BOT_USER}|zclaw>, hi", "hi"),
        ("ask <@UBOB> in <#C1|general> <!here>", "ask @UBOB in #general @here"),
        ("<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"),
        ("<https://evil.example|my bank>", "my bank (https://evil.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("half a pair \ud83d", "half a pair \ufffd"),
    ],
)
def test_slacks_encoding_is_read_back(said: str, heard: str) -> None:
    assert message(event(text=said)).text == heard


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("!stop", "/stop"),
        ("！stop", "/stop"),
        ("!tz Asia/Shanghai", "/tz Asia/Shanghai"),
        (f"<@{BOT_USER}> !status", "/status"),
        ("!important: call me", "!important: call me"),
        ("! stop", "! stop"),
        ("wait!stop", "wait!stop"),
        ("/new", "/new"),
    ],
)
def test_a_command_is_spelled_with_an_exclamation_mark_where_slashes_do_not_work(said: str, heard: str) -> None:
    assert message(event(text=said)).text == heard


@pytest.mark.parametrize(
    ("typed", "heard"),
    [
        ("status", "/status"),
        ("", "/help"),
        ("/stop", "/stop"),
        ("tz Asia/Shanghai", "/tz Asia/Shanghai"),
        ("每天9点提醒我查房", "每天9点提醒我查房"),
    ],
)
def test_what_follows_the_slash_command_is_a_command_or_ordinary_text(typed: str, heard: str) -> None:
    update = message(slash(typed))

    assert update.text == heard
    assert update.at == NOW
    assert update.ref is None


def test_two_slash_commands_are_two_events() -> None:
    assert message(slash(trigger="1.1.a")).event != message(slash(trigger="1.1.b")).event


@pytest.mark.parametrize("changed", [{"channel_id": "C1"}, {"team_id": "T2"}])
def test_a_slash_command_from_elsewhere_starts_nothing(changed: dict[str, Any]) -> None:
    assert isinstance(read(slash(**changed)), Ignored)


def test_forwarded_text_is_quoted_and_never_the_persons_own_word() -> None:
    shared = [{"is_share": True, "text": "/stop &amp; pay"}, {"text": "a preview of a link"}, "junk"]

    update = message(event(text="see below", attachments=shared))

    assert update.text == "see below"
    assert update.quoted == "/stop & pay"


def test_a_file_without_words_is_a_message_without_words() -> None:
    update = message(event(text="", subtype="file_share", files=[{"id": "F1"}]))

    assert update.text == ""


def test_a_press_carries_token_choice_place_and_a_way_to_answer_it() -> None:
    update = read(press("t0k-en_:done"))

    assert isinstance(update, ButtonPress)
    assert (update.token, update.choice) == ("t0k-en_", "done")
    assert update.conversation == ConversationId("slack", DM)
    assert update.ref == MessageRef(update.conversation, "1700000005.000000")
    assert update.order == 1_700_000_009_000_001
    assert from_press(update.press) == update.conversation


def test_a_press_in_a_thread_is_answered_in_the_thread() -> None:
    container = {"channel_id": DM, "message_ts": "1700000005.000000", "thread_ts": "1700000001.000000"}

    update = read(press(container=container))

    assert isinstance(update, ButtonPress)
    assert from_press(update.press) == ConversationId("slack", DM, "1700000001.000000")


def test_each_press_has_an_event_and_an_answer_of_its_own() -> None:
    first, second = read(press(at="1700000009.000001")), read(press(at="1700000009.000002"))

    assert isinstance(first, ButtonPress)
    assert isinstance(second, ButtonPress)
    assert first.event != second.event
    assert first.press != second.press
    assert read(press(at="1700000009.000001")) == first


@pytest.mark.parametrize("junk", ["", "D1", ":x:y", "a:b", "a:b:c:d"])
def test_a_press_id_that_is_not_ours_has_no_place(junk: str) -> None:
    assert from_press(junk) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"actions": [{"action_id": "theirs", "value": "a:b", "action_ts": "1700000009.000001"}]},
        {"actions": []},
        {"channel": {"id": "C1"}},
        {"user": {"id": ANN, "team_id": "T2"}},
    ],
)
def test_a_press_that_is_not_for_us_starts_nothing(changed: dict[str, Any]) -> None:
    assert isinstance(read(press(**changed)), Ignored)


@pytest.mark.parametrize("value", ["", "token", ":done", "token:", "to ken:done", "tök:done"])
def test_a_press_without_token_and_choice_is_unreadable(value: str) -> None:
    assert isinstance(read(press(value)), Unreadable)


def test_a_changed_profile_is_told() -> None:
    update = read(event(type="user_change", user=person(tz="Europe/Berlin")))

    assert update == PersonChanged(ANN, person(tz="Europe/Berlin"))


JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e300, "", " ", "x" * 5_000, "\ud800", "\x00", "1700000000.000100", "T2", "<@", "!new"),
    *([], {}, [[]], [None], {"id": 7}, {"a": {"b": []}}, [{"value": 1}], "9" * 40 + ".000001", "message_changed"),
)


def spoil(value: Any, random: Random) -> Any:
    """`value` with something in it replaced, removed or nested wrongly."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        if random.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return value | {name: spoil(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.7:
        return [spoil(value[0], random), *value[1:]]
    return random.choice(JUNK)


def test_ten_thousand_spoilt_payloads_crash_nothing() -> None:
    random = Random(20261130)
    shapes = [
        event(attachments=[{"is_share": True, "text": "x"}], files=[{"id": "F"}], thread_ts="1700000000.000000"),
        event(type="user_change", user=person()),
        event(type="app_mention", subtype="file_share"),
        press(container={"channel_id": DM, "message_ts": "1700000005.000000", "thread_ts": "1700000001.000000"}),
        slash(),
        {"type": "view_submission", "view": {}},
    ]

    kinds: dict[str, int] = {}
    for number in range(10_000):
        body: Any = shapes[number % len(shapes)]
        for _ in range(random.randint(1, 4)):
            body = spoil(body, random)
        update = read(body)
        kinds[type(update).__name__] = kinds.get(type(update).__name__, 0) + 1
        if isinstance(update, UserMessage | ButtonPress):
            assert (update.at - datetime(1970, 1, 1, tzinfo=UTC)) < timedelta(days=366 * 400)
            json.dumps(update.event + update.sender.id).encode()
            if isinstance(update, UserMessage):
                (update.text + update.quoted).encode()

    assert {"UserMessage", "ButtonPress", "Ignored", "Unreadable", "PersonChanged"} <= set(kinds)
