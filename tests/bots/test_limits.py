"""How much one person, one chat and one bot may say; nobody else waits for it (T18)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bots.limits import BOT_AN_HOUR, SpeechLimits
from kernel.access import Access
from kernel.chat import ConversationId, Sender, UserMessage
from kernel.ports import Silence
from kernel.settings import PlatformId
from kernel.stores.memory.wakeups import MemoryWakeups
from kernel.texts import say
from tests.bots.bench import Bench, running
from tests.bots.words import ANN, EVE, OWNED, OWNER, WANG, WARD, alone, inboxes, opens, presses, says, writes

FEW = SpeechLimits(allowed=5, member=3)
TOO_MUCH = say("limit.reached", "zh")
LI = Sender("3003", "小李")


def flood(bench: Bench, person: Sender, count: int, where: ConversationId = WARD) -> list[UserMessage]:
    return [says(bench, person, f"第 {number} 条", where) for number in range(count)]


async def test_two_hundred_messages_in_ten_seconds_are_read_up_to_the_limit_and_one_notice_says_so() -> None:
    async with running() as bench:
        await opens(bench)

        await bench.comes(*flood(bench, WANG, 200))

        assert len(inboxes(bench)["-5"]) == SpeechLimits().member
        assert bench.texts == [TOO_MUCH]
        told = await bench.stores.silences.of(WARD)
        assert [each.why for each in told] == [Silence.LIMITED]


async def test_who_was_let_in_personally_may_say_more_and_an_owner_as_much_as_they_like() -> None:
    async with running(access=OWNED, limits=FEW) as bench:
        await opens(bench)

        await bench.comes(*flood(bench, WANG, 20))
        for person in (ANN, OWNER):
            await bench.comes(*(writes(bench, person, "在") for _ in range(20)))

        assert {chat: len(items) for chat, items in inboxes(bench).items()} == {"-5": 3, "1001": 5, "9001": 20}


async def test_a_flood_in_one_chat_costs_another_nothing() -> None:
    async with running(limits=FEW) as bench:
        await opens(bench)
        await opens(bench, "-6")
        other = ConversationId("fake", "-6")

        await bench.comes(*flood(bench, WANG, 20), *flood(bench, LI, 2, other))

        assert {chat: len(items) for chat, items in inboxes(bench).items()} == {"-5": 3, "-6": 2}
        assert [chat for chat, _, _ in bench.adapter.sent] == ["-5"]


async def test_many_people_together_fill_a_chat_and_alone_each_is_heard() -> None:
    async with running(limits=FEW) as bench:
        await opens(bench)
        people = [Sender(f"70{number}") for number in range(6)]

        for person in people:
            await bench.comes(*flood(bench, person, 2))

        assert len(inboxes(bench)["-5"]) == FEW.chat
        assert bench.texts == [TOO_MUCH]

        await bench.comes(writes(bench, ANN, "在吗"))

        assert inboxes(bench)["1001"] == ["在吗"]


async def test_a_minute_later_there_is_room_again() -> None:
    async with running(limits=FEW) as bench:
        await opens(bench)
        await bench.comes(*flood(bench, WANG, 9))

        await bench.passes(60)
        await bench.comes(*flood(bench, WANG, 9))

        assert len(inboxes(bench)["-5"]) == 6
        assert bench.texts == [TOO_MUCH] * 2


async def test_what_was_held_up_on_its_way_is_no_flood() -> None:
    """While the store is away for an hour, messages wait on the platform, and come all at once."""
    async with running(limits=FEW) as bench:
        await opens(bench)
        late = [
            replace(each, at=bench.clock.now() - timedelta(minutes=number))
            for number, each in enumerate(flood(bench, WANG, 30))
        ]

        await bench.comes(*late)

        assert (len(inboxes(bench)["-5"]), bench.texts) == (30, [])


async def test_presses_count_too_and_who_presses_on_is_told_to_press_again() -> None:
    async with running(limits=FEW) as bench:
        await opens(bench)

        await bench.comes(*(presses(bench, EVE, WARD) for _ in range(9)))
        await bench.passes(5)

        assert len(inboxes(bench)["-5"]) == FEW.member
        notices = [notice.text for notice in bench.adapter.notices]
        assert notices.count(say("press.failed", "zh")) == 9 - FEW.member


async def test_a_bot_that_is_let_in_and_answers_in_50_ms_is_heard_ten_times_an_hour() -> None:
    """M7, T18: the loop is cut, with one notice, and nobody else is."""
    other = Sender("77", "B9", is_bot=True)
    access = Access(allow=frozenset({PlatformId("fake", "77"), PlatformId("fake", "1001")}))
    async with running(access=access) as bench:
        for number in range(200):
            await bench.comes(says(bench, other, f"回声 {number}"))
            bench.clock.jump(timedelta(milliseconds=50))
        await bench.comes(says(bench, ANN, "它还在吗"))

        assert len(inboxes(bench)["-5"]) == BOT_AN_HOUR + 1
        assert bench.texts == [TOO_MUCH]

        await bench.comes(says(bench, other, "别处", ConversationId("fake", "-6")))
        bench.clock.jump(timedelta(hours=1))
        await bench.comes(says(bench, other, "又来"))

        assert inboxes(bench)["-5"][-1] == "又来"
        assert inboxes(bench)["-6"] == ["别处"]


async def test_what_is_not_read_wakes_no_worker() -> None:
    async with running(limits=FEW) as bench:
        await opens(bench)
        await bench.comes(*flood(bench, WANG, 3))
        wakeups = bench.stores.wakeups
        assert isinstance(wakeups, MemoryWakeups)
        await wakeups.hinted()
        bench.clock.jump(timedelta(seconds=5))

        await bench.comes(*(says(bench, WANG, "喂", WARD) for _ in range(9)))

        assert len(inboxes(bench)["-5"]) == 3
        assert alone(WANG) not in bench.memory.records


async def test_copies_of_a_message_count_once_and_bring_no_second_notice() -> None:
    """Slack tells each mention twice, and platforms repeat what was not acknowledged in time."""
    async with running(limits=FEW) as bench:
        await opens(bench)

        await bench.comes(*(copy for each in flood(bench, WANG, FEW.member + 1) for copy in [each] * 5))

        assert len(inboxes(bench)["-5"]) == FEW.member
        assert bench.texts == [TOO_MUCH]
