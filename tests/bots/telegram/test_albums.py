"""An album in a group: the bot's name stands under one picture, and all of them are for it (M22)."""

from __future__ import annotations

from datetime import UTC, datetime

from bots.telegram.albums import Albums
from kernel.chat import Address, ConversationId, Sender, UserMessage
from tests.bots.telegram.fake_api import FakeApi
from tests.bots.telegram.test_adapter import Inbox, polling
from tests.bots.telegram.test_groups import G, marks
from tests.bots.telegram.test_updates import U1, message

WARD = ConversationId("telegram", "-1009")
NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]


def part(number: int, address: Address = Address.NONE, *, album: str = "g1", sender: str = "1001") -> UserMessage:
    return UserMessage(
        event=str(number),
        conversation=WARD,
        sender=Sender(sender),
        order=number,
        at=NOW,
        text="",
        album=album,
        is_private=False,
        address=address,
    )


def told(parts: tuple[UserMessage, ...]) -> list[tuple[str, Address]]:
    return [(each.event, each.address) for each in parts]


def test_parts_before_the_one_that_calls_the_bot_come_with_it_and_those_behind_follow() -> None:
    albums = Albums()

    delivered = [told(albums.together(each)) for each in (part(1), part(2, Address.DIRECT), part(3))]

    assert delivered == [
        [("1", Address.NONE)],
        [("1", Address.DIRECT), ("2", Address.DIRECT)],
        [("3", Address.DIRECT)],
    ]


def test_other_albums_other_people_and_single_messages_stay_as_they_are() -> None:
    albums = Albums()
    albums.together(part(1, Address.DIRECT))

    delivered = [
        told(albums.together(each))
        for each in (part(2, album="g2"), part(3, sender="1002"), part(4, album=""), part(5, Address.DIRECT, album=""))
    ]

    assert delivered == [
        [("2", Address.NONE)],
        [("3", Address.NONE)],
        [("4", Address.NONE)],
        [("5", Address.DIRECT)],
    ]


async def test_all_captions_of_an_album_arrive_in_order_when_one_calls_the_bot(api: FakeApi) -> None:
    inbox = Inbox()
    for number, caption in enumerate(("早", "午 @zclawbot", "晚")):
        entities = marks(caption, "@zclawbot") if "@" in caption else []
        fields = {"chat": G, "photo": PHOTO, "caption": caption, "media_group_id": "g1", "message_id": 10 + number}
        raw = message(**fields, caption_entities=entities, **{"from": U1})
        await api.adds(raw | {"update_id": 20 + number})
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 23)

    # The first comes again once it is known that it is meant: the door dropped it before.
    texts = [each.text for each in inbox.got if isinstance(each, UserMessage) and each.address is Address.DIRECT]
    assert texts == ["早", "午", "晚"]
    assert [each.album for each in inbox.got if isinstance(each, UserMessage)] == ["g1"] * 4
