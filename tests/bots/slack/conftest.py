"""A Slack for each test, and an adapter that talks to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from bots.slack import SlackAdapter
from tests.bots.slack.fake import APP_TOKEN, BOT_TOKEN, FakeSlack, HurriedClock, Store, fake_slack


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack() as running:
        yield running


@pytest.fixture
def clock() -> HurriedClock:
    return HurriedClock()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def adapter(slack: FakeSlack, clock: HurriedClock) -> SlackAdapter:
    return SlackAdapter(BOT_TOKEN, APP_TOKEN, clock=clock, random=Random(7), api_url=slack.api_url)


@pytest.fixture
async def running(slack: FakeSlack, adapter: SlackAdapter, store: Store) -> AsyncIterator[SlackAdapter]:
    """The adapter, connected."""
    task = asyncio.create_task(adapter.run(store.deliver))
    await slack.until(lambda: slack.sockets)
    yield adapter
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
