"""The outside world of a chaos run, in a store of its own: what people said, what they saw, what tools did, who dies.

Lives in another process than everything that is killed, so its counts are the truth.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import dataclass

import redis

LOOK_EVERY_S = 0.02


@dataclass(frozen=True)
class Seen:
    """One message that people see."""

    chat: str
    text: str
    at: float


class Outside:
    """A view of the outside world; any process may open one."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url, decode_responses=True)

    # --- people and the platform ---------------------------------------------------------------------------------

    def say(self, bot: str, chat: str, text: str) -> None:
        """A person writes; `bot` is the adapter that will be given the update."""
        self._client.rpush(f"updates:{bot}", json.dumps([chat, text]))

    def update(self, bot: str) -> tuple[int, str, str] | None:
        """The first update that the adapter has not confirmed: its number, chat and text."""
        offset = int(self._client.get(f"offset:{bot}") or 0)
        found = self._client.lindex(f"updates:{bot}", offset)
        if found is None:
            return None
        chat, text = json.loads(str(found))
        return offset, chat, text

    def confirm(self, bot: str, number: int) -> None:
        """The adapter will never be given that update again."""
        self._client.set(f"offset:{bot}", number + 1)

    def show(self, chat: str, text: str) -> str:
        """A message of the bot appears; its id."""
        return str(self._client.rpush("seen", json.dumps([chat, text, time.time()])))

    def seen(self, since: int = 0) -> list[Seen]:
        """Everything that appeared from number `since` on."""
        return [Seen(*json.loads(str(each))) for each in self._client.lrange("seen", since, -1)]

    # --- the model -----------------------------------------------------------------------------------------------

    def ask(self, texts: list[tuple[str, int]]) -> None:
        """A model is asked; its request holds these texts of people, each with its chat and number."""
        self._client.rpush("requests", json.dumps(texts))

    def asked(self) -> list[list[tuple[str, int]]]:
        """Every request that held counted texts, in order."""
        found = (json.loads(str(each)) for each in self._client.lrange("requests", 0, -1))
        return [[(chat, number) for chat, number in texts] for texts in found]

    # --- tools ---------------------------------------------------------------------------------------------------

    def effect(self, text: str) -> None:
        """A tool had its effect."""
        self._client.rpush("effects", text)

    def effects(self) -> list[str]:
        """Every effect, in order."""
        return [str(each) for each in self._client.lrange("effects", 0, -1)]

    # --- deaths --------------------------------------------------------------------------------------------------

    def lay(self, point: str, count: int) -> None:
        """So many processes that come to `point` will die there."""
        self._client.incrby(f"bombs:{point}", count)

    def take(self, point: str) -> bool:
        """Whether there is a bomb at `point`; it is gone then."""
        if int(self._client.get(f"bombs:{point}") or 0) <= 0:
            return False
        if self._client.decr(f"bombs:{point}") >= 0:
            return True
        self._client.incr(f"bombs:{point}")
        return False

    def clear(self, point: str) -> None:
        """Nobody dies at `point` any more."""
        self._client.delete(f"bombs:{point}")

    def left(self, point: str) -> int:
        """How many bombs still lie at `point`."""
        return int(self._client.get(f"bombs:{point}") or 0)

    def order(self, pid: int, fate: str) -> None:
        """Tell a process to be killed or frozen as soon as it may be."""
        self._client.set(f"order:{pid}", fate)

    def take_order(self, pid: int) -> str:
        """The order for the process, given once."""
        return str(self._client.getdel(f"order:{pid}") or "")

    def record(self, pid: int, fate: str, point: str) -> None:
        """A process meets its fate now."""
        self._client.rpush("fates", json.dumps([pid, fate, point, time.time()]))

    def fates(self) -> list[tuple[int, str, str, float]]:
        """Every kill and freeze: process, fate, point, when."""
        return [tuple(json.loads(str(each))) for each in self._client.lrange("fates", 0, -1)]

    def is_reachable(self) -> bool:
        """Whether it answers."""
        return bool(self._client.ping())


class Fuse:
    """Ends this process with SIGKILL at named points, or at any moment when told to.

    A process that works for a conversation on its last try is spared: its death would rightly park the input.
    Where it is not live it costs nothing: looking for bombs takes time, and more of it on a busy machine.
    """

    def __init__(self, outside: Outside, *, is_live: bool = True) -> None:
        self._outside = outside
        self._is_live = is_live
        self._fragile: set[object] = set()
        self._lock = threading.Lock()

    def hold(self, what: object) -> None:
        """Spare this process while it holds `what`."""
        with self._lock:
            self._fragile.add(what)

    def let_go(self, what: object) -> None:
        """No longer on account of `what`."""
        with self._lock:
            self._fragile.discard(what)

    def at(self, point: str) -> None:
        """Die here when a bomb lies here."""
        if not self._is_live:
            return
        with self._lock:
            if not self._fragile and self._outside.take(point):
                self._outside.record(os.getpid(), "kill", point)
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, url: str) -> None:
        """Follow orders at any moment, in a thread that shares nothing with the event loop."""
        if self._is_live:
            threading.Thread(target=self._follow, args=(Outside(url),), daemon=True).start()

    def _follow(self, outside: Outside) -> None:
        fate = ""
        while True:
            fate = fate or outside.take_order(os.getpid())
            if fate:
                with self._lock:
                    if not self._fragile:
                        outside.record(os.getpid(), fate, "at random")
                        os.kill(os.getpid(), signal.SIGKILL if fate == "kill" else signal.SIGSTOP)
                        fate = ""
            time.sleep(LOOK_EVERY_S)
