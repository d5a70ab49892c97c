"""What is being written is shown while it is written, and never beside or behind the message it becomes."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from itertools import pairwise

from bots.adapter import AnswerLost, HasDrafts, Undeliverable
from bots.drafts import Drafts
from bots.flood import NotYet
from bots.moves import Moves
from kernel.chat import ConversationId, Draft, Prompt, Reply
from kernel.errors import RetryLater
from kernel.stores.memory.grants import MemoryGrants
from kernel.stores.memory.outbox import MemoryOutbox
from kernel.stores.memory.state import Memory
from tests.bots.bench import D1, D2, Bench, DraftingAdapter, build, running
from tests.twins.clock import JumpingClock


def drafting(bench: Bench) -> DraftingAdapter:
    assert isinstance(bench.adapter, DraftingAdapter)
    return bench.adapter


def texts(bench: Bench) -> list[str]:
    return [text for _, text, _ in drafting(bench).drafts]


async def test_a_draft_grows_and_the_message_takes_its_place_once() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("今天", 1)
        assert drafting(bench).visible == {"1": "今天"}
        await bench.passes(1)
        await bench.writes("今天查房", 2)
        assert drafting(bench).visible == {"1": "今天查房"}

        await bench.goes(Reply(D1, "今天查房三次。"))
        await bench.passes(10)

        assert bench.texts == ["今天查房三次。"]
        assert drafting(bench).visible == {}
        assert texts(bench) == ["今天", "今天查房"]
        assert drafting(bench).dropped == []


async def test_words_before_tools_are_taken_back_and_the_next_round_is_shown() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("我看看", 100_000)
        await bench.writes("", 100_001)
        await bench.passes(1)
        assert drafting(bench).visible == {"1": ""}

        await bench.writes("结果是", 300_000)
        await bench.passes(1)
        assert drafting(bench).visible == {"1": "结果是"}
        await bench.goes(Reply(D1, "结果是三。"))

        assert bench.texts == ["结果是三。"]
        assert drafting(bench).visible == {}


async def test_the_sign_of_work_alone_shows_no_draft() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.stores.outbox.working(D1, turn="t1")
        await bench.writes("", 1, where=D2)
        await bench.passes(3)

        assert texts(bench) == []
        assert {chat for chat, _ in bench.adapter.typed} == {"1", "2"}


async def test_a_conversation_changes_at_most_once_a_second_and_ends_with_the_newest_text() -> None:
    async with running(DraftingAdapter()) as bench:
        for number in range(1, 31):
            await bench.writes("x" * number, number)
            await bench.writes("y" * number, number, where=D2)
        await bench.passes(1)

        for chat, last in (("1", "x" * 30), ("2", "y" * 30)):
            at = [when for where, _, when in drafting(bench).drafts if where == chat]
            assert 15 <= len(at) <= 20
            assert all(later - sooner >= timedelta(seconds=1) for sooner, later in pairwise(at))
            assert drafting(bench).visible[chat] == last


async def test_a_limit_on_drafts_rests_them_and_delays_no_message() -> None:
    limits: list[Exception] = [RetryLater("429", timedelta(seconds=30))]
    async with running(DraftingAdapter(draft_answers=limits)) as bench:
        await bench.writes("a", 1)
        await bench.writes("other", 1, where=D2)
        began = bench.clock.now()
        for number in range(2, 10):
            await bench.passes(1)
            await bench.writes("a" * number, number)
        assert [text for text in texts(bench) if text[0] == "a"] == ["a"]
        assert drafting(bench).visible == {"2": "other"}

        await bench.goes(Reply(D1, "answer"))

        assert bench.texts == ["answer"]
        assert bench.clock.now() - began < timedelta(seconds=12)


async def test_when_the_limit_is_over_the_newest_text_is_shown() -> None:
    limits: list[Exception] = [RetryLater("429", timedelta(seconds=7))]
    async with running(DraftingAdapter(draft_answers=limits)) as bench:
        await bench.writes("a", 1)
        await bench.writes("ab", 2)
        await bench.passes(6)
        assert texts(bench) == ["a"]

        await bench.passes(1)

        assert texts(bench) == ["a", "ab"]


async def test_failures_of_drafts_are_dropped_and_refusals_are_not_repeated_each_second() -> None:
    answers: list[Exception] = [AnswerLost("x"), Undeliverable("no drafts here")]
    async with running(DraftingAdapter(draft_answers=answers)) as bench:
        for number in range(1, 20):
            await bench.writes("a" * number, number)
            await bench.passes(1)
        assert texts(bench) == ["a", "aa"]

        await bench.goes(Reply(D1, "answer"))

        assert bench.texts == ["answer"]


async def test_an_older_draft_is_ignored() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("new", 5, fence=2)
        await bench.passes(1)
        await bench.writes("older holder", 9, fence=1)
        await bench.writes("older text", 4, fence=2)
        await bench.passes(3)

        assert texts(bench) == ["new"]


async def test_what_an_old_holder_writes_after_the_end_is_not_shown() -> None:
    """The store forgets a turn's draft when its message is pulled; a worker that froze may still write an old one."""
    async with running(DraftingAdapter()) as bench:
        await bench.writes("answer in full", 7, fence=2)
        await bench.passes(1)
        await bench.goes(Reply(D1, "answer in full."))
        await bench.writes("answer", 6, fence=1)
        await bench.passes(3)

        assert texts(bench) == ["answer in full"]


