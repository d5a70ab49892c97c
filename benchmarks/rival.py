"""Another agent of this kind, nanobot-ai, driven through its own loop: the yardstick of goals P5 and P6.

It is not among our dependencies; who wants the comparison gives the Python of an environment that has it:

    python -m benchmarks.turns P5 P6 --nanobot /path/to/venv/bin/python

This file is what that Python runs. It imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WARM_UP = 3
WITHIN_S = 300


@dataclass(frozen=True, slots=True)
class Rival:
    """What its turns cost; CPU of its whole process, which holds its channels' end too."""

    turns: int
    wall_s: float
    cpu_ms: float
    """A turn."""


def measure(python: str, model_url: str, chats: int, last_words: str) -> Rival:
    """As many turns at once, each in a chat of its own, in a process of its own. Raises RuntimeError."""
    command = [python, "-P", __file__, model_url, str(chats), last_words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S + 60, check=False)
    if ran.returncode:
        raise RuntimeError(f"nanobot did not run: {ran.stderr[-1000:]}")
    return Rival(**json.loads(ran.stdout))


async def drive(model_url: str, chats: int, last_words: str) -> dict[str, Any]:
    """Runs where nanobot is installed."""
    from loguru import logger  # type: ignore[import-not-found]
    from nanobot.agent.loop import AgentLoop  # type: ignore[import-not-found]
    from nanobot.bus.events import InboundMessage  # type: ignore[import-not-found]
    from nanobot.bus.queue import MessageBus  # type: ignore[import-not-found]
    from nanobot.providers.openai_compat_provider import (  # type: ignore[import-not-found]
        OpenAICompatProvider,
    )

    logger.remove()
    bus = MessageBus()
    loop = AgentLoop(bus, OpenAICompatProvider("k", model_url, "m"), Path(tempfile.mkdtemp()))
    running = asyncio.create_task(loop.run())

    async def turns(first: int, count: int) -> None:
        for chat in range(first, first + count):
            await bus.publish_inbound(InboundMessage("bench", str(chat), str(chat), f"hello from {chat}"))
        answered = 0
        async with asyncio.timeout(WITHIN_S):
            while answered < count:
                said = await bus.consume_outbound()
                answered += last_words in (said.content or "")

    await turns(1_000_000, WARM_UP)
    cpu_s, began = time.process_time(), time.monotonic()
    await turns(0, chats)
    wall_s = time.monotonic() - began
    cpu_ms = (time.process_time() - cpu_s) / chats * 1000
    running.cancel()
    return {"turns": chats, "wall_s": wall_s, "cpu_ms": cpu_ms}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive(sys.argv[1], int(sys.argv[2]), sys.argv[3]))))
