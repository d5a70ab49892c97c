"""`zclaw status`: which parts run, and which should but were not seen."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from kernel import config
from kernel.clock import SystemClock
from kernel.config import BotSettings, CommonSettings
from kernel.ports import MISSED_AFTER
from kernel.stores.redis.stores import open_stores
from zclaw.background import installed
from zclaw.folder import DataFolder
from zclaw.locks import is_locked
from zclaw.store import answering_pid, with_store
from zclaw.wiring.parts import this_host

Beat = tuple[str, str, datetime]
"""Role, process, last beat, as `Beats.seen` gives them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A process as it was last seen, `age` seconds ago."""

    role: str
    pid: int
    age: float
    host: str


def run(argv: Sequence[str]) -> int:
    """Exit code: 0 when every part was seen within 15 s, else 1. Raises OperatorError, RetryLater.

    With `--here` only this host's processes count, and one that was seen is enough: what a container's probe asks.
    """
    parser = argparse.ArgumentParser(prog="zclaw status", description="Show which parts of zclaw run.")
    parser.add_argument("--json", action="store_true", help="a list with role, pid and age in seconds")
    parser.add_argument("--here", action="store_true", help="only what runs on this host; one part is enough")
    arguments = parser.parse_args(argv)
    given = config.read()
    settings, expected = given.settings(CommonSettings), expected_roles(given.settings(BotSettings))
    parts = list(_store_part(settings))
    if parts or settings.redis_url is not None:
        now, beats = asyncio.run(_seen(with_store(settings)))
        parts += parts_from(beats, now)
    if arguments.here:
        parts, expected = [part for part in parts if part.host == this_host()], []
    sys.stdout.write(_as_json(parts) if arguments.json else _as_lines(parts) + _service_line(settings))
    if not any(part.age < MISSED_AFTER.seconds and part.role != "store" for part in parts):
        sys.stderr.write(_nothing_line(settings) + "\n")
        return 1
    absent = missing(parts, expected)
    for role in absent:
        sys.stderr.write(f"{role} has not been seen for {MISSED_AFTER.seconds} s.\n")
    return 1 if absent else 0


def _service_line(settings: CommonSettings) -> str:
    if not settings.data_dir.is_dir():
        return ""
    service = installed(DataFolder(settings.data_dir.resolve()))
    return f"service    {service.state()}, starts when you log in\n" if service is not None else ""


def expected_roles(bots: BotSettings) -> list[str]:
    """The roles without which something that is set does not work."""
    return (
        ["bots", "worker", "scheduler"] if bots.telegram_bot_token or bots.slack_bot_token else ["worker", "scheduler"]
    )


def _nothing_line(settings: CommonSettings) -> str:
    folder = DataFolder(settings.data_dir.resolve())
    if is_locked(folder.owner_lock):
        return f"zclaw was started on {folder.root}, but no part of it was seen lately: look into {folder.logs}."
    where = f"on {folder.root}" if settings.redis_url is None else "with the store of ZCLAW_REDIS_URL"
    return f"Nothing runs {where}. Start it with `zclaw chat` to talk here, or with `zclaw up` for the bots too."


def parts_from(beats: Iterable[Beat], now: datetime) -> list[Part]:
    """The parts behind these beats; a process is named `host-pid`."""
    parts = []
    for role, process, at in beats:
        host, _, pid = process.rpartition("-")
        parts.append(Part(role, int(pid) if pid.isdigit() else 0, round((now - at).total_seconds(), 1), host))
    return parts


def missing(parts: Iterable[Part], expected: Iterable[str]) -> list[str]:
    """The expected roles of which no process was seen lately."""
    seen = {part.role for part in parts if part.age < MISSED_AFTER.seconds}
    return [role for role in expected if role not in seen]


def _store_part(settings: CommonSettings) -> Iterable[Part]:
    if settings.redis_url is not None or not settings.data_dir.is_dir():
        return
    pid = answering_pid(DataFolder(settings.data_dir.resolve()))
    if pid is not None:
        yield Part("store", pid, 0.0, "")


async def _seen(settings: CommonSettings) -> tuple[datetime, Sequence[Beat]]:
    assert settings.redis_url is not None
    clock = SystemClock()
    stores = await open_stores(settings.redis_url.reveal(), clock)
    try:
        return clock.now(), await stores.beats.seen()
    finally:
        await stores.close()


def _as_json(parts: Iterable[Part]) -> str:
    return json.dumps([asdict(part) for part in parts], ensure_ascii=False, indent=2) + "\n"


def _as_lines(parts: Iterable[Part]) -> str:
    return "".join(f"{part.role:10} pid {part.pid:<8} seen {part.age:.0f} s ago\n" for part in parts)
