"""Sub-tasks: a context of their own in which only looking is allowed, also with a question to a person in between."""

from __future__ import annotations

from kernel.builtin.task import task
from kernel.messages import Concurrency, ToolResult
from kernel.providers.scripted import call
from kernel.tools import Approval
from tests.twins.tools import Deeds
from tests.twins.world import World, world

READ = Concurrency.READ_ONLY


def results(here: World, number: int = -1) -> list[tuple[str, bool]]:
    parts = here.model.requests[number].messages[-1].parts
    return [(part.text, part.is_error) for part in parts if isinstance(part, ToolResult)]


async def test_only_the_result_of_a_task_comes_back_and_the_person_reads_only_the_answer() -> None:
    deeds = Deeds()
    async with world(tools=[task(), deeds.tool("look", READ), deeds.tool("write")]) as here:
        here.model.then(call("task", instruction="数一数文件"), call("look", text="x"), "三个文件", "一共三个。")

        here.platform.says("有几个文件")

        await here.platform.sees("一共三个。")
        outside, inside, inside_again, back = here.model.requests
        assert [words.name for words in outside.tools] == ["task", "look", "write"]
        assert [words.name for words in inside.tools] == ["task", "look"]
        assert len(inside.messages) == 1
        assert inside.messages[0].text.endswith("\n\n数一数文件")
        assert inside_again.tools == inside.tools
        assert back.tools == outside.tools
        assert results(here) == [("三个文件", False)]
        assert [each.text for each in here.platform.shown] == ["一共三个。"]


async def test_what_would_change_something_does_not_run_in_a_task() -> None:
    deeds = Deeds()
    async with world(tools=[task(), deeds.tool("look", READ), deeds.tool("write")]) as here:
        here.model.then(
            call("task", instruction="数一数"), (call("write", text="x"), call("look", text="y")), "不能写", "好。"
        )

        here.platform.says("数一数")

        await here.platform.sees("好。")
        assert deeds.done == ["begin look y", "end look y"]
        assert [is_error for _, is_error in results(here, 2)] == [True, False]


async def test_a_task_that_asks_waits_for_the_person_through_a_restart_and_ends_in_the_models_words() -> None:
    deeds = Deeds()
    async with world(tools=[task(), deeds.tool("spy", READ, Approval.ASK)]) as here:
        here.model.then(call("task", instruction="看看那一页"), call("spy", text="那一页"))
        here.platform.says("那一页写了什么")
        card = await here.platform.sees("需要你同意")

        await here.restart()
        here.model.when_result("did 那一页", "上面写着三个")
        here.model.when_result("上面写着三个", "写的是三个。")
        here.platform.presses(card, "允许")

        await here.platform.sees("写的是三个。")
        assert deeds.done == ["begin spy 那一页", "end spy 那一页"]


async def test_a_tool_that_has_learnt_to_write_meanwhile_does_not_run_in_a_task() -> None:
    deeds = Deeds()
    async with world(tools=[task(), deeds.tool("spy", READ, Approval.ASK)]) as here:
        here.model.then(call("task", instruction="看看那一页"), call("spy", text="那一页"))
        here.platform.says("那一页写了什么")
        card = await here.platform.sees("需要你同意")

        here.tools = (task(), deeds.tool("spy", approval=Approval.ASK))
        await here.restart()
        here.model.then("没看成", "没看成。")
        here.platform.presses(card, "允许")

        await here.platform.sees("没看成。")
        assert deeds.done == []


async def test_tasks_start_tasks_only_as_deep_as_frames_go() -> None:
    async with world(tools=[task()]) as here:
        deeper = call("task", instruction="再深一层")
        here.model.then(deeper, deeper, deeper, "到底了", "一层", "好。")

        here.platform.says("往下查")

        await here.platform.sees("好。")
        assert results(here, 3)[0][1]
        assert "this deep" in results(here, 3)[0][0]
