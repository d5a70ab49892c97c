"""What the outbox holds goes out once and in order, whatever the platform answers."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.adapter import AnswerLost, Undeliverable, WrongToken
from bots.deliveries import key_of
from bots.flood import NotYet
from kernel.chat import (
    Choice,
    ConversationId,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
)
from kernel.errors import RetryLater
from kernel.ports import Delivery, PromptRecord, TriggerPut
from kernel.stores.memory.state import Memory
from kernel.triggers import Firing
from tests.bots.bench import D1, D2, Bench, Broken, FakeAdapter, build, running
from tests.kernel.stores.words import kept, trigger
from tests.twins.clock import JumpingClock


async def test_a_long_reply_goes_out_in_parts_in_order() -> None:
    async with running() as bench:
        await bench.goes(Reply(D1, "one/two/three"), Reply(D1, "four"))

        assert bench.adapter.sent == [
            ("1", "one", False),
            ("1", "two", False),
            ("1", "three", True),
            ("1", "four", True),
        ]
        assert bench.waiting() == 0


async def test_a_flood_limit_is_waited_out_while_other_chats_go_on() -> None:
    limits: list[Exception] = [RetryLater("429", timedelta(seconds=4)), RetryLater("429", timedelta(seconds=4))]
    async with running(FakeAdapter(answers={"two": limits})) as bench:
        await bench.goes(Reply(D1, "one/two/three"), Reply(D1, "four"), Reply(D2, "other"))

        assert bench.texts == ["one", "other"]

        await bench.passes(3.9)
        assert bench.adapter.asked.count("two") == 1
        await bench.passes(4.2)

        assert bench.texts == ["one", "other", "two", "three", "four"]
        assert bench.adapter.asked.count("two") == 3


async def test_who_only_waits_their_turn_loses_no_try_and_waits_no_longer_than_told() -> None:
    turns: list[Exception] = [NotYet("as fast as it goes", timedelta(seconds=1)) for _ in range(12)]
    async with running(FakeAdapter(answers={"a": turns})) as bench:
        await bench.goes(Reply(D1, "a"))
        await bench.passes(11.9)
        (parcel,) = bench.memory.lines[D1].parcels
        tried = parcel.attempts
        await bench.passes(0.2)

        assert tried == 0
        assert bench.texts == ["a"]


async def test_a_lost_answer_is_tried_once_more_and_then_never_again() -> None:
    """R1: the platform took it, the answer was late; the person must not see it a third time."""
    async with running(FakeAdapter(answers={"a": [AnswerLost("x")] * 5, "b": [AnswerLost("x")]})) as bench:
        await bench.goes(Reply(D1, "a"), Reply(D1, "b"), Reply(D1, "c"))
        await bench.passes(60)

        assert bench.adapter.asked == ["a", "a", "b", "b", "c"]
        assert bench.texts == ["b", "c"]


async def test_a_part_whose_answer_was_lost_twice_does_not_cost_the_parts_behind_it() -> None:
    async with running(FakeAdapter(answers={"a": [AnswerLost("x")] * 5})) as bench:
        await bench.goes(Reply(D1, "a/b"))
        await bench.passes(60)

        assert bench.adapter.asked == ["a", "a", "b"]


async def test_where_it_can_be_looked_for_a_lost_answer_is_tried_until_it_is_known() -> None:
    answers: list[Exception] = [AnswerLost("x", can_look=True)] * 4
    async with running(FakeAdapter(answers={"a": answers})) as bench:
        await bench.goes(Reply(D1, "a"), Reply(D1, "b"))
        await bench.passes(60)

        assert bench.texts == ["a", "b"]
        keys = [key for key, _ in bench.adapter.tries]
        assert [is_doubtful for _, is_doubtful in bench.adapter.tries] == [False, True, True, True, True, False]
        assert len(set(keys[:5])) == 1
        assert keys[5] != keys[0]


async def test_a_flood_limit_after_a_lost_answer_gives_no_second_doubtful_try() -> None:
    answers: list[Exception] = [
        AnswerLost("x"),
        RetryLater("429", timedelta(seconds=1)),
        AnswerLost("x"),
        AnswerLost("x"),
    ]
    async with running(FakeAdapter(answers={"a": answers})) as bench:
        await bench.goes(Reply(D1, "a"))
        await bench.passes(60)

        assert bench.adapter.asked == ["a"] * 3


async def test_what_the_platform_will_never_take_is_failed_and_the_next_one_goes() -> None:
    async with running(FakeAdapter(answers={"gone": [Undeliverable("blocked")]})) as bench:
        await bench.goes(Reply(D1, "gone"), Reply(D1, "next"))

        assert bench.texts == ["next"]
        assert bench.waiting() == 0


@pytest.mark.parametrize("text", ["unsplittable", "broken"])
async def test_a_delivery_that_breaks_us_stops_neither_its_chat_nor_others(text: str) -> None:
    async with running(FakeAdapter(answers={"broken": [Broken()] * 10})) as bench:
        await bench.goes(Reply(D1, text), Reply(D1, "next"), Reply(D2, "other"))
        assert bench.texts == ["other"]

        await bench.passes(30)

        assert bench.texts == ["other", "next"]


async def test_a_wrong_token_while_sending_loses_nothing() -> None:
    async with running(FakeAdapter(answers={"a": [WrongToken("revoked")]})) as bench:
        await bench.goes(Reply(D1, "a"))
        await bench.passes(31)

        assert bench.texts == ["a"]


async def test_a_decided_prompt_is_changed_wherever_it_was_shown() -> None:
    places = (MessageRef(D1, "m1"), MessageRef(D2, "m2"), MessageRef(D2, "m3"))
    answers: dict[str, list[Exception]] = {
        "closed": [Undeliverable("no right"), RetryLater("429", timedelta(seconds=1))]
    }
    async with running(FakeAdapter(answers=answers)) as bench:
        await bench.goes(Prompt(D1, "card", "tok", (Choice("done", "完成"),)))
        assert bench.texts == ["card"]

        bench.memory.prompts["tok"] = make_record(places)
        await bench.goes(PromptClosed(D1, "tok", "closed"))
        await bench.passes(5)

        assert {place for place, _ in bench.adapter.closed} == {"m1", "m2", "m3"}
        assert bench.waiting() == 0


async def test_a_press_without_an_answer_gets_a_neutral_one_after_a_second_and_a_half() -> None:
    async with running() as bench:
        await bench.comes(bench.press())
        await bench.passes(1.4)
        assert bench.adapter.notices == []

        await bench.passes(0.2)
        assert [notice.text for notice in bench.adapter.notices] == ["收到，稍后告诉你结果。"]

        await bench.goes(Notice(D1, "p1", "1001", "已完成"))
        assert [notice.text for notice in bench.adapter.notices][1:] == ["已完成"]


async def test_a_neutral_answer_speaks_the_language_of_the_card() -> None:
    async with running() as bench:
        await bench.goes(Prompt(D1, "card", "tok", (Choice("done", "Done"),), language="en"))
        await bench.comes(bench.press())
        await bench.passes(1.6)

        assert [notice.text for notice in bench.adapter.notices] == ["Got it, I will tell you shortly."]


async def test_a_press_that_was_answered_in_time_gets_no_neutral_answer() -> None:
    async with running() as bench:
        await bench.comes(bench.press())
        await bench.goes(Notice(D1, "p1", "1001", "已完成"))
        await bench.passes(5)

        assert [notice.text for notice in bench.adapter.notices] == ["已完成"]


async def test_a_notice_is_given_up_soon_for_it_would_come_too_late() -> None:
    always: list[Exception] = [RetryLater("away", timedelta(seconds=1)) for _ in range(20)]
    async with running(FakeAdapter(answers={"已完成": always})) as bench:
        await bench.goes(Notice(D1, "p1", "1001", "已完成"), Reply(D1, "next"))
        await bench.passes(30)

        assert bench.texts == ["next"]


async def test_typing_shows_for_as_long_as_a_turn_works_and_ends_with_the_answer() -> None:
    async with running() as bench:
        began = bench.clock.now()
        for _ in range(3):
            await bench.stores.outbox.working(D1, turn="t")
            await bench.passes(4)

        assert [at - began for _, at in bench.adapter.typed] == [timedelta(seconds=4 * n) for n in range(4)]

        await bench.goes(Reply(D1, "answer"))
        await bench.passes(20)

        assert len(bench.adapter.typed) == 4


async def test_after_a_message_that_may_be_the_answer_typing_pauses() -> None:
    async with running() as bench:
        await bench.goes(Reply(D1, "answer"))
        await bench.stores.outbox.working(D1, turn="t")
        await bench.passes(3.9)
        assert bench.adapter.typed == []

        await bench.passes(0.2)
        assert len(bench.adapter.typed) == 1


async def test_a_part_in_flight_when_its_sender_died_is_repeated_at_most_once() -> None:
    clock = JumpingClock()
    memory = Memory(clock)
    bench = build(clock, memory, FakeAdapter(answers={"b": [AnswerLost("x")] * 5}))
    await bench.stores.outbox.add(Reply(D1, "a/b/c"), now=clock.now())
    died = await bench.stores.outbox.pull("fake", "dead", now=clock.now())
    assert died is not None
    died = await bench.stores.outbox.split(died, ("a", "b", "c"), now=clock.now())
    died = await bench.stores.outbox.sending(died, now=clock.now())
    died = await bench.stores.outbox.sent(died, MessageRef(D1, "m"), now=clock.now())
    await bench.stores.outbox.sending(died, now=clock.now())

    task = asyncio.create_task(bench.driver.run())
    await bench.passes(30)

    assert bench.adapter.asked == ["b", "c"]
    assert [is_doubtful for _, is_doubtful in bench.adapter.tries] == [True, False]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_a_key_is_one_parts_alone_and_the_same_after_a_crash() -> None:
    reply, other = Reply(D1, "a"), Reply(D1, "b")
    parcel = Delivery("7", reply, fence=1, holder="bot")
    again = replace(parcel, fence=2, holder="heir", attempts=3, is_doubtful=True)
    second = replace(parcel, refs=(MessageRef(D1, "m"),))

    assert key_of(parcel, reply) == key_of(again, reply)
    assert re.fullmatch("[0-9a-f]{24}", key_of(parcel, reply))
    others = [
        key_of(second, reply),
        key_of(replace(parcel, id="8"), reply),
        key_of(parcel, other),
        key_of(parcel, replace(reply, conversation=D2)),
    ]
    assert len({key_of(parcel, reply), *others}) == 5


async def test_a_notice_that_may_be_there_already_is_not_repeated() -> None:
    clock = JumpingClock()
    bench = build(clock, Memory(clock), FakeAdapter())
    await bench.stores.outbox.add(Notice(D1, "p1", "1001", "已完成"), now=clock.now())
    died = await bench.stores.outbox.pull("fake", "dead", now=clock.now())
    assert died is not None
    await bench.stores.outbox.sending(died, now=clock.now())

    task = asyncio.create_task(bench.driver.run())
    await bench.passes(30)

    assert bench.adapter.notices == []
    assert bench.waiting() == 0
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


# --- reminders


def reminder(bench: Bench, language: str = "zh") -> Prompt:
    return Prompt(D1, "⏰ 查房", "tok", (Choice("done", "完成"),), due=bench.clock.now(), language=language)


@pytest.mark.parametrize(
    ("late", "language", "words"),
    [
        (timedelta(minutes=1), "zh", "⏰ 查房"),
        (timedelta(minutes=1, seconds=1), "zh", "⏰ 查房\n（晚到 1 分钟）"),
        (timedelta(minutes=100), "zh", "⏰ 查房\n（晚到 1 小时 40 分）"),
        (timedelta(minutes=100), "en", "⏰ 查房\n(1 h 40 min late)"),
        (timedelta(hours=49), "en", "⏰ 查房\n(2 d 1 h late)"),
    ],
)
async def test_a_reminder_that_is_sent_late_says_so(late: timedelta, language: str, words: str) -> None:
    async with running() as bench:
        prompt = reminder(bench, language)
        bench.clock.jump(late)

        await bench.goes(prompt, Reply(D1, "never late"))

        assert bench.texts == [words, "never late"]


async def test_a_reminder_that_the_platform_did_not_take_on_time_says_how_late_it_became() -> None:
    away = RetryLater("away", timedelta(minutes=30))
    answers: dict[str, list[Exception]] = {"⏰ 查房": [away], "⏰ 查房\n（晚到 30 分钟）": [away]}
    async with running(FakeAdapter(answers=answers)) as bench:
        await bench.goes(reminder(bench))
        await bench.passes(3601)

        assert bench.texts == ["⏰ 查房\n（晚到 1 小时 0 分）"]
        assert len({key for key, _ in bench.adapter.tries}) == 1


async def test_a_reminder_whose_answer_was_lost_twice_is_in_the_ledger_as_unknown() -> None:
    """R12: delivered is what has a message id."""
    async with running(FakeAdapter(answers={"⏰ 查房": [AnswerLost("x")] * 5})) as bench:
        now, due = bench.clock.now(), bench.clock.now() + timedelta(days=1)
        made = trigger(where=D1)
        await kept(bench.stores, now, where=D1, triggers=(TriggerPut(made, now),))
        await bench.stores.triggers.fire(Firing(made, now), due, (reminder(bench),), outcome="claimed", now=now)
        await bench.passes(60)

        assert len(bench.adapter.asked) == 2
        assert [line.outcome for line in await bench.stores.triggers.ledger(made.id)] == ["unknown"]


async def test_while_the_store_is_away_after_a_send_its_record_is_not_forgotten() -> None:
    async with running(FakeAdapter(hold=asyncio.Event())) as bench:
        await bench.goes(Reply(D1, "a/b"))
        bench.memory.is_away = True
        assert bench.adapter.hold is not None
        bench.adapter.hold.set()
        await bench.passes(10)
        bench.memory.is_away = False
        await bench.passes(10)

        assert bench.adapter.asked == ["a", "b"]
        assert bench.waiting() == 0


async def test_many_conversations_are_sent_to_side_by_side() -> None:
    async with running(FakeAdapter(hold=asyncio.Event())) as bench:
        chats = [ConversationId("fake", str(number)) for number in range(40)]
        await bench.goes(*(Reply(chat, f"to {chat.chat}") for chat in chats))

        assert len(bench.adapter.asked) == 32

        assert bench.adapter.hold is not None
        bench.adapter.hold.set()
        await bench.passes()

        assert len(bench.texts) == 40


def make_record(places: tuple[MessageRef, ...]) -> PromptRecord:
    return PromptRecord("tok", D1, "reminders", "{}", places)
