"""`zclaw bots`: brings what people do on the platforms to the store, and what is to be said back to them.

Holds the platforms' secrets and no model's.
"""

from __future__ import annotations

import asyncio
import random

import structlog

from bots.adapter import Adapter
from bots.driver import Driver
from kernel.access import Access
from kernel.clock import SystemClock
from kernel.config import secret_values
from kernel.logs import Mask, set_up
from kernel.ports import Clock
from kernel.settings import AccessRule, BotSettings, CommonSettings
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from zclaw.wiring.parts import beat, process_name, until_told

log = structlog.get_logger(__name__)


def run(settings: BotSettings) -> int:
    """Carry until SIGTERM; the exit code. Raises OperatorError when a setting, a token or the store does not fit."""
    set_up(settings.log.value, secret_values(settings))
    return until_told(lambda: _live(settings))


async def _live(settings: BotSettings) -> None:
    clock = SystemClock()
    assert settings.redis_url is not None
    stores = await open_stores(settings.redis_url.reveal(), clock)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(beat(stores.beats, "bots", process_name(), clock))
            for adapter in _adapters(settings, clock):
                log.info("bot starts", platform=adapter.platform)
                group.create_task(driver(adapter, stores, settings, clock).run())
    finally:
        await stores.close()


def driver(adapter: Adapter, stores: Stores, settings: CommonSettings, clock: Clock) -> Driver:
    """The driver of one adapter over these stores."""
    return Driver(
        adapter,
        access=Access(settings.allow, settings.owners, is_open=settings.access is AccessRule.OPEN),
        conversations=stores.conversations,
        people=stores.people,
        chats=stores.chats,
        outbox=stores.outbox,
        wakeups=stores.wakeups,
        clock=clock,
        holder=process_name(),
        language=settings.lang.value,
        mask=Mask(secret_values(settings)),
    )


def _adapters(settings: BotSettings, clock: Clock) -> list[Adapter]:
    found: list[Adapter] = []
    if settings.telegram_bot_token is not None:
        from bots.telegram.adapter import TelegramAdapter  # noqa: PLC0415 — aiogram costs seconds and 120 MB

        token = settings.telegram_bot_token.reveal()
        found.append(TelegramAdapter(token, clock=clock, api_url=settings.telegram_api_url))
    if settings.slack_bot_token is not None and settings.slack_app_token is not None:
        from bots.slack.adapter import PUBLIC_API, SlackAdapter  # noqa: PLC0415

        found.append(
            SlackAdapter(
                settings.slack_bot_token.reveal(),
                settings.slack_app_token.reveal(),
                clock=clock,
                random=random.Random(),  # noqa: S311 — jitter
                api_url=settings.slack_api_url or PUBLIC_API,
                language=settings.lang.value,
            )
        )
    return found
