"""Everything of the product in one event loop, over twins: for stories, with a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from bots.driver import Driver
from kernel.access import Access
from kernel.ports import Provider
from kernel.providers.scripted import Scripted
from kernel.settings import PlatformId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.memory.wakeups import MemoryWakeups
from kernel.stores.stores import Stores
from kernel.tools import Tool, ToolRegistry
from tests.twins.clock import JumpingClock
from tests.twins.platform import Platform
from workers.turns import Actors
from zclaw.wiring.bot_ports import bot_ports
from zclaw.wiring.scheduler import schedule
from zclaw.wiring.turns import Rules, open_actors

LET_IN = Access(allow=frozenset({PlatformId("twin", "1001"), PlatformId("twin", "1002")}))
RULES = Rules("Asia/Shanghai", access=LET_IN)


@dataclass
class World:
    """One installation: a platform, one worker, one scheduler, one store."""

    clock: JumpingClock
    memory: Memory
    stores: Stores
    platform: Platform
    model: Scripted
    tools: tuple[Tool, ...]
    has_model: bool
    rules: Rules
    tasks: list[asyncio.Task[None]]
    actors: Actors | None = None
    provider: Provider | None = None
    """Answers instead of `model`, from the next start on."""

    def start(self) -> None:
        """Start every process."""
        provider: Provider | None = self.provider or self.model if self.has_model else None
        driver = Driver(
            self.platform,
            access=self.rules.access,
            ports=bot_ports(self.stores, self.clock),
            holder="bot",
            language="zh",
        )
        actors = open_actors(
            self.stores,
            provider=provider,
            registry=ToolRegistry(self.tools),
            clock=self.clock,
            worker=f"w{len(self.tasks)}",
            rules=self.rules,
        )
        self.actors = actors
        self.tasks = [
            asyncio.create_task(driver.run()),
            asyncio.create_task(actors.serve()),
            asyncio.create_task(self._hints(actors.drain)),
            asyncio.create_task(schedule(self.stores, self.clock, process="s")),
        ]

    async def _hints(self, drain: Callable[[], Awaitable[None]]) -> None:
        """Stands in for RQ: each hint becomes a drain beside the others."""
        wakeups = self.stores.wakeups
        assert isinstance(wakeups, MemoryWakeups)
        async with asyncio.TaskGroup() as group:
            while True:
                await wakeups.hinted()
                group.create_task(_as_coroutine(drain))

    async def stop(self) -> None:
        """End every process, as a power cut would."""
        ended = [*self.tasks, *(self.actors._tasks if self.actors else ())]
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    async def passes(self, by: timedelta) -> None:
        """Time goes by in one leap, and everybody does what is due then."""
        self.clock.jump(by)
        await self.clock.run_to(self.clock.now() + timedelta(seconds=6))

    async def restart(self, *, after: timedelta = timedelta()) -> None:
        """A power cut, and `after` that everything anew over what was stored."""
        await self.stop()
        self.clock.jump(after)
        self.start()


async def _as_coroutine(work: Callable[[], Awaitable[None]]) -> None:
    await work()


@asynccontextmanager
async def world(*, tools: Iterable[Tool] = (), has_model: bool = True, rules: Rules = RULES) -> AsyncIterator[World]:
    """A running installation; `twin` people 1001 and 1002 are let in."""
    clock = JumpingClock()
    memory = Memory(clock)
    stores = memory_stores(clock, memory=memory)
    here = World(clock, memory, stores, Platform(clock), Scripted(), tuple(tools), has_model, rules, [])
    here.start()
    try:
        yield here
    finally:
        await here.stop()
