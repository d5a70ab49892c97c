"""What only real processes show: how soon a stop takes, and what becomes of a card when everything is killed."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.chaos.whole import Installation, installation
from tests.twins.model_service import Stream, claude_call, claude_events, claude_stream, claude_text
from tests.zclaw.sight import reached

SOON_S = 2.0
pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="needs the embedded store")


def calls(command: str) -> Stream:
    """The model wants to run `command`."""
    arguments = f'{{"command": "{command}"}}'
    return claude_stream(claude_events(claude_call("c1", "shell", arguments), stop="tool_use"))


def words(text: str) -> Stream:
    return claude_stream(claude_events(claude_text(text)))


def in_the_middle(text: str) -> Stream:
    """A stream that has said `text` and stays open."""
    events = claude_events(claude_text(text))
    return claude_stream(events[:3], end="open")


async def took_to_stop(here: Installation) -> float:
    """How long `/stop` takes until the person reads that it has stopped."""
    before = len(here.sent())
    began = time.monotonic()
    await here.says("/stop")
    await here.api.until(lambda: any("已停止" in str(call["text"]) for call in here.sent()[before:]))
    return time.monotonic() - began


def sleepers(here: Installation) -> list[psutil.Process]:
    """The children that sleep for a minute."""
    everybody = psutil.Process(here.process.pid).children(recursive=True)
    return [each for each in everybody if each.name() == "sleep"]


async def test_a_stop_takes_within_two_seconds_whatever_is_going_on(tmp_path: Path) -> None:
    async with installation(tmp_path) as here:
        here.models.answers(calls("sleep 60"), in_the_middle("第一句。"), calls("sleep 61"), words("在的。"))
        await here.says("等一分钟")
        await here.sees("sleep 60")
        await here.presses("允许")
        assert await asyncio.to_thread(reached, lambda: len(sleepers(here)) > 0, 20)
        in_a_child = await took_to_stop(here)

        await here.says("讲个故事")
        await here.models.in_stream.wait()
        in_a_stream = await took_to_stop(here)

        await here.says("再等一分钟")
        await here.sees("sleep 61")
        at_a_card = await took_to_stop(here)
        is_gone = await asyncio.to_thread(reached, lambda: not sleepers(here), 10)

        await here.says("在吗")
        await here.sees("在的。")

    print(f"stopped in a stream {in_a_stream:.2f} s, at a card {at_a_card:.2f} s, in a child {in_a_child:.2f} s")
    assert max(in_a_stream, at_a_card, in_a_child) < SOON_S
    assert is_gone


async def test_a_card_outlives_the_death_of_every_process_and_its_call_runs_once(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    async with installation(tmp_path) as here:
        here.models.answers(calls(f"echo ran >> {counted}; echo done"), words("做好了。"))
        await here.says("做吧")
        await here.sees("需要你同意")

        here.killed()
        here.starts()
        await here.presses("允许")
        await here.presses("允许")
        await here.sees("做好了。")

    assert len(here.models.requests) == 2
    result = here.models.requests[1].body["messages"][-1]["content"][0]
    assert "done" in str(result)
