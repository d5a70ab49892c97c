"""In a group: what is meant for the bot, who has no rights, where a topic is, and what becomes of the chat."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bots.telegram.updates import WANTED, Skipped
from kernel.chat import Address, ButtonPress, Change, ChatChanged, ConversationId, MessageRef, Sender, UserMessage
from tests.bots.telegram.test_updates import D1, STICKER, U1, message, press, read

G: dict[str, Any] = {"id": -1009, "type": "supergroup", "title": "三病区"}
WARD = ConversationId("telegram", "-1009")
BOT: dict[str, Any] = {"id": 4242, "is_bot": True, "first_name": "zclaw", "username": "zclawbot"}
OTHER_BOT: dict[str, Any] = {"id": 77, "is_bot": True, "first_name": "B9", "username": "other_bot"}
WHEN = datetime.fromtimestamp(1796000400, UTC)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def marks(text: str, *names: str) -> list[dict[str, Any]]:
    """Entities as Telegram sets them for each of `names` in `text`."""
    return [{"type": "mention", "offset": units(text[: text.index(each)]), "length": units(each)} for each in names]


def said(text: str, *names: str, **fields: Any) -> UserMessage:
    """What becomes of words in the group; `names` are the mentions that Telegram marked."""
    heard = read(message(**{"chat": G, "text": text, "entities": marks(text, *names)} | fields))
    assert isinstance(heard, UserMessage)
    return heard


def replied(**fields: Any) -> dict[str, Any]:
    return {"message_id": 3, "date": 1, "chat": G, "from": BOT, "text": "查房了吗？"} | fields


# --- meant for the bot (M24)


def test_words_in_a_group_are_nobodys_until_they_call_the_bot() -> None:
    heard = said("今天吃啥")

    assert heard == UserMessage(
        event="telegram:4242:5",
        conversation=WARD,
        sender=Sender("1001", "小 王", "zh"),
        order=7,
        at=WHEN,
        text="今天吃啥",
        is_private=False,
        ref=MessageRef(WARD, "7"),
        address=Address.NONE,
        title="三病区",
    )


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("@zclawbot 今天吃啥", "@zclawbot", "今天吃啥"),
        ("@ZclawBot 今天吃啥", "@ZclawBot", "今天吃啥"),
        ("@zclawbot：今天吃啥", "@zclawbot", "今天吃啥"),
        ("今天吃啥 @zclawbot", "@zclawbot", "今天吃啥"),
        ("今天吃啥，@zclawbot", "@zclawbot", "今天吃啥"),
        ("🎩🎩 问问 @zclawbot 🎩 今天吃啥", "@zclawbot", "🎩🎩 问问 @zclawbot 🎩 今天吃啥"),
        ("@zclawbot /tz 上海", "@zclawbot", "/tz 上海"),
        ("@zclawbot /stop@ZCLAWBOT", "@zclawbot", "/stop"),
        ("@zclawbot 👨‍👩‍👧‍👦", "@zclawbot", "👨‍👩‍👧‍👦"),
        ("@zclawbot", "@zclawbot", "@zclawbot"),
    ],
)
def test_a_mention_calls_it_and_is_no_part_of_the_words(text: str, name: str, words: str) -> None:
    heard = said(text, name)

    assert (heard.address, heard.text) == (Address.DIRECT, words)


def test_a_name_at_both_ends_is_cut_at_both() -> None:
    text = "@zclawbot 🎩 今天吃啥 @zclawbot"
    last = {"type": "mention", "offset": units(text) - 9, "length": 9}

    heard = said(text, entities=[last, *marks(text, "@zclawbot")])

    assert heard.text == "🎩 今天吃啥"


def test_a_mention_of_a_bot_without_a_marked_name_calls_it_too() -> None:
    entity = {"type": "text_mention", "offset": 0, "length": 3, "user": BOT}

    heard = said("小助手 今天吃啥", entities=[entity])
    other = said("小助手 今天吃啥", entities=[entity | {"user": OTHER_BOT}])

    assert (heard.address, heard.text) == (Address.DIRECT, "今天吃啥")
    assert (other.address, other.text) == (Address.NONE, "小助手 今天吃啥")


def test_others_names_call_others() -> None:
    assert said("@other_bot 今天吃啥", "@other_bot").address is Address.NONE
    assert said("@zclawbot2 今天吃啥", "@zclawbot2").address is Address.NONE
    assert said("写给 x@zclawbot 的信").address is Address.NONE


def test_a_caption_calls_it_as_words_do() -> None:
    photo = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]
    caption = "🎩 看看 @zclawbot"

    heard = read(message(chat=G, photo=photo, caption=caption, caption_entities=marks(caption, "@zclawbot")))

    assert isinstance(heard, UserMessage)
    assert (heard.address, heard.text) == (Address.DIRECT, "🎩 看看")


def test_a_reply_to_the_bot_calls_it_and_to_others_does_not() -> None:
    to_bot = said("查过了", reply_to_message=replied())
    to_person = said("查过了", reply_to_message=replied(**{"from": U1 | {"id": 1002}}))

    assert (to_bot.address, to_bot.quoted) == (Address.DIRECT, "查房了吗？")
    assert (to_person.address, to_person.quoted) == (Address.NONE, "查房了吗？")


def test_what_is_said_in_a_topic_that_the_bot_opened_is_no_reply_to_it() -> None:
    topic = {"message_thread_id": 3, "is_topic_message": True}
    opening = replied(text=None, forum_topic_created={"name": "查房", "icon_color": 1})

    implicit = said("今天吃啥", reply_to_message=opening, **topic)
    root = said("今天吃啥", reply_to_message=replied(), **topic)
    explicit = said("今天吃啥", reply_to_message=replied(message_id=4), **topic)

    assert [each.address for each in (implicit, root, explicit)] == [Address.NONE, Address.NONE, Address.DIRECT]
    assert [each.quoted for each in (implicit, root, explicit)] == ["", "", "查房了吗？"]


@pytest.mark.parametrize(
    ("text", "address", "words"),
    [
        ("/stop", Address.DIRECT, "/stop"),
        ("/stop@ZclawBot 现在", Address.DIRECT, "/stop 现在"),
        ("/stop@other_bot", Address.NONE, "/stop@other_bot"),
        ("/stop@other_bot @zclawbot", Address.NONE, "/stop@other_bot"),
        ("/etc/passwd 是什么", Address.NONE, "/etc/passwd 是什么"),
        ("先 /stop", Address.NONE, "先 /stop"),
        ("/停", Address.NONE, "/停"),
    ],
)
def test_a_command_calls_the_bot_that_it_names_or_all(text: str, address: Address, words: str) -> None:
    heard = said(text, *(["@zclawbot"] if "@zclawbot" in text else []))

    assert (heard.address, heard.text) == (address, words)


def test_forwarded_words_call_nobody_and_are_nobodys_own() -> None:
    text = "@zclawbot /stop"
    origin = {"type": "hidden_user", "sender_user_name": "X", "date": 1}

    heard = said(text, "@zclawbot", forward_origin=origin)

    assert (heard.address, heard.text, heard.quoted) == (Address.NONE, "", text)


# --- who and where


def test_another_bot_is_told_from_a_person() -> None:
    heard = said("@zclawbot 你好", "@zclawbot", **{"from": OTHER_BOT})

    assert heard.sender == Sender("77", "B9", is_bot=True)


@pytest.mark.parametrize(
    "raw",
    [
        message(
            chat=G,
            text="/stop",
            sender_chat=G,
            **{"from": {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}},
        ),
        message(chat=G, text="/stop", **{"from": {"id": 1087968824, "is_bot": True, "first_name": "Group"}}),
        message(
            chat=G,
            text="/stop",
            sender_chat={"id": -1008, "type": "channel", "title": "C"},
            **{"from": {"id": 136817688, "is_bot": True, "first_name": "Channel"}},
        ),
        message(
            chat=G,
            text="/stop",
            is_automatic_forward=True,
            sender_chat={"id": -1008, "type": "channel", "title": "C"},
            **{"from": {"id": 777000, "is_bot": False, "first_name": "Telegram"}},
        ),
        {
            "update_id": 5,
            "channel_post": {
                "message_id": 7,
                "date": 1,
                "chat": {"id": -1008, "type": "channel", "title": "C"},
                "sender_chat": {"id": -1008, "type": "channel", "title": "C"},
                "text": "/stop",
            },
        },
        message(chat={"id": -1008, "type": "channel", "title": "C"}, text="/stop"),
        message(chat=G | {"is_direct_messages": True}, text="/stop"),
        press(message={"message_id": 8, "date": 1, "chat": {"id": -1008, "type": "channel", "title": "C"}}),
        {"update_id": 5, "edited_message": message(chat=G, text="/stop")["message"] | {"edit_date": 1796000500}},
    ],
    ids=[
        "anonymous administrator",
        "the same without its chat",
        "a person as a channel",
        "post of the linked channel",
        "channel post",
        "message in a channel",
        "direct message to a channel",
        "press in a channel",
        "edited message",
    ],
)
def test_who_speaks_in_a_chats_name_has_no_rights_and_an_edit_says_nothing(raw: object) -> None:
    """T16 and M9, the part that is Telegram's."""
    assert isinstance(read(raw), Skipped)


