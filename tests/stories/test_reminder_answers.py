"""A question about a reminder is answered in words, without a model; and all reminders go together, asked once."""

from __future__ import annotations

from datetime import timedelta

from kernel.chat import ConversationId
from kernel.schedule.values import Cron, Once
from kernel.triggers import Trigger
from tests.twins.world import World, world

HERE = ConversationId("twin", "1")
MINUTE = timedelta(minutes=1)


async def stored(here: World) -> list[Trigger]:
    return [trigger for trigger, _ in await here.stores.triggers.list(HERE)]


async def schedules(here: World) -> list[tuple[str, object]]:
    return [(each.text, each.schedule) for each in await stored(here)]


# --- answers -----------------------------------------------------------------------------------------------------


async def test_an_hour_in_words_does_what_a_button_would_without_any_model() -> None:
    async with world(has_model=False) as here:
        here.platform.says("每天提醒我吃药")
        question = await here.platform.sees("几点")

        here.platform.says("下午三点半吧")

        card = await here.platform.sees("好，每天 15:30 提醒你：吃药")
        assert [choice.label for choice in card.choices] == ["撤销"]
        assert question.choices == ()
        assert await schedules(here) == [("吃药", Cron(("30 15 * * *",)))]


async def test_question_and_answer_that_come_together_are_read_one_after_the_other() -> None:
    async with world(has_model=False) as here:
        here.platform.says("每天提醒我吃药")
        here.platform.says("8点")

        await here.platform.sees("好，每天 08:00 提醒你：吃药")


async def test_by_its_place_and_across_a_restart() -> None:
    async with world() as here:
        here.platform.says("remind me every day to stretch")
        await here.platform.sees("At what time?")
        await here.restart(after=MINUTE)

        here.platform.says("the second one")

        await here.platform.sees("Done, every day at 14:00: stretch")
        assert here.model.requests == []


async def test_an_answer_that_leaves_something_open_is_asked_about_once_more() -> None:
    async with world(has_model=False) as here:
        here.platform.says("明天提醒我交报告")
        await here.platform.sees("几点提醒")
        here.platform.says("晚上")
        await here.platform.sees("具体几点")
        here.platform.says("8点")

        card = await here.platform.sees("提醒你：交报告")

        assert "明天 20:00" in card.text
        assert len(await stored(here)) == 1


async def test_a_day_that_never_comes_has_no_buttons_and_is_mended_in_words() -> None:
    async with world(has_model=False) as here:
        here.platform.says("2月30号9点提醒我还款")
        await here.platform.sees("没有这一天")

        here.platform.says("28号")

        assert "2月28日" in (await here.platform.sees("提醒你：还款")).text


async def test_never_mind_closes_the_question_and_sets_nothing() -> None:
    async with world(has_model=False) as here:
        here.platform.says("每天提醒我吃药")
        question = await here.platform.sees("几点")

        here.platform.says("算了")

        await here.platform.sees("好，不设了。")
        assert question.choices == ()
        here.platform.says("8点")
        await here.platform.sees("没有")
        assert await stored(here) == []


async def test_the_same_task_said_in_full_answers_and_another_task_is_a_reminder_of_its_own() -> None:
    async with world() as here:
        here.platform.says("每天提醒我吃药")
        pills = await here.platform.sees("几点")
        here.platform.says("8点提醒我吃药")
        await here.platform.sees("好，每天 08:00 提醒你：吃药")
        assert pills.choices == ()

        here.platform.says("每天提醒我散步")
        walk = await here.platform.sees("几点", after=1)
        here.platform.says("明天9点提醒我开会")
        await here.platform.sees("提醒你：开会")

        assert len(walk.choices) == 3
        here.platform.says("8点")
        await here.platform.sees("saw")
        here.platform.presses(walk, "晚上8点")
        await here.platform.sees("好，每天 20:00 提醒你：散步")


async def test_what_is_no_answer_goes_to_the_model_and_so_do_the_words_after_it() -> None:
    async with world() as here:
        here.platform.says("每天提醒我吃药")
        question = await here.platform.sees("几点")
        here.platform.says("饭前还是饭后好？")
        await here.platform.sees("saw 1 messages")

        here.platform.says("8点")

        await here.platform.sees("saw 3 messages")
        assert await stored(here) == []
        assert len(question.choices) == 3


async def test_after_ten_minutes_only_the_buttons_answer() -> None:
    async with world() as here:
        here.platform.says("每天提醒我吃药")
        question = await here.platform.sees("几点")
        await here.passes(11 * MINUTE)

        here.platform.says("8点")

        await here.platform.sees("saw 1 messages")
        here.platform.presses(question, "上午9点")
        await here.platform.sees("好，每天 09:00 提醒你：吃药")


async def test_a_press_before_the_words_leaves_them_to_the_model() -> None:
    async with world() as here:
        here.platform.says("每天提醒我吃药")
        question = await here.platform.sees("几点")
        here.platform.presses(question, "上午9点")
        await here.platform.sees("好，每天 09:00 提醒你：吃药")

        here.platform.says("改成10点")

        await here.platform.sees("saw 1 messages")
        assert await schedules(here) == [("吃药", Cron(("0 9 * * *",)))]


async def test_in_a_group_only_who_was_asked_answers() -> None:
    async with world() as here:
        here.platform.says("明天提醒我交报告", is_private=False)
        await here.passes(timedelta(seconds=1))
        await here.platform.sees("几点")

        here.platform.says("8", person="1002", name="小李", is_private=False)
        await here.passes(timedelta(seconds=1))
        await here.platform.sees("saw 1 messages")
        assert await stored(here) == []
        here.platform.says("9", is_private=False)
        await here.passes(timedelta(seconds=1))

        await here.platform.sees("提醒你：交报告")
        ((trigger),) = await stored(here)
        assert trigger.owner == "1001"
        assert isinstance(trigger.schedule, Once)


# --- all of them -------------------------------------------------------------------------------------------------


async def three(here: World) -> None:
    for text in ("查房", "喝水"):
        here.platform.says(f"每天10点提醒我{text}")
        await here.platform.sees(f"提醒你：{text}")
    here.platform.says("每天11点提醒我开会", person="1002", name="小李")
    await here.platform.sees("提醒你：开会")


async def test_all_of_a_person_go_after_one_press_and_come_back_after_another() -> None:
    async with world(has_model=False) as here:
        await three(here)
        here.platform.says("取消所有提醒")
        asked = await here.platform.sees("要把这 2 个提醒都取消吗")
        assert [choice.label for choice in asked.choices] == ["取消全部 2 个", "保留"]
        assert len(await stored(here)) == 3

        here.platform.presses(asked, "取消全部 2 个")

        await here.platform.sees("已取消 2 个提醒")
        assert [each.text for each in await stored(here)] == ["开会"]
        assert [choice.label for choice in asked.choices] == ["撤销"]
        here.platform.presses(asked, "撤销")
        await here.platform.sees("已恢复 2 个提醒")
        assert sorted(each.text for each in await stored(here)) == ["喝水", "开会", "查房"]
        await here.passes(timedelta(hours=1))
        await here.platform.sees("⏰ 喝水")


async def test_to_keep_them_and_the_press_of_another_cancel_nothing() -> None:
    async with world(has_model=False) as here:
        await three(here)
        here.platform.says("cancel all reminders")
        asked = await here.platform.sees("Cancel all 2")

        here.platform.presses(asked, "Cancel all 2", person="1002")
        here.platform.presses(asked, "Keep")

        await here.platform.sees("All are kept")
        assert len(await stored(here)) == 3
