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
from kernel.errors import BadSettings, OperatorError, RetryLater
from kernel.persona import LIMIT_CHARS, find_persona
from kernel.ports import Isolation
from kernel.stores.redis.stores import open_stores
from zclaw.folder import DataFolder
from zclaw.locks import is_locked
from zclaw.store import with_store

_LITTLE_SPACE_BYTES = 200 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was to be looked at; `problem` says what to change, `unseen` why it could not be looked at."""

    about: str
    problem: str = ""
    unseen: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"[!!] {self.about}: {self.problem}"
        return f"[--] {self.about}: not looked at, {self.unseen}" if self.unseen else f"[ok] {self.about}"


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
        sys.stdout.write(f"{finding}\n")
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
        return [*findings, Finding("model, persona, access", unseen="for the settings above come first")]
    bots, worker = given.settings(BotSettings), given.settings(WorkerSettings)
    if not (worker.anthropic_api_key or worker.openai_api_key or worker.openai_base_url):
        findings.append(
            Finding("model", "none is set: reminders work, talk does not; set ANTHROPIC_API_KEY or OPENAI_BASE_URL")
        )
    findings.append(persona_finding(worker))
    if (bots.telegram_bot_token or bots.slack_bot_token) and not (bots.allow or bots.owners):
        findings.append(Finding("access", "nobody is named: put your own id into ZCLAW_ALLOW"))
    if bots.telegram_bot_token or bots.slack_bot_token or worker.anthropic_api_key or worker.openai_api_key:
        told = "for nothing is sent: a wrong token ends `zclaw up` with a line, a wrong key is told in the chat"
        findings.append(Finding("whether keys and tokens are accepted", unseen=told))
    return findings


def persona_finding(settings: WorkerSettings) -> Finding:
    """Whether there is a persona, and whether all of it is read."""
    try:
        found = find_persona(settings.model_persona, settings.data_dir)
    except BadSettings as error:
        return Finding("persona", str(error))
    if found is None:
        return Finding("persona: none")
    path, text = found
    if not text:
        return Finding(f"persona {path}", "it is empty: write who the assistant is, or delete it")
    if len(text) > LIMIT_CHARS:
        return Finding(f"persona {path}", f"of its {len(text)} characters only {LIMIT_CHARS} are read: shorten it")
    return Finding(f"persona {path}")


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
    """Whether the store answers and keeps what it is told; one of our own can be asked only while zclaw runs."""
    settings = given.settings(CommonSettings)
    folder = DataFolder(settings.data_dir.resolve())
    if settings.redis_url is None and not is_locked(folder.store_lock):
        return Finding("store", unseen="for nothing runs here: start `zclaw chat` or `zclaw up` and ask again")
    return _told("store", lambda: asyncio.run(_open(with_store(settings))))


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
