"""Only ids that the platform vouches for open the door."""

from __future__ import annotations

import pytest

from kernel.access import Access
from kernel.chat import ConversationId, Sender
from kernel.settings import PlatformId

D1 = ConversationId("telegram", "1001")
GROUP = ConversationId("telegram", "-100200", "7")
ACCESS = Access(
    allow=frozenset({PlatformId("telegram", "1001"), PlatformId("telegram", "-100200"), PlatformId("slack", "T9")}),
    owners=frozenset({PlatformId("telegram", "1"), PlatformId("telegram", "-100200")}),
)


@pytest.mark.parametrize(
    ("sender", "conversation", "team", "may_talk"),
    [
        (Sender("1001"), D1, "", True),
        (Sender("1001"), ConversationId("telegram", "-5"), "", True),
        (Sender("1"), ConversationId("telegram", "1"), "", True),
        (Sender("2002"), GROUP, "", True),
        (Sender("2002"), ConversationId("telegram", "2002"), "", False),
        (Sender("2002", name="1001"), ConversationId("telegram", "2002"), "", False),
        (Sender("1001"), ConversationId("slack", "1001"), "", False),
        (Sender("U1"), ConversationId("slack", "C1"), "T9", True),
        (Sender("U1"), ConversationId("slack", "C1"), "T8", False),
        (Sender(""), ConversationId("slack", ""), "", False),
        (Sender("me"), ConversationId("console", "terminal"), "", True),
    ],
)
def test_who_may_talk(sender: Sender, conversation: ConversationId, team: str, may_talk: bool) -> None:
    assert ACCESS.may_talk(sender, conversation, team) is may_talk


def test_with_empty_lists_nobody_may_talk_unless_the_operator_said_open() -> None:
    assert not Access().may_talk(Sender("1001"), D1)
    assert Access(is_open=True).may_talk(Sender("1001"), D1)


def test_a_group_on_the_list_of_owners_makes_nobody_an_owner() -> None:
    assert not ACCESS.is_owner(Sender("2002"), GROUP)
    assert ACCESS.is_owner(Sender("1"), GROUP)
