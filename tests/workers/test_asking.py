"""What the model is asked with, what people see meanwhile, and which tries are made again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from kernel.errors import ProviderRefused
from kernel.loop import CallModel
from kernel.messages import (
    Effort,
    Image,
    Message,
    ModelReply,
    ModelRequest,
    Opaque,
    Part,
    Role,
    Stop,
    Text,
    Thinking,
    ToolResult,
)
from kernel.providers.scripted import Answer, Gate, Held, Scripted, call
from kernel.session import Mode, Session
from kernel.session_events import Claimed, Opened, Returned, Spoken
from kernel.stores import rules
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.tools import ToolRegistry
from tests.kernel.test_pictures import png
from tests.twins.clock import JumpingClock
from tests.twins.sessions import ANN, EMPTY, after, called, calling, gate, result, spoken, turn_of
from tests.twins.tools import Deeds
from workers.asking import Asker, Asking
from workers.drafts import SHOW_EVERY
from workers.place import Place

PNG = png()
BLOB = rules.blob_id(PNG)
THOUGHT = Opaque("scripted:test", "m", "{}")
TOO_LONG = ModelReply(Message(Role.ASSISTANT, ()), Stop.WINDOW)


class Desk:
    """An asker over a scripted model and an empty store."""

    def __init__(self, *answers: Answer, asking: Asking | None = None) -> None:
        self.clock = JumpingClock()
        self.model = Scripted(*answers)
        self.stores = memory_stores(self.clock, memory=Memory(self.clock))
        registry = ToolRegistry([Deeds().tool("post")])
        asking = asking or Asking("Be kind.")
        self.asker = Asker(
            self.model, registry, asking, outbox=self.stores.outbox, blobs=self.stores.blobs, clock=self.clock
        )

    async def asks(self, session: Session, history: tuple[Message, ...] = ()) -> ModelReply:
        turn = turn_of(session)
        place = Place(EMPTY.conversation, "zh", {}, fence=1)
        return await self.asker.ask(CallModel(turn.id, turn.effect), turn, history, 0, place)

    async def drafts(self) -> list[str]:
        return [draft.text for draft in await self.stores.outbox.drafts("twin")]


def thought_of(request: ModelRequest) -> list[Part]:
    return [part for message in request.messages for part in message.parts if part == THOUGHT]


def with_thought(prefix: str = "p") -> Session:
    """A turn of that prefix in which the model has thought and got a result."""
    message = Message(Role.ASSISTANT, (THOUGHT, gate("post").call))
    opened = after(spoken("发", prefix=prefix), calling())
    asked = replace(called(gate("post")), message=message)
    return after(asked, Claimed("t1", "post", 1), Returned("t1", "post", 1, result("post")), calling(2), session=opened)


async def test_every_request_says_how_the_model_is_to_think_and_whose_call_it_is() -> None:
    desk = Desk("好", asking=Asking("Be kind.", thinking=Thinking.ON, effort=Effort.LOW))

    await desk.asks(after(spoken("你好"), calling()))

    request = desk.model.requests[0]
    assert (request.thinking, request.effort, request.system) == (Thinking.ON, Effort.LOW, "Be kind.")
    assert request.about == "twin:1:"


async def test_what_may_become_the_answer_is_shown_while_it_is_written() -> None:
    gate_ = Gate()
    desk = Desk(Held("你好，小王。", gate_, said="你好，"))
    asking = asyncio.create_task(desk.asks(after(spoken("你好"), calling())))
    await gate_.reached()
    await desk.clock.run_to(desk.clock.now() + SHOW_EVERY)

    assert await desk.drafts() == ["你好，"]
    gate_.open()
    await asking
    assert await desk.drafts() == ["你好，"]


def looking() -> Session:
    """A turn that opened with a picture of nobody's: `blob` is put beside it."""
    return after(Spoken("t1", ANN, (Image(BLOB, "image/png"), Text("这是什么"))), calling())


async def test_the_model_is_shown_a_picture_while_its_bytes_are_there() -> None:
    there, gone = Desk("图"), Desk("没看到")
    await there.stores.blobs.put(PNG)

    await there.asks(looking())
    await gone.asks(looking())

    assert [desk.model.requests[0].pictures for desk in (there, gone)] == [{BLOB: PNG}, {}]


