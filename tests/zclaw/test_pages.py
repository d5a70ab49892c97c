"""What the pages about running it promise: manifests that ask for what is needed, numbers that are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bots.counters import Counters
from bots.metrics import Lookout
from kernel.stores.memory.stores import memory_stores
from tests.twins.clock import JumpingClock
from zclaw.platform_checks import SLACK_SCOPES

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
LANGUAGES = pytest.mark.parametrize("ending", [".md", ".zh-CN.md"])

SCOPES_OF_EVENTS = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.mpim": "mpim:history",
    "user_change": "users:read",
    "member_joined_channel": "channels:read",
}
"""Slack grants no event without its scope; the others here belong to `channels:read` and `groups:read`."""


def manifests(ending: str) -> list[dict[str, Any]]:
    """The manifests of the page, by Socket Mode and by HTTP."""
    page = (PAGES / f"connect-slack{ending}").read_text()
    return [yaml.safe_load(block) for block in re.findall(r"^ *```yaml\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)]


@LANGUAGES
def test_the_manifests_ask_for_every_scope_that_the_doctor_looks_for_and_no_other(ending: str) -> None:
    for manifest in manifests(ending):
        asked = manifest["oauth_config"]["scopes"]["bot"]

        assert sorted(asked) == sorted(SLACK_SCOPES)


@LANGUAGES
def test_every_event_of_the_manifests_has_its_scope(ending: str) -> None:
    socket, http = manifests(ending)
    events = socket["settings"]["event_subscriptions"]["bot_events"]

    assert events == http["settings"]["event_subscriptions"]["bot_events"]
    for event in events:
        prefix = event.partition("_")[0]
        assert SCOPES_OF_EVENTS.get(event, f"{prefix}s:read") in SLACK_SCOPES, event


@LANGUAGES
def test_by_http_everything_comes_to_one_address_and_by_socket_to_none(ending: str) -> None:
    socket, http = manifests(ending)

    address = "https://bot.example.org/slack/events"
    settings = http["settings"]
    assert [settings["event_subscriptions"]["request_url"], settings["interactivity"]["request_url"]] == [address] * 2
    assert [command["url"] for command in http["features"]["slash_commands"]] == [address]
    assert (socket["settings"]["socket_mode_enabled"], settings["socket_mode_enabled"]) == (True, False)
    assert "bot.example.org" not in str(socket)


@LANGUAGES
def test_every_scope_is_in_the_table_of_what_does_not_work_without_it(ending: str) -> None:
    page = (PAGES / f"connect-slack{ending}").read_text()

    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))

    assert set(re.findall(r"`([a-z_:]+)`", rows)) == set(SLACK_SCOPES)


@LANGUAGES
async def test_every_number_is_explained_and_no_other(ending: str) -> None:
    clock = JumpingClock()
    stores = memory_stores(clock)
    text = await Lookout(stores.overview, stores.beats, Counters(), [], clock, dict).metrics()

    explained = re.findall(r"`(zclaw_\w+)", (PAGES / f"operate{ending}").read_text())

    assert set(explained) == set(re.findall(r"# TYPE (\w+)", text))
