"""A channel's title is read once, believed for a while, and better old than none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest

from bots.slack.remembered import MOST, RETRY_AFTER
from bots.slack.titles import FRESH, Titles, title_of
from tests.bots.slack.fake import TEAM_CHANNEL, HurriedClock


class Channels:
    def __init__(self) -> None:
        self.channel: Mapping[str, object] | None = {"name": "查房"}
        self.asked = 0

    async def read(self, channel: str) -> Mapping[str, object] | None:
        self.asked += 1
        return self.channel


@pytest.fixture
def channels() -> Channels:
    return Channels()


@pytest.fixture
def titles(channels: Channels, clock: HurriedClock) -> Titles:
    return Titles(channels.read, clock)


async def test_a_title_is_read_once_and_again_when_it_is_old(
    titles: Titles, channels: Channels, clock: HurriedClock
) -> None:
    assert [await titles.get(TEAM_CHANNEL), await titles.get(TEAM_CHANNEL)] == ["查房"] * 2
    assert channels.asked == 1

    clock.ahead += FRESH
    channels.channel = {"name": "内科"}

    assert await titles.get(TEAM_CHANNEL) == "内科"


async def test_a_new_name_is_believed_at_once(titles: Titles, channels: Channels) -> None:
    titles.keep(TEAM_CHANNEL, "内科")

    assert await titles.get(TEAM_CHANNEL) == titles.cached(TEAM_CHANNEL) == "内科"
    assert channels.asked == 0


async def test_a_channel_that_cannot_be_read_is_not_asked_about_at_every_message(
    titles: Titles, channels: Channels, clock: HurriedClock
) -> None:
    channels.channel = None
    assert [await titles.get(TEAM_CHANNEL), await titles.get(TEAM_CHANNEL)] == [""] * 2
    assert channels.asked == 1

    clock.ahead += RETRY_AFTER + timedelta(seconds=1)
    channels.channel = {"name": "查房"}
    assert await titles.get(TEAM_CHANNEL) == "查房"

    clock.ahead += FRESH
    channels.channel = None
    assert await titles.get(TEAM_CHANNEL) == "查房"


async def test_no_more_is_kept_than_fits(titles: Titles) -> None:
    for number in range(MOST + 1):
        titles.keep(f"C{number}", "x")

    assert (titles.cached("C0"), titles.cached("C1")) == ("", "x")


@pytest.mark.parametrize(
    ("channel", "title"),
    [
        ({"name": "查房"}, "查房"),
        ({"name": "mpdm-ann--bob-1", "is_mpim": True, "purpose": {"value": "Group messaging with: @ann @bob"}},
         "Group messaging with: @ann @bob"),
        ({"name": "x" * 200}, "x" * 80),
        ({"name": 7}, ""),
        ({"name": "mpdm-ann--bob-1", "is_mpim": True, "purpose": "x"}, "mpdm-ann--bob-1"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_title_is_what_people_call_the_channel(channel: Mapping[str, object], title: str) -> None:
    assert title_of(channel) == title
