"""People talk while processes are killed and frozen; what became of every message is counted from outside."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.processes import processes

MOMENTS = ("calling 1", "claimed 1", "calling 2", "claimed 2", "calling 3", "claimed 3", "calling 4", "done")
POINTS = (
    "after put",
    "checkout",
    "before commit",
    *(f"commit {moment}" for moment in MOMENTS),
    "between claim and call",
    "in the call",
    "between call and commit",
    "between send and its record",
    "after the record of a send",
)
"""Every commit of a turn with three tool steps is a moment of its own."""
ANSWERED_WITHIN_S = 60.0
MOST_FROZEN = 3
"""Of seven processes, so that somebody is always there to go on."""


@dataclass(frozen=True)
class Plan:
    """How much of each: people, processes, and what befalls those."""

    at_each_point: int
    random_kills: int
    freezes: int
    freeze_s: float
    least_turns: int
    chats: int = 40
    workers: int = 5
    bots: int = 2
    pause_s: float = 0.7
    """Between two fates."""


@dataclass
class Report:
    """What was tried and what came of it."""

    messages: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    freezes: int = 0
    lost: list[str] = field(default_factory=list)
    parked: int = 0
    repeated_effects: list[str] = field(default_factory=list)
    effects: int = 0
    duplicate_replies: int = 0
    worst_duplicates: int = 0
    longest_s: float = 0.0
    """From the later of a message and the last fate before its answer, until its answer."""

    def lines(self) -> str:
        """For people."""
        points = ", ".join(f"{point} {count}" for point, count in sorted(self.kills.items()))
        return (
            f"{self.messages} messages, {self.effects} effects; killed {self.kills.total()} ({points}); "
            f"frozen {self.freezes}; lost {len(self.lost)}, parked {self.parked}, effects repeated "
            f"{len(self.repeated_effects)}, duplicate replies {self.duplicate_replies} (at most "
            f"{self.worst_duplicates} a message), longest answer {self.longest_s:.1f} s after"
        )


class Storm:
    """One run. Not reusable."""

    def __init__(self, folder: Path, plan: Plan, dice: random.Random) -> None:
        self._plan = plan
        self._dice = dice
        self._folder = folder
        self._said: dict[str, float] = {}
        self._answered: dict[str, float] = {}
        self._busy: dict[str, str] = {}
        self._free_from = {str(chat): time.time() + dice.uniform(0, 3) for chat in range(1, plan.chats + 1)}
        self._read = 0

    def run(self) -> Report:
        """Everything that the plan asks for, then quiet until all is answered or has had its time."""
        with processes(self._folder, workers=self._plan.workers, bots=self._plan.bots) as self._processes:
            self._outside = self._processes.outside
            self._befall()
            self._wait_for_answers()
            return self._count()

    def _tend(self) -> None:
        self._processes.tend(self._plan.freeze_s)
        self._listen()

    def _befall(self) -> None:
        """Lay one bomb, or order one kill or freeze, after the other."""
        plan = self._plan
        fates = [point for point in POINTS for _ in range(plan.at_each_point)]
        fates += ["kill"] * plan.random_kills + ["freeze"] * plan.freezes
        self._dice.shuffle(fates)
        for fate in fates:
            self._pause(plan.pause_s)
            if fate in ("kill", "freeze"):
                while self._processes.frozen >= MOST_FROZEN:
                    self._pause(plan.pause_s)
                self._outside.order(self._dice.choice(self._processes.awake), fate)
            else:
                self._outside.lay(fate, 1)
            self._talk()
        deadline = time.time() + 120
        while self._freezes() < plan.freezes and time.time() < deadline:
            # An order dies with the process that it was given to.
            self._outside.order(self._dice.choice(self._processes.awake), "freeze")
            self._pause(2.0)
        while time.time() < deadline and (
            any(self._outside.left(point) for point in POINTS)
            or self._processes.frozen
            or len(self._said) < plan.least_turns
        ):
            self._pause(0.1)
            self._talk()
        # What nobody came to must not go on killing while the last answers are awaited.
        for point in POINTS:
            self._outside.clear(point)

    def _freezes(self) -> int:
        return sum(fate == "freeze" for _, fate, _, _ in self._outside.fates())

    def _pause(self, seconds: float) -> None:
        until = time.time() + seconds
        while time.time() < until:
            self._tend()
            self._talk()
            time.sleep(0.03)

    # --- people --------------------------------------------------------------------------------------------------

    def _talk(self) -> None:
        now = time.time()
        for chat, free_from in self._free_from.items():
            if chat in self._busy or now < free_from:
                continue
            task = str(len(self._said) + 1)
            self._busy[chat] = task
            self._said[task] = now
            steps = self._dice.choice((0, 1, 3, 3))
            self._outside.say(f"bot-{int(chat) % self._plan.bots}", chat, f"task {task} steps {steps}")

    def _listen(self) -> None:
        for seen in self._outside.seen(self._read):
            self._read += 1
            if seen.text.startswith("done "):
                self._answered.setdefault(seen.text.removeprefix("done "), seen.at)
        for chat, task in list(self._busy.items()):
            if task in self._answered:
                del self._busy[chat]
                self._free_from[chat] = time.time() + self._dice.uniform(0.5, 4)

    def _wait_for_answers(self) -> None:
        deadline = time.time() + ANSWERED_WITHIN_S + 10
        while time.time() < deadline and (len(self._answered) < len(self._said) or self._processes.frozen):
            self._tend()
            time.sleep(0.05)

    # --- counting ------------------------------------------------------------------------------------------------

    def _count(self) -> Report:
        fates = self._outside.fates()
        seen = Counter(each.text for each in self._outside.seen())
        effects = Counter(self._outside.effects())
        copies = [seen[f"done {task}"] - 1 for task in self._answered]
        moments = sorted(at for _, _, _, at in fates)
        return Report(
            messages=len(self._said),
            kills=Counter(point for _, fate, point, _ in fates if fate == "kill"),
            freezes=self._freezes(),
            lost=sorted(set(self._said) - set(self._answered)),
            parked=sum(count for text, count in seen.items() if "put it aside" in text or "放到一边" in text),
            repeated_effects=[effect for effect, count in effects.items() if count > 1],
            effects=effects.total(),
            duplicate_replies=sum(copies),
            worst_duplicates=max(copies, default=0),
            longest_s=max((self._waited(task, moments) for task in self._answered), default=0.0),
        )

    def _waited(self, task: str, fates: list[float]) -> float:
        answered = self._answered[task]
        last = max((at for at in fates if at <= answered), default=0.0)
        return answered - max(self._said[task], last)
