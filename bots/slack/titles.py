"""What people call a channel."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from bots.slack.payloads import as_name, as_object
from bots.slack.remembered import Lookup, Remembered
from kernel.ports import Clock

FRESH: Final = timedelta(hours=12)
"""How long a title is believed: the app need not subscribe to `channel_rename`."""


def title_of(channel: Mapping[str, object]) -> str:
    """The title in a channel object of `conversations.info`; total. Group DMs have a made-up name: their purpose."""
    purpose = as_object(channel.get("purpose")).get("value") if channel.get("is_mpim") else None
    return as_name(purpose) or as_name(channel.get("name"))


class Titles:
    """Titles by the ids of their channels."""

    def __init__(self, read_channel: Lookup, clock: Clock) -> None:
        self._read_channel = read_channel
        self._known: Remembered[str] = Remembered(clock, FRESH)

    def cached(self, channel: str) -> str:
        """What is known without asking; empty when nothing is."""
        return self._known.last(channel) or ""

    async def get(self, channel: str) -> str:
        """The channel's title; empty when Slack does not give it now. Raises nothing."""

        async def ask() -> str | None:
            found = await self._read_channel(channel)
            return None if found is None else title_of(found)

        return await self._known.get(channel, ask) or ""

    def keep(self, channel: str, title: str) -> None:
        """It is called so from now on."""
        self._known.keep(channel, title)
