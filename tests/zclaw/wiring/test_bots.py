from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from bots.adapter import Adapter, HttpAnswer
from kernel.clock import SystemClock
from kernel.errors import OperatorError, first_error
from kernel.settings import AccessRule, BotSettings, ListenAddress
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from tests.twins.platform import Platform
from zclaw.wiring.bots import carry

SETTINGS = BotSettings(listen=ListenAddress("127.0.0.1", 0), access=AccessRule.OPEN)


@dataclass(slots=True)
class Called(Platform):
    """A platform that calls us."""

    webhook_path: str | None = "/twin"
    taken: list[str] = field(default_factory=list)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        self.began.set()
        await self.goes_on.wait()
        self.taken.append(body.decode())
        return HttpAnswer(200)


@asynccontextmanager
async def carrying(*adapters: Adapter, memory: Memory | None = None) -> AsyncIterator[str]:
    """The address of the server of one `zclaw bots`, which ends as by SIGTERM."""
    clock = SystemClock()
    stores = memory_stores(clock, memory=memory)
    with capture_logs() as logs:
        task = asyncio.create_task(carry(adapters, stores, SETTINGS, clock))
        said = await _logged(logs, "listening", task)
    try:
        yield f"http://{said['address']}"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_platform_that_calls_is_heard() -> None:
    platform = Called(SystemClock())
    platform.goes_on.set()

    async with carrying(platform) as url, aiohttp.ClientSession() as http:
        code = await _post(http, f"{url}/twin")

    assert (code, platform.taken) == (200, ["早上好"])


async def test_health_and_numbers_are_of_this_process_and_its_store() -> None:
    memory = Memory(SystemClock())

    async with carrying(Platform(SystemClock()), memory=memory) as url, aiohttp.ClientSession() as http:
        async with http.get(f"{url}/healthz") as well:
            good = well.status, await well.json()
        async with http.get(f"{url}/metrics") as answer:
            numbers = (await answer.text()).splitlines()
        memory.is_away = True
        async with http.get(f"{url}/healthz") as ill:
            bad = ill.status, await ill.json()

    assert good == (200, {"ok": True, "store": True, "twin": True})
    assert bad == (503, {"ok": False, "store": False, "twin": True})
    assert 'zclaw_processes{role="bots"} 1' in numbers
    assert 'zclaw_http_total{path="/healthz",status="200"} 1' in numbers


async def test_who_is_being_answered_at_the_end_is_answered() -> None:
    platform = Called(SystemClock())

    async with aiohttp.ClientSession() as http:
        async with carrying(platform) as url:
            asked = asyncio.create_task(_post(http, f"{url}/twin"))
            await platform.began.wait()
            asyncio.get_running_loop().call_later(0.05, platform.goes_on.set)

        assert await asked == 200


async def test_a_second_one_on_this_machine_goes_on_without_a_server_of_its_own() -> None:
    async with carrying(Platform(SystemClock())) as url:
        host, _, port = url.removeprefix("http://").rpartition(":")
        settings = replace(SETTINGS, listen=ListenAddress(host, int(port)))
        clock = SystemClock()
        with capture_logs() as logs:
            second = asyncio.create_task(carry([Platform(clock)], memory_stores(clock), settings, clock))
            await _logged(logs, "bot starts", second)

        assert not second.done()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)


async def test_one_that_must_be_heard_there_does_not_start() -> None:
    async with carrying(Platform(SystemClock())) as url:
        host, _, port = url.removeprefix("http://").rpartition(":")
        settings = replace(SETTINGS, listen=ListenAddress(host, int(port)))
        clock = SystemClock()

        with pytest.raises(BaseExceptionGroup) as refused:
            await carry([Called(clock)], memory_stores(clock), settings, clock)

    assert isinstance(first_error(refused.value), OperatorError)
    assert "/twin must be heard there" in str(first_error(refused.value))


async def _post(http: aiohttp.ClientSession, url: str) -> int:
    async with http.post(url, data="早上好".encode()) as answer:
        return answer.status


async def _logged(
    logs: Sequence[MutableMapping[str, Any]], event: str, task: asyncio.Task[None]
) -> MutableMapping[str, Any]:
    """The first such line of what `task` logs."""
    async with asyncio.timeout(5):
        while not (found := [line for line in logs if line["event"] == event]):
            await asyncio.wait([task], timeout=0.01)
            assert not task.done(), task
    return found[0]
