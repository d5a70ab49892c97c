"""`zclaw doctor`: looks at settings and surroundings, and says what to change."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import assert_never

from kernel import config
from kernel.children.sandbox import find_isolation
from kernel.clock import SystemClock
from kernel.config import BotSettings, CommonSettings, Given, SchedulerSettings, WorkerSettings
from kernel.errors import OperatorError, RetryLater
from kernel.persona import read_persona
from kernel.ports import Isolation
from kernel.stores.redis.stores import open_stores
from zclaw.store import with_store

_LITTLE_SPACE_BYTES = 200 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `problem` says what to change, empty when all is well."""

    about: str
    problem: str = ""


def run(argv: Sequence[str]) -> int:
    """Exit code: 0 when nothing needs a change, else 1. Raises BadSettings."""
    argparse.ArgumentParser(prog="zclaw doctor", description="Check settings and surroundings.").parse_args(argv)
    given = config.read()
    findings = [*settings_findings(given), *folder_findings(given.settings(CommonSettings)), store_finding(given)]
    findings.append(isolation_finding(find_isolation()))
    findings += [
        Finding(name, f"nothing here reads it: did you mean {right}?") for name, right in config.mistaken_names()
    ]
    if given.path is not None:
        findings.append(file_finding(given.path))
    for finding in findings:
        sys.stdout.write(f"[!!] {finding.about}: {finding.problem}\n" if finding.problem else f"[ok] {finding.about}\n")
    return 1 if any(finding.problem for finding in findings) else 0


def settings_findings(given: Given) -> list[Finding]:
    """Whether each role could start with these settings, and whether anyone could talk to the bot and be answered."""
    kinds: dict[str, type[CommonSettings]] = {
        "bots": BotSettings,
        "worker": WorkerSettings,
        "scheduler": SchedulerSettings,
    }
    findings = [_told(f"settings of {name}", partial(given.settings, kind)) for name, kind in kinds.items()]
    if any(finding.problem for finding in findings):
        return findings
    bots, worker = given.settings(BotSettings), given.settings(WorkerSettings)
    if not (worker.anthropic_api_key or worker.openai_api_key or worker.openai_base_url):
        findings.append(
            Finding("model", "none is set: reminders work, talk does not; set ANTHROPIC_API_KEY or OPENAI_BASE_URL")
        )
    findings.append(_told("persona", partial(read_persona, worker.model_persona, worker.data_dir)))
    if (bots.telegram_bot_token or bots.slack_bot_token) and not (bots.allow or bots.owners):
        findings.append(Finding("access", "nobody is named: put your own id into ZCLAW_ALLOW"))
    return findings


def folder_findings(settings: CommonSettings) -> list[Finding]:
    """Space on the disk of the data folder."""
    place = settings.data_dir
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    problem = f"only {free >> 20} MB are free: make room" if free < _LITTLE_SPACE_BYTES else ""
    return [Finding(f"disk of {settings.data_dir}", problem)]


def file_finding(path: Path) -> Finding:
    """Whether others on this machine can read the settings file."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return Finding(str(path), f"others can read it: chmod 600 {path}" if mode & 0o077 else "")


def isolation_finding(isolation: Isolation) -> Finding:
    """What the commands that the assistant runs could read; nothing that must be changed."""
    match isolation:
        case Isolation.SEPARATE_USER:
            return Finding("commands run as users of their own")
        case Isolation.SANDBOX:
            return Finding("commands run in a sandbox (bubblewrap)")
        case Isolation.NONE:
            return Finding(
                "commands run as this user and can read what it can read: only an owner's private chat has them; "
                "install bubblewrap to isolate them"
            )
        case _:
            assert_never(isolation)


def store_finding(given: Given) -> Finding:
    """Whether the store answers and keeps what it is told."""
    return _told("store", lambda: asyncio.run(_open(with_store(given.settings(CommonSettings)))))


async def _open(settings: CommonSettings) -> None:
    assert settings.redis_url is not None
    stores = await open_stores(settings.redis_url.reveal(), SystemClock())
    await stores.close()


def _told(about: str, look: Callable[[], object]) -> Finding:
    try:
        look()
    except (OperatorError, RetryLater) as error:
        return Finding(about, str(error))
    return Finding(about)
