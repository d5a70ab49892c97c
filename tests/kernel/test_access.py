"""Who somebody is: by the operator's lists, by what owners granted, and never by a name."""

from __future__ import annotations

import pytest

from kernel.access import Access, Standing
from kernel.chat import ConversationId, Sender
from kernel.ports import Grant, Granted, Right
from kernel.settings import AccessRule, PlatformId
from kernel.stores.memory.grants import MemoryGrants
from kernel.stores.memory.people import MemoryPeople
from kernel.stores.memory.state import Memory
from tests.twins.clock import JumpingClock
from tests.twins.rights import rights_of

STRANGER, MEMBER, ALLOWED, OWNER = Standing
D1, GROUP = ConversationId("telegram", "1001"), ConversationId("telegram", "-5")
SLACK = ConversationId("slack", "C1")
ACCESS = Access(
    allow=frozenset({PlatformId("telegram", "1001"), PlatformId("telegram", "-5"), PlatformId("slack", "T9")}),
    owners=frozenset({PlatformId("telegram", "1"), PlatformId("telegram", "-5")}),
    rule=AccessRule.ALLOWLIST,
)


@pytest.mark.parametrize(
    ("sender", "conversation", "standing"),
    [
        (Sender("1"), GROUP, OWNER),
        (Sender("1001"), D1, ALLOWED),
        (Sender("1001"), ConversationId("telegram", "-99"), ALLOWED),
        (Sender("2002"), GROUP, MEMBER),
        (Sender("2002"), ConversationId("telegram", "2002"), STRANGER),
        (Sender("2002", name="1001"), ConversationId("telegram", "2002"), STRANGER),
        (Sender("1001"), ConversationId("slack", "1001"), STRANGER),
        (Sender("U1", team="T9"), SLACK, ALLOWED),
        (Sender("U1", team="T8"), SLACK, STRANGER),
        (Sender("U1"), SLACK, STRANGER),
        (Sender("7", is_guest=True), GROUP, STRANGER),
        (Sender("1001", is_guest=True), GROUP, ALLOWED),
        (Sender(""), ConversationId("slack", ""), STRANGER),
        (Sender("me"), ConversationId("console", "terminal"), OWNER),
        (Sender("1001", is_bot=True), GROUP, MEMBER),
        (Sender("9", is_bot=True), GROUP, STRANGER),
        (Sender("1", is_bot=True), GROUP, STRANGER),
    ],
)
def test_who_somebody_is_by_the_lists(sender: Sender, conversation: ConversationId, standing: Standing) -> None:
    assert ACCESS.standing(sender, conversation) is standing


@pytest.mark.parametrize(
    ("granted", "standing"),
    [
        (Granted(), STRANGER),
        (Granted(is_owner=True), OWNER),
        (Granted(is_allowed=True), ALLOWED),
        (Granted(is_open=True), MEMBER),
        (Granted(is_refused=True), STRANGER),
        (Granted(is_open=True, is_refused=True), MEMBER),
    ],
)
def test_grants_count_where_pairing_is_the_rule_and_not_where_only_the_lists_do(
    granted: Granted, standing: Standing
) -> None:
    assert Access().standing(Sender("7"), GROUP, granted) is standing
    assert Access(rule=AccessRule.ALLOWLIST).standing(Sender("7"), GROUP, granted) is STRANGER


def test_with_empty_lists_nobody_may_talk_unless_the_operator_said_open() -> None:
    assert Access().standing(Sender("1001"), D1) is STRANGER
    assert Access(rule=AccessRule.OPEN).standing(Sender("1001"), D1) is ALLOWED
    assert Access(rule=AccessRule.OPEN).standing(Sender("1001", is_bot=True), D1) is STRANGER


def test_members_of_the_workspace_may_talk_where_pairing_is_the_rule() -> None:
    assert Access().standing(Sender("U1", team="T1"), SLACK) is ALLOWED


