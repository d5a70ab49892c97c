"""One adapter and everything around it that no platform differs in: the door, the way out, typing, drafts, presses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from bots.adapter import Adapter, HasFiles, HasStragglers, WrongToken
from bots.counters import Counters
from bots.deliveries import Deliveries
from bots.drafts import Drafts
from bots.entrance import Entrance
from bots.fetching import Fetchings
from bots.limits import SpeechLimits
from bots.masking import Mask
from bots.moves import Moves
from bots.ports import BotPorts
from bots.presses import Presses
from bots.typing import Typing
from kernel.access import Access, Rights
from kernel.chat import Heard, UserMessage
from kernel.errors import first_error
from kernel.patience import patiently, pause_after

log = structlog.get_logger(__name__)


class Driver:
    """Carries between one adapter and the store.

    `holder` names this process in leases; `language` is the operator's setting (`auto`, `zh`, `en`).
    """

    def __init__(
        self,
        adapter: Adapter,
        *,
        access: Access,
        ports: BotPorts,
        holder: str,
        language: str,
        limits: SpeechLimits | None = None,
        counters: Counters | None = None,
        mask: Mask = str,
    ) -> None:
        """`mask` takes the secrets out of whatever people are shown; `counters` are for whoever watches over us."""
        self._adapter = adapter
        self._is_in = False
        self._outbox = ports.outbox
        self._clock = ports.clock
        counters = counters or Counters()
        self._presses = Presses(adapter, ports.clock, language, ports.locks, holder)
        moves = Moves(ports.grants, ports.clock)
        self._typing = Typing(adapter, ports.outbox, ports.clock, moves)
        self._drafts = Drafts(adapter, ports.outbox, ports.clock, mask, moves)
        self._entrance = Entrance(
            adapter.platform,
            rights=Rights(access, ports.grants, ports.people),
            ports=ports,
            presses=self._presses,
            moves=moves,
            counters=counters,
            language=language,
            limits=limits or SpeechLimits(),
            straggles_for=adapter.straggles_for if isinstance(adapter, HasStragglers) else timedelta(),
        )
        self._fetchings = Fetchings(adapter, ports, counters) if isinstance(adapter, HasFiles) else None
        self._deliveries = Deliveries(
            adapter,
            ports.outbox,
            ports.clock,
            holder=holder,
            moves=moves,
            counters=counters,
            presses=self._presses,
            typing=self._typing,
            drafts=self._drafts,
            mask=mask,
        )

    @property
    def is_running(self) -> bool:
        """The adapter brings in what people do: it has not ended, and does not rest after it broke."""
        return self._is_in

    async def run(self) -> None:
        """Carry until cancelled, or until the adapter says that there will be nothing more (the terminal).

        Raises what the operator must act on (`WrongToken`), bare.
        """
        try:
            async with asyncio.TaskGroup() as inward:
                coming = inward.create_task(self._lasting("adapter", self._bring_in, ends=True))
                # The inner group ends first: the adapter keeps its connections while the last parts go out.
                async with asyncio.TaskGroup() as outward:
                    tasks = [
                        outward.create_task(self._lasting("wakes", self._listen)),
                        outward.create_task(self._lasting("deliveries", self._deliveries.run)),
                        outward.create_task(self._lasting("typing", self._typing.run)),
                        outward.create_task(self._lasting("drafts", self._drafts.run, ends=True)),
                        outward.create_task(self._lasting("presses", self._presses.run)),
                    ]
                    if self._fetchings is not None:
                        tasks.append(outward.create_task(self._lasting("files", self._fetchings.run)))
                    await asyncio.wait([coming])
                    for task in tasks:
                        task.cancel()
        except BaseExceptionGroup as group:
            raise first_error(group) from None

    async def _bring_in(self) -> None:
        self._is_in = True
        try:
            await self._adapter.run(self._deliver)
        finally:
            self._is_in = False

    async def _deliver(self, heard: Heard) -> None:
        await self._entrance.deliver(heard)
        if self._fetchings is not None and isinstance(heard, UserMessage) and heard.waits_for_files:
            self._fetchings.woken.set()

    async def _listen(self) -> None:
        async def hear() -> None:
            self._wake()
            async for _ in self._outbox.wakes(self._adapter.platform):
                self._wake()

        await patiently(self._clock, hear)

    def _wake(self) -> None:
        self._deliveries.woken.set()
        self._typing.woken.set()
        self._drafts.woken.set()

    async def _lasting(self, name: str, work: Callable[[], Awaitable[None]], *, ends: bool = False) -> None:
        """Keep `work` running: one error must not silence a platform. Only what the operator must fix passes."""
        failures = 0
        while True:
            began = self._clock.now()
            try:
                await work()
                if ends:
                    return
            except WrongToken:
                raise
            except Exception:  # The driver's boundary: the loop is started again after a pause.
                log.exception("bot loop broke", loop=name, platform=self._adapter.platform)
            failures = 1 if self._clock.now() - began > pause_after(10) else failures + 1
            await self._clock.sleep_until(self._clock.now() + pause_after(failures))
