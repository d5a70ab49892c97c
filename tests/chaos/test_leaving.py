"""A worker that is told to leave, and Ctrl-C amid a turn: what can be finished is, the rest is handed back."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web

from tests.bots.telegram import fake_api
from tests.bots.telegram.fake_api import FakeApi
from tests.bots.telegram.test_updates import message
from tests.chaos.processes import ROOT, processes
from tests.twins.model_service import chat_pieces, chat_stream
from tests.zclaw.sight import reached

STARTED_WITHIN_S = 40.0
STOPPED_WITHIN_S = 40.0
HANDED_BACK_WITHIN_S = 10.0
"""After the grace; less than the 15 s after which a lease lapses."""


def test_a_worker_told_to_leave_finishes_what_it_can_and_hands_back_the_rest(tmp_path: Path) -> None:
    leave(tmp_path, each_kind=4, grace_s=3, longer_s=8)


@pytest.mark.chaos
def test_a_worker_told_to_leave_after_25_s_with_100_turns_loses_none(tmp_path: Path) -> None:
    leave(tmp_path, each_kind=33, grace_s=25, longer_s=30)


def leave(folder: Path, *, each_kind: int, grace_s: int, longer_s: int) -> None:
    """Turns that end within the grace, turns whose model or tool takes longer, and a successor that waits."""
    with processes(folder, workers=1, bots=1, worker_words=("--grace", str(grace_s)), calm=True) as here:
        say = here.outside.say
        say("bot-0", "0", "task 0 steps 1")
        assert reached(lambda: len(here.outside.seen()) == 1, STARTED_WITHIN_S)
        kinds = (
            "slowly task {} steps 1",
            f"task {{}} steps 0 thinking {longer_s} s",
            f"task {{}} steps 1 lingering {longer_s} s",
        )
        tasks = range(1, 1 + len(kinds) * each_kind)
        for task in tasks:
            say("bot-0", str(task), kinds[task % len(kinds)].format(task))
        assert reached(lambda: len(here.outside.effects()) > each_kind, STARTED_WITHIN_S)

        began = time.time()
        here.start_one("worker-1")
        code = here.end("worker-0", signal.SIGTERM, grace_s + HANDED_BACK_WITHIN_S)
        took_s = time.time() - began
        finished = len(here.outside.seen()) - 1
        assert reached(lambda: len(here.outside.seen()) > len(tasks), longer_s + 20)
        seen = Counter(each.text for each in here.outside.seen())
        effects = Counter(here.outside.effects())

    print(
        f"{len(tasks)} turns in flight, grace {grace_s} s: {finished} finished, {len(tasks) - finished} handed back, "
        f"exit {code} after {took_s:.1f} s; answered {len(seen) - 1}, effects repeated "
        f"{[each for each, count in effects.items() if count > 1]}"
    )
    assert code == 0
    assert seen == {f"done {task}": 1 for task in (0, *tasks)}
    assert set(effects.values()) == {1}


class Thinker:
    """A model's service that answers when it may."""

    def __init__(self) -> None:
        self.url = ""
        self.asked = 0
        self.changed = asyncio.Condition()
        self.may_answer = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        if request.path.endswith("/models"):
            return web.json_response({"data": [{"id": "thinker"}]})
        async with self.changed:
            self.asked += 1
            self.changed.notify_all()
        await self.may_answer.wait()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in chat_stream(chat_pieces({"content": "plum"})).pieces:
            await response.write(piece)
        return response


@asynccontextmanager
async def thinking() -> AsyncIterator[Thinker]:
    """One that runs."""
    thinker = Thinker()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", thinker.handle)
    runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    thinker.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield thinker
    await runner.cleanup()


class Installation:
    """`zclaw up` on a folder, before a fake Telegram and a fake model."""

    def __init__(self, folder: Path, api: FakeApi, thinker: Thinker) -> None:
        self._folder = folder
        self._api = api
        self._thinker = thinker

    @asynccontextmanager
    async def up(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """It runs in a terminal of its own; stopped at the end, its store too, if it still runs."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "zclaw", "up"),
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "ZCLAW_DATA_DIR": str(self._folder / "data"),
                "ZCLAW_ACCESS": "open",
                "TELEGRAM_BOT_TOKEN": fake_api.TOKEN,
                "TELEGRAM_API_URL": self._api.url,
                "OPENAI_BASE_URL": self._thinker.url,
            },
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await asyncio.wait_for(process.wait(), STOPPED_WITHIN_S)

    async def asked(self, count: int) -> None:
        """Wait until the model has been asked so often."""
        async with asyncio.timeout(STARTED_WITHIN_S), self._thinker.changed:
            await self._thinker.changed.wait_for(lambda: self._thinker.asked >= count)

    async def answers(self) -> list[str]:
        """What the person read, once there is something; and until a little later, should it come twice."""
        async with asyncio.timeout(STARTED_WITHIN_S), self._api.changed:
            await self._api.changed.wait_for(lambda: bool(self._api.of("sendMessage")))
        with suppress(TimeoutError):
            async with asyncio.timeout(2), self._api.changed:
                await self._api.changed.wait_for(lambda: len(self._api.of("sendMessage")) > 1)
        return [str(each["text"]) for each in self._api.of("sendMessage")]


@asynccontextmanager
async def installation(folder: Path) -> AsyncIterator[tuple[Installation, Thinker]]:
    """With one question waiting on the platform."""
    async with fake_api.serving() as api, thinking() as thinker:
        await api.adds(message(text="what fruit?"))
        yield Installation(folder, api, thinker), thinker


def press_ctrl_c(process: asyncio.subprocess.Process) -> None:
    """As a terminal does: the whole foreground group."""
    os.killpg(process.pid, signal.SIGINT)


async def test_ctrl_c_amid_a_turn_lets_it_finish_and_the_answer_comes_after_the_next_start(tmp_path: Path) -> None:
    async with installation(tmp_path) as (here, thinker):
        async with here.up() as process:
            await here.asked(1)
            press_ctrl_c(process)
            thinker.may_answer.set()
            code = await asyncio.wait_for(process.wait(), 20)
        async with here.up():
            answers = await here.answers()

    assert code == 0
    assert thinker.asked == 1
    assert answers == ["plum"]


async def test_ctrl_c_twice_amid_a_turn_ends_at_once_and_the_turn_is_done_after_the_next_start(tmp_path: Path) -> None:
    async with installation(tmp_path) as (here, thinker):
        async with here.up() as process:
            await here.asked(1)
            press_ctrl_c(process)
            await asyncio.sleep(1)  # A person's second press; the first one must have been heard.
            began = time.monotonic()
            press_ctrl_c(process)
            await asyncio.wait_for(process.wait(), 20)
            took_s = time.monotonic() - began
        thinker.may_answer.set()
        async with here.up():
            answers = await here.answers()

    print(f"ended {took_s:.1f} s after the second Ctrl-C")
    assert took_s < 5
    assert answers == ["plum"]


@pytest.mark.chaos
async def test_ctrl_c_amid_a_turn_that_does_not_end_hands_it_back(tmp_path: Path) -> None:
    async with installation(tmp_path) as (here, thinker):
        async with here.up() as process:
            await here.asked(1)
            press_ctrl_c(process)
            code = await asyncio.wait_for(process.wait(), 45)
        thinker.may_answer.set()
        began = time.monotonic()
        async with here.up():
            answers = await here.answers()
            took_s = time.monotonic() - began

    print(f"answered {took_s:.1f} s after the next start")
    assert code == 0
    assert thinker.asked == 2
    assert answers == ["plum"]
