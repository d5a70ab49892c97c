"""The reminder tools: the same triggers, cards and limits as plain sentences; what is unclear is a question to ask."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from kernel.builtin.reminders import reminder_tools
from kernel.chat import ConversationId
from kernel.errors import ModelError
from kernel.messages import Concurrency, Json, ToolCall
from kernel.ports import TriggerGone, TriggerPut
from kernel.reminders.cards import read
from kernel.reminders.changing import TOO_LATE
from kernel.reminders.creating import MAX_PER_CONVERSATION
from kernel.schedule.values import Cron, Once
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.state import Memory
from kernel.stores.memory.triggers import MemoryTriggers
from kernel.tools import Approval, ToolContext, ToolOutcome, ToolRegistry
from kernel.triggers import Trigger
from kernel.workspace import Workspace
from tests.kernel.reminders.words import DAILY, HERE, said, shown, trigger
from tests.twins.clock import START, JumpingClock

TEN = Cron(("0 10 * * *",))


class Chat:
    """One conversation with stored reminders and the tools over it."""

    def __init__(self, *triggers: Trigger, due: datetime | None = START + timedelta(days=1)) -> None:
        clock, numbers = JumpingClock(), count(1)
        self.memory = Memory(clock)
        for each in triggers:
            self.memory.change_trigger(TriggerPut(each, None if each.paused else due))
        self.tools = ToolRegistry(reminder_tools(MemoryTriggers(self.memory), lambda: f"id-{next(numbers)}"))
        self.context = ToolContext(
            conversation=HERE,
            requester="1001",
            language="zh",
            zone="Asia/Shanghai",
            now=START,
            deadline=START + timedelta(seconds=20),
            call="t1:c1:1",
            workspace=Workspace({}, MemoryBlobs(self.memory, 1)),
        )

    async def calls(self, name: str, **arguments: str) -> ToolOutcome:
        """What comes of the call; its changes are stored."""
        bound = self.tools.bind(ToolCall("c1", f"reminder_{name}", _json(arguments)))
        assert bound.tool.run is not None
        outcome = await bound.tool.run(bound.arguments, self.context)
        for change in outcome.changes.triggers:
            self.memory.change_trigger(change)
        return outcome

    @property
    def one(self) -> Trigger:
        """The only trigger there is."""
        (found,) = self.memory.triggers.values()
        return found


def _json(arguments: Json) -> str:
    return json.dumps(arguments, ensure_ascii=False)


# --- create ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [
        "每天早上9点提醒我查房",
        "每天9点 查房",
        "remind me every day at 9 am to 查房",
        "every day 9:00 查房",
    ],
)
async def test_a_request_in_plain_words_becomes_the_trigger_that_the_sentence_would_have_become(request_: str) -> None:
    chat = Chat()

    outcome = await chat.calls("create", request=request_)

    assert not outcome.is_error
    assert (chat.one.schedule, chat.one.text, chat.one.owner, chat.one.zone) == (DAILY, "查房", "1001", "Asia/Shanghai")


async def test_the_card_with_its_undo_goes_out_with_the_trigger_and_the_model_reads_what_it_says() -> None:
    outcome = await Chat().calls("create", request="每天9点提醒我查房")

    card = shown(outcome.changes.outbound)
    assert [choice.label for choice in card.choices] == ["撤销"]
    assert [record.token for record in outcome.changes.prompts] == [card.token]
    assert card.text in outcome.text
    assert outcome.changes.notes == ()


@pytest.mark.parametrize(
    ("request_", "asks"),
    [
        ("提醒我喝水", "几点提醒？ (offer: 上午9点 / 下午2点 / 晚上8点)"),
        ("昨天9点提醒我查房", "这个时间已经过去了"),
        ("2026-02-30 9点提醒我查房", "没有这一天"),
        ("remind me to call the lab", "At what time?"),
        ("每天8点搜医学新闻发给我", "does no work"),
        ("取消查房的提醒", "other reminder tools"),
        ("每30秒提醒我喝水", "最密只能每分钟一次"),
    ],
)
async def test_what_cannot_be_set_as_it_is_says_what_to_ask_and_sets_nothing(request_: str, asks: str) -> None:
    chat = Chat()

    try:
        outcome = await chat.calls("create", request=request_)
    except ModelError as error:
        text = str(error)
    else:
        assert outcome.is_error
        assert outcome.changes.outbound == ()
        text = outcome.text

    assert asks in text
    assert text.startswith("Nothing was changed")
    assert not chat.memory.triggers


async def test_a_full_chat_takes_no_more() -> None:
    chat = Chat(*(trigger(f"{number}") for number in range(MAX_PER_CONVERSATION)))

    outcome = await chat.calls("create", request="每天9点提醒我查房")

    assert outcome.is_error
    assert "200" in outcome.text
    assert outcome.changes.triggers == ()


# --- list --------------------------------------------------------------------------------------------------------


async def test_the_list_is_the_one_that_people_see_and_shows_nothing_to_them() -> None:
    chat = Chat(trigger("查房"), trigger("交班", TEN))

    outcome = await chat.calls("list")

    assert "查房，每天 09:00" in outcome.text
    assert "交班，每天 10:00" in outcome.text
    assert outcome.changes == type(outcome.changes)()
    assert "没有提醒" in (await Chat().calls("list")).text


async def test_a_long_list_says_how_much_it_leaves_out() -> None:
    outcome = await Chat(*(trigger(f"第{number}件") for number in range(23))).calls("list")

    assert outcome.text.endswith("(3 more, later ones, are not shown)")


async def test_another_chats_reminders_are_not_seen() -> None:
    chat = Chat(trigger("查房"))
    chat.context = replace(chat.context, conversation=ConversationId("twin", "2"))

    assert "没有提醒" in (await chat.calls("list")).text
    with pytest.raises(ModelError, match="no reminders"):
        await chat.calls("cancel", about="查房")


# --- change ------------------------------------------------------------------------------------------------------


async def test_a_new_time_makes_it_the_same_reminder_under_a_later_revision() -> None:
    chat = Chat(trigger("查房"))

    outcome = await chat.calls("change", about="查房", when="每天10点")

    assert not outcome.is_error
    assert (chat.one.id, chat.one.schedule, chat.one.text, chat.one.revision) == ("t-查房", TEN, "查房", 1)
    assert list(chat.memory.due.values()) == [START + timedelta(hours=1)]
    assert "每天 10:00" in said(outcome.changes)


async def test_new_words_keep_the_times() -> None:
    chat = Chat(trigger("查房"))

    await chat.calls("change", about="查房", text="查房（带病历）")

    assert (chat.one.schedule, chat.one.text, chat.one.revision) == (DAILY, "查房（带病历）", 1)
    assert list(chat.memory.due.values()) == [START + timedelta(days=1)]


async def test_the_card_of_a_change_remembers_what_it_was() -> None:
    outcome = await Chat(trigger("查房")).calls("change", about="查房", when="tomorrow at 10 am")

    (record,) = outcome.changes.prompts
    now, before = read(record).triggers
    assert (now.schedule, before.schedule) == (Once((datetime(2026, 12, 1, 2, 0, tzinfo=UTC),)), DAILY)


@pytest.mark.parametrize(
    ("when", "why"), [("昨天9点", "已经过去"), ("下次", "Ask the person"), ("", "Say what changes")]
)
async def test_a_change_that_is_unclear_changes_nothing(when: str, why: str) -> None:
    chat = Chat(trigger("查房"))

    with pytest.raises(ModelError, match=why):
        await chat.calls("change", about="查房", **({"when": when} if when else {}))

    assert chat.one.revision == 0


async def test_what_is_about_to_fire_is_left_alone_or_it_would_come_twice() -> None:
    chat = Chat(trigger("查房"), due=START + TOO_LATE)

    outcome = await chat.calls("change", about="查房", when="每天10点")

    assert outcome.is_error
    assert "马上就到点了" in outcome.text
    assert chat.one.revision == 0


async def test_a_full_chat_can_still_change_one() -> None:
    chat = Chat(*(trigger(f"{number}号") for number in range(MAX_PER_CONVERSATION)))

    assert not (await chat.calls("change", about="7号", when="每天10点")).is_error


# --- cancel ------------------------------------------------------------------------------------------------------


async def test_the_one_that_is_meant_goes_and_people_are_told() -> None:
    chat = Chat(trigger("查房"), trigger("交班"))

    outcome = await chat.calls("cancel", about="查房")

    assert outcome.changes.triggers == (TriggerGone("t-查房"),)
    assert said(outcome.changes) == "已取消：查房"


@pytest.mark.parametrize("about", ["吃药", "x"])
async def test_words_that_name_no_reminder_cancel_none_even_if_there_is_only_one(about: str) -> None:
    with pytest.raises(ModelError, match=r"No reminder fits.*\n.*\n1\. 查房，每天 09:00"):
        await Chat(trigger("查房")).calls("cancel", about=about)


async def test_several_that_fit_are_listed_and_the_line_of_one_names_it() -> None:
    same = trigger("查房")
    chat = Chat(same, replace(same, id="t-2", schedule=TEN))

    with pytest.raises(ModelError, match="Several reminders fit") as error:
        await chat.calls("cancel", about="查房")
    line = str(error.value).splitlines()[-1]
    assert line.startswith("2. 查房，每天 ")
    await chat.calls("cancel", about=line)

    assert ("10:00" in line) == (chat.one.schedule == DAILY)


async def test_two_that_nobody_can_tell_apart_are_cancelled_one_by_one() -> None:
    same = trigger("查房")
    chat = Chat(same, replace(same, id="t-2"))

    await chat.calls("cancel", about="查房")
    await chat.calls("cancel", about="查房")

    assert not chat.memory.triggers


async def test_signs_of_markdown_are_no_hindrance() -> None:
    chat = Chat(trigger("2*3片"))

    await chat.calls("cancel", about="2\\*3片")

    assert not chat.memory.triggers


# --- policy ------------------------------------------------------------------------------------------------------


def test_they_ask_nobody_as_long_as_nobody_else_was_read_and_only_the_list_is_read_only() -> None:
    tools = Chat().tools
    arguments = {"create": {"request": "x"}, "list": {}, "change": {"about": "x"}, "cancel": {"about": "x"}}

    bound = {name: tools.bind(ToolCall("c", f"reminder_{name}", _json(given))) for name, given in arguments.items()}

    assert {name for name, each in bound.items() if each.approval is Approval.NEVER} == {"list"}
    assert {each.approval for each in bound.values()} == {Approval.NEVER, Approval.WARY}
    assert {name for name, each in bound.items() if each.concurrency is Concurrency.READ_ONLY} == {"list"}
    assert (
        bound["change"].tool.describe({"about": "查房", "when": "每天10点"}, "zh") == "改一个提醒：\n│ 查房\n│ 每天10点"
    )


@pytest.mark.parametrize(("name", "argument"), [("create", "request"), ("cancel", "about")])
def test_without_arguments_the_persons_words_are_what_is_asked_for(name: str, argument: str) -> None:
    tools = Chat().tools

    completed = tools.completed(ToolCall("c", f"reminder_{name}", "{}"), "明天9点查房")

    assert tools.bind(completed).arguments == {argument: "明天9点查房"}
