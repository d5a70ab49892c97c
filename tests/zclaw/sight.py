"""What tests see from outside: processes, and claims that come true in time."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil
import redis

from zclaw.folder import DataFolder

WITHIN_S = 15.0


def reached(claim: Callable[[], object], within_s: float = WITHIN_S) -> bool:
    """Whether `claim` comes true in time; looks often, waits no longer than needed."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if claim():
            return True
        time.sleep(0.02)
    return bool(claim())


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def servers_of(folder: DataFolder) -> list[psutil.Process]:
    """The store servers that work in this folder now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "valkey-server" and process.cwd() == str(folder.store):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
