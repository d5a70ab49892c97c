"""Promise 2: Redis is killed, full, read-only or slow under load; nothing is lost, all comes back by itself."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.chaos.people import People
from tests.chaos.processes import Processes, processes
from tests.zclaw.sight import reached

BACK_WITHIN_S = 15.0
LOST_AFTER_S = 60.0
NOBODY = ("127.0.0.1", "1")
"""Where no server listens."""
NO_ROOM = 1
"""Bytes; any store holds more."""

Sleep = Callable[[float], None]
Fault = Callable[[Processes, Sleep], str]
"""Lets the store suffer, sleeping as it is told; returns when the fault is over: how it showed."""


def killed(away_s: float) -> Fault:
    """kill -9, and a new server on the same folder so long after."""

    def fault(here: Processes, sleep: Sleep) -> str:
        os.kill(here.store.pid, signal.SIGKILL)
        assert reached(lambda: not here.store.is_alive())
        sleep(away_s)
        shown = _refusal(here)
        here.store.bring_up()
        return shown

    return fault


def full(for_s: float) -> Fault:
    """More memory in use than allowed: whatever needs some is refused."""

    def fault(here: Processes, sleep: Sleep) -> str:
        with _control(here) as control:
            control.config_set("maxmemory", NO_ROOM)
            sleep(for_s)
            shown = _refusal(here)
            control.config_set("maxmemory", 0)
        return shown

    return fault


def read_only(for_s: float) -> Fault:
    """A replica of nobody: whatever writes is refused."""

    def fault(here: Processes, sleep: Sleep) -> str:
        with _control(here) as control:
            control.replicaof(*NOBODY)
            sleep(for_s)
            shown = _refusal(here)
            control.replicaof("NO", "ONE")
        return shown

    return fault


def paused(for_s: float) -> Fault:
    """CLIENT PAUSE: everything waits."""

    def fault(here: Processes, sleep: Sleep) -> str:
        with _control(here) as control:
            control.client_pause(int(for_s * 1000))
        sleep(for_s / 2)
        shown = _refusal(here)
        sleep(for_s / 2)
        assert reached(lambda: _refusal(here) == "")
        return shown

    return fault


def stopped(for_s: float) -> Fault:
    """SIGSTOP: the server is there and does nothing; what was sent meanwhile it does afterwards."""

    def fault(here: Processes, sleep: Sleep) -> str:
        os.kill(here.store.pid, signal.SIGSTOP)
        try:
            sleep(for_s)
            shown = _refusal(here)
        finally:
            os.kill(here.store.pid, signal.SIGCONT)
        return shown

    return fault


@contextmanager
def _control(here: Processes, timeout_s: float = 5.0) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(here.store_url, socket_timeout=timeout_s, retry=Retry(NoBackoff(), 0)) as client:
        yield client


def _refusal(here: Processes) -> str:
    """How a write is refused right now; empty when it is not."""
    with _control(here, timeout_s=0.3) as client:
        try:
            client.set("probe", "x", px=1)
        except redis.RedisError as error:
            return type(error).__name__
    return ""


@dataclass
class Report:
    """What was tried and what came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    back_s: dict[str, float] = field(default_factory=dict)
    """The longest, of each kind of fault: from its end until everything said before that was answered."""
    said: int = 0
    lost: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    repeated_effects: list[str] = field(default_factory=list)
    doubtful_effects: list[str] = field(default_factory=list)
    """Never happened, and the model was told that they may have."""
    effects: int = 0
    duplicate_replies: int = 0
    restarts: list[str] = field(default_factory=list)

    def lines(self) -> str:
        """For people."""
        faults = ", ".join(f"{name} x{count} (back {self.back_s[name]:.1f} s)" for name, count in self.faults.items())
        return (
            f"{faults}; {self.said} inputs, lost {len(self.lost)}, parked or failed {len(self.aside)}; "
            f"{self.effects} effects, repeated {self.repeated_effects}, given up as doubtful {self.doubtful_effects}; "
            f"duplicate replies {self.duplicate_replies}; processes that died {self.restarts}"
        )


def suffer(folder: Path, faults: list[tuple[str, str, Fault]], *, chats: int, workers: int, bots: int) -> Report:
    """One fault after the other while people talk; each is `(name, how it must show, fault)`."""
    report = Report()
    with processes(folder, workers=workers, bots=bots, calm=True) as here:
        people = People(here.outside, random.Random(3), chats=chats, bots=bots)

        def sleep(seconds: float) -> None:
            until = time.time() + seconds
            people.live(lambda: time.time() >= until, seconds + 1, here.tend)

        assert people.live(lambda: len(people.answered) >= chats, 60, here.tend), "it never began"
        for name, sign, fault in faults:
            shown = fault(here, sleep)
            over = time.time()
            before = people.waiting()
            assert sign in shown, f"{name} showed as {shown!r}"
            people.live(lambda: not before & people.waiting(), LOST_AFTER_S, here.tend)  # noqa: B023 — called at once
            back = max((people.answered.get(task, time.time()) for task in before), default=over) - over
            print(f"{name}: {len(before)} waited, back after {back:.1f} s")
            report.faults[name] += 1
            report.back_s[name] = max(report.back_s.get(name, 0.0), back)
            sleep(1.0)
        deadline = time.time() + LOST_AFTER_S
        while people.waiting() and time.time() < deadline:
            people.listen()
            time.sleep(0.05)

        seen = [each.text for each in here.outside.seen()]
        report.said = len(people.said)
        report.lost = sorted(people.waiting())
        report.aside = [text for text in seen if not text.startswith("done ")]
        report.repeated_effects, report.doubtful_effects = people.effects()
        report.effects = len(here.outside.effects())
        report.duplicate_replies = len(seen) - len(set(seen))
        report.restarts = here.restarts
    return report


def check(report: Report) -> None:
    """The promise, with its figures in sight."""
    print(report.lines())
    assert report.lost == []
    assert report.aside == []
    assert report.repeated_effects == []
    assert max(report.back_s.values()) <= BACK_WITHIN_S
    assert report.restarts == []


def test_a_store_that_is_killed_full_read_only_or_slow_for_a_moment_costs_nothing(tmp_path: Path) -> None:
    faults = [
        ("killed", "ConnectionError", killed(1.0)),
        ("full", "OutOfMemory", full(2.0)),
        ("read-only", "ReadOnly", read_only(2.0)),
        ("paused", "Timeout", paused(3.0)),
        ("stopped", "Timeout", stopped(3.0)),
    ]

    report = suffer(tmp_path, faults, chats=12, workers=2, bots=1)

    check(report)


@pytest.mark.chaos
def test_a_store_that_is_killed_ten_times_full_read_only_and_slow_costs_nothing(tmp_path: Path) -> None:
    dice = random.Random(4)
    faults = [("killed", "ConnectionError", killed(dice.uniform(0.2, 4.0))) for _ in range(10)]
    for for_s in (6.0, 20.0):
        faults += [
            ("full", "OutOfMemory", full(for_s)),
            ("read-only", "ReadOnly", read_only(for_s)),
        ]
    for for_s in (3.0, 20.0):
        faults += [("paused", "Timeout", paused(for_s)), ("stopped", "Timeout", stopped(for_s))]
    dice.shuffle(faults)

    report = suffer(tmp_path, faults, chats=24, workers=3, bots=2)

    check(report)
    assert report.faults["killed"] == 10
