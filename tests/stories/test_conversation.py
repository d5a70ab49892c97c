"""Whole dialogs: what a person sees when they talk, remind and press."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.messages import Message, Role, Text
from kernel.providers.scripted import Gate, Held
from tests.twins.world import RULES, world


async def test_the_model_answers_with_the_history_of_this_chat_and_no_other() -> None:
    async with world() as here:
        here.platform.says("我叫小明", chat="1")
        await here.platform.sees("saw 1 messages", chat="1")
        here.platform.says("我叫小红", chat="2", person="1002")
        await here.platform.sees("saw 1 messages", chat="2")

        here.platform.says("我叫什么", chat="1")

        await here.platform.sees("saw 3 messages", chat="1")
        assert [text for text in _words(here.model.requests[-1].messages) if "小" in text] == ["我叫小明"]


async def test_three_messages_in_a_burst_are_read_in_order_by_one_turn() -> None:
    gate = Gate()
    async with world() as here:
        here.model.then(Held("第一", gate))
        here.platform.says("一")
        await gate.reached()
        for text in ("二", "三", "四"):
            here.platform.says(text)

        gate.open()

        await here.platform.sees("saw 3 messages")
        assert len(here.model.requests) == 2
        assert _words(here.model.requests[1].messages)[-3:] == ["二", "三", "四"]


async def test_without_folding_every_message_gets_an_answer_of_its_own() -> None:
    async with world(rules=replace(RULES, fold=False)) as here:
        for text in ("一", "二", "三"):
            here.platform.says(text)

        await here.platform.sees("saw 5 messages")

        assert [each.text.split("last: ")[1].split("\n")[-1] for each in here.platform.shown] == ["一", "二", "三"]


async def test_a_daily_reminder_is_confirmed_without_the_model_and_comes_at_nine() -> None:
    async with world() as here:
        here.platform.says("每天早上9点提醒我查房")
        card = await here.platform.sees("查房")
        assert "每天 09:00" in card.text
        assert [choice.label for choice in card.choices] == ["撤销"]

        here.clock.jump(timedelta(days=1))

        reminder = await here.platform.sees("⏰ 查房")
        assert [choice.label for choice in reminder.choices] == ["完成", "稍后 10 分钟"]
        assert here.model.requests == []


async def test_done_says_who_did_it_and_later_comes_back() -> None:
    async with world() as here:
        here.platform.says("2分钟后提醒我取快递")
        await here.platform.sees("取快递")
        await here.clock.run_to(here.clock.now() + timedelta(minutes=2))
        first = await here.platform.sees("⏰ 取快递")

        here.platform.presses(first, "稍后 10 分钟")
        await here.platform.sees("小王：")
        await here.clock.run_to(here.clock.now() + timedelta(minutes=10))
        again = await here.platform.sees("⏰ 取快递", after=2)
        here.platform.presses(again, "完成")

        await here.platform.sees("✅ 小王 完成了")


async def test_while_the_model_thinks_status_reminders_and_stop_are_answered() -> None:
    gate = Gate()
    async with world() as here:
        here.model.then(Held("太晚了", gate))
        here.platform.says("想一想")
        await gate.reached()

        here.platform.says("/status")
        await here.platform.sees("正在处理")
        here.platform.says("1分钟后提醒我喝水")
        await here.platform.sees("喝水")
        here.platform.says("/stop")
        await here.platform.sees("已停止")
        here.platform.says("你好")

        await here.platform.sees("你好")
        assert not any("太晚了" in each.text for each in here.platform.shown)


async def test_without_a_model_one_sentence_says_what_to_set_and_what_works() -> None:
    async with world(has_model=False) as here:
        here.platform.says("你好")

        answer = await here.platform.sees("ANTHROPIC_API_KEY")

        assert "提醒照常可用" in answer.text


async def test_new_begins_an_empty_history() -> None:
    async with world() as here:
        here.platform.says("我叫小明")
        await here.platform.sees("saw 1 messages")
        here.platform.says("/new")
        await here.platform.sees("重新开始")

        here.platform.says("我叫什么")

        await here.platform.sees("saw 1 messages", after=2)


async def test_a_stranger_gets_one_sentence_and_no_turn() -> None:
    async with world() as here:
        here.platform.says("你好", chat="777", person="777")
        here.platform.says("在吗", chat="777", person="777")
        here.platform.says("你好")

        await here.platform.sees("你好")
        await here.platform.sees("还没有主人", chat="777")

        assert len([each for each in here.platform.shown if each.ref.conversation.chat == "777"]) == 1
        assert len(here.model.requests) == 1


def _words(messages: tuple[Message, ...]) -> list[str]:
    """What people said, without the facts that go before it."""
    said = [part.text for each in messages if each.role is Role.USER for part in each.parts if isinstance(part, Text)]
    return [text for text in said if not text.startswith("[")]
