"""Plan mode: the model plans first, nobody sees the plan, then it works."""

from __future__ import annotations

from dataclasses import replace

from kernel.messages import Concurrency
from kernel.providers.scripted import call
from tests.twins.tools import Deeds
from tests.twins.world import RULES, world


async def test_a_turn_begins_with_a_plan_that_cannot_act_and_is_said_to_nobody() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY)], rules=replace(RULES, plans=True)) as here:
        here.model.then("1. 先查 2. 再答", call("look", text="x"), "答案是 3。")

        here.platform.says("查一下再答")

        await here.platform.sees("答案是 3。")
        assert [request.may_call for request in here.model.requests] == [False, True, True]
        assert {request.tools for request in here.model.requests} == {here.model.requests[0].tools}
        assert [each.text for each in here.platform.shown] == ["答案是 3。"]


async def test_the_next_turn_plans_anew_and_sees_the_past_as_it_was() -> None:
    async with world(rules=replace(RULES, plans=True)) as here:
        here.model.then("计划一", "答一", "计划二", "答二")
        here.platform.says("一")
        await here.platform.sees("答一")

        here.platform.says("二")

        await here.platform.sees("答二")
        first, last = here.model.requests[1].messages, here.model.requests[2].messages
        assert last[: len(first)] == first
        assert [request.may_call for request in here.model.requests] == [False, True, False, True]
