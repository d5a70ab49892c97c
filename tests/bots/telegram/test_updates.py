"""Whatever Telegram sends becomes our words or is skipped; nothing raises."""

from __future__ import annotations

import copy
import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from bots.telegram.addressing import Me
from bots.telegram.updates import CALLBACK_LIMIT_BYTES, Skipped, pack, read_update, unpack
from kernel.chat import (
    Attachment,
    AttachmentKind,
    ButtonPress,
    ChatChanged,
    ConversationId,
    Fetch,
    Heard,
    MessageRef,
    Sender,
    UserMessage,
)

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
ME = Me("4242", "zclawbot")
U1: dict[str, Any] = {"id": 1001, "is_bot": False, "first_name": "小", "last_name": "王", "language_code": "zh-hans"}
D1: dict[str, Any] = {"id": 1001, "type": "private", "first_name": "小"}
WHERE = ConversationId("telegram", "1001")


def message(**fields: Any) -> dict[str, Any]:
    body = {"message_id": 7, "date": 1796000400, "chat": D1, "from": U1} | fields
    return {"update_id": 5, "message": body}


def press(**fields: Any) -> dict[str, Any]:
    shown = {"message_id": 8, "date": 1796000400, "chat": D1, "text": "card"}
    body = {"id": "99", "from": U1, "chat_instance": "1", "message": shown, "data": "tok:done"} | fields
    return {"update_id": 6, "callback_query": body}


def read(raw: object) -> Heard | Skipped:
    return read_update(raw, ME, NOW)


def test_a_private_message_becomes_a_user_message() -> None:
    assert read(message(text="你好")) == UserMessage(
        event="telegram:4242:5",
        conversation=WHERE,
        sender=Sender("1001", "小 王", "zh"),
        order=7,
        at=datetime.fromtimestamp(1796000400, UTC),
        text="你好",
        ref=MessageRef(WHERE, "7"),
    )


def test_a_press_becomes_a_button_press() -> None:
    assert read(press()) == ButtonPress(
        event="telegram:4242:6",
        conversation=WHERE,
        sender=Sender("1001", "小 王", "zh"),
        order=6,
        at=NOW,
        token="tok",
        choice="done",
        press="99",
        ref=MessageRef(WHERE, "8"),
    )


def test_a_press_on_a_message_too_old_to_be_shown_is_still_a_press() -> None:
    inaccessible = {"message_id": 8, "date": 0, "chat": D1}

    assert isinstance(read(press(message=inaccessible)), ButtonPress)


@pytest.mark.parametrize(
    ("said", "read_as"),
    [
        ("/help@zclaw_bot", "/help"),
        ("/tz@Zclaw_Bot Asia/Shanghai", "/tz Asia/Shanghai"),
        ("/stop@zclaw_bot\n别做了", "/stop\n别做了"),
        ("/stop", "/stop"),
        ("a@b.c", "a@b.c"),
        ("/ not@command", "/ not@command"),
    ],
)
def test_commands_lose_the_bots_name(said: str, read_as: str) -> None:
    result = read(message(text=said))

    assert isinstance(result, UserMessage)
    assert result.text == read_as


@pytest.mark.parametrize(
    ("language_code", "language"), [("zh-hant", "zh"), ("en-GB", "en"), ("de", "en"), (None, None)]
)
def test_languages(language_code: str | None, language: str | None) -> None:
    result = read(message(text="x", **{"from": U1 | {"language_code": language_code}}))

    assert isinstance(result, UserMessage)
    assert result.sender.language == language


def test_captions_are_words_and_albums_are_kept_together() -> None:
    photo = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]

    result = read(message(photo=photo, caption="早", media_group_id="g1"))

    assert isinstance(result, UserMessage)
    assert (result.text, result.album) == ("早", "g1")


def test_what_was_quoted_or_forwarded_is_nobodys_own_words() -> None:
    replied = {"message_id": 3, "date": 1, "chat": D1, "from": U1, "text": "原话"}
    origin = {"type": "hidden_user", "sender_user_name": "X", "date": 1}

    answer = read(message(text="对", reply_to_message=replied))
    partly = read(message(text="对", reply_to_message=replied, quote={"text": "原", "position": 0}))
    forwarded = read(message(text="/stop", forward_origin=origin))

    assert isinstance(answer, UserMessage)
    assert isinstance(partly, UserMessage)
    assert isinstance(forwarded, UserMessage)
    assert (answer.text, answer.quoted) == ("对", "原话")
    assert partly.quoted == "原"
    assert (forwarded.text, forwarded.quoted) == ("", "/stop")


