"""`zclaw bots`: brings what people do on the platforms to the store, and what is to be said back to them.

Holds the platforms' secrets and no model's.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence

import structlog

from bots.adapter import Adapter, HasWebhook
from bots.counters import Counters
from bots.driver import Driver
from bots.limits import SpeechLimits
from bots.listening import Listening
from bots.metrics import Lookout
from kernel.access import Access
from kernel.clock import SystemClock
from kernel.config import secret_values
from kernel.logs import Mask, set_up
from kernel.ports import Clock
from kernel.settings import BotSettings, CommonSettings, Secret
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from zclaw.wiring.bot_ports import bot_ports
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
        await carry(adapters_for(settings, stores, clock), stores, settings, clock)
    finally:
        await stores.close()


async def carry(adapters: Sequence[Adapter], stores: Stores, settings: BotSettings, clock: Clock) -> None:
    """Carry between these adapters and the stores, and listen for those that are called, until cancelled."""
    counters = Counters()
    limits = SpeechLimits(settings.limits_messages, settings.limits_member_messages)
    carriers: dict[str, Driver] = {}
    tasks: list[asyncio.Task[None]] = []

    def runs() -> Mapping[str, bool]:
        return {platform: carrier.is_running for platform, carrier in carriers.items()}

    platforms = [adapter.platform for adapter in adapters]
    lookout = Lookout(stores.overview, stores.beats, counters, platforms, clock, runs)
    server = Listening(
        settings.listen,
        [adapter for adapter in adapters if isinstance(adapter, HasWebhook)],
        health=lookout.health,
        metrics=lookout.metrics,
        counters=counters,
    )
    # The server opens before anything is asked of a platform, and ends first: who is being answered needs the adapters.
    async with asyncio.TaskGroup() as group, server:
        group.create_task(beat(stores.beats, "bots", process_name(), clock))
        for adapter in adapters:
            log.info("bot starts", platform=adapter.platform)
            carrier = driver(adapter, stores, settings, clock, limits=limits, counters=counters)
            carriers[adapter.platform] = carrier
            tasks.append(group.create_task(carrier.run()))
        await asyncio.wait(tasks)


def driver(
    adapter: Adapter,
    stores: Stores,
    settings: CommonSettings,
    clock: Clock,
    *,
    limits: SpeechLimits | None = None,
    counters: Counters | None = None,
) -> Driver:
    """The driver of one adapter over these stores."""
    return Driver(
        adapter,
        access=Access(settings.allow, settings.owners, settings.access),
        ports=bot_ports(stores, clock),
        holder=process_name(),
        language=settings.lang.value,
        limits=limits,
        counters=counters,
        mask=Mask(secret_values(settings)),
    )


def adapters_for(settings: BotSettings, stores: Stores, clock: Clock) -> list[Adapter]:
    """An adapter for each platform that is set. Raises OperatorError when a token cannot be one."""
    found: list[Adapter] = []
    if settings.telegram_bot_token is not None:
        from bots.telegram.adapter import TelegramAdapter  # noqa: PLC0415 — aiogram costs seconds and 120 MB

        found.append(
            TelegramAdapter(
                settings.telegram_bot_token.reveal(),
                clock=clock,
                api_url=settings.telegram_api_url,
                locks=stores.locks,
                holder=process_name(),
                floods=stores.floods,
                webhook_url=settings.telegram_webhook_url,
                webhook_secret=_shown(settings.telegram_webhook_secret),
            )
        )
    if settings.slack_bot_token is not None:
        from bots.slack.adapter import PUBLIC_API, SlackAdapter  # noqa: PLC0415

        found.append(
            SlackAdapter(
                settings.slack_bot_token.reveal(),
                _shown(settings.slack_app_token),
                clock=clock,
                random=random.Random(),  # noqa: S311 — jitter
                signing_secret=_shown(settings.slack_signing_secret),
                api_url=settings.slack_api_url or PUBLIC_API,
                floods=stores.floods,
                language=settings.lang.value,
            )
        )
    return found


def _shown(secret: Secret | None) -> str | None:
    return secret.reveal() if secret else None
