"""`zclaw scheduler`: fires what is due. Needs no model, no platform and no worker."""

from __future__ import annotations

from kernel.chat import ConversationId
from kernel.clock import SystemClock
from kernel.config import secret_values
from kernel.logs import set_up
from kernel.ports import Alarm, Clock, Put
from kernel.reminders.firing import fire
from kernel.settings import SchedulerSettings
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from kernel.triggers import Firing
from workers.scheduler import ROLE, run_scheduler
from zclaw.wiring.parts import process_name, sign_off, until_told
from zclaw.wiring.turns import new_id


def run(settings: SchedulerSettings) -> int:
    """Fire until SIGTERM; the exit code. Raises OperatorError when the store does not fit."""
    set_up(settings.log.value, secret_values(settings))
    return until_told(lambda: _live(settings))


async def _live(settings: SchedulerSettings) -> None:
    clock = SystemClock()
    assert settings.redis_url is not None
    stores = await open_stores(settings.redis_url.reveal(), clock)
    try:
        await schedule(stores, clock, process=process_name())
    finally:
        await stores.close()


async def schedule(stores: Stores, clock: Clock, *, process: str) -> None:
    """Fire and ring what is due in `stores`, until cancelled."""

    async def on_due(firing: Firing) -> None:
        now = clock.now()
        fired = fire(firing, now, new_id)
        await stores.triggers.fire(
            firing, fired.next_due, fired.outbound, fired.prompts, outcome=fired.outcome, note=fired.note, now=now
        )

    async def ring(conversation: ConversationId, alarm: Alarm) -> None:
        if await stores.triggers.ring(conversation, alarm, now=clock.now()) is Put.HINTED:
            await stores.wakeups.hint()

    try:
        await run_scheduler(stores.triggers, on_due, ring, clock=clock, beats=stores.beats, process=process)
    finally:
        await sign_off(stores.beats, ROLE, process)
