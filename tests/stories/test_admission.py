"""A fresh installation lets people in: a code makes an owner, and the owner decides about everybody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.access import Access
from kernel.chat import ConversationId
from kernel.pairing import new_code
from kernel.ports import Right
from kernel.settings import PlatformId
from kernel.texts import say
from tests.twins.platform import Shown
from tests.twins.world import RULES, World, world

OWNER, WANG, LI, EVE = "9001", "2002", "3003", "666"
WARD = "-5"
REFUSED = say("stranger.asked", "zh")


@pytest.fixture
async def fresh() -> AsyncIterator[World]:
    """Nobody is on a list, and nobody was let in."""
    async with world(rules=replace(RULES, access=Access())) as here:
        here.model.when("天气", "今天晴")
        here.model.when(".", "在的")
        yield here


async def pairs(here: World) -> None:
    """The owner sends the code that `zclaw pair` printed."""
    code = new_code()
    await here.stores.grants.offer(code, now=here.clock.now())
    here.platform.says(code.lower(), chat=OWNER, person=OWNER, name="院长")
    await here.platform.sees(say("pair.done", "zh"), chat=OWNER)


def seen(here: World, chat: str) -> list[str]:
    return [each.text for each in here.platform.shown if each.ref.conversation.chat == chat]


async def asked_about(here: World, words: str) -> Shown:
    """The card that the owner reads."""
    return await here.platform.sees(lambda each: words in each.text and bool(each.choices), chat=OWNER)


async def test_a_stranger_is_let_in_by_the_owners_press_and_by_nothing_else(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)

    here.says("今天天气怎么样", chat=WANG, person=WANG)
    card = await asked_about(fresh, "小王")
    here.says("在吗", chat=WANG, person=WANG)
    await fresh.passes(timedelta(seconds=5))

    assert card.text == "小王 (twin:2002) 想和我说话。"
    assert [choice.label for choice in card.choices] == ["允许此人", "拒绝"]
    assert (seen(fresh, WANG), len(seen(fresh, OWNER)), fresh.model.requests) == ([REFUSED], 2, [])

    here.presses(card, "允许此人", person=OWNER, name="院长")
    await here.sees(say("admit.welcome", "zh"), chat=WANG)
    here.says("今天天气怎么样", chat=WANG, person=WANG)

    await here.sees("今天晴", chat=WANG)
    assert (card.text, card.choices) == ("✅ 小王 (twin:2002) 可以用我了", ())


async def test_who_was_refused_hears_no_more_of_it_and_the_owner_is_not_asked_again(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)
    here.says("你好", chat=WANG, person=WANG)
    card = await asked_about(fresh, "小王")

    here.presses(card, "拒绝", person=OWNER)
    await here.is_told("好的。")
    fresh.clock.jump(timedelta(days=2))
    here.says("你好", chat=WANG, person=WANG)
    await here.sees("twin:2002", chat=WANG)
    here.adds_the_bot(chat=WARD, title="三病区", person=WANG)
    await fresh.passes(timedelta(seconds=5))

    assert (len(seen(fresh, OWNER)), fresh.model.requests) == (2, [])


async def test_the_card_in_a_new_group_is_in_the_language_of_the_owners_app(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)

    here.adds_the_bot(chat=WARD, title="Ward 3", person=OWNER, name="Eve", language="en")

    card = await here.sees("Shall everybody there be able to use me?", chat=WARD)
    assert [choice.label for choice in card.choices] == ["Open the group", "Deny"]


async def test_a_group_is_opened_by_the_owner_and_its_members_talk_and_do_nothing_else(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)
    here.adds_the_bot(chat=WARD, title="三病区", person=OWNER, name="院长")
    card = await here.sees("开放给那里的所有人", chat=WARD)
    here.says("每天早上9点提醒我查房", chat=WARD, person=OWNER, is_private=False)
    await fresh.passes(timedelta(seconds=1))
    await here.sees("查房", chat=WARD)

    here.presses(card, "开放这个群", person=LI, is_private=False)
    await here.is_told(say("rights.allowed", "zh"))
    here.presses(card, "开放这个群", person=OWNER, is_private=False)
    await here.sees(say("admit.welcome_chat", "zh"), chat=WARD)
    begun = len(here.shown)
    for words in (
        "今天天气怎么样",
        "每天早上8点提醒我交班",
        "/reminders",
        "取消全部提醒",
        "/usage",
        "/new",
        "/tz Europe/Berlin",
    ):
        here.says(words, chat=WARD, person=LI, name="小李", is_private=False)
        await fresh.passes(timedelta(seconds=1))
    await here.sees("今天晴", chat=WARD)

    answers = [each.text for each in here.shown[begun:]]
    assert sorted(answers) == sorted(["今天晴", *[say("rights.allowed", "zh")] * 6])
    where = ConversationId("twin", WARD)
    assert [trigger.text for trigger, _ in await fresh.stores.triggers.list(where)] == ["查房"]
    assert await fresh.stores.people.zone(where) is None
    assert not fresh.memory.record(where).old_histories


async def test_the_owners_list_takes_a_right_back_at_once(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)
    for words in (f"/allow twin:{WANG}", f"/allow {LI}"):
        here.says(words, chat=OWNER, person=OWNER)
    await here.sees("twin:3003 可以用我了", chat=OWNER)
    here.says("今天天气怎么样", chat=WANG, person=WANG)
    await here.sees("今天晴", chat=WANG)

    here.says("/allow", chat=OWNER, person=OWNER)
    listed = await here.sees(lambda each: "移除" in "".join(c.label for c in each.choices), chat=OWNER)
    here.presses(listed, "移除 2", person=OWNER)
    await here.is_told("好的。")
    here.says("今天天气怎么样", chat=WANG, person=WANG)
    await here.sees(REFUSED, chat=WANG)

    assert listed.text == "已移除：? (twin:2002)"
    assert len(fresh.model.requests) == 1
    assert (await fresh.stores.grants.granted(LI, ConversationId("twin", LI))).is_allowed


async def test_five_wrong_codes_end_the_code_for_everybody(fresh: World) -> None:
    here, grants = fresh.platform, fresh.stores.grants
    code = new_code()
    await grants.offer(code, now=fresh.clock.now())

    for guess in ("WRNG2345", "wrng2346", "/pair WRNG2347", "/start WRNG2348", "WRNG2349"):
        here.says(guess, chat=EVE, person=EVE)
    await fresh.passes(timedelta(seconds=1))
    here.says(code, chat=OWNER, person=OWNER)
    await here.sees(say("pair.wrong", "zh"), chat=OWNER)

    assert await grants.owners("twin") == ()
    await pairs(fresh)
    assert await grants.owners("twin") == (OWNER,)


async def test_a_code_that_was_used_makes_nobody_else_an_owner(fresh: World) -> None:
    here = fresh.platform
    code = new_code()
    await fresh.stores.grants.offer(code, now=fresh.clock.now())
    here.says(code, chat=OWNER, person=OWNER)
    await here.sees(say("pair.done", "zh"), chat=OWNER)

    here.says(code, chat=EVE, person=EVE, name="院长")
    await here.sees(REFUSED, chat=EVE)

    assert await fresh.stores.grants.owners("twin") == (OWNER,)
    # The code is words like others now: its sender is asked about.
    await asked_about(fresh, "twin:666")


async def test_a_second_account_is_linked_with_a_code_from_the_first(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)

    here.says("/pair", chat=OWNER, person=OWNER)
    told = await here.sees("10 分钟内", chat=OWNER)
    here.says(told.text.rsplit("：", 1)[1], chat=LI, person=LI)
    await here.sees(say("pair.done", "zh"), chat=LI)

    assert set(await fresh.stores.grants.owners("twin")) == {OWNER, LI}


async def test_two_owners_press_one_card_and_the_first_press_counts(fresh: World) -> None:
    here = fresh.platform
    await pairs(fresh)
    await pairs_another(fresh)
    here.adds_the_bot(chat=WARD, title="三病区", person=OWNER)
    card = await here.sees("开放给那里的所有人", chat=WARD)

    here.presses(card, "开放这个群", person=OWNER, is_private=False)
    here.presses(card, "拒绝", person=LI, is_private=False)
    await here.is_told(say("press.decided", "zh"))

    assert card.text == "✅「三病区」里的人可以用我了"
    assert [text for text in seen(fresh, WARD) if text == say("admit.welcome_chat", "zh")] != []
    assert {grant.whose for grant in await fresh.stores.grants.given("twin") if grant.right is Right.CHAT} == {
        PlatformId("twin", WARD)
    }


async def pairs_another(here: World) -> None:
    code = new_code()
    await here.stores.grants.offer(code, now=here.clock.now())
    here.platform.says(code, chat=LI, person=LI, name="小李")
    await here.platform.sees(say("pair.done", "zh"), chat=LI)


async def test_who_is_no_owner_any_more_when_their_press_is_read_lets_nobody_in(fresh: World) -> None:
    here, grants = fresh.platform, fresh.stores.grants
    await pairs(fresh)
    here.says("你好", chat=WANG, person=WANG)
    card = await asked_about(fresh, "小王")
    (owner,) = [grant for grant in await grants.given("twin") if grant.right is Right.OWNER]

    await grants.take_back(owner)
    here.presses(card, "允许此人", person=OWNER)
    await fresh.passes(timedelta(seconds=5))

    assert await grants.given("twin") == ()
    assert card.choices != ()
