"""Those who may not talk: told so once a day, asked about once a day, and made owners by the right code (T1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.access import Access
from kernel.chat import AccessRequested, Change, ConversationId, Sender
from kernel.pairing import new_code
from kernel.ports import Grant, Redeemed, Right, Silence
from kernel.ports.grants import CODE_TRIES
from kernel.settings import AccessRule, PlatformId
from kernel.texts import say
from tests.bots.bench import Bench, running
from tests.bots.words import (
    ANN,
    EVE,
    HOME,
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
    writes,
)

DAY = timedelta(days=1)


async def settled(bench: Bench) -> None:
    """The owner has written to the bot, and is read where they wrote."""
    await bench.comes(writes(bench, OWNER, "/start"))
    del bench.memory.records[HOME]


def asked(bench: Bench) -> list[AccessRequested]:
    record = bench.memory.records.get(HOME)
    items = [entry.item.inbound for entry in record.inbox] if record else []
    return [each for each in items if isinstance(each, AccessRequested)]


async def test_on_a_fresh_installation_a_stranger_makes_no_work_and_is_told_once_a_day() -> None:
    """T1: only a bot token is set; somebody sends /start, 你好, a photo, a press."""
    async with running(access=Access()) as bench:
        await bench.comes(
            writes(bench, EVE, "/start"),
            writes(bench, EVE, "你好"),
            writes(bench, EVE, ""),
            presses(bench, EVE, alone(EVE)),
        )

        assert (bench.texts, bench.adapter.notices) == ([say("stranger.unowned", "zh", id="fake:666")], [])
        assert (inboxes(bench), bench.memory.people, bench.memory.blobs) == ({}, {}, {})
        told = await bench.stores.silences.of(alone(EVE))
        assert {each.why for each in told} == {Silence.NOT_ALLOWED}


async def test_an_owner_is_asked_once_a_day_wherever_the_stranger_tries() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)

        await bench.comes(writes(bench, EVE, "你好"), says(bench, EVE, "喂"), presses(bench, EVE, alone(EVE)))

        (first,) = asked(bench)
        assert (first.person, first.origin, first.is_private, first.has_joined) == (EVE, alone(EVE), True, False)
        assert bench.texts == [say("stranger.asked", "zh")]

        bench.clock.jump(DAY)
        await bench.comes(says(bench, EVE, "喂", TOPIC))

        assert asked(bench)[1].origin == TOPIC
        assert (asked(bench)[1].title, asked(bench)[1].is_private) == ("三病区", False)


async def test_who_was_refused_is_not_asked_about_and_is_told_whom_to_ask() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)
        await bench.stores.grants.give(Grant(Right.REFUSED, PlatformId("fake", "666")))

        await bench.comes(writes(bench, EVE, "你好"), changes(bench, Change.JOINED, EVE))

        assert (asked(bench), bench.texts) == ([], [say("stranger", "zh", id="fake:666")])


async def test_while_no_owner_is_known_nobody_is_asked_and_later_they_are() -> None:
    async with running(access=OWNED) as bench:
        await bench.comes(writes(bench, EVE, "你好"))
        assert bench.texts == [say("stranger", "zh", id="fake:666")]

        await settled(bench)
        await bench.comes(writes(bench, EVE, "你好"))

        assert len(asked(bench)) == 1


@pytest.mark.parametrize("rule", [AccessRule.ALLOWLIST, AccessRule.PAIRING])
async def test_owners_are_asked_only_where_they_can_decide(rule: AccessRule) -> None:
    """Under `allowlist` no press of theirs would count."""
    async with running(access=replace(OWNED, rule=rule)) as bench:
        await settled(bench)

        await bench.comes(writes(bench, EVE, "你好"), changes(bench, Change.JOINED, ANN))

        assert len(asked(bench)) == (0 if rule is AccessRule.ALLOWLIST else 2)


# --- who adds the bot to a group


async def test_who_adds_the_bot_to_group_after_group_has_the_owner_asked_once_a_day() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)
        groups = [ConversationId("fake", f"-{number}") for number in range(50, 70)]

        await bench.comes(*(changes(bench, Change.JOINED, EVE, where) for where in groups * 2))

        (first,) = asked(bench)
        assert (first.person, first.origin, first.title, first.has_joined) == (EVE, groups[0], "三病区", True)


async def test_about_the_groups_of_somebody_who_was_let_in_an_owner_is_asked_for_each() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)
        other = ConversationId("fake", "-6")

        await bench.comes(*(changes(bench, Change.JOINED, ANN, where) for where in (WARD, other, WARD)))

        assert [each.origin for each in asked(bench)] == [WARD, other]


async def test_an_owner_who_adds_the_bot_is_asked_there() -> None:
    async with running(access=OWNED) as bench:
        await bench.comes(changes(bench, Change.JOINED, OWNER))

        assert inboxes(bench) == {"-5": ["AccessRequested"]}


async def test_about_a_group_that_is_open_nobody_is_asked() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)
        await opens(bench)

        await bench.comes(changes(bench, Change.JOINED, EVE), changes(bench, Change.JOINED, OWNER))

        assert inboxes(bench) == {}


async def test_that_somebody_may_be_spoken_to_again_alone_asks_nobody() -> None:
    async with running(access=OWNED) as bench:
        await settled(bench)

        await bench.comes(
            replace(changes(bench, Change.JOINED, EVE, alone(EVE)), is_private=True), changes(bench, Change.JOINED)
        )

        assert inboxes(bench) == {}


# --- codes


async def offered(bench: Bench) -> str:
    code = new_code()
    await bench.stores.grants.offer(code, now=bench.clock.now())
    return code


async def test_the_first_to_send_the_code_owns_the_bot_and_is_asked_where_they_sent_it() -> None:
    async with running(access=Access()) as bench:
        code = await offered(bench)

        await bench.comes(writes(bench, OWNER, code), writes(bench, EVE, code))

        assert await bench.stores.grants.owners("fake") == ("9001",)
        assert await bench.stores.grants.home(PlatformId("fake", "9001")) == HOME
        assert (await bench.stores.people.get("fake", "9001")) == OWNER
        assert [each.person for each in asked(bench)] == [EVE]


async def test_a_code_counts_nowhere_but_alone_with_the_bot() -> None:
    async with running(access=Access()) as bench:
        code = await offered(bench)

        await bench.comes(says(bench, EVE, code), presses(bench, EVE, WARD, code))

        assert await bench.stores.grants.owners("fake") == ()


async def test_a_bot_cannot_own_us_even_one_that_is_let_in() -> None:
    """Its rights would not count, but its chat would be where owners are asked."""
    listed = Sender("1001", "B9", is_bot=True)
    async with running() as bench:
        code = await offered(bench)

        await bench.comes(writes(bench, listed, code))

        assert await bench.stores.grants.owners("fake") == ()
        assert (
            await bench.stores.grants.redeem(
                code, Grant(Right.OWNER, PlatformId("fake", "9001")), "e9", now=bench.clock.now()
            )
            is Redeemed.OWNER
        )


async def test_under_allowlist_no_code_counts() -> None:
    async with running(access=Access(rule=AccessRule.ALLOWLIST)) as bench:
        code = await offered(bench)

        await bench.comes(writes(bench, OWNER, code))

        assert await bench.stores.grants.owners("fake") == ()
        assert bench.texts == [say("stranger", "en", id="fake:9001")]


async def test_who_guesses_is_told_five_times_that_it_is_wrong_and_then_no_more() -> None:
    """Each guess would have us write once more, for ten minutes."""
    async with running(access=Access()) as bench:
        await offered(bench)

        await bench.comes(*(writes(bench, EVE, f"WRNG23{a}{b}") for a in "23456789" for b in "23456789"))

        assert bench.texts == [say("pair.wrong", "zh")] * CODE_TRIES
        assert (inboxes(bench), await bench.stores.grants.owners("fake")) == ({}, ())


async def test_a_wrong_code_that_is_delivered_five_times_is_one_try_and_answered_once() -> None:
    async with running(access=Access()) as bench:
        code = await offered(bench)
        wrong = writes(bench, EVE, "WRNG2345")

        await bench.comes(*[wrong] * CODE_TRIES, writes(bench, ANN, code))

        assert await bench.stores.grants.owners("fake") == ("1001",)
        assert bench.texts.count(say("pair.wrong", "zh")) == 1


async def test_while_nobody_owns_the_bot_a_code_that_ran_out_is_answered_however_often_they_wrote() -> None:
    async with running(access=Access()) as bench:
        await bench.comes(writes(bench, OWNER, "/start"), writes(bench, OWNER, new_code()))

        assert bench.texts == [say("stranger.unowned", "zh", id="fake:9001"), say("pair.wrong", "zh")]


async def test_once_there_is_an_owner_and_no_code_is_out_eight_signs_are_words_like_others() -> None:
    async with running(access=OWNED) as bench:
        await bench.comes(writes(bench, ANN, "TEAM 2345"))

        assert (inboxes(bench), bench.texts) == ({"1001": ["TEAM 2345"]}, [])


async def test_somebody_who_was_let_in_can_own_the_bot_too_and_an_owner_keeps_their_words() -> None:
    async with running(access=OWNED) as bench:
        code = await offered(bench)

        await bench.comes(writes(bench, OWNER, code), writes(bench, ANN, code))

        assert inboxes(bench) == {"9001": [code]}
        assert await bench.stores.grants.owners("fake") == ("1001",)


async def test_one_code_sent_to_two_processes_at_once_makes_one_owner() -> None:
    async with running(access=Access()) as first, running(access=Access(), memory=first.memory) as second:
        code = await offered(first)
        first.adapter.updates.put_nowait(writes(first, WANG, code))
        second.adapter.updates.put_nowait(replace(writes(second, EVE, code), event="other"))
        await first.passes(1)

        assert len(await first.stores.grants.owners("fake")) == 1