def test_a_topic_of_a_private_chat_is_a_thread_and_a_reply_is_not() -> None:
    topic = read(message(text="x", message_thread_id=9, is_topic_message=True))
    reply = read(message(text="x", message_thread_id=9))
    general = read(message(text="x", message_thread_id=1, is_topic_message=True))

    assert [each.conversation.thread for each in (topic, reply, general) if isinstance(each, UserMessage)] == [
        "9",
        "",
        "",
    ]


STICKER = {
    "file_id": "f",
    "file_unique_id": "u",
    "type": "regular",
    "width": 1,
    "height": 1,
    "is_animated": False,
    "is_video": False,
}
POLL = {
    "id": "1",
    "question": "?",
    "options": [],
    "total_voter_count": 0,
    "is_closed": False,
    "is_anonymous": True,
    "type": "regular",
    "allows_multiple_answers": False,
    "allows_revoting": False,
    "members_only": False,
}


@pytest.mark.parametrize(
    "content",
    [
        {"sticker": STICKER},
        {"contact": {"phone_number": "1", "first_name": "A"}},
        {"location": {"latitude": 1.0, "longitude": 2.0}},
        {"dice": {"emoji": "🎲", "value": 3}},
        {"poll": POLL},
    ],
    ids=lambda content: next(iter(content)),
)
def test_what_has_no_words_comes_in_without_words(content: dict[str, Any]) -> None:
    """M26: the door answers it politely."""
    result = read(message(**content))

    assert isinstance(result, UserMessage)
    assert result.text == ""
    assert result.attachments == ()


def sized(file: str, side: int, size: int | None = None) -> dict[str, Any]:
    return {"file_id": file, "file_unique_id": "u", "width": side, "height": side, "file_size": size}


@pytest.mark.parametrize(
    ("content", "kind", "name", "mime", "size"),
    [
        (
            {"photo": [sized("s", 90), sized("f", 1280, 900), sized("m", 320)]},
            "picture",
            "photo-7.jpg",
            "image/jpeg",
            900,
        ),
        (
            {"document": {"file_name": "报告.pdf", "mime_type": "application/pdf"}},
            "file",
            "报告.pdf",
            "application/pdf",
            0,
        ),
        ({"document": {"file_name": "a.png", "mime_type": "image/png"}}, "picture", "a.png", "image/png", 0),
        ({"document": {}}, "file", "file-7", "application/octet-stream", 0),
        ({"voice": {"duration": 1}}, "voice", "voice-7.ogg", "audio/ogg", 0),
        ({"audio": {"duration": 1, "mime_type": "audio/mpeg"}}, "voice", "file-7", "audio/mpeg", 0),
        ({"video_note": {"duration": 1, "length": 9}}, "video", "video-7.mp4", "video/mp4", 0),
        (
            {"video": {"duration": 1, "width": 1, "height": 1, "file_name": "a.mov", "mime_type": "video/quicktime"}},
            *("video", "a.mov", "video/quicktime", 0),
        ),
    ],
)
def test_what_came_with_a_message_is_named(content: dict[str, Any], kind: str, name: str, mime: str, size: int) -> None:
    (what,) = content
    if what != "photo":
        content = {what: {"file_id": "f", "file_unique_id": "u", **content[what]}}

    result = read(message(**content, caption="看这个"))

    assert isinstance(result, UserMessage)
    assert result.text == "看这个"
    assert result.attachments == (Attachment(AttachmentKind(kind), "", name, mime, size, "f", Fetch.WAITING),)


def test_a_question_under_a_photo_brings_the_photo() -> None:
    shown = message(photo=[sized("f", 9)], caption="早", message_id=3)["message"]

    asked = read(message(text="这是什么？", reply_to_message=shown))
    other = read(message(text="这是什么？", document=sized("g", 1), reply_to_message=shown))

    assert isinstance(asked, UserMessage)
    assert isinstance(other, UserMessage)
    assert [(each.name, each.source) for each in asked.attachments] == [("photo-3.jpg", "f")]
    assert asked.quoted == "早"
    assert [each.source for each in other.attachments] == ["g"]


def test_a_moving_picture_that_is_a_document_too_is_one_thing() -> None:
    film = {"file_id": "f", "file_unique_id": "u", "duration": 1, "width": 1, "height": 1, "mime_type": "video/mp4"}
    document = {"file_id": "f", "file_unique_id": "u", "mime_type": "video/mp4"}

    result = read(message(animation=film, document=document))

    assert isinstance(result, UserMessage)
    assert [each.kind for each in result.attachments] == [AttachmentKind.VIDEO]


