"""`zclaw worker`: works for conversations. Holds the models' secrets and no platform's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from kernel.access import Access, Rights
from kernel.children.guarded import GuardedChildren
from kernel.children.sandbox import find_isolation
from kernel.clock import SystemClock
from kernel.config import secret_values
from kernel.errors import ProviderFailed
from kernel.logs import Mask, set_up
from kernel.loop import Limits
from kernel.net.client import GuardedHttp
from kernel.persona import read_persona
from kernel.ports import Clock, Provider
from kernel.providers.choose import ModelSettings, provider_for
from kernel.providers.late import LateProvider
from kernel.providers.transcripts import Transcribed
from kernel.settings import Secret, ThinkingMode, WorkerSettings
from kernel.stores.redis.stores import open_stores
from kernel.stores.wakeups import JOB, hint_client, hint_queue
from kernel.usage import Allowance, price_of
from workers.turnloop import Turns
from workers.worker import run_worker
from zclaw.wiring.parts import beat, process_name
from zclaw.wiring.toolbox import toolbox
from zclaw.wiring.turns import Rules, open_actors

log = structlog.get_logger(__name__)


def run(settings: WorkerSettings) -> int:
    """Work until SIGTERM; the exit code. Raises OperatorError when a setting or the store does not fit."""
    set_up(settings.log.value, secret_values(settings))
    assert settings.redis_url is not None
    name, persona = process_name(), read_persona(settings.model_persona, settings.data_dir)
    isolation = find_isolation()

    @asynccontextmanager
    async def open_turns() -> AsyncIterator[Turns]:
        clock, mask = SystemClock(), Mask(secret_values(settings))
        provider = await _provider(settings, clock)
        if provider is not None and settings.transcripts is not None:
            provider = Transcribed(provider, settings.transcripts, clock=clock, mask=mask)
        stores = await open_stores(settings.redis_url.reveal() if settings.redis_url else "", clock)
        http, children = GuardedHttp(allow=settings.net_allow), GuardedChildren(isolation)
        rules = _rules(settings, provider, persona)
        rights = Rights(rules.access, stores.grants, stores.people)
        actors = open_actors(
            stores,
            provider=provider,
            registry=toolbox(stores, rights=rights, http=http, children=children),
            clock=clock,
            worker=name,
            rules=rules,
            mask=mask,
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
            await children.close()
            await http.close()
            if provider is not None:
                await provider.close()
            await stores.close()

    queue = hint_queue(hint_client(settings.redis_url.reveal()))
    return run_worker(queue, open_turns, job=JOB, name=name)


async def _provider(settings: WorkerSettings, clock: Clock) -> Provider | None:
    """The model that the settings name; found later when the service that must tell its name is away."""
    wanted = ModelSettings(
        model=",".join(f"{choice.provider}:{choice.model}" for choice in settings.model),
        anthropic_key=_shown(settings.anthropic_api_key),
        anthropic_url=settings.anthropic_base_url or "",
        openai_key=_shown(settings.openai_api_key),
        openai_url=settings.openai_base_url or "",
    )

    async def find() -> Provider | None:
        return await provider_for(wanted, clock=clock, random=random.Random())  # noqa: S311 — jitter

    async def find_later() -> Provider:
        found = await find()
        assert found is not None, "the settings name a service"
        return found

    try:
        return await find()
    except ProviderFailed as error:
        log.warning("model service away, reminders go on", why=str(error))
        return LateProvider(find_later)


def _rules(settings: WorkerSettings, provider: Provider | None, persona: str) -> Rules:
    return Rules(
        settings.timezone.key,
        language=settings.lang.value,
        fold=settings.chat_fold,
        plans=settings.model_thinking is ThinkingMode.PLAN,
        thinking=settings.model_thinking.of_model,
        effort=settings.model_effort,
        persona=persona,
        most_past=settings.chat_history,
        limits=Limits(iterations=settings.model_max_iterations),
        access=Access(settings.allow, settings.owners, settings.access),
        allowance=_allowance(settings, provider),
    )


def _allowance(settings: WorkerSettings, provider: Provider | None) -> Allowance:
    """What each chat may use up in a day; money limits nothing where the price is not known, and the log says so."""
    if settings.limits_daily_money is not None and provider is not None and price_of(provider.name) is None:
        log.warning("price unknown, daily_money limits nothing", model=provider.name)
    return Allowance(settings.limits_daily_tokens, settings.limits_daily_money)


def _shown(secret: Secret | None) -> str:
    return secret.reveal() if secret else ""
