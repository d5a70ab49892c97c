"""One adapter and everything around it that no platform differs in: the door, the way out, typing, drafts, presses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bots.adapter import Adapter, WrongToken
from bots.deliveries import Deliveries
from bots.drafts import Drafts
from bots.entrance import Entrance
from bots.masking import Mask
from bots.presses import Presses
from bots.typing import Typing
from kernel.access import Access
from kernel.errors import first_error
from kernel.patience import patiently, pause_after
from kernel.ports import Chats, Clock, Conversations, Outbox, People, Wakeups

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
        conversations: Conversations,
        people: People,
        chats: Chats,
        outbox: Outbox,
        wakeups: Wakeups,
        clock: Clock,
        holder: str,
        language: str,
        mask: Mask = str,
    ) -> None:
        """`mask` takes the secrets out of whatever people are shown."""
        self._adapter = adapter
        self._outbox = outbox
        self._clock = clock
        self._presses = Presses(adapter, clock, language)
        self._typing = Typing(adapter, outbox, clock)
        self._drafts = Drafts(adapter, outbox, clock, mask)
        self._entrance = Entrance(
            adapter,
            access=access,
            conversations=conversations,
            people=people,
            chats=chats,
            outbox=outbox,
            wakeups=wakeups,
            presses=self._presses,
            clock=clock,
            language=language,
        )
        self._deliveries = Deliveries(
            adapter,
            outbox,
            clock,
            holder=holder,
            presses=self._presses,
            typing=self._typing,
            drafts=self._drafts,
            mask=mask,
        )

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
                    await asyncio.wait([coming])
                    for task in tasks:
                        task.cancel()
        except BaseExceptionGroup as group:
            raise first_error(group) from None

    async def _bring_in(self) -> None:
        await self._adapter.run(self._entrance.deliver)

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
