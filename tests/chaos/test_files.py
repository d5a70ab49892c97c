"""What people send outlives the death of the process that was about to fetch it."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from tests.bots.telegram.fake_api import FakeApi
from tests.chaos.whole import ALICE, CHAT, Installation, installation
from tests.twins.model_service import claude_events, claude_stream, claude_text

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="needs the embedded store")


async def never(_: web.Request) -> web.StreamResponse:
    """No answer for as long as the server runs."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


async def sends_a_paper(here: Installation) -> None:
    """Alice sends a document, and asks about it 30 ms later."""
    here.api.files["files/F1"] = "白细胞 12.3".encode()
    paper = {
        "file_id": "F1",
        "file_unique_id": "u",
        "file_name": "化验.txt",
        "mime_type": "text/plain",
        "file_size": 14,
    }
    await _update(here, document=paper)
    await asyncio.sleep(0.03)
    await _update(here, text="这是什么？")


async def _update(here: Installation, **content: object) -> None:
    here.updates += 1
    message = {"message_id": here.updates, "date": 1796000400, "chat": CHAT, "from": ALICE, **content}
    await here.api.adds({"update_id": here.updates, "message": message})


def bots_of(here: Installation) -> psutil.Process:
    """The process that carries between Telegram and the store."""
    everybody = psutil.Process(here.process.pid).children(recursive=True)
    return next(each for each in everybody if "bots" in each.cmdline())


async def asked_for(api: FakeApi, method: str, times: int) -> None:
    await api.until(lambda: len(api.of(method)) >= times)


async def test_kill_9_between_the_put_and_the_fetch_costs_no_file_and_no_order(tmp_path: Path) -> None:
    async with installation(tmp_path) as here:
        here.models.answers(claude_stream(claude_events(claude_text("一张化验单。"))))
        here.api.faults["getFile"] = [never]
        await sends_a_paper(here)
        await asked_for(here.api, "getFile", 1)
        await here.api.until(lambda: here.api.offset > here.updates)

        bots_of(here).kill()
        killed = time.monotonic()
        await here.sees("一张化验单。")
        took_s = time.monotonic() - killed
        requests = list(here.models.requests)

    print(f"answered {took_s:.1f} s after the kill, {len(here.api.of('getFile'))} times asked for")
    assert took_s < 30
    assert len(requests) == 1
    said = str(requests[0].body["messages"][-1]["content"])
    assert "kept as uploads/化验.txt" in said
    assert said.index("化验.txt") < said.index("这是什么？")
    assert here.api.downloads == ["files/F1"]
