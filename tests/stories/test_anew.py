"""An answer is asked for anew, or taken back with its question."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.errors import ProviderFailed
from kernel.exchanges import ANEW, TOOK_BACK
from kernel.messages import ModelRequest, Opaque, Role, Text
from kernel.providers.scripted import Gate, Held, call
from kernel.tools import Approval
from tests.twins.bound_thinking import BoundThinking
from tests.twins.metered_models import MeteredModel, Said
from tests.twins.tools import Deeds
from tests.twins.world import RULES, World, world


def read(request: ModelRequest) -> list[str]:
    """What people said in the request, and our notes to the model, without the facts."""
    parts = [
        part.text
        for each in request.messages
        if each.role is Role.USER
        for part in each.parts
        if isinstance(part, Text)
    ]
    return [text for text in parts if not text.startswith("[2026-")]


async def in_group(here: World, text: str, *, person: str = "1001", name: str = "小王") -> None:
    """Words in a group, which settle for a moment."""
    here.platform.says(text, chat="g", person=person, name=name, is_private=False)
    await here.passes(timedelta(seconds=1))


async def test_the_last_message_is_answered_anew_with_the_first_answer_in_sight() -> None:
    async with world() as here:
        here.model.then("一般般", "好多了")
        here.platform.says("写一句诗")
        await here.platform.sees("一般般")

        here.platform.says("/retry")
        await here.platform.sees("好多了")

        assert read(here.model.requests[-1]) == ["写一句诗", ANEW, "写一句诗"]
        assert here.model.requests[-1].messages[1].text == "一般般"


async def test_what_failed_is_asked_again() -> None:
    async with world() as here:
        here.model.then(ProviderFailed("away"), "晴")
        here.platform.says("天气怎么样")
        await here.platform.sees("没有回应")

        here.platform.says("/retry")
        await here.platform.sees("晴")


async def test_a_retry_can_be_retried_and_survives_a_power_cut() -> None:
    async with world() as here:
        here.model.then("一", "二", "三")
        here.platform.says("数")
        await here.platform.sees("一")
        here.platform.says("/retry")
        await here.platform.sees("二")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("/retry")
        await here.platform.sees("三")

        assert read(here.model.requests[-1])[-2:] == [ANEW, "数"]


async def test_what_was_done_is_not_done_again_by_the_program() -> None:
    """The model reads what was done and that it must not do it again; nothing runs without its call."""
    deeds = Deeds()
    async with world(tools=(deeds.tool("post"),)) as here:
        here.model.then(call("post", text="通知"), "发了", "换个说法：发好了")
        here.platform.says("发通知")
        await here.platform.sees("发了")

        here.platform.says("/retry")
        await here.platform.sees("换个说法")

        assert deeds.done == ["begin post 通知", "end post 通知"]
        assert "did 通知" in str(here.model.requests[-1].messages)


async def test_while_something_runs_nothing_is_asked_anew_or_taken_back() -> None:
    async with world() as here:
        gate = Gate()
        here.model.then(Held("慢慢来", gate))
        here.platform.says("想一想")
        await gate.reached()

        here.platform.says("/retry")
        await here.platform.sees("等它结束再用 /retry")
        here.platform.says("/undo")
        await here.platform.sees("等它结束再用 /undo")
        gate.open()
        await here.platform.sees("慢慢来")

        assert len(here.model.requests) == 1


async def test_while_a_card_waits_the_person_is_told_to_decide_first() -> None:
    async with world(tools=(Deeds().tool("post", approval=Approval.ASK),)) as here:
        here.model.then(call("post", text="通知"))
        here.platform.says("发通知")
        card = await here.platform.sees("需要你同意")

        here.platform.says("/retry")
        await here.platform.sees("还在等你做决定")
        here.platform.says("/undo")
        await here.platform.sees("还有一个请求在等人做决定")

        assert [choice.label for choice in card.choices] == ["允许", "拒绝"]


async def test_with_nothing_said_there_is_nothing_to_answer_or_take_back() -> None:
    async with world() as here:
        here.platform.says("/retry")
        await here.platform.sees("没有你说过的话")
        here.platform.says("/undo")
        await here.platform.sees("没有可以收回的")
        here.platform.says("你好")
        await here.platform.sees("saw 1")
        here.platform.says("/new")
        await here.platform.sees("重新开始")

        here.platform.says("/retry")
        await here.platform.sees("没有你说过的话", after=len(here.platform.shown))

        assert len(here.model.requests) == 1


async def test_in_a_group_everybodys_own_last_message_is_answered_anew() -> None:
    async with world() as here:
        await in_group(here, "甲")
        await here.platform.sees("saw 1", chat="g")
        await in_group(here, "乙", person="1002", name="小李")
        await here.platform.sees("saw 3", chat="g")

        await in_group(here, "/retry")
        await here.platform.sees("saw 5", chat="g")

        assert read(here.model.requests[-1])[-2:] == [ANEW, "甲"]


async def test_exchanges_are_taken_back_one_after_the_other() -> None:
    async with world() as here:
        for number, words in enumerate(("一", "二", "三")):
            here.platform.says(words)
            await here.platform.sees(f"saw {2 * number + 1} ")

        here.platform.says("/undo")
        await here.platform.sees("收回了")
        here.platform.says("/undo")
        await here.platform.sees("收回了", after=len(here.platform.shown))
        here.platform.says("四")
        await here.platform.sees("\n四")

        assert read(here.model.requests[-1]) == ["一", "四"]


async def test_what_is_taken_back_stays_so_after_a_power_cut() -> None:
    async with world() as here:
        here.platform.says("一")
        await here.platform.sees("saw 1")
        here.platform.says("二")
        await here.platform.sees("saw 3")
        here.platform.says("/undo")
        await here.platform.sees("收回了")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("三")
        await here.platform.sees("\n三")

        assert read(here.model.requests[-1]) == ["一", "三"]


async def test_what_was_done_stays_done_and_both_are_told() -> None:
    async with world(tools=(Deeds().tool("post"),)) as here:
        here.model.then(call("post", text="通知"), "发了")
        here.platform.says("发通知")
        await here.platform.sees("发了")

        here.platform.says("/undo")
        await here.platform.sees("已经做了的事不会撤销")
        here.platform.says("你好")
        await here.platform.sees("saw 1")

        newest = here.model.requests[-1].messages[-1].text
        assert TOOK_BACK in newest
        assert "通知" not in newest


async def test_in_a_group_nobody_takes_back_what_another_said() -> None:
    async with world() as here:
        await in_group(here, "甲")
        await here.platform.sees("saw 1", chat="g")
        await in_group(here, "乙", person="1002", name="小李")
        await here.platform.sees("saw 3", chat="g")

        await in_group(here, "/undo")
        await here.platform.sees("不是你的", chat="g")
        await in_group(here, "/undo", person="1002", name="小李")
        await here.platform.sees("收回了", chat="g")


async def test_a_service_that_binds_thinking_takes_what_is_left_with_its_thinking() -> None:
    async with world() as here:
        claude = MeteredModel("anthropic:claude-opus-5", lambda _: Said("好。"), BoundThinking(), here.clock)
        here.model.when(".", claude.reply)
        for number, words in enumerate(("一", "二", "/undo", "三", "/retry")):
            here.platform.says(words)
            await here.platform.sees("收回了" if words == "/undo" else "好。", after=number)

        assert claude.refusals == []
        assert read(here.model.requests[-1]) == ["一", "三", ANEW, "三"]
        thought = [any(isinstance(part, Opaque) for part in each.parts) for each in here.model.requests[-1].messages]
        assert thought == [False, True, False, True, False]


async def test_a_summary_in_between_takes_neither_away() -> None:
    async with world(rules=replace(RULES, most_past=10)) as here:
        here.model.when("Person: ", "到说0为止的摘要")
        for number in range(11):
            here.platform.says(f"说{number}")
            await here.platform.sees(f"\n说{number}")
            await here.passes(timedelta(seconds=1))
        assert any("Person: 说0" in request.messages[-1].text for request in here.model.requests)

        here.platform.says("/retry")
        await here.platform.sees("\n说10", after=11)
        here.platform.says("/undo")
        await here.platform.sees("收回了")
        here.platform.says("/undo")
        await here.platform.sees("收回了", after=13)
        here.platform.says("说完了")
        await here.platform.sees("\n说完了")

        assert read(here.model.requests[-1])[-2:] == ["说9", "说完了"]