def test_a_group_on_the_list_of_owners_makes_nobody_an_owner() -> None:
    assert ACCESS.standing(Sender("2002"), GROUP) is MEMBER


def test_a_group_that_got_another_id_stays_on_the_list_under_either() -> None:
    moved = ConversationId("telegram", "-4")

    assert ACCESS.standing(Sender("2002"), moved, Granted(also_known_as=("-5",))) is MEMBER


async def test_a_grant_that_is_taken_back_counts_no_longer() -> None:
    memory = Memory(JumpingClock())
    rights, grants = rights_of(Access(), memory), MemoryGrants(memory)
    grant = Grant(Right.PERSON, PlatformId("telegram", "7"), "小王")

    await grants.give(grant)
    before = await rights.of_person("7", GROUP)
    await grants.take_back(grant)

    assert before is ALLOWED
    assert await rights.of_person("7", GROUP) is STRANGER


async def test_somebody_known_by_id_is_a_member_of_the_workspace_as_bots_last_saw_them() -> None:
    memory = Memory(JumpingClock())
    await MemoryPeople(memory).see("slack", Sender("U1", "Ann", team="T1"))

    assert await rights_of(Access(), memory).of_person("U1", SLACK) is ALLOWED
    assert await rights_of(Access(), memory).of_person("U2", SLACK) is STRANGER


async def test_somebody_whose_profile_cannot_be_read_counts_as_they_were_last_seen() -> None:
    memory = Memory(JumpingClock())
    await MemoryPeople(memory).see("slack", Sender("U1", "Ann", team="T1"))
    rights = rights_of(Access(), memory)

    assert await rights.standing(Sender("U1", is_guest=True), SLACK) is ALLOWED
    assert await rights.standing(Sender("U2", is_guest=True), SLACK) is STRANGER


async def test_owners_are_those_on_the_list_and_those_who_paired() -> None:
    memory = Memory(JumpingClock())
    await MemoryGrants(memory).give(Grant(Right.OWNER, PlatformId("telegram", "7")))
    listed = Access(owners=frozenset({PlatformId("telegram", "9"), PlatformId("slack", "U1")}))
    strict = Access(owners=listed.owners, rule=AccessRule.ALLOWLIST)

    assert await rights_of(listed, memory).owners("telegram") == ("9", "7")
    assert await rights_of(strict, memory).owners("telegram") == ("9",)


async def test_a_bot_that_is_known_by_id_has_no_more_rights_than_when_it_speaks() -> None:
    """Not even those of an owner, should the operator list it as one: its turns run tools, too."""
    memory = Memory(JumpingClock())
    bots = frozenset({PlatformId("telegram", "77")})
    await MemoryPeople(memory).see("telegram", Sender("77", "B9", is_bot=True))
    await MemoryPeople(memory).see("telegram", Sender("77", "B9"))

    for listed, standing in ((Access(allow=bots), MEMBER), (Access(allow=bots, owners=bots), MEMBER)):
        assert await rights_of(listed, memory).of_person("77", GROUP) is standing
    assert await rights_of(Access(owners=bots), memory).of_person("77", GROUP) is STRANGER


@pytest.mark.parametrize(
    ("access", "is_granted", "is_open"),
    [
        (Access(), False, False),
        (Access(), True, True),
        (Access(rule=AccessRule.ALLOWLIST), True, False),
        (Access(rule=AccessRule.OPEN), False, True),
        (ACCESS, False, True),
    ],
)
async def test_whether_whoever_reads_a_chat_may_talk_there(access: Access, is_granted: bool, is_open: bool) -> None:
    memory = Memory(JumpingClock())
    if is_granted:
        await MemoryGrants(memory).give(Grant(Right.CHAT, PlatformId("telegram", "-5")))

    assert await rights_of(access, memory).is_open(GROUP) is is_open
    assert not await rights_of(Access(), memory).is_open(D1)
