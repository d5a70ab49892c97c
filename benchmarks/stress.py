"""Goal P11: ten thousand messages, typed fast, while workers are killed and frozen; judged by what is stored."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise

import redis

from benchmarks.chats import Chats
from benchmarks.model_service import WORDS, ModelService
from benchmarks.turn_worker import EFFECTS, Worker, turn_worker
from kernel.messages import Role, Text

CHATS = 200
EACH = 50
WORKERS = 3
KILLS = 15
FREEZES = 5
FREEZE_S = 17.0
"""Longer than a lease: whoever thaws is a zombie."""
LATENCY_S = 0.3
FATE_EVERY_S = 2.0
WITHIN_S = 90.0


@dataclass(frozen=True, slots=True)
class Stress:
    """What became of the messages."""

    messages: int
    kills: int
    freezes: int
    lost: int
    """Texts that no history holds, or whose chat was not answered after them."""
    misplaced: int
    """Texts that stand twice or out of order in their history."""
    effects: int
    repeated: int
    took_s: float


@dataclass(slots=True)
class _Pool:
    """Workers, the killed ones replaced."""

    store_url: str
    service_url: str
    stack: ExitStack
    dice: random.Random
    workers: list[Worker] = field(default_factory=list)
    frozen: dict[int, float] = field(default_factory=dict)
    kills: int = 0
    freezes: int = 0

    def start(self) -> None:
        worker = turn_worker(self.store_url, "openai", self.service_url, counts=True)
        self.workers.append(self.stack.enter_context(worker))

    def befall(self) -> bool:
        """The next fate; False when there is none left."""
        now = time.monotonic()
        for pid, until in list(self.frozen.items()):
            if now >= until:
                del self.frozen[pid]
                self._by_pid(pid).send_signal(signal.SIGCONT)
        awake = [worker for worker in self.workers if worker.pid not in self.frozen]
        if self.freezes < FREEZES and len(awake) > 1 and self.kills >= (self.freezes + 1) * 2:
            worker = self.dice.choice(awake)
            worker.send_signal(signal.SIGSTOP)
            self.frozen[worker.pid] = now + FREEZE_S
            self.freezes += 1
        elif self.kills < KILLS and awake:
            worker = self.dice.choice(awake)
            worker.kill()
            worker.wait()
            self.workers.remove(worker)
            self.kills += 1
            self.start()
        return self.kills < KILLS or self.freezes < FREEZES or bool(self.frozen)

    def _by_pid(self, pid: int) -> Worker:
        return next(worker for worker in self.workers if worker.pid == pid)


async def stress(store_url: str, service: ModelService, chats: Chats) -> Stress:
    """Type, kill and freeze; then wait until all is answered and read every history."""
    began = time.monotonic()
    with ExitStack() as stack:
        pool = _Pool(store_url, service.base("openai", LATENCY_S), stack, random.Random(11))
        for _ in range(WORKERS):
            await asyncio.to_thread(pool.start)
        typing = asyncio.create_task(_type(chats))
        is_over = False
        while not is_over:
            is_over = not await asyncio.to_thread(pool.befall)
            await asyncio.sleep(FATE_EVERY_S)
        await typing
        await chats.quiet(WITHIN_S)
    lost, misplaced = await _judge(chats)
    with redis.Redis.from_url(store_url) as client:
        effects = Counter(client.lrange(EFFECTS, 0, -1))
    repeated = sum(count > 1 for count in effects.values())
    took_s = time.monotonic() - began
    return Stress(CHATS * EACH, pool.kills, pool.freezes, lost, misplaced, effects.total(), repeated, took_s)


async def _type(chats: Chats) -> None:
    """Everybody types one message a round, as fast as the store takes them."""
    for number in range(EACH):
        await chats.say(range(CHATS), text=f"text {number}")


async def _judge(chats: Chats) -> tuple[int, int]:
    lost = misplaced = 0
    for chat in range(CHATS):
        history = await chats.history(chat)
        read = [
            int(part.text.removeprefix("text "))
            for message in history
            if message.role is Role.USER
            for part in message.parts
            if isinstance(part, Text) and part.text.startswith("text ")
        ]
        lost += len(set(range(EACH)) - set(read)) + (not history or WORDS[-1].strip() not in history[-1].text)
        misplaced += len(read) - len(set(read)) + sum(later < earlier for earlier, later in pairwise(read))
    return lost, misplaced
