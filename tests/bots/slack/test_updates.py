"""What people do in Slack becomes our words; what is nobody's word starts nothing; nothing crashes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, get_args

import pytest

from bots.slack.updates import (
    ChannelRenamed,
    Ignored,
    PersonChanged,
    Unreadable,
    Update,
    Workspace,
    from_press,
    translate,
)
from kernel.chat import (
    Address,
    ButtonPress,
    Change,
    ChatChanged,
    ConversationId,
    MessageRef,
    Sender,
    UserMessage,
)
from tests.bots.slack.fake import (
    ANN,
    BOT,
    BOT_USER,
    DM,
    ROOT,
    TEAM,
    TEAM_CHANNEL,
    event,
    in_channel,
    pair,
    person,
    press,
    slash,
    told,
)

HERE = Workspace(TEAM, BOT_USER, BOT)
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
    assert update.address is Address.DIRECT
    assert update.ref == MessageRef(update.conversation, "1700000000.000100")


def test_message_mention_and_redelivery_of_one_text_are_one_event() -> None:
    first = message(event())
    mention = message(event(type="app_mention", channel_type=None))
    again = message(event() | {"event_id": "Ev-other"})

    assert first.event == mention.event == again.event


@pytest.mark.parametrize("changed", [{}, {"thread_ts": ROOT}, {"channel": "G1"}, {"files": [{"id": "F1"}]}])
def test_message_and_mention_of_one_text_mean_the_same(changed: dict[str, Any]) -> None:
    """M5: whichever comes first, and only one of them counts."""
    first, second = (message(body) for body in pair(**changed))

    assert first == second


def where(update: UserMessage) -> tuple[str, str, Address]:
    assert not update.is_private
    return update.conversation.chat, update.conversation.thread, update.address


def test_a_mention_at_the_top_of_a_channel_opens_a_thread_and_what_follows_there_is_the_same_conversation() -> None:
    top = message(in_channel("1700000001.000000", f"<@{BOT_USER}> what is new?"))
    follow_up = message(in_channel("1700000002.000000", "and since?", thread_ts="1700000001.000000"))
    mention = message(in_channel("1700000003.000000", f"<@{BOT_USER}> so?", thread_ts="1700000001.000000"))

    assert where(top) == (TEAM_CHANNEL, "1700000001.000000", Address.DIRECT)
    assert where(follow_up) == (TEAM_CHANNEL, "1700000001.000000", Address.THREAD)
    assert where(mention) == (TEAM_CHANNEL, "1700000001.000000", Address.DIRECT)
    assert top.ref == MessageRef(top.conversation, "1700000001.000000")


@pytest.mark.parametrize(
    ("changed", "thread", "address"),
    [
        ({}, "", Address.NONE),
        ({"text": "ask <@UBOB>"}, "", Address.NONE),
        ({"text": f"&lt;@{BOT_USER}&gt; is how you mention it"}, "", Address.NONE),
        ({"text": "@zclaw hi"}, "", Address.NONE),
        ({"text": "!stop"}, "", Address.NONE),
        ({"text": "!stop", "thread_ts": ROOT}, ROOT, Address.THREAD),
        ({"text": f"<@{BOT_USER}> !stop", "thread_ts": ROOT}, ROOT, Address.DIRECT),
        ({"text": f"can you, <@{BOT_USER}|zclaw>?"}, "1700000001.000000", Address.DIRECT),
        ({"text": f"<@{BOT_USER}>", "files": [{"id": "F1"}]}, "1700000001.000000", Address.DIRECT),
        ({"text": f"<@{BOT_USER}> hi", "thread_ts": "1700000001.000000"}, "1700000001.000000", Address.DIRECT),
        ({"thread_ts": ROOT, "subtype": "thread_broadcast"}, ROOT, Address.THREAD),
        ({"channel": "G1", "channel_type": "group"}, "", Address.NONE),
        ({"channel": "C2", "channel_type": "mpim"}, "", Address.NONE),
        ({"channel": "G1", "channel_type": "mpim", "thread_ts": ROOT}, ROOT, Address.THREAD),
    ],
)
def test_in_channels_only_words_for_the_bot_are_addressed_to_it(
    changed: dict[str, Any], thread: str, address: Address
) -> None:
    assert where(message(in_channel(**changed)))[1:] == (thread, address)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (f"<@{BOT_USER}> hi", "hi"),
        (f"<@{BOT_USER}|zclaw>：<@{BOT_USER}> hi", "hi"),
        (f"  <@{BOT_USER}>\n\nhi", "hi"),
        (f"hi, <@{BOT_USER}>", "hi"),
        (f"查一下天气 <@{BOT_USER}> ", "查一下天气"),
        (f"<@{BOT_USER}> ask <@UBOB>", "ask @UBOB"),
        (f"ask <@{BOT_USER}> about <#C2|trips>", f"ask @{BOT_USER} about #trips"),
        (f"<@{BOT_USER}> !status", "/status"),
        (f"！status <@{BOT_USER}>", "/status"),
    ],
)
def test_the_bots_own_mention_is_no_word_at_either_end(said: str, heard: str) -> None:
    assert message(in_channel(text=said)).text == heard


def test_a_long_row_of_mentions_or_blanks_is_read_quickly() -> None:
    for text in (
        f"<@{BOT_USER}>" * 20_000 + "x",
        f"<@{BOT_USER}> " * 20_000 + "<@",
        " " * 400_000 + "<@",
        "<@" * 200_000,
    ):
        read(in_channel(text=text))


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
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"hidden": True},
        {"edited": {"user": ANN, "ts": "1700000001.000000"}},
        {"type": "app_mention", "text": f"<@{BOT_USER}> /reset", "edited": {"user": ANN}},
        {"user": BOT_USER},
        {"user": BOT_USER, "bot_id": BOT},
        {"user": None, "bot_id": BOT, "subtype": "bot_message"},
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
    [
        {"user": None},
        {"user": "ann"},
        {"user": None, "subtype": "bot_message"},
        {"bot_id": "7"},
        {"channel": "D 1"},
        {"ts": None},
        {"ts": "yesterday"},
        {"ts": "1"},
        {"ts": 17.5},
    ],
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


def test_a_slash_command_in_a_channel_is_for_the_bot_and_no_private_matter() -> None:
    update = message(slash("每天9点提醒我们开会", channel_id=TEAM_CHANNEL))

    assert where(update) == (TEAM_CHANNEL, "", Address.DIRECT)
    assert message(slash("status")).is_private


def test_two_slash_commands_are_two_events() -> None:
    assert message(slash(trigger="1.1.a")).event != message(slash(trigger="1.1.b")).event


@pytest.mark.parametrize("changed", [{"team_id": "T2"}, {"user_team_id": "T2"}])
@pytest.mark.parametrize("channel", [DM, TEAM_CHANNEL])
def test_a_slash_command_of_another_workspace_starts_nothing(channel: str, changed: dict[str, Any]) -> None:
    """T16."""
    assert isinstance(read(slash(**{"channel_id": channel} | changed)), Ignored)


@pytest.mark.parametrize(
    ("changed", "sender"),
    [
        ({"bot_id": "B2"}, Sender("B2", is_bot=True)),
        ({"user": "UB2", "bot_profile": {"id": "B2", "name": "Build"}}, Sender("B2", "Build", is_bot=True)),
        ({"user": None, "bot_id": "B2", "subtype": "bot_message", "username": "Jo"}, Sender("B2", "Jo", is_bot=True)),
        ({"user": "USLACKBOT"}, Sender("USLACKBOT", is_bot=True)),
        ({"bot_id": "B2", "app_id": "A2"}, Sender("B2", is_bot=True)),
    ],
)
def test_another_bots_message_is_a_bots_also_where_it_speaks_in_a_persons_name(
    changed: dict[str, Any], sender: Sender
) -> None:
    assert message(in_channel(**changed)).sender == sender


def test_what_our_own_app_posts_is_never_heard() -> None:
    body = in_channel(text=f"<@{BOT_USER}> hi", bot_id="B9", app_id="AOWN") | {"api_app_id": "AOWN"}

    assert isinstance(read(body), Ignored)


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


def test_a_press_in_a_channel_is_no_private_one() -> None:
    container = {"channel_id": TEAM_CHANNEL, "message_ts": "1700000005.000000", "thread_ts": ROOT}

    update, private = read(press(channel={"id": TEAM_CHANNEL}, container=container)), read(press())

    assert isinstance(update, ButtonPress)
    assert isinstance(private, ButtonPress)
    assert update.conversation == ConversationId("slack", TEAM_CHANNEL, ROOT)
    assert (update.is_private, private.is_private) == (False, True)


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


def changed(body: object) -> ChatChanged:
    update = read(body)
    assert isinstance(update, ChatChanged), update
    return update


@pytest.mark.parametrize(
    ("body", "change", "by"),
    [
        (told("member_joined_channel", user=BOT_USER, inviter=ANN), Change.JOINED, ANN),
        (told("member_joined_channel", user=BOT_USER), Change.JOINED, None),
        (told("member_left_channel", user=BOT_USER), Change.GONE, None),
        (told("channel_left", actor_id=ANN), Change.GONE, ANN),
        (told("group_left"), Change.GONE, None),
        (told("channel_archive", user=ANN), Change.GONE, ANN),
        (told("group_archive", user=ANN), Change.GONE, ANN),
        (told("channel_deleted"), Change.GONE, None),
        (told("group_deleted"), Change.GONE, None),
        (told("channel_unarchive", user=ANN), Change.JOINED, ANN),
        (told("group_unarchive", user=ANN), Change.JOINED, ANN),
    ],
)
def test_what_becomes_of_a_channel_is_told_with_who_did_it(body: object, change: Change, by: str | None) -> None:
    update = changed(body)

    assert update.conversation == ConversationId("slack", TEAM_CHANNEL)
    assert (update.change, update.sender) == (change, Sender(by) if by else None)
    assert update.at == datetime(2023, 11, 14, 22, 13, 40, tzinfo=UTC)
    assert not update.is_private
    assert changed(body) == update


def test_a_channel_that_moved_names_its_new_id() -> None:
    update = changed(told("channel_id_changed", old_channel_id="C1", new_channel_id="C9", channel=None))

    assert (update.conversation.chat, update.change, update.to) == ("C1", Change.MOVED, "C9")


def test_a_change_without_a_time_is_one_event_of_now() -> None:
    update = changed(told("channel_left", event_ts=None))

    assert update.at == NOW
    assert "EvTold" in update.event


def test_to_leave_and_to_come_back_are_different_events() -> None:
    there = changed(told("member_joined_channel", user=BOT_USER)).event
    later = changed(told("member_joined_channel", user=BOT_USER, event_ts="1700000030.000000")).event
    gone = changed(told("channel_left")).event

    assert len({there, later, gone}) == 3


@pytest.mark.parametrize("kind", ["member_joined_channel", "member_left_channel"])
def test_people_who_come_and_go_change_nothing(kind: str) -> None:
    assert isinstance(read(told(kind, user=ANN)), Ignored)


def test_a_new_name_of_a_channel_is_told() -> None:
    renamed = told("channel_rename", channel={"id": TEAM_CHANNEL, "name": "内科", "created": 1})

    assert read(renamed) == ChannelRenamed(TEAM_CHANNEL, "内科")


@pytest.mark.parametrize(
    "body",
    [
        told("channel_left", channel=None),
        told("channel_left", event_ts=None) | {"event_id": None},
        told("channel_id_changed", old_channel_id="C1", new_channel_id=None),
        told("channel_rename", channel="C1"),
    ],
)
def test_a_change_without_a_place_or_an_id_is_unreadable(body: object) -> None:
    assert isinstance(read(body), Unreadable)


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
        slash(channel_id=TEAM_CHANNEL),
        *pair(files=[{"id": "F"}], thread_ts=ROOT),
        in_channel(bot_id="B2", bot_profile={"id": "B2", "name": "Build"}, user_team=TEAM, source_team=TEAM),
        told("member_joined_channel", user=BOT_USER, inviter=ANN),
        told("channel_archive", user=ANN),
        told("channel_rename", channel={"id": TEAM_CHANNEL, "name": "内科"}),
        told("channel_id_changed", old_channel_id="C1", new_channel_id="C9"),
        {"type": "view_submission", "view": {}},
    ]

    kinds: dict[str, int] = {}
    for number in range(10_000):
        body: Any = shapes[number % len(shapes)]
        for _ in range(random.randint(1, 4)):
            body = spoil(body, random)
        update = read(body)
        kinds[type(update).__name__] = kinds.get(type(update).__name__, 0) + 1
        if isinstance(update, UserMessage | ButtonPress | ChatChanged):
            assert (update.at - datetime(1970, 1, 1, tzinfo=UTC)) < timedelta(days=366 * 400)
            json.dumps(asdict(update), ensure_ascii=False, default=str).encode()

    assert set(kinds) == {each.__name__ for each in get_args(Update)}
