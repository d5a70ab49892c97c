"""The model asks the person, and goes on with their answer: a button, their own words, nobody's."""

from __future__ import annotations

from datetime import timedelta

from kernel.builtin.clarify import ask_clarification
from kernel.messages import Concurrency, ToolCall, ToolResult
from kernel.providers.scripted import call
from tests.twins.tools import Deeds
from tests.twins.world import World, world


def asked() -> ToolCall:
    return call("ask_clarification", question="哪个**病区**？", choices=["3 病区", "5 病区", "3 病区"])


def results(here: World) -> list[tuple[str, bool]]:
    parts = here.model.requests[-1].messages[-1].parts
    return [(part.text, part.is_error) for part in parts if isinstance(part, ToolResult)]


async def test_a_press_answers_the_question_and_the_card_says_what_was_chosen() -> None:
    async with world(tools=[ask_clarification()]) as here:
        here.model.then(asked())
        here.model.when_result("5 病区", "好，5 病区。")
        here.platform.says("排查房")
        card = await here.platform.sees("哪个")
        assert card.text == "哪个**病区**？\n\n点一个，或直接回复。"
        assert [choice.label for choice in card.choices] == ["3 病区", "5 病区"]

        here.platform.presses(card, "5 病区", person="1002", name="小李")
        await here.platform.is_told("由提出的人或我的主人来决定")
        here.platform.presses(card, "5 病区")
        here.platform.presses(card, "3 病区")

        await here.platform.sees("好，5 病区。")
        await here.platform.is_told("已经处理过了")
        assert card.text == "哪个**病区**？\n→ 5 病区"
        assert results(here) == [("5 病区", False)]


async def test_own_words_answer_it_too_and_the_buttons_go() -> None:
    async with world(tools=[ask_clarification()]) as here:
        here.model.then(asked())
        here.model.when_result("门诊", "好，门诊。")
        here.platform.says("排查房")
        card = await here.platform.sees("哪个")

        here.platform.says("不是病区，是门诊")

        await here.platform.sees("好，门诊。")
        assert card.choices == ()


async def test_a_question_waits_through_a_restart_and_only_people_can_answer_it() -> None:
    async with world(tools=[ask_clarification()]) as here:
        here.model.then(asked())
        here.model.when_result("3 病区", "好。")
        here.platform.says("排查房")
        card = await here.platform.sees("哪个")

        await here.restart(after=timedelta(hours=48))
        here.platform.presses(card, "3 病区")

        await here.platform.sees("好。")
        assert len(here.model.requests) == 2


async def test_a_question_that_nobody_answers_ends_and_the_model_reads_so() -> None:
    async with world(tools=[ask_clarification()]) as here:
        here.model.then(asked())
        here.model.when_result("decided in time", "那我先不排了。")
        here.platform.says("排查房")
        await here.platform.sees("哪个")

        await here.passes(timedelta(hours=72, minutes=1))

        await here.platform.sees("那我先不排了。")


async def test_a_question_is_put_alone_after_what_came_before_it() -> None:
    deeds = Deeds()
    tools = [ask_clarification(), deeds.tool("look", Concurrency.READ_ONLY, held=True), deeds.tool("write")]
    async with world(tools=tools) as here:
        here.model.then((call("look", text="1"), asked(), call("write", text="2")))
        here.model.when_result("did 2", "都好了。")
        here.platform.says("排查房")
        await deeds.begun.get()
        assert here.platform.shown == []

        deeds.gates["look"].set()
        card = await here.platform.sees("哪个")
        assert "begin write 2" not in deeds.done
        here.platform.presses(card, "3 病区")

        await here.platform.sees("都好了。")
        assert results(here) == [("did 1", False), ("3 病区", False), ("did 2", False)]


async def test_stop_ends_a_question() -> None:
    async with world(tools=[ask_clarification()]) as here:
        here.model.then(asked(), "你好！")
        here.platform.says("排查房")
        card = await here.platform.sees("哪个")

        here.platform.says("/stop")
        await here.platform.sees("已停止")
        here.platform.says("你好")

        await here.platform.sees("你好！")
        assert card.choices == ()