def test_more_than_20_mb_is_named_and_not_to_be_fetched() -> None:
    document = {"file_id": "f", "file_unique_id": "u", "file_name": "big.zip", "file_size": 20_000_001}

    result = read(message(document=document))

    assert isinstance(result, UserMessage)
    assert [each.fetch for each in result.attachments] == [Fetch.LARGE]
    assert not result.waits_for_files


@pytest.mark.parametrize(
    "raw",
    [
        message(new_chat_title="x"),
        message(pinned_message={"message_id": 1, "date": 0, "chat": D1}),
        message(),
        message(text="x", **{"from": U1 | {"id": 4242, "is_bot": True}}),
        {"update_id": 5, "message": {"message_id": 7, "date": 1, "chat": D1, "text": "nobody"}},
        {"update_id": 5, "edited_message": message(text="/stop")["message"]},
        {"update_id": 5},
        {"update_id": 5, "something_new": {"a": 1}},
        press(data=None),
        press(message=None),
        {"update_id": "x"},
        {},
        [],
        None,
        "text",
        5,
    ],
)
def test_the_rest_is_skipped(raw: object) -> None:
    assert isinstance(read(raw), Skipped)


def test_callback_data_holds_the_longest_token_and_never_more_than_64_bytes() -> None:
    assert unpack(pack("t" * 48, "c" * 15)) == ("t" * 48, "c" * 15)
    assert unpack("garbage") == ("garbage", "")
    with pytest.raises(ValueError, match=str(CALLBACK_LIMIT_BYTES)):
        pack("t" * 48, "完成了完成了")


JUNK: list[object] = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "x" * 5000,
    "\ud83c",
    "\x00",
    [],
    {},
    [[]],
    {"id": 1},
    [None],
    {"a": {"b": {"c": []}}},
]


def mutate(value: Any, chance: random.Random) -> Any:
    """`value` with one thing in it changed, removed, doubled or renamed."""
    match value:
        case dict() if value and chance.random() < 0.9:
            key = chance.choice(list(value))
            match chance.randrange(4):
                case 0:
                    del value[key]
                case 1:
                    value[key + chance.choice("x_ ")] = value.pop(key)
                case _:
                    value[key] = mutate(value[key], chance)
            return value
        case list() if value and chance.random() < 0.9:
            at = chance.randrange(len(value))
            value[at] = mutate(value[at], chance)
            return value
        case _:
            return copy.deepcopy(chance.choice(JUNK))


def test_ten_thousand_mutated_updates_raise_nothing() -> None:
    """Promise 8, the pure part."""
    chance = random.Random(8)
    seeds = [
        message(text="你好", entities=[{"type": "bold", "offset": 0, "length": 2}]),
        message(sticker=STICKER),
        message(poll=POLL),
        message(text="对", reply_to_message=message(text="原话")["message"]),
        press(),
        message(photo=[sized("f", 1)], caption="c"),
        message(document={"file_id": "f", "file_unique_id": "u", "file_name": "a", "mime_type": "b", "file_size": 3}),
        message(
            text="🎩@zclawbot 今天吃啥 @zclawbot",
            chat={"id": -1009, "type": "supergroup", "title": "病区", "is_forum": True},
            message_thread_id=3,
            is_topic_message=True,
            entities=[
                {"type": "mention", "offset": 2, "length": 9},
                {"type": "text_mention", "offset": 17, "length": 9, "user": U1 | {"id": 4242, "is_bot": True}},
            ],
            reply_to_message={"message_id": 3, "date": 1, "chat": D1, "from": U1, "text": "原话"},
        ),
        message(migrate_to_chat_id=-1009, chat={"id": -5, "type": "group", "title": "病区"}),
        {
            "update_id": 5,
            "my_chat_member": {
                "chat": {"id": -5, "type": "group", "title": "病区"},
                "from": U1,
                "date": 1796000400,
                "old_chat_member": {"status": "left", "user": U1},
                "new_chat_member": {"status": "member", "user": U1},
            },
        },
    ]
    kinds: set[type] = set()

    for _ in range(10_000):
        raw = copy.deepcopy(chance.choice(seeds))
        for _ in range(chance.randrange(1, 4)):
            raw = mutate(raw, chance)
        kinds.add(type(read(raw)))

    assert kinds == {UserMessage, ButtonPress, ChatChanged, Skipped}


def test_deep_nesting_is_skipped() -> None:
    depth = 400
    raw = json.loads('{"update_id":1,"message":' + '{"reply_to_message":' * depth + "1" + "}" * depth + "}")

    assert isinstance(read(raw), Skipped)
