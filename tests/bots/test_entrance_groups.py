"""Who and what comes in at the door: who is meant, who may, where a press belongs, and what chats become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bots.adapter import ChatMoved
from kernel.access import Access, Rights, Standing
from kernel.chat import Address, Change, ConversationId, Reply, Sender
from kernel.ports import Grant, PromptRecord, Right, Silence
from kernel.settings import AccessRule, PlatformId
from kernel.texts import say
from tests.bots.bench import FakeAdapter, running
from tests.bots.words import (
    ANN,
    EVE,
    OWNED,
    OWNER,
    TOPIC,
    WANG,
    WARD,
    alone,
    changes,
    inboxes,
    opens,
    presses,
    says,
    shows,
    writes,
)

# --- who is meant --------------------------------------------------------------------------------------------------


async def test_what_a_group_says_to_itself_is_not_read_and_can_be_asked_about() -> None:
    async with running() as bench:
        await opens(bench)

        await bench.comes(
            says(bench, ANN, "今天吃啥", address=Address.NONE), says(bench, WANG, "面", address=Address.NONE)
        )

        assert (inboxes(bench), bench.texts) == ({}, [])
        told = await bench.stores.silences.of(WARD)
        assert [(each.why, each.name) for each in told] == [
            (Silence.NOT_ADDRESSED, "Ann"),
            (Silence.NOT_ADDRESSED, "小王"),
        ]


async def test_a_group_that_was_not_opened_is_not_listened_to() -> None:
    async with running() as bench:
        await bench.comes(says(bench, EVE, "秘密", address=Address.NONE))

        assert (inboxes(bench), bench.texts, bench.memory.people) == ({}, [], {})
        assert await bench.stores.silences.of(WARD) == ()


async def test_a_mention_that_is_told_twice_counts_though_the_first_copy_called_nobody() -> None:
    """M5: Slack tells `message` and `app_mention` of one text."""
    async with running() as bench:
        mention = says(bench, ANN, "查一下天气")

        await bench.comes(replace(mention, address=Address.NONE), mention, mention)

        assert inboxes(bench) == {"-5": ["查一下天气"]}


async def test_in_a_thread_who_asked_there_is_heard_without_a_mention_and_nobody_else() -> None:
    async with running() as bench:
        await opens(bench)
        await bench.comes(says(bench, ANN, "查天气", TOPIC))

        await bench.comes(
            says(bench, ANN, "明天呢", TOPIC, Address.THREAD),
            says(bench, WANG, "不是说你", TOPIC, Address.THREAD),
            says(bench, ANN, "别的话题", replace(TOPIC, thread="8"), Address.THREAD),
        )

        assert inboxes(bench) == {"-5/7": ["查天气", "明天呢"]}


async def test_a_stranger_in_a_thread_is_not_remembered_as_one_who_asked() -> None:
    async with running() as bench:
        await bench.comes(says(bench, EVE, "查天气", TOPIC))
        await opens(bench)

        await bench.comes(says(bench, EVE, "明天呢", TOPIC, Address.THREAD))

        assert inboxes(bench) == {}


# --- who may -------------------------------------------------------------------------------------------------------


async def test_only_ids_let_anybody_in_and_no_name_does() -> None:
    """T2, X3: a user name can be released and taken by another."""
    named = Sender("888", "1001 (fake:1001)", "zh")

    async with running() as bench:
        await bench.comes(writes(bench, named, "我是 1001"), writes(bench, replace(named, id="1001 "), "我也是"))

        assert inboxes(bench) == {}
        assert len(bench.texts) == 2


@pytest.mark.parametrize("id_", ["*", "10*1", "?", "[0-9]", "1001\n", "1001:1", "z:granted:fake", "", "１００１", "-5"])
async def test_ids_with_signs_of_the_store_are_nobodys(id_: str) -> None:
    async with running() as bench:
        await opens(bench)
        odd = Sender(id_, "Eve", "zh")

        await bench.comes(bench.message("你好", odd, ConversationId("fake", f"{id_}x")))

        assert inboxes(bench) == {}


async def test_another_bot_is_not_heard_and_gets_no_answer() -> None:
    """M7: two bots answered each other 132 times."""
    async with running(access=Access(rule=AccessRule.OPEN)) as bench:
        other = Sender("77", "B9", is_bot=True)

        await bench.comes(*(says(bench, other, f"回声 {number}") for number in range(20)))
        await bench.comes(presses(bench, other, WARD))

        assert (inboxes(bench), bench.texts) == ({}, [])


# --- where a press belongs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [WARD, replace(WARD, thread="9")])
async def test_a_press_is_decided_where_its_card_belongs(where: ConversationId) -> None:
    async with running() as bench:
        await shows(bench, TOPIC)

        await bench.comes(presses(bench, ANN, where))

        assert inboxes(bench) == {"-5/7": ["ButtonPress"]}


async def test_a_press_where_the_card_never_stood_stays_there() -> None:
    """T3: who learns a token could press it from anywhere they are let in."""
    async with running() as bench:
        await shows(bench, WARD)
        elsewhere = ConversationId("fake", "-6")

        await bench.comes(presses(bench, ANN, alone(ANN)), presses(bench, EVE, elsewhere))

        assert inboxes(bench) == {"1001": ["ButtonPress"], "-6": ["ButtonPress"]}


async def test_a_chat_of_the_same_id_on_another_platform_is_another_chat() -> None:
    async with running() as bench:
        bench.memory.keep_prompts((PromptRecord("tok", ConversationId("other", "-5"), "approval", "{}"),))

        await bench.comes(presses(bench, ANN, WARD))

        assert ConversationId("other", "-5") not in bench.memory.records
        assert inboxes(bench) == {"-5": ["ButtonPress"]}


async def test_strangers_press_where_many_read_and_not_alone() -> None:
    async with running() as bench:
        await shows(bench, WARD)

        await bench.comes(presses(bench, EVE, WARD), presses(bench, EVE, alone(EVE)))
        await bench.passes(5)

        assert inboxes(bench) == {"-5": ["ButtonPress"]}
        assert ("fake", "666") not in bench.memory.people


# --- what chats become ---------------------------------------------------------------------------------------------


async def test_a_group_that_moved_is_the_one_we_knew_and_is_answered_where_it_is_now() -> None:
    async with running() as bench:
        await opens(bench)
        await bench.comes(says(bench, WANG, "前"))

        await bench.comes(changes(bench, Change.MOVED, to="-1005"))
        await bench.comes(says(bench, WANG, "后", ConversationId("fake", "-1005", "7")))
        await bench.goes(Reply(WARD, "回"), Reply(replace(WARD, chat="-6"), "别处"))

        assert inboxes(bench) == {"-5": ["前"], "-5/7": ["后"]}
        assert bench.adapter.sent == [("-1005", "回", True), ("-6", "别处", True)]


async def test_another_process_learns_of_the_move_by_hearing_or_by_sending() -> None:
    async with running() as first:
        await opens(first)
        await first.comes(changes(first, Change.MOVED, to="-1005"))
    adapter = FakeAdapter(answers={"一": [ChatMoved("moved", to="-1005")]})
    async with running(adapter, memory=first.memory) as second:
        await second.goes(Reply(WARD, "一"), Reply(WARD, "二"))

        assert second.adapter.sent == [("-1005", "一", True), ("-1005", "二", True)]
    async with running(memory=first.memory) as third:
        await third.comes(says(third, WANG, "后", ConversationId("fake", "-1005")))
        await third.goes(Reply(WARD, "三"))

        assert third.adapter.sent == [("-1005", "三", True)]
        assert inboxes(third) == {"-5": ["后"]}


async def test_a_card_of_a_group_is_pressed_under_either_of_its_ids() -> None:
    async with running() as bench:
        await shows(bench, WARD)
        await bench.comes(changes(bench, Change.MOVED, to="-1005"))

        await bench.comes(presses(bench, ANN, WARD), presses(bench, ANN, ConversationId("fake", "-1005")))

        assert inboxes(bench) == {"-5": ["ButtonPress", "ButtonPress"]}


async def test_a_chat_that_the_bot_left_is_known_again_when_somebody_is_heard_there() -> None:
    async with running() as bench:
        await opens(bench)
        await bench.comes(says(bench, ANN, "早"))
        await bench.comes(changes(bench, Change.GONE, ANN))
        gone = await bench.stores.chats.known("fake")

        await bench.comes(says(bench, ANN, "我们又在了"))

        assert gone == ()
        assert [(chat.conversation, chat.title) for chat in await bench.stores.chats.known("fake")] == [
            (WARD, "三病区")
        ]
        assert (await bench.stores.grants.granted("2002", WARD)).is_open


async def test_what_becomes_of_a_chat_twice_changes_nothing_more() -> None:
    async with running(access=OWNED) as bench:
        await bench.comes(writes(bench, OWNER, "你好"))
        joined, moved = changes(bench, Change.JOINED, EVE), changes(bench, Change.MOVED, to="-1005")

        await bench.comes(joined, joined, moved, moved, changes(bench, Change.MOVED, where=WARD, to="-5"))

        assert inboxes(bench) == {"9001": ["AccessRequested", "你好"]}
        assert await bench.stores.grants.called("fake", "-5") == "-1005"


async def test_who_is_let_in_by_a_grant_is_let_in_until_it_is_taken_back() -> None:
    async with running() as bench:
        grant = Grant(Right.PERSON, PlatformId("fake", "2002"))
        await bench.stores.grants.give(grant)
        await bench.comes(writes(bench, WANG, "在"))

        await bench.stores.grants.take_back(grant)
        await bench.comes(writes(bench, WANG, "还在吗"))

        assert inboxes(bench) == {"2002": ["在"]}
        assert bench.texts == [say("stranger.unowned", "zh", id="fake:2002")]


# --- what is known of them -----------------------------------------------------------------------------------------


async def test_who_was_forgotten_and_writes_again_is_known_again_with_their_rights() -> None:
    """A full member of a workspace had no tools after `/forget me`, until the bots were started again."""
    member = replace(ANN, team="T1")
    async with running(access=Access()) as bench:
        await bench.comes(writes(bench, member, "在吗"))
        await bench.stores.people.forget("fake", member.id)

        await bench.comes(writes(bench, member, "又是我"))

        rights = Rights(Access(), bench.stores.grants, bench.stores.people)
        assert await rights.of_person(member.id, alone(member)) is Standing.ALLOWED


async def test_a_group_that_another_process_saw_us_leave_is_known_once_somebody_is_heard_there_again() -> None:
    async with running(access=OWNED) as bench:
        await bench.comes(says(bench, ANN, "在吗"))
        await bench.stores.chats.leave(WARD)

        await bench.comes(says(bench, ANN, "回来了"))

        assert [each.conversation for each in await bench.stores.chats.known("fake")] == [WARD]
