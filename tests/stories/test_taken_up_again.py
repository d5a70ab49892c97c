"""A request that a person's own words put aside, and their button for it."""

from __future__ import annotations

from kernel.messages import Message, Role, ToolResult
from kernel.providers.scripted import call
from kernel.tools import Approval
from tests.twins.tools import Deeds
from tests.twins.world import world


def results(messages: tuple[Message, ...]) -> list[str]:
    """What came of calls, oldest first."""
    return [part.text for message in messages for part in message.parts if isinstance(part, ToolResult)]


async def test_what_was_put_aside_is_asked_again_and_then_happens_exactly_as_shown() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="今晚七点开会"), "七点在三楼。", "发好了。")
        here.platform.says("发个通知")
        card = await here.platform.sees("需要你同意")
        here.platform.says("先告诉我在哪开")
        await here.platform.sees("七点在三楼。")
        aside = await here.platform.sees("先放下了")
        assert (aside.ref, [choice.label for choice in aside.choices]) == (card.ref, ["恢复"])

        here.platform.presses(aside, "恢复")
        asks = await here.platform.sees(lambda shown: [each.label for each in shown.choices] == ["允许", "拒绝"])
        here.platform.presses(asks, "允许")

        await here.platform.sees("发好了。")
        assert deeds.done == ["begin post 今晚七点开会", "end post 今晚七点开会"]
        last = here.model.requests[-1].messages
        assert last[-2].role is Role.ASSISTANT
        assert results(last)[-1] == "did 今晚七点开会"


async def test_it_can_be_taken_up_while_the_model_answers_the_words_and_after_a_new_conversation() -> None:
    deeds = Deeds()
    async with world(tools=[deeds.tool("post", approval=Approval.ASK)]) as here:
        here.model.then(call("post", text="x"), "好。", "发好了。")
        here.platform.says("发个通知")
        await here.platform.sees("需要你同意")
        here.platform.says("等等")
        aside = await here.platform.sees("先放下了")
        await here.platform.sees("好。")
        here.platform.says("/new")
        await here.platform.sees("新")

        here.platform.presses(aside, "恢复")
        asks = await here.platform.sees(lambda shown: [each.label for each in shown.choices] == ["允许", "拒绝"])
        here.platform.presses(asks, "允许")

        await here.platform.sees("发好了。")
        assert deeds.done == ["begin post x", "end post x"]
