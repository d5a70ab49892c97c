"""Fake platforms in front of real `zclaw bots`: each repeats what was not acknowledged as the real one does.

    transport           what comes again                    when                                  in which order
    -----------------   ---------------------------------   -----------------------------------   --------------------
    Telegram, polling   what no offset has confirmed        at the next `getUpdates`              as it was written
    Telegram, webhook   what was not answered with 2xx      1 s, 2 s, 4 s … later, without end    one of a chat at once
    Slack, sockets      an envelope without its answer      3 s later, then as below, 3 times     none
    Slack, HTTP         what had no 2xx within 3 s          at once, after 1 and 5 min, 3 times   none

Several processes are called, or have an envelope sent, in turns. `hurry` shortens the pauses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import aiohttp

from tests.bots.slack.fake import fake_slack
from tests.bots.telegram import fake_api
from tests.chaos.repeating import Platform
from tests.chaos.slacks import Slack, SlackHttp, SlackSocket
from tests.chaos.telegrams import Telegram, TelegramPolling, TelegramWebhook

TelegramKind = type[TelegramPolling | TelegramWebhook]
SlackKind = type[SlackSocket | SlackHttp]


@asynccontextmanager
async def telegram(kind: TelegramKind, hurry: float) -> AsyncIterator[Telegram]:
    """A running Telegram; its pauses take `hurry` times as long."""
    async with fake_api.serving() as api, aiohttp.ClientSession() as http:
        platform = kind(api, http, hurry)
        try:
            yield platform
        finally:
            await platform.close()


@asynccontextmanager
async def slack(kind: SlackKind, hurry: float) -> AsyncIterator[Slack]:
    """A running Slack; its pauses take `hurry` times as long."""
    async with fake_slack() as fake, aiohttp.ClientSession() as http:
        platform = kind(fake, http, hurry)
        try:
            yield platform
        finally:
            await platform.close()


Open = Callable[[float], AbstractAsyncContextManager[Platform]]
"""Starts a platform whose pauses take so many times as long."""
TRANSPORTS: Mapping[str, Open] = {
    TelegramPolling.name: partial(telegram, TelegramPolling),
    TelegramWebhook.name: partial(telegram, TelegramWebhook),
    SlackSocket.name: partial(slack, SlackSocket),
    SlackHttp.name: partial(slack, SlackHttp),
}
