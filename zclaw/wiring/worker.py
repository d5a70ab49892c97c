"""`zclaw worker`: works for conversations. Holds the models' secrets and no platform's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from kernel.clock import SystemClock
from kernel.config import secret_values
from kernel.errors import ProviderFailed
from kernel.logs import set_up
from kernel.loop import Limits
from kernel.ports import Clock, Provider
from kernel.providers.choose import ModelSettings, provider_for
from kernel.settings import Secret, WorkerSettings
from kernel.stores.redis.stores import open_stores
from kernel.stores.wakeups import JOB, hint_client, hint_queue
from kernel.tools import ToolRegistry
from workers.turnloop import Turns
from workers.worker import run_worker
from zclaw.wiring.parts import beat, process_name
from zclaw.wiring.turns import open_actors

log = structlog.get_logger(__name__)

MODEL_AGAIN_S = 5.0


def run(settings: WorkerSettings) -> int:
    """Work until SIGTERM; the exit code. Raises OperatorError when a setting or the store does not fit."""
    set_up(settings.log.value, secret_values(settings))
    assert settings.redis_url is not None
    name = process_name()

    @asynccontextmanager
    async def open_turns() -> AsyncIterator[Turns]:
        clock = SystemClock()
        provider = await _provider(settings, clock)
        stores = await open_stores(settings.redis_url.reveal() if settings.redis_url else "", clock)
        actors = open_actors(
            stores,
            provider=provider,
            registry=ToolRegistry(),
            clock=clock,
            worker=name,
            zone=settings.timezone.key,
            language=settings.lang.value,
            fold=settings.chat_fold,
            limits=Limits(iterations=settings.model_max_iterations),
            most_past=settings.chat_history,
        )
        try:
            # What fails in here ends the worker, and whoever supervises it starts it again.
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(actors.serve()),
                    group.create_task(beat(stores.beats, "worker", name, clock)),
                ]
                try:
                    yield actors
                finally:
                    for task in tasks:
                        task.cancel()
        finally:
            if provider is not None:
                await provider.close()
            await stores.close()

    queue = hint_queue(hint_client(settings.redis_url.reveal()))
    return run_worker(queue, open_turns, job=JOB, name=name)


async def _provider(settings: WorkerSettings, clock: Clock) -> Provider | None:
    """The model that the settings name; waits while the service that must tell its name is away."""
    wanted = ModelSettings(
        model=",".join(f"{choice.provider}:{choice.model}" for choice in settings.model),
        anthropic_key=_shown(settings.anthropic_api_key),
        anthropic_url=settings.anthropic_base_url or "",
        openai_key=_shown(settings.openai_api_key),
        openai_url=settings.openai_base_url or "",
    )
    while True:
        try:
            return await provider_for(wanted, clock=clock, random=random.Random())  # noqa: S311 — jitter
        except ProviderFailed as error:
            log.warning("model service away", why=str(error))
            await asyncio.sleep(MODEL_AGAIN_S)


def _shown(secret: Secret | None) -> str:
    return secret.reveal() if secret else ""
