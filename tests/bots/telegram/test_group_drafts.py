"""An answer while it is written in a group: one message that is edited, becomes the answer, and never stands twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from aiohttp import web

from bots.adapter import AnswerLost
from bots.telegram import TelegramAdapter
from kernel.chat import Choice, ConversationId, Draft, MessageRef, Prompt, Reply
from kernel.errors import RetryLater
from tests.bots.telegram.fake_api import FakeApi, hangs_up, refuses
from tests.bots.telegram.test_adapter import sending
from tests.twins.clock import JumpingClock

WARD = ConversationId("telegram", "-1009", "9")
LONG = "查房记录" * 12
SECONDS = timedelta(seconds=1)


def draft(number: int, *, text: str = LONG, turn: str = "t1", where: ConversationId = WARD) -> Draft:
    return Draft(where, turn, number, text + str(number) if text else "")


async def answers(adapter: TelegramAdapter, text: str = LONG, *, key: str = "k", doubtful: bool = False) -> MessageRef:
    return await adapter.send(Reply(WARD, text), text, key=key, is_doubtful=doubtful, is_last=True)


def shown(api: FakeApi) -> dict[int, str]:
    """What stands in the group, had every call that got an answer its effect."""
    found: dict[int, str] = {}
    number = 100
    for call in api.calls:
        match call.method:
            case "sendMessage":
                number += 1
                found[number] = str(call.params["text"])
            case "editMessageText":
                found[int(str(call.params["message_id"]))] = str(call.params["text"])
            case "deleteMessage":
                found.pop(int(str(call.params["message_id"])), None)
    return found


async def test_it_grows_in_one_message_and_becomes_the_answer(api: FakeApi) -> None:
    clock = JumpingClock()
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        for number in range(3):
            await adapter.show_draft(draft(number))
            clock.jump(3 * SECONDS)
        growing = shown(api)

        ref = await answers(adapter)
        again = await answers(adapter, "接着", key="k2")

    assert growing == {101: f"{LONG}2 …"}
    assert ref == MessageRef(WARD, "101")
    assert again == MessageRef(WARD, "102")
    assert shown(api) == {101: LONG, 102: "接着"}
    assert api.of("sendMessage")[0]["message_thread_id"] == 9
    assert api.of("sendMessageDraft") == []


async def test_an_edit_comes_every_three_seconds_at_most_and_leaves_room_in_the_minute(api: FakeApi) -> None:
    clock = JumpingClock()
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        for number in range(60):
            with suppress(RetryLater):
                await adapter.show_draft(draft(number))
            clock.jump(SECONDS)

    assert len(api.of("sendMessage")) == 1
    assert len(api.of("editMessageText")) == 9


async def test_short_words_are_not_worth_a_message(api: FakeApi) -> None:
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1, text="我查一下"))
        await answers(adapter)

    assert shown(api) == {101: LONG}


async def test_of_two_processes_the_one_that_heard_the_person_shows_it(api: FakeApi) -> None:
    clock = JumpingClock()
    async with sending(api, clock) as one, sending(api, clock) as other:
        one._posts.heard(WARD)
        for adapter in (one, other):
            await adapter.show_draft(draft(1))
        clock.jump(3 * SECONDS)
        await one.show_draft(draft(2, turn="another turn"))
        before = shown(api)

        await answers(other)
        await one.drop_draft(WARD)

    assert before == {101: f"{LONG}2 …"}
    assert shown(api) == {102: LONG}


async def test_a_turn_that_this_process_did_not_hear_is_shown_elsewhere(api: FakeApi) -> None:
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        await adapter.drop_draft(WARD)
        await adapter.show_draft(draft(2, turn="heard by another process"))

    assert shown(api) == {}


async def test_what_was_no_answer_is_taken_back(api: FakeApi) -> None:
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))

        await adapter.show_draft(draft(2, text=""))
        await adapter.drop_draft(WARD)

    assert shown(api) == {}
    assert len(api.of("deleteMessage")) == 1


async def test_a_card_rings_and_the_draft_goes_before_it(api: FakeApi) -> None:
    card = Prompt(WARD, "查房", "tok", (Choice("done", "完成"),))
    api.faults["deleteMessage"] = [hangs_up]
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        with pytest.raises(RetryLater):
            await adapter.send(card, "查房", key="k", is_doubtful=False, is_last=True)
        assert len(api.of("sendMessage")) == 1

        await adapter.send(card, "查房", key="k", is_doubtful=False, is_last=True)

    assert shown(api) == {102: "查房"}


async def test_an_answer_whose_arrival_is_doubtful_is_edited_in_again_and_not_sent(api: FakeApi) -> None:
    """Also when the turn's draft is taken back meanwhile."""

    async def changes_nothing(_: web.Request) -> web.StreamResponse:
        return await refuses(400, "Bad Request: message is not modified")(_)

    api.faults["editMessageText"] = [hangs_up, changes_nothing]
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        with pytest.raises(AnswerLost):
            await answers(adapter)
        await adapter.drop_draft(WARD)

        ref = await answers(adapter, doubtful=True)
        await answers(adapter, "接着", key="k2")

    assert ref == MessageRef(WARD, "101")
    assert shown(api) == {101: LONG, 102: "接着"}


