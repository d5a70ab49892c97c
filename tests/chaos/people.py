"""People who always have one more thing to say: each says the next as soon as the last is answered."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable

from tests.chaos.outside import Outside

STEPS = (0, 1, 3)
"""How many effects a task has."""
PAUSE_S = (0.1, 0.6)


class People:
    """One person in each chat; what they said and what was answered, each with its time."""

    def __init__(self, outside: Outside, dice: random.Random, *, chats: int, bots: int) -> None:
        self._outside = outside
        self._dice = dice
        self._bots = bots
        self._free_from = {str(chat): 0.0 for chat in range(1, chats + 1)}
        self._busy: dict[str, str] = {}
        self._read = 0
        self._steps: dict[str, int] = {}
        self.said: dict[str, float] = {}
        self.answered: dict[str, float] = {}

    def live(self, until: Callable[[], bool], within_s: float, meanwhile: Callable[[], None]) -> bool:
        """Talk and listen until the condition holds; whether it came to hold in time."""
        deadline = time.time() + within_s
        while not (is_reached := until()) and time.time() < deadline:
            self._talk()
            self.listen()
            meanwhile()
            time.sleep(0.02)
        return is_reached

    def listen(self) -> None:
        """Note what has been answered."""
        for seen in self._outside.seen(self._read):
            self._read += 1
            if seen.text.startswith("done "):
                self.answered.setdefault(seen.text.removeprefix("done "), seen.at)
        for chat, task in list(self._busy.items()):
            if task in self.answered:
                del self._busy[chat]
                self._free_from[chat] = time.time() + self._dice.uniform(*PAUSE_S)

    def waiting(self) -> set[str]:
        """Tasks that are not answered."""
        return set(self.said) - set(self.answered)

    def effects(self) -> tuple[list[str], list[str]]:
        """Effects that happened more than once, and those of answered tasks that never did: broken off as doubtful."""
        counted = Counter(self._outside.effects())
        expected = {f"{task}.{step + 1}" for task in self.answered for step in range(self._steps[task])}
        return sorted(each for each, count in counted.items() if count > 1), sorted(expected - set(counted))

    def _talk(self) -> None:
        for chat, free_from in self._free_from.items():
            if chat in self._busy or time.time() < free_from:
                continue
            task = str(len(self.said) + 1)
            self._busy[chat] = task
            self._steps[task] = self._dice.choice(STEPS)
            self.said[task] = time.time()
            self._outside.say(f"bot-{int(chat) % self._bots}", chat, f"task {task} steps {self._steps[task]}")