def test_edits_reactions_and_channels_are_never_asked_for() -> None:
    assert WANTED == ("message", "callback_query", "my_chat_member")


def test_topics_are_threads_and_general_and_replies_are_not() -> None:
    """M18: an answer to the General topic is sent without its number."""
    topic = said("x", message_thread_id=9, is_topic_message=True)
    general = said("x", message_thread_id=1, is_topic_message=True)
    reply = said("x", message_thread_id=9)

    assert [each.conversation.thread for each in (topic, general, reply)] == ["9", "", ""]


def test_a_press_in_a_group_is_known_as_one() -> None:
    shown = {"message_id": 8, "date": 1, "chat": G, "text": "card", "message_thread_id": 9, "is_topic_message": True}

    in_topic = read(press(message=shown))
    too_old = read(press(message={"message_id": 8, "date": 0, "chat": G}))

    assert isinstance(in_topic, ButtonPress)
    assert isinstance(too_old, ButtonPress)
    assert (in_topic.is_private, in_topic.conversation.thread) == (False, "9")
    assert (too_old.is_private, too_old.conversation) == (False, WARD)


@pytest.mark.parametrize(
    "content", [{"new_chat_members": [U1]}, {"left_chat_member": U1}, {"group_chat_created": True}]
)
def test_service_messages_of_a_group_say_nothing(content: dict[str, Any]) -> None:
    assert isinstance(read(message(chat=G, **content)), Skipped)


