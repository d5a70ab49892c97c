"""Turns in which the model works with tools: order, frames, cards, stops; and what people see of it."""

from __future__ import annotations

from datetime import timedelta

from kernel.changes import Changes
from kernel.messages import Concurrency, ToolResult
from kernel.providers.scripted import call
from kernel.tools import Approval
from tests.twins.tools import Deeds, opener
from tests.twins.world import world


async def test_the_answer_follows_the_result_and_nothing_inner_is_shown() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY)]) as here:
        here.model.then(call("look", text="secret-argument"), "查到了")

        here.platform.says("查一下")

        await here.platform.sees("查到了")
        assert deeds.done == ["begin look secret-argument", "end look secret-argument"]
        assert [each.text for each in here.platform.shown] == ["查到了"]


async def test_read_only_calls_run_side_by_side_and_exclusive_ones_in_order() -> None:
    deeds = Deeds()
    tools = [
        deeds.tool("look", Concurrency.READ_ONLY, held=True),
        deeds.tool("write"),
        deeds.tool("peek", Concurrency.READ_ONLY),
    ]
    async with world(tools=tools) as here:
        here.model.then(
            (call("look", text="1"), call("write", text="2"), call("write", text="3"), call("peek", text="4"))
        )
        here.model.when_result("did", "好了")

        here.platform.says("做吧")
        for _ in range(4):
            await deeds.begun.get()
        deeds.gates["look"].set()

        await here.platform.sees("好了")
        assert deeds.done.index("end write 2") < deeds.done.index("begin write 3")
        results = [part.text for part in here.model.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
        assert results == ["did 1", "did 2", "did 3", "did 4"]


async def test_a_tool_that_does_not_exist_and_arguments_that_do_not_fit_are_answers_for_the_model() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("write")]) as here:
        here.model.then((call("nothing"), call("write", words="x")))
        here.model.when_result("no tool", "我换个办法")

        here.platform.says("做吧")

        await here.platform.sees("我换个办法")
        assert deeds.done == []
        results = [part for part in here.model.requests[-1].messages[-1].parts if isinstance(part, ToolResult)]
        assert [result.is_error for result in results] == [True, True]


async def test_what_asks_runs_once_after_a_press_of_the_requester_and_not_before() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("did 你好", "发好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")
        assert card.text == "需要你同意：post：你好"

        here.platform.presses(card, "允许", person="1002", name="小李")
        await here.platform.is_told("由提出的人或我的主人来决定")
        assert deeds.done == []
        here.platform.presses(card, "允许")
        here.platform.presses(card, "允许")

        await here.platform.sees("发好了")
        await here.platform.is_told("已经处理过")
        assert deeds.done == ["begin post 你好", "end post 你好"]
        assert "小王 已允许" in card.text


async def test_a_refused_call_never_runs_and_the_model_reads_why() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("refused", "那就不发了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")

        here.platform.presses(card, "拒绝")

        await here.platform.sees("那就不发了")
        assert deeds.done == []


async def test_words_instead_of_a_press_put_the_card_aside_and_reach_the_model() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"), "改好了")
        here.platform.says("发推：你好")
        card = await here.platform.sees("需要你同意")

        here.platform.says("先改成您好")

        await here.platform.sees("改好了")
        await here.platform.sees("先放下了")
        assert [each.label for each in card.choices] == ["恢复"]
        assert here.model.requests[-1].messages[-1].text.endswith("先改成您好")


async def test_nobody_decides_for_three_days_and_the_turn_ends_with_words() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="你好"))
        here.model.when_result("nobody decided", "没等到决定")
        here.platform.says("发推：你好")
        await here.platform.sees("需要你同意")

        here.clock.jump(timedelta(hours=72))

        await here.platform.sees("没等到决定")
        assert deeds.done == []


async def test_a_sub_task_is_a_frame_of_its_own_whose_last_words_are_the_result() -> None:
    async with world(tools=[opener("task")]) as here:
        here.model.then(call("task", text="数一数"), "三个", "一共三个")

        here.platform.says("有几个")

        await here.platform.sees("一共三个")
        inside, outside = here.model.requests[1:]
        assert [message.text for message in inside.messages] == ["数一数"]
        assert outside.messages[-1].parts == (ToolResult("call_1", "三个"),)


async def test_stop_breaks_off_a_running_tool_and_the_next_message_works() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("slow", held=True)]) as here:
        here.model.then(call("slow", text="x"))
        here.platform.says("慢慢做")
        await deeds.begun.get()

        here.platform.says("/stop")
        await here.platform.sees("已停止")
        here.platform.says("你好")

        answer = await here.platform.sees("你好")
        assert "saw 4 messages" in answer.text
        assert deeds.done == ["begin slow x"]


async def test_a_model_that_never_stops_calling_is_stopped_after_ten_rounds() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY)]) as here:
        for number in range(20):
            here.model.then(call("look", text=f"again {number}"))

        here.platform.says("查")

        await here.platform.sees("步骤太多")
        assert [request.may_call for request in here.model.requests] == [True] * 10 + [False]


async def test_a_model_that_goes_round_in_circles_is_asked_for_its_last_words() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY)]) as here:
        again = call("look", text="again")
        here.model.when(".", lambda request: again if request.may_call else "查了三次都一样：没有结果。")
        here.model.when_result(".", lambda request: again if request.may_call else "查了三次都一样：没有结果。")

        here.platform.says("查")

        await here.platform.sees("查了三次都一样")
        assert [request.may_call for request in here.model.requests] == [True] * 3 + [False]


async def test_what_a_tool_changes_in_our_store_is_committed_with_its_result() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("note", changes=lambda text: Changes(notes=(f"noted {text}",)))]) as here:
        here.model.then(call("note", text="x"), "记下了")
        here.platform.says("记一下")
        await here.platform.sees("记下了")

        here.platform.says("好")

        await here.platform.sees("noted x")


async def test_a_file_written_in_one_turn_is_read_in_the_next() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("look", Concurrency.READ_ONLY), deeds.file_tool("write")]) as here:
        here.model.then(call("write", text="正文"), "写好了", call("look", text="x"), "读到了")
        here.platform.says("写")
        await here.platform.sees("写好了")
        here.platform.says("读")
        await here.platform.sees("读到了")

        workspace = deeds.contexts[-1].workspace
        assert workspace.paths() == ("notes/a.txt",)
        assert await workspace.read("notes/a.txt") == "正文".encode()
