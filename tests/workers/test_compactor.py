"""The summary of a history: asked for when it is due, once, with what the program knows; and dropped without harm."""

from __future__ import annotations

import asyncio

import pytest

from kernel.chat import ConversationId, Sender, UserMessage
from kernel.errors import ProviderFailed
from kernel.messages import Message, Role, Text
from kernel.ports import Outcome, Step, TriggerPut
from kernel.providers.scripted import Answer, Gate, Held, Scripted
from kernel.session import Session
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.kernel.stores.words import trigger
from tests.twins.clock import START, JumpingClock
from tests.twins.sessions import EMPTY, after, spoken
from workers.compactor import REST, Compactor, Shortened, Upkeep

HERE = EMPTY.conversation
LONG = [
    message
    for number in range(30)
    for message in (
        Message(Role.USER, (Text(f"第 {number} 句"),)),
        Message(Role.ASSISTANT, (Text(f"答 {number}"),)),
    )
]
AT_REST = Session(HERE, history_length=len(LONG))


class Office:
    """A compactor over a model and an empty store, and the mail of one conversation."""

    def __init__(self, *answers: Answer) -> None:
        clock = self.clock = JumpingClock()
        self.model = Scripted(*answers)
        self.stores = memory_stores(clock, memory=Memory(clock))
        compactor = Compactor(self.model, self.stores.triggers, clock, window=100_000, most=50)
        self.mail: asyncio.Queue[Shortened] = asyncio.Queue()
        self.upkeep = Upkeep(compactor, self.mail.put_nowait)

    async def come(self) -> Shortened:
        async with asyncio.timeout(5):
            return await self.mail.get()


async def test_what_comes_takes_the_place_of_the_history_it_was_made_of() -> None:
    office = Office("他们在聊天。")

    assert office.upkeep.begin(AT_REST, LONG, ["notes/a.txt"])
    came = await office.come()

    assert came.of == len(LONG)
    assert "他们在聊天。" in came.messages[0].text
    assert "file: notes/a.txt" in came.messages[0].text
    assert came.messages[-1] == LONG[-1]
    assert not office.upkeep.is_busy


async def test_a_history_that_is_not_due_or_was_tried_or_in_which_somebody_speaks_is_left_alone() -> None:
    office = Office(ProviderFailed("away"))

    assert not office.upkeep.begin(AT_REST, LONG[:40], [])
    assert not office.upkeep.begin(after(spoken("你好"), session=AT_REST), LONG, [])
    assert office.upkeep.begin(AT_REST, LONG, [])
    assert (await office.come()).messages == ()
    assert not office.upkeep.begin(AT_REST, LONG, [])


@pytest.mark.parametrize("answer", [ProviderFailed("away"), ""])
async def test_where_a_summary_came_to_nothing_the_next_is_tried_ten_minutes_later(answer: Answer) -> None:
    office = Office(answer, "他们在聊天。")
    later = Session(HERE, history_length=len(LONG) + 2)
    office.upkeep.begin(AT_REST, LONG, [])
    await office.come()

    assert not office.upkeep.begin(later, LONG, [])
    await office.clock.run_to(office.clock.now() + REST)

    assert office.upkeep.begin(later, LONG, [])
    assert (await office.come()).messages


async def test_a_summary_that_is_stopped_or_breaks_is_mail_too_and_changes_nothing() -> None:
    gate = Gate()
    office = Office(Held("late", gate), RuntimeError("a bug"))

    office.upkeep.begin(AT_REST, LONG, [])
    await gate.reached()
    await office.upkeep.end()
    assert (await office.come()).messages == ()

    office.upkeep.begin(Session(HERE, history_length=62), LONG, [])
    assert (await office.come()).messages == ()


async def test_without_a_model_nothing_is_summarised() -> None:
    assert not Upkeep(None, lambda _: None).begin(AT_REST, LONG, [])


@pytest.mark.parametrize("where", [HERE, ConversationId("twin", "elsewhere")])
async def test_the_open_reminders_of_the_conversation_are_known_to_the_summary(where: ConversationId) -> None:
    office = Office("short")
    stores = office.stores
    await stores.conversations.put(UserMessage("e1", where, Sender("1001"), 1, START, "好"), now=START)
    checkout = await stores.conversations.checkout("w", now=START, last_try=True)
    assert checkout is not None
    step = Step(checkout.session, Outcome.DONE, triggers=(TriggerPut(trigger(where=where), START),))
    await stores.conversations.commit(checkout.lease, step, now=START)

    office.upkeep.begin(AT_REST, LONG, [])

    assert ("reminder: 查房" in (await office.come()).messages[0].text) == (where == HERE)
