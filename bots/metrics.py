"""What one look at an installation tells: how it stands, as numbers for Prometheus and as one word for a probe."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from bots.counters import COUNTED, Counters
from kernel.errors import ZclawError
from kernel.ports import MISSED_AFTER, Beats, Clock, Overview, Standing

_LOOK_WITHIN_S = 2.0
_ANSWER_WITHIN_S = 1.0
_ROLES = ("bots", "scheduler", "worker")

Row = tuple[Mapping[str, str], float]
"""Labels and a value."""


class Lookout:
    """Looks at the store when it is asked. `runs` says of each adapter here whether it runs."""

    def __init__(
        self,
        overview: Overview,
        beats: Beats,
        counters: Counters,
        platforms: Sequence[str],
        clock: Clock,
        runs: Callable[[], Mapping[str, bool]],
    ) -> None:
        self._overview = overview
        self._beats = beats
        self._counters = counters
        self._platforms = platforms
        self._clock = clock
        self._runs = runs

    async def health(self) -> Mapping[str, bool]:
        """Whether the store answers within a second, and each adapter runs."""
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                await self._overview.look((), now=self._clock.now())
        except (ZclawError, TimeoutError):
            return {"store": False, **self._runs()}
        return {"store": True, **self._runs()}

    async def metrics(self) -> str:
        """All of it as Prometheus reads it (text format 0.0.4); without what only the store knows while it is away."""
        began = self._clock.boottime()
        try:
            async with asyncio.timeout(_LOOK_WITHIN_S):
                standing = await self._overview.look(self._platforms, now=self._clock.now())
                took = timedelta(seconds=self._clock.boottime() - began)
                beats = await self._beats.seen()
        except (ZclawError, TimeoutError):
            return _counted(self._counters) + _gauge("store_up", "Whether the store answers.", [({}, 0)])
        alive = Counter(role for role, _, at in beats if self._clock.now() - at < MISSED_AFTER)
        return _counted(self._counters) + _standing(standing, took, alive)


def _counted(counters: Counters) -> str:
    text = ""
    for what, (meaning, _) in COUNTED.items():
        rows = [(labels, number) for name, labels, number in counters if name == what]
        text += _family(f"{what}_total", "counter", meaning, rows)
    return text


def _standing(standing: Standing, took: timedelta, alive: Mapping[str, int]) -> str:
    roles = sorted({*_ROLES, *alive})
    waiting = sorted(standing.waiting.items())
    return "".join(
        (
            _gauge("store_up", "Whether the store answers.", [({}, 1)]),
            _gauge("store_answer_seconds", "How long it took to look at the store.", [({}, took.total_seconds())]),
            _gauge("processes", "Processes seen lately.", [({"role": role}, alive.get(role, 0)) for role in roles]),
            _gauge("conversations_ready", "Conversations that wait for a worker.", [({}, standing.ready)]),
            _gauge(
                "outbox_conversations",
                "Conversations to which something is still to be sent.",
                [({"platform": platform}, number) for platform, number in waiting],
            ),
            _gauge("due_times", "Due times of reminders and of what expires.", [({}, standing.due)]),
            _gauge("due_times_late", "Due times that nobody kept.", [({}, standing.late)]),
        )
    )


def _gauge(name: str, meaning: str, rows: Iterable[Row]) -> str:
    return _family(name, "gauge", meaning, rows)


def _family(name: str, kind: str, meaning: str, rows: Iterable[Row]) -> str:
    lines = [f"# HELP zclaw_{name} {meaning}", f"# TYPE zclaw_{name} {kind}"]
    lines += [f"zclaw_{name}{_labelled(labels)} {value}" for labels, value in rows]
    return "\n".join(lines) + "\n"


def _labelled(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
