"""Two processes of one bot keep to Slack's pace together, and what it told one of them to wait is waited by both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from random import Random

import pytest

from bots.flood import NotYet
from bots.slack import SlackAdapter
from kernel.chat import ConversationId, Draft, Reply
from kernel.stores.memory.floods import MemoryFloods
from kernel.stores.memory.state import Memory
from tests.bots.senders import Senders, senders
from tests.bots.slack.fake import APP_TOKEN, BOT_TOKEN, FakeSlack, Fault
from tests.twins.clock import JumpingClock

D1, D2 = ConversationId("slack", "DANN"), ConversationId("slack", "DBOB")
THREAD = ConversationId("slack", "C1", "1700000000.000100")
SECOND = timedelta(seconds=1)
LONG = "\n\n".join(letter * 11_000 for letter in "abc")
LIMITED = Fault(status=429, error="ratelimited", retry_after="4")


@asynccontextmanager
async def adapters(
    slack: FakeSlack, clock: JumpingClock, memory: Memory, count: int
) -> AsyncIterator[list[SlackAdapter]]:
    made = [
        SlackAdapter(
            BOT_TOKEN, APP_TOKEN, clock=clock, random=Random(7), api_url=slack.api_url, floods=MemoryFloods(memory)
        )
        for _ in range(count)
    ]
    clock.jump(timedelta(hours=1))  # No draft of an earlier process is looked for.
    try:
        yield made
    finally:
        for each in made:
            await each._calls.close()


@pytest.fixture
async def two(slack: FakeSlack) -> AsyncIterator[Senders]:
    clock = JumpingClock()
    memory = Memory(clock)
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(adapters(slack, clock, memory, 2))
        yield await stack.enter_async_context(senders(made, memory, clock))


def tried(slack: FakeSlack, where: ConversationId) -> list[str]:
    return [each["text"] for each in slack.called("chat.postMessage") if each["channel"] == where.chat]


def shown(slack: FakeSlack, where: ConversationId) -> list[str]:
    return [each["text"] for each in slack.posts if each["channel"] == where.chat]


async def test_a_limit_amid_a_long_answer_is_waited_out_and_other_chats_go_on(slack: FakeSlack, two: Senders) -> None:
    """M31: 429 with Retry-After 4 on the second and on the third part."""
    slack.faults["chat.postMessage"] = [None, LIMITED]

    await two.says(Reply(D1, LONG), Reply(D1, "next"))
    await two.rest()
    await two.says(Reply(D2, "other"))
    await two.rest()
    slack.faults["chat.postMessage"] = [None, LIMITED]
    await two.passes(3.9 * SECOND)
    await two.rest()
    waits = len(tried(slack, D1))
    await two.passes(0.1 * SECOND)
    await two.rest()
    second = len(tried(slack, D1))
    await two.passes(4 * SECOND)
    await two.rest()

    assert shown(slack, D2) == ["other"]
    assert [waits, second] == [2, 4]
    assert [text[0] for text in shown(slack, D1)] == ["a", "b", "c", "n"]
    assert two.waiting == 0


async def test_a_channel_gets_a_post_a_second_from_both_together(slack: FakeSlack, two: Senders) -> None:
    texts = [f"a{number}" for number in range(9)]

    await two.says(*(Reply(D1, text) for text in texts), Reply(D2, "other"))
    await two.rest()
    at_once = shown(slack, D1)
    for _ in range(8):
        await two.passes(SECOND)
        await two.rest()

    assert at_once == ["a0", "a1", "a2"]
    assert shown(slack, D1) == texts
    assert shown(slack, D2) == ["other"]
    assert two.counters.of("delivery", platform="slack", outcome="retried") == 0


async def test_drafts_of_both_leave_updates_for_answers_and_cards(slack: FakeSlack) -> None:
    clock = JumpingClock()
    async with adapters(slack, clock, Memory(clock), 2) as both:
        for adapter, where in zip(both, (D1, THREAD), strict=True):
            adapter._sending.drafts.heard(where)
        for number in range(50):
            for adapter, where in zip(both, (D1, THREAD), strict=True):
                with suppress(NotYet):
                    await adapter.show_draft(Draft(where, "t", number, f"{number}" + "查房" * 50))
            clock.jump(SECOND)
        grown = len(slack.called("chat.update"))
        await both[0].send(Reply(D1, "a"), "a", key="k1", is_doubtful=False, is_last=True)
        await both[1].send(Reply(THREAD, "b"), "b", key="k2", is_doubtful=False, is_last=True)

    assert grown == 30
    assert sorted(shown(slack, D1) + shown(slack, THREAD)) == ["a", "b"]
    assert len(slack.called("chat.update")) == 32


async def test_a_post_whose_blocks_are_refused_does_not_wait_for_a_second_place(slack: FakeSlack) -> None:
    clock = JumpingClock()
    async with adapters(slack, clock, Memory(clock), 1) as (one,):
        for number in range(2):
            await one.send(Reply(D1, "a"), "a", key=f"k{number}", is_doubtful=False, is_last=True)
        slack.faults["chat.postMessage"] = [Fault(error="invalid_blocks")]
        await one.send(Reply(D1, "b"), "b", key="k2", is_doubtful=False, is_last=True)

    assert shown(slack, D1) == ["a", "a", "b"]
