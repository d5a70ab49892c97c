"""The whole of the first form in English, from a person of whom the platform tells no language."""

from __future__ import annotations

from datetime import timedelta

from kernel.chat import ConversationId
from tests.twins.world import world

MINUTE = timedelta(minutes=1)


async def test_a_reminder_from_asking_to_done() -> None:
    async with world() as here:
        here.platform.says("remind me in 10 minutes to stretch")
        card = await here.platform.sees("stretch")
        assert card.text == "Done, today 09:10: stretch (Asia/Shanghai)"
        assert [choice.label for choice in card.choices] == ["Undo"]

        await here.passes(10 * MINUTE)
        reminder = await here.platform.sees("⏰ stretch")
        assert [choice.label for choice in reminder.choices] == ["Done", "In 10 minutes"]
        here.platform.presses(reminder, "In 10 minutes")
        await here.platform.sees("again at")
        await here.platform.is_told("Done.")

        await here.passes(10 * MINUTE)
        again = await here.platform.sees("⏰ stretch", after=2)
        here.platform.presses(again, "Done")

        await here.platform.sees("✅ done by 小王")
        assert len(here.model.requests) == 0


async def test_every_command_answers_in_the_language_spoken_before() -> None:
    async with world() as here:
        here.platform.says("every day at 9 remind me to do the ward round")
        card = await here.platform.sees("ward round")
        assert card.text.startswith("Done, every day at 09:00: do the ward round\nNext: ")

        here.platform.says("/reminders")
        listed = await here.platform.sees("Reminders:")
        assert listed.text.startswith("Reminders:\n1. do the ward round, every day at 09:00, next ")
        here.platform.says("/status")
        await here.platform.sees("Here and idle. Reminders waiting in this conversation: 1.")
        here.platform.says("/tz Europe/Berlin")
        await here.platform.sees("Done, the zone is Europe/Berlin now")
        here.platform.says("/help")
        await here.platform.sees("I can:")
        here.platform.says("/stop")
        await here.platform.sees("Nothing is running right now.")
        here.platform.says("/new")
        await here.platform.sees("Fresh start.")
        here.platform.presses(listed, "Cancel 1")
        await here.platform.sees("Cancelled: do the ward round")
        here.platform.says("/reminders")
        await here.platform.sees("No reminders.")


async def test_cancelling_in_words() -> None:
    async with world() as here:
        here.platform.says("every day at 9 remind me to do the ward round")
        await here.platform.sees("ward round")
        here.platform.says("every day at 3 pm remind me to drink water")
        await here.platform.sees("drink water")

        here.platform.says("cancel my water reminder")

        await here.platform.sees("Cancelled: drink water")
        left = await here.stores.triggers.list(ConversationId("twin", "1"))
        assert [trigger.text for trigger, _ in left] == ["do the ward round"]


async def test_without_a_model_the_sentence_is_english_too() -> None:
    async with world(has_model=False) as here:
        here.platform.says("hello")

        answer = await here.platform.sees("ANTHROPIC_API_KEY")

        assert answer.text.startswith("I have no model yet")
