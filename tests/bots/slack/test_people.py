"""Profiles are read once, believed for a while, and tell members from guests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from bots.slack.people import FRESH, Profile, Profiles, profile_of
from bots.slack.remembered import RETRY_AFTER
from kernel.chat import Sender
from tests.bots.slack.fake import ANN, TEAM, HurriedClock, person


class Users:
    def __init__(self, user: Mapping[str, object] | None) -> None:
        self.user = user
        self.asked = 0

    async def read(self, user: str) -> Mapping[str, object] | None:
        self.asked += 1
        return self.user


@pytest.fixture
def users() -> Users:
    return Users(person())


@pytest.fixture
def profiles(users: Users, clock: HurriedClock) -> Profiles:
    return Profiles(users.read, clock)


async def test_a_profile_is_read_once_and_again_when_it_is_old(
    profiles: Profiles, users: Users, clock: HurriedClock
) -> None:
    first = await profiles.get(ANN, TEAM)
    await profiles.get(ANN, TEAM)
    assert users.asked == 1

    clock.ahead += FRESH
    users.user = person(tz="Europe/Berlin")
    again = await profiles.get(ANN, TEAM)

    assert first == Profile("Ann", "zh", "Asia/Shanghai", team=TEAM)
    assert again == Profile("Ann", "zh", "Europe/Berlin", team=TEAM)


async def test_a_change_is_believed_at_once_and_keeps_the_language_it_leaves_out(
    profiles: Profiles, users: Users
) -> None:
    await profiles.get(ANN, TEAM)
    changed = {name: each for name, each in person(tz="Europe/Berlin").items() if name != "locale"}

    profiles.keep(ANN, changed, TEAM)

    assert await profiles.get(ANN, TEAM) == Profile("Ann", "zh", "Europe/Berlin", team=TEAM)
    assert users.asked == 1


async def test_a_person_who_cannot_be_read_is_not_asked_about_at_every_message(
    profiles: Profiles, users: Users, clock: HurriedClock
) -> None:
    users.user = None
    assert await profiles.get(ANN, TEAM) is None
    assert await profiles.get(ANN, TEAM) is None
    assert users.asked == 1

    clock.ahead += RETRY_AFTER + timedelta(seconds=1)
    users.user = person()

    assert await profiles.get(ANN, TEAM) is not None


async def test_when_slack_is_away_the_old_profile_is_better_than_none(
    profiles: Profiles, users: Users, clock: HurriedClock
) -> None:
    await profiles.get(ANN, TEAM)
    clock.ahead += FRESH
    users.user = None

    assert await profiles.get(ANN, TEAM) == Profile("Ann", "zh", "Asia/Shanghai", team=TEAM)


@pytest.mark.parametrize(
    "mark",
    [
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_stranger": True},
        {"is_bot": True},
        {"deleted": True},
        {"team_id": "T2"},
    ],
)
def test_guests_bots_strangers_and_the_departed_are_no_members(mark: dict[str, Any]) -> None:
    member, other = profile_of(person(), TEAM), profile_of(person(**mark), TEAM)

    assert (member.is_member, member.team) == (True, TEAM)
    assert (other.is_member, other.team) == (False, "")


@pytest.mark.parametrize("home", [None, "", "E1", 7])
def test_a_person_whose_workspace_is_not_told_is_let_in_without_rights(home: object) -> None:
    profile = profile_of(person(team_id=home), TEAM)

    assert (profile.is_member, profile.team) == (True, "")


def test_a_profile_of_nonsense_is_empty() -> None:
    nonsense = {"profile": 7, "tz": ["x"], "locale": None, "name": {}, "team_id": 1}

    assert profile_of(nonsense, TEAM) == Profile()


def test_a_sender_gets_what_is_known() -> None:
    known = Profile("Ann", "zh", "Asia/Shanghai", team=TEAM)

    assert known.on(Sender(ANN)) == Sender(ANN, "Ann", "zh", "Asia/Shanghai", TEAM)
