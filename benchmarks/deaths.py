"""Goal P10: what becomes of a hundred turns in flight when their worker is killed, or told to end."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass

from benchmarks.chats import Chats
from benchmarks.model_service import WORDS, ModelService
from benchmarks.turn_worker import turn_worker

IN_FLIGHT = 100
LATENCY_S = 4.0
"""Long enough that all are in flight together, short enough that a turn ends within the grace."""
LONG_LATENCY_S = 120.0
"""A turn that cannot end within the grace."""
AGAIN_S = 1.0
"""What the model needs for an answer once somebody else asks it again."""
WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was seen from outside. Times in seconds from the signal."""

    turns: int
    answered: int
    doubled: int
    exit_code: int
    exit_s: float
    last_answer_s: float

    @property
    def is_whole(self) -> bool:
        return self.answered == self.turns and self.doubled == 0


async def aftermath(
    store_url: str, service: ModelService, chats: Chats, death: signal.Signals, *, latency_s: float
) -> Aftermath:
    """Signal a worker with IN_FLIGHT turns in flight. Who is not answered by it is, by one that starts then."""
    who = range(IN_FLIGHT)
    with turn_worker(store_url, "openai", service.base("openai", latency_s)) as worker:
        await chats.say(who)
        async with asyncio.timeout(WAIT_S):
            await asyncio.to_thread(service.wait_for, len(who))
        told = time.monotonic_ns()
        worker.send_signal(death)
        exit_code = await asyncio.to_thread(worker.wait, WAIT_S)
        exited = time.monotonic_ns()
    with turn_worker(store_url, "openai", service.base("openai", AGAIN_S)):
        replies = await chats.replies(len(who), WAIT_S)
    good = [each for told_to in replies.values() for each in told_to if WORDS[-1].strip() in each[1]]
    return Aftermath(
        turns=len(who),
        answered=len({chat for chat in replies if any(each in good for each in replies[chat])}),
        doubled=sum(len(told_to) - 1 for told_to in replies.values()),
        exit_code=exit_code,
        exit_s=(exited - told) / 1e9,
        last_answer_s=(max((at for at, _ in good), default=told) - told) / 1e9,
    )