async def test_a_picture_that_a_service_refuses_does_not_cost_the_answer() -> None:
    desk = Desk(ProviderRefused("could not process image"), "没看到图")
    await desk.stores.blobs.put(PNG)

    reply = await desk.asks(looking())

    assert reply.message.text == "没看到图"
    assert [len(request.pictures) for request in desk.model.requests] == [1, 0]


@pytest.mark.parametrize("opens", [
    lambda: after(Spoken("t1", ANN, (Text("查"),), mode=Mode.PLAN), calling()),
    lambda: after(spoken("查"), calling(), called(gate("post")), Opened("t1", "post", (Text("go"),)), calling(2)),
])  # fmt: skip
async def test_plans_and_sub_tasks_are_shown_to_nobody(opens: Callable[[], Session]) -> None:
    gate_ = Gate()
    desk = Desk(Held("inner", gate_, said="inner"))

    asking = asyncio.create_task(desk.asks(opens()))
    await gate_.reached()
    await desk.clock.run_to(desk.clock.now() + SHOW_EVERY)

    assert await desk.drafts() == []
    gate_.open()
    await asking


async def test_words_that_lead_to_calls_are_taken_back() -> None:
    gate_ = Gate()
    desk = Desk(Held((Text("我看看"), call("post", text="x")), gate_, said="我看看"))

    asking = asyncio.create_task(desk.asks(after(spoken("发"), calling())))
    await gate_.reached()
    await desk.clock.run_to(desk.clock.now() + SHOW_EVERY)
    assert await desk.drafts() == ["我看看"]
    gate_.open()
    await asking

    assert await desk.drafts() == [""]


async def test_a_request_that_does_not_fit_is_made_once_more_with_the_newest_past_and_no_thinking() -> None:
    history = tuple(
        message
        for number in range(50)
        for message in (Message(Role.USER, (Text(f"{number}"),)), Message(Role.ASSISTANT, (THOUGHT, Text("答"))))
    )
    session = with_thought()
    turn = replace(turn_of(session), base=len(history))
    session = replace(session, turns=(turn,))
    desk = Desk(TOO_LONG, "好")

    reply = await desk.asks(session, history)

    assert reply.message.text == "好"
    first, second = desk.model.requests
    assert len(first.messages) > 100
    assert len(second.messages) < 30
    assert thought_of(first) != []
    assert thought_of(second) == []


async def test_what_still_does_not_fit_is_asked_with_no_past_and_short_results() -> None:
    history = (Message(Role.USER, (Text("早"),)), Message(Role.ASSISTANT, (Text("早！"),)))
    opened = after(spoken("发"), calling(), called(gate("post")))
    long = Returned("t1", "post", 1, ToolResult("post", "长" * 9_000))
    session = after(Claimed("t1", "post", 1), long, calling(2), session=opened)
    session = replace(session, turns=(replace(turn_of(session), base=len(history)),))
    desk = Desk(TOO_LONG, TOO_LONG, "好")

    reply = await desk.asks(session, history)

    assert reply.message.text == "好"
    last = desk.model.requests[-1]
    assert len(last.messages) == 3
    results = [part.text for part in last.messages[-1].parts if isinstance(part, ToolResult)]
    assert [len(text) < 2_100 for text in results] == [True]


async def test_a_request_that_never_fits_comes_back_as_it_is() -> None:
    desk = Desk(TOO_LONG, TOO_LONG, TOO_LONG)

    assert (await desk.asks(after(spoken("你好"), calling()))).stop is Stop.WINDOW


@pytest.mark.parametrize(("now", "is_kept"), [("p", True), ("", True), ("other", False)])
async def test_thinking_bound_to_another_prompt_or_other_tools_is_not_shown(now: str, is_kept: bool) -> None:
    desk = Desk("好", asking=Asking("Be kind.", prefix=now))

    await desk.asks(with_thought("p"))

    assert bool(thought_of(desk.model.requests[0])) == is_kept