def test_a_sticker_in_a_group_is_for_nobody() -> None:
    heard = read(message(chat=G, sticker=STICKER))

    assert isinstance(heard, UserMessage)
    assert (heard.text, heard.address) == ("", Address.NONE)


# --- what becomes of the chat


def member(status: str, **fields: Any) -> dict[str, Any]:
    return {"status": status, "user": BOT} | fields


def restricted(**fields: Any) -> dict[str, Any]:
    return member("restricted", until_date=0, **({"is_member": True} | fields))


def changed(old: dict[str, Any], new: dict[str, Any], **fields: Any) -> object:
    body = {"chat": G, "from": U1, "date": 1796000400, "old_chat_member": old, "new_chat_member": new} | fields
    return read({"update_id": 5, "my_chat_member": body})


def test_the_bot_is_added_by_somebody_to_a_group_with_a_name() -> None:
    assert changed(member("left"), member("member")) == ChatChanged(
        "telegram:4242:5", WARD, Change.JOINED, WHEN, Sender("1001", "小 王", "zh"), "三病区"
    )


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (member("kicked", until_date=0), member("administrator"), Change.JOINED),
        (member("member"), member("left"), Change.GONE),
        (member("administrator"), member("kicked", until_date=0), Change.GONE),
        (member("member"), restricted(can_send_messages=False), Change.GONE),
        (member("member"), restricted(can_send_messages=True, is_member=False), Change.GONE),
        (restricted(can_send_messages=False), restricted(can_send_messages=True), Change.JOINED),
    ],
)
def test_it_is_gone_when_it_cannot_speak_and_back_when_it_can(
    old: dict[str, Any], new: dict[str, Any], change: Change
) -> None:
    heard = changed(old, new)

    assert isinstance(heard, ChatChanged)
    assert heard.change is change


def test_other_rights_change_nothing() -> None:
    assert isinstance(changed(member("member"), member("administrator")), Skipped)
    assert isinstance(changed(member("left"), member("kicked", until_date=0)), Skipped)


def test_a_person_blocks_the_bot_and_lets_it_back() -> None:
    here = {"chat": D1}
    blocked = changed(member("member"), member("kicked", until_date=0), **here)
    back = changed(member("kicked", until_date=0), member("member"), **here)

    assert isinstance(blocked, ChatChanged)
    assert isinstance(back, ChatChanged)
    assert (blocked.change, back.change) == (Change.GONE, Change.JOINED)
    assert blocked.is_private
    assert blocked.conversation == ConversationId("telegram", "1001")


def test_nobody_is_named_for_an_anonymous_administrator_and_channels_are_no_chats_of_ours() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}

    heard = changed(member("left"), member("member"), **{"from": anonymous})
    channel = changed(member("left"), member("administrator"), chat=G | {"type": "channel"})

    assert isinstance(heard, ChatChanged)
    assert heard.sender is None
    assert isinstance(channel, Skipped)


def test_a_group_that_moves_says_so_twice_and_both_are_one_event() -> None:
    """R25: either suffices."""
    basic = {"id": -5, "type": "group", "title": "三病区"}
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}

    there = read(message(chat=basic, migrate_to_chat_id=-1009))
    here = read(message(chat=G, migrate_from_chat_id=-5, sender_chat=G, **{"from": anonymous}))

    assert there == ChatChanged(
        event="telegram:4242:moved:-5:-1009",
        conversation=ConversationId("telegram", "-5"),
        change=Change.MOVED,
        at=WHEN,
        sender=Sender("1001", "小 王", "zh"),
        title="三病区",
        to="-1009",
    )
    assert isinstance(here, ChatChanged)
    assert (here.event, here.conversation, here.change, here.to) == (
        there.event,
        there.conversation,
        there.change,
        there.to,
    )
    assert here.sender is None
