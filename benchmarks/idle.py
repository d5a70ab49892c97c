"""The idle path: how long we hold one message that comes alone, before the model is asked and after it has answered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from benchmarks.chats import Chats
from benchmarks.model_service import ModelService

PAUSE_S = 0.1
"""Idle means that the last turn is settled, RQ's books included."""
WARM_UP = 5


@dataclass(slots=True)
class Ways:
    """Milliseconds of each turn."""

    inward: list[float] = field(default_factory=list)
    """From before the put until the service has the request."""
    outward: list[float] = field(default_factory=list)
    """From the service's last byte until the reply is pulled from the outbox."""


async def idle_path(service: ModelService, chats: Chats, first_chat: int, rounds: int) -> Ways:
    """One message after the other, each in a chat of its own. A worker must listen."""
    ways = Ways()
    service.calls()
    for number in range(rounds + WARM_UP):
        chat = first_chat + number
        said = time.monotonic_ns()
        await chats.say(range(chat, chat + 1))
        replies = await chats.replies(1, 30)
        calls = service.calls()
        ((pulled, _),) = replies[str(chat)]
        if number >= WARM_UP:
            ways.inward.append((calls[0].arrived - said) / 1e6)
            ways.outward.append((pulled - calls[-1].answered) / 1e6)
        await asyncio.sleep(PAUSE_S)
    return ways
