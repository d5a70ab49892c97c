"""Who may give which command; for nobody else anything is looked up, stored or shown (T16, X13)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.access import Standing
from kernel.chat import Command, Sender, UserMessage
from kernel.commands import Looked, answer, needed, refusal
from kernel.lookups import Lookups
from kernel.pairing import code_in
from kernel.ports import Grant, Redeemed, Remember, Right, Shelf, Silence, Spending, Spent, Unanswered
from kernel.reminders.desk import Desk
from kernel.settings import PlatformId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from kernel.texts import say
from kernel.usage import Allowance, day_of
from tests.kernel.reminders.words import HERE, desk, said, shown, stored, trigger
from tests.twins.clock import START, JumpingClock
from tests.twins.sessions import EMPTY

MEMBER, ALLOWED, OWNER = Standing.MEMBER, Standing.ALLOWED, Standing.OWNER
ZONE = "Asia/Shanghai"
CANARIES = {"盘点药柜", "对青霉素过敏", "4,321,987", "院长", "Eve"}
"""A reminder, a note, tokens, a name on the list of rights, and one among the silences."""


async def full() -> Stores:
    """A conversation of which something of every kind is kept."""
    clock = JumpingClock()
    memory = Memory(clock)
    stores = memory_stores(clock, memory=memory)
    memory.remember(Remember(Shelf("twin", HERE.chat, is_private=False), "对青霉素过敏"))
    memory.spend(HERE, Spending("1002", day_of(START, ZONE), Spent(input=4_321_987)))
    await stores.grants.give(Grant(Right.OWNER, PlatformId("twin", "9001"), "院长"))
    await stores.silences.note(HERE, Unanswered(START, Silence.NOT_ALLOWED, "Eve"))
    return stores


def lookups(stores: Stores) -> Lookups:
    return Lookups(
        conversations=stores.conversations,
        people=stores.people,
        memories=stores.memories,
        spendings=stores.spendings,
        grants=stores.grants,
        silences=stores.silences,
        allowance=Allowance(),
        zone=ZONE,
    )


def sits(standing: Standing, *, is_private: bool = False) -> Desk:
    return replace(desk(), standing=standing, is_private=is_private)


async def looked(stores: Stores, command: Command, at: Desk, rest: str = "") -> Looked:
    message = UserMessage("e1", HERE, Sender(at.person), 1, START, f"/{command.value}", is_private=at.is_private)
    return await lookups(stores).of(command, rest, message, EMPTY, at, lambda _: "")


NEEDS = {
    MEMBER: {"help", "start", "stop", "id", "why", "retry", "undo"},
    ALLOWED: {"new", "status", "reminders", "tz", "memory", "usage", "model"},
    OWNER: {"allow", "pair"},
}


@pytest.mark.parametrize(("standing", "words"), NEEDS.items(), ids=["member", "allowed", "owner"])
def test_who_one_must_be_to_give_a_command(standing: Standing, words: set[str]) -> None:
    for word in words:
        assert needed(Command(word), is_private=False) is standing


def test_every_command_has_its_place_in_that_table() -> None:
    placed = set().union(*NEEDS.values())

    assert {each.value for each in Command} - placed == {"forget"}  # Of whom it is depends on what is forgotten.


@pytest.mark.parametrize(
    ("command", "rest", "is_private", "standing"),
    [
        (Command.FORGET, "", False, OWNER),
        (Command.FORGET, "", True, MEMBER),
        (Command.FORGET, "me", False, MEMBER),
        (Command.MODEL, "", False, ALLOWED),
        (Command.MODEL, "x", True, OWNER),
        (Command.TZ, "Europe/Berlin", False, ALLOWED),
        (Command.ALLOW, "here", False, OWNER),
    ],
)
def test_what_changes_things_for_all_is_the_owners(
    command: Command, rest: str, is_private: bool, standing: Standing
) -> None:
    assert needed(command, rest, is_private=is_private) is standing


@pytest.mark.parametrize("rest", ["", "here", "me", "x", "twin:2002", "Europe/Berlin"])
@pytest.mark.parametrize("standing", [Standing.STRANGER, MEMBER, ALLOWED])
@pytest.mark.parametrize("command", Command)
async def test_who_may_not_give_a_command_is_told_so_and_learns_and_changes_nothing(
    command: Command, standing: Standing, rest: str
) -> None:
    stores, at = await full(), sits(standing)
    refused = refusal(command, rest, at)
    if refused is None:
        return

    found = await looked(stores, command, at, rest)
    done = answer(command, rest, EMPTY, at, stored(trigger("盘点药柜")), found)

    assert found == Looked()
    assert (done.changes, done.events, done.zone, done.gives, done.new_history, done.says) == (
        refused,
        (),
        None,
        None,
        False,
        (),
    )
    assert said(refused) in (say("rights.allowed", "zh"), say("rights.owner", "zh"))
    assert not [canary for canary in CANARIES if canary in said(refused)]


@pytest.mark.parametrize(
    ("command", "canary"),
    [
        (Command.REMINDERS, "盘点药柜"),
        (Command.MEMORY, "对青霉素过敏"),
        (Command.USAGE, "4,321,987"),
        (Command.WHY, "Eve"),
    ],
)
async def test_who_was_let_in_personally_sees_what_the_chat_keeps(command: Command, canary: str) -> None:
    at = sits(ALLOWED)

    found = await looked(await full(), command, at)

    assert canary in said(answer(command, "", EMPTY, at, stored(trigger("盘点药柜")), found).changes)


async def test_a_member_learns_that_something_was_not_answered_and_not_whose_it_was() -> None:
    at = sits(MEMBER)

    text = said(answer(Command.WHY, "", EMPTY, at, (), await looked(await full(), Command.WHY, at)).changes)

    assert "还没有得到允许" in text
    assert "Eve" not in text


async def test_a_code_is_made_for_an_owner_alone_with_the_bot_and_for_nobody_else() -> None:
    stores = await full()
    grant = Grant(Right.OWNER, PlatformId("twin", "3003"))
    for at in (sits(ALLOWED, is_private=True), sits(OWNER)):
        found = await looked(stores, Command.PAIR, at)
        assert (found.code, await stores.grants.redeem("ABCD2345", grant, "e1", now=START)) == ("", Redeemed.NONE)

    at = sits(OWNER, is_private=True)
    code = (await looked(stores, Command.PAIR, at)).code

    assert code_in(code) == code
    assert code in said(answer(Command.PAIR, "", EMPTY, at, (), Looked(code=code)).changes)
    assert await stores.grants.redeem(code, grant, "e2", now=START) is Redeemed.OWNER


@pytest.mark.parametrize(
    ("rest", "is_private", "gives"),
    [
        ("twin:2002", True, Grant(Right.PERSON, PlatformId("twin", "2002"))),
        ("2002", False, Grant(Right.PERSON, PlatformId("twin", "2002"))),
        ("here", False, Grant(Right.CHAT, PlatformId("twin", "1"), "三病区")),
        ("HERE", False, Grant(Right.CHAT, PlatformId("twin", "1"), "三病区")),
        *((rest, True, None) for rest in ("", "here", "@alice", "alice", "1001 2002", "-5", "*", "２００２", "UANN")),
        *((rest, True, None) for rest in ("telegram:2002", "twin:twin:2", "twin:", "9" * 21, "2002\n", "z:granted:x")),
    ],
)
def test_an_owner_lets_in_an_id_or_the_group_where_they_stand_and_no_name(
    rest: str, is_private: bool, gives: Grant | None
) -> None:
    done = answer(Command.ALLOW, rest, EMPTY, sits(OWNER, is_private=is_private), (), Looked(title="三病区"))

    assert done.gives == gives


@pytest.mark.parametrize(
    ("id_", "is_one"), [("UANNLEE", True), ("W012AB3CD", True), ("C0123", False), ("ann", False), ("2002", False)]
)
def test_on_slack_ids_of_people_may_have_no_digit(id_: str, is_one: bool) -> None:
    at = replace(sits(OWNER), conversation=replace(HERE, platform="slack"))

    assert (answer(Command.ALLOW, f"slack:{id_}", EMPTY, at, ()).gives is not None) is is_one


async def test_the_list_of_rights_is_for_an_owner_alone_with_the_bot() -> None:
    stores = await full()
    for at, has_list in ((sits(OWNER), False), (sits(OWNER, is_private=True), True)):
        done = answer(Command.ALLOW, "", EMPTY, at, (), await looked(stores, Command.ALLOW, at))

        assert ("院长" in said(done.changes)) is has_list


def test_whoever_was_let_in_can_be_found_and_removed_however_many_there_are() -> None:
    many = tuple(Grant(Right.PERSON, PlatformId("twin", str(number)), f"第{number}人") for number in range(2000, 2099))

    done = answer(Command.ALLOW, "twin:2077", EMPTY, sits(OWNER, is_private=True), (), Looked(grants=many))

    assert said(done.changes).splitlines()[1:] == ["1. 用户 第2077人 (twin:2077)"]
    assert [choice.label for choice in shown(done.changes.outbound).choices] == ["移除 1"]
    assert done.gives is None


def test_somebody_who_was_refused_is_let_in_by_their_id() -> None:
    refused = Grant(Right.REFUSED, PlatformId("twin", "2002"))

    done = answer(Command.ALLOW, "2002", EMPTY, sits(OWNER, is_private=True), (), Looked(grants=(refused,)))

    assert done.gives == Grant(Right.PERSON, PlatformId("twin", "2002"))


def test_ids_are_shown_to_whoever_may_talk_and_nothing_beside_them() -> None:
    """T17: they are needed for ZCLAW_ALLOW; they are no secrets, and no rights."""
    assert said(answer(Command.ID, "9001", EMPTY, sits(MEMBER), ()).changes) == "你：twin:1001\n这个聊天：twin:1"


async def test_what_everybody_used_is_for_an_owner_alone_with_the_bot() -> None:
    stores = await full()
    for at in (sits(ALLOWED), sits(OWNER), sits(ALLOWED, is_private=True)):
        assert (await looked(stores, Command.USAGE, at)).usage.people == ()

    assert (await looked(stores, Command.USAGE, sits(OWNER, is_private=True))).usage.people != ()


async def test_who_is_let_in_once_more_in_a_group_keeps_the_name_that_the_list_shows() -> None:
    stores = await full()
    wang = Grant(Right.PERSON, PlatformId("twin", "2002"), "小王")
    await stores.grants.give(wang)
    at = sits(OWNER)

    again = answer(Command.ALLOW, "twin:2002", EMPTY, at, (), await looked(stores, Command.ALLOW, at, "twin:2002"))

    assert again.gives is not None
    assert (again.gives.whose.platform, again.gives.name) == (HERE.platform, "小王")


async def test_a_name_cannot_pass_for_a_line_of_ours() -> None:
    posing = Unanswered(START, Silence.NOT_ALLOWED, "Eve\n09:00, 院长\u202e")

    told = said(answer(Command.WHY, "", EMPTY, sits(ALLOWED), (), Looked(unanswered=(posing,))).changes)

    assert told.splitlines()[1:] == [told.splitlines()[-1]]
    assert "\u202e" not in told
