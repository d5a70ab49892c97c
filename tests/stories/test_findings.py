"""What random interleavings made us look at in the actor: each is a claim that did not hold when it was written."""

from __future__ import annotations

from kernel.errors import ProviderFailed
from kernel.messages import Concurrency, ToolResult
from kernel.providers.scripted import call
from kernel.tools import Approval
from tests.twins.tools import Deeds, opener
from tests.twins.world import world


async def test_a_card_is_closed_when_its_turn_fails_in_a_sub_task() -> None:
    deeds = Deeds()
    async with world(tools=[opener("task"), deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then((call("task", text="x"), call("post", text="y")), ProviderFailed("down"))
        here.platform.says("做吧")

        await here.platform.sees("模型暂时没有回应")
        card = await here.platform.sees("不再需要决定")
        assert card.choices == ()


async def test_a_look_that_was_broken_off_by_a_card_of_a_sub_task_is_made_again() -> None:
    deeds = Deeds()
    tools = [
        deeds.tool("look", Concurrency.READ_ONLY, held=True),
        opener("task"),
        deeds.tool("post", approval=Approval.ASK),
    ]
    async with world(tools=tools) as here:
        here.model.then((call("look", text="1"), call("task", text="x")), call("post", text="y"), "发了", "好了")
        here.platform.says("做吧")
        card = await here.platform.sees("需要你同意")

        deeds.gates["look"].set()
        here.platform.presses(card, "允许")

        await here.platform.sees("好了")
        results = [part.text for part in here.model.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
        assert results == ["did 1", "发了"]


async def test_a_look_goes_on_while_the_sub_task_beside_it_asks_the_model() -> None:
    deeds = Deeds()
    tools = [deeds.tool("look", Concurrency.READ_ONLY, held=True), opener("task"), deeds.tool("write")]
    async with world(tools=tools) as here:
        here.model.then((call("look", text="1"), call("task", text="x")), call("write", text="y"), "写了", "好了")
        here.platform.says("做吧")
        while await deeds.begun.get() != "write":
            pass

        deeds.gates["look"].set()

        await here.platform.sees("好了")
        results = [part.text for part in here.model.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
        assert results == ["did 1", "写了"]