async def test_a_newer_draft_is_not_forgotten_over_a_doubtful_answer(api: FakeApi) -> None:
    clock = JumpingClock()
    api.faults["editMessageText"] = [hangs_up]
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        with pytest.raises(AnswerLost):
            await answers(adapter)
        clock.jump(3 * SECONDS)
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(2, turn="t2"))

        first = await answers(adapter, doubtful=True)
        second = await answers(adapter, "接着", key="k2")

    assert [first.id, second.id] == ["101", "102"]
    assert shown(api) == {101: LONG, 102: "接着"}


async def test_a_part_that_is_lost_twice_is_not_overwritten_by_the_next(api: FakeApi) -> None:
    api.faults["editMessageText"] = [hangs_up, hangs_up]
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        for doubtful in (False, True):
            with pytest.raises(AnswerLost):
                await answers(adapter, doubtful=doubtful)

        await answers(adapter, "第二段", key="k2")

    assert shown(api) == {101: LONG, 102: "第二段"}


async def test_an_answer_that_must_wait_keeps_its_place(api: FakeApi) -> None:
    clock = JumpingClock()
    api.faults["editMessageText"] = [refuses(429, "Too Many Requests", retry_after=5)]
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        with pytest.raises(RetryLater):
            await answers(adapter)
        clock.jump(5 * SECONDS)

        ref = await answers(adapter)

    assert ref == MessageRef(WARD, "101")
    assert len(api.of("sendMessage")) == 1


@pytest.mark.parametrize(
    ("refusal", "deletions"),
    [("Bad Request: message to edit not found", 1), ("Bad Request: MESSAGE_TOO_LONG", 1)],
)
async def test_where_the_draft_cannot_become_the_answer_it_is_sent(api: FakeApi, refusal: str, deletions: int) -> None:
    api.faults["editMessageText"] = [refuses(400, refusal)]
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))

        ref = await answers(adapter)

    assert ref == MessageRef(WARD, "102")
    assert len(api.of("deleteMessage")) == deletions


async def test_a_change_whose_answer_was_lost_cannot_overwrite_the_answer(api: FakeApi) -> None:
    """The edit may still be on its way: nothing else may be made of that message."""
    clock = JumpingClock()
    api.faults["editMessageText"] = [hangs_up]
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(draft(1))
        clock.jump(3 * SECONDS)
        with pytest.raises(AnswerLost):
            await adapter.show_draft(draft(2))

        ref = await answers(adapter)

    assert ref == MessageRef(WARD, "102")
    assert shown(api) == {102: LONG}


async def test_a_draft_that_the_answer_overtakes_goes_when_it_arrives(api: FakeApi) -> None:
    released = asyncio.Event()

    def slow(number: int) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def fault(_: web.Request) -> web.StreamResponse:
            await released.wait()
            return web.json_response(
                {
                    "ok": True,
                    "result": {
                        "message_id": number,
                        "date": 1,
                        "chat": {"id": -1009, "type": "supergroup"},
                        "text": "x",
                    },
                }
            )

        return fault

    api.faults["sendMessage"] = [slow(100)]
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        showing = asyncio.create_task(adapter.show_draft(draft(1)))
        await api.until(lambda: len(api.of("sendMessage")) == 1)
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)

        ref = await answers(adapter)
        released.set()
        await api.until(lambda: bool(api.of("deleteMessage")))

    assert ref == MessageRef(WARD, "101")
    assert api.of("deleteMessage") == [{"chat_id": -1009, "message_id": 100}]


async def test_a_draft_that_nobody_knows_the_id_of_is_followed_by_no_other(api: FakeApi) -> None:
    clock = JumpingClock()
    api.faults["sendMessage"] = [hangs_up]
    async with sending(api, clock) as adapter:
        adapter._posts.heard(WARD)
        with pytest.raises(AnswerLost):
            await adapter.show_draft(draft(1))
        clock.jump(3 * SECONDS)
        await adapter.show_draft(draft(2))

    assert len(api.of("sendMessage")) == 1


async def test_a_text_that_fills_messages_shows_the_one_being_written(api: FakeApi) -> None:
    text = "a" * 4000 + "\n\n" + "b" * 3000
    async with sending(api) as adapter:
        adapter._posts.heard(WARD)
        await adapter.show_draft(Draft(WARD, "t1", 1, text))
        for number, part in enumerate(adapter.split(Reply(WARD, text))):
            await adapter.send(Reply(WARD, text), part, key=f"k{number}", is_doubtful=False, is_last=number == 1)

    assert api.of("sendMessage")[0]["text"] == "b" * 3000 + " …"
    assert shown(api) == {101: "a" * 4000, 102: "b" * 3000}