async def test_what_an_old_holder_writes_after_the_text_has_lapsed_is_not_shown() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("new text", 7, fence=2)
        for _ in range(14):
            await bench.stores.outbox.working(D1, turn="t1")
            await bench.passes(5)
        assert drafting(bench).visible == {"1": ""}

        await bench.writes("old", 6, fence=1)
        await bench.passes(3)

        assert texts(bench) == ["new text", ""]


class SlowOutbox(MemoryOutbox):
    """Reads the drafts, and tells them when the gate is open."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.gate = asyncio.Event()
        self.has_read = asyncio.Event()

    async def drafts(self, platform: str) -> tuple[Draft, ...]:
        found = await super().drafts(platform)
        self.has_read.set()
        await self.gate.wait()
        return found


async def test_what_was_read_before_a_message_is_not_shown_behind_it() -> None:
    clock = JumpingClock()
    memory = Memory(clock)
    outbox, adapter = SlowOutbox(memory), DraftingAdapter(clock=clock)
    await outbox.draft(Draft(D1, "t1", 1, "half"), fence=1)
    drafts = Drafts(adapter, outbox, clock, str, Moves(MemoryGrants(memory), clock))
    task = asyncio.create_task(drafts.run())
    await outbox.has_read.wait()

    await outbox.add(Reply(D1, "whole"), now=clock.now())
    await outbox.pull("fake", "bot", now=clock.now())
    async with drafts.silenced(D1):
        drafts.spoke(D1)
    outbox.gate.set()
    await clock.run_to(clock.now() + timedelta(seconds=3))

    assert adapter.drafts == []
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_nothing_is_shown_while_a_message_is_being_sent() -> None:
    async with running(DraftingAdapter(hold=asyncio.Event())) as bench:
        await bench.goes(Reply(D1, "one/two"))
        await bench.writes("next turn", 1, turn="t2")
        await bench.passes(2)
        assert texts(bench) == []

        assert bench.adapter.hold is not None
        bench.adapter.hold.set()
        await bench.passes(1)

        assert bench.texts == ["one", "two"]
        assert texts(bench) == ["next turn"]


async def test_a_draft_on_its_way_arrives_before_the_message_or_never() -> None:
    hold = asyncio.Event()
    async with running(DraftingAdapter(draft_hold=hold)) as bench:
        await bench.writes("half", 1)
        await bench.goes(Reply(D1, "whole"))
        assert bench.texts == []

        async with asyncio.timeout(5):  # of real time: a platform that hangs holds a message up for a second
            await drafting(bench).sent_one.wait()
        hold.set()
        await bench.passes(5)

        assert bench.texts == ["whole"]
        assert drafting(bench).visible == {}


async def test_a_reminder_ends_a_draft_and_what_is_written_after_it_is_shown() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("first", 1)
        await bench.goes(Prompt(D1, "⏰", "tok", ()))
        assert drafting(bench).visible == {}
        await bench.passes(1)

        await bench.writes("first and second", 2)

        assert drafting(bench).visible == {"1": "first and second"}


async def test_a_draft_whose_writer_is_gone_does_not_stay() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("half", 1)
        await bench.passes(70)

        assert drafting(bench).visible == {}


async def test_a_draft_whose_message_another_process_sends_is_dropped_here() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("half", 1)

        await bench.stores.outbox.add(Reply(D1, "whole"), now=bench.clock.now())
        pulled = await bench.stores.outbox.pull("fake", "another", now=bench.clock.now())
        assert pulled is not None
        await bench.passes(6)

        assert drafting(bench).visible == {}
        assert bench.texts == []


async def test_a_limit_on_drafts_keeps_none_of_them_standing() -> None:
    """Else the answer that we send next would take its place, above what another process said meanwhile."""
    async with running(DraftingAdapter()) as bench:
        await bench.writes("half", 1)
        drafting(bench).draft_answers.append(NotYet("full", timedelta(seconds=60)))
        await bench.passes(1)
        await bench.writes("half and", 2)

        await bench.stores.outbox.add(Reply(D1, "whole"), now=bench.clock.now())
        await bench.stores.outbox.pull("fake", "another", now=bench.clock.now())
        await bench.passes(6)

        assert drafting(bench).visible == {}


async def test_the_next_process_sends_the_message_once_after_a_crash_in_the_middle() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("half", 1)
        heir = build(bench.clock, bench.memory, DraftingAdapter())
    task = asyncio.create_task(heir.driver.run())
    await heir.goes(Reply(D1, "whole"))
    await heir.passes(20)

    assert heir.texts == ["whole"]
    assert bench.texts == []
    assert drafting(heir).visible == {}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_told_to_stop_it_leaves_no_half_message() -> None:
    async with running(DraftingAdapter()) as bench:
        await bench.writes("half", 1)
        assert drafting(bench).visible == {"1": "half"}

    assert drafting(bench).visible == {}


async def test_a_platform_without_drafts_is_left_alone() -> None:
    async with running() as bench:
        await bench.writes("half", 1)
        await bench.goes(Reply(D1, "whole"))

        assert not isinstance(bench.adapter, HasDrafts)
        assert isinstance(DraftingAdapter(), HasDrafts)
        assert bench.texts == ["whole"]


class Narrow(DraftingAdapter):
    """Has room for two drafts a second in all chats together."""

    async def show_draft(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`."""
        now = self.clock.now()
        recent = [at for _, _, at in self.drafts if at > now - timedelta(seconds=1)]
        if len(recent) >= 2:
            raise NotYet("full", min(recent) + timedelta(seconds=1) - now)
        await DraftingAdapter.show_draft(self, draft)


async def test_where_there_is_not_room_for_all_each_draft_gets_its_turn() -> None:
    chats = [ConversationId("fake", str(number)) for number in range(7)]
    async with running(Narrow()) as bench:
        for second in range(21):
            for where in chats:
                await bench.stores.outbox.draft(Draft(where, "t", second, f"text {second}"), fence=1)
            await bench.passes(1)

        shown = Counter(chat for chat, _, _ in drafting(bench).drafts)

    assert len(shown) == 7
    assert min(shown.values()) >= 4
    assert max(shown.values()) <= 8
