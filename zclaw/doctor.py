"""`zclaw doctor`: looks at settings, surroundings and services, and says what to change."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import assert_never

from kernel import config
from kernel.children.sandbox import find_isolation
from kernel.clock import SystemClock
from kernel.config import AccessRule, BotSettings, CommonSettings, Given, SchedulerSettings, WorkerSettings
from kernel.errors import BadSettings, OperatorError, RetryLater
from kernel.logs import Mask
from kernel.persona import LIMIT_CHARS, find_persona
from kernel.ports import Clock, Isolation
from zclaw.findings import Finding, within
from zclaw.listen_check import listen_findings
from zclaw.platform_checks import platform_findings
from zclaw.status import expected_roles
from zclaw.store_checks import store_findings

_LITTLE_SPACE_BYTES = 200 << 20


def run(argv: Sequence[str]) -> int:
    """Exit code: 0 when nothing needs a change, else 1. Raises BadSettings."""
    argparse.ArgumentParser(prog="zclaw doctor", description="Check settings and surroundings.").parse_args(argv)
    given = config.read()
    findings = [*settings_findings(given), zone_finding(given), *folder_findings(given.settings(CommonSettings))]
    findings += asyncio.run(services_findings(given, SystemClock()))
    findings.append(isolation_finding(find_isolation()))
    findings += [
        Finding(name, f"nothing here reads it: did you mean {right}?") for name, right in config.mistaken_names()
    ]
    if given.path is not None:
        findings.append(file_finding(given.path))
    mask = Mask(_secrets(given))
    for finding in findings:
        sys.stdout.write(_in_one_line(mask(str(finding))) + "\n")
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
        return [*findings, Finding("model, persona, access, platforms", unseen="for the settings above come first")]
    bots, worker = given.settings(BotSettings), given.settings(WorkerSettings)
    if not (worker.anthropic_api_key or worker.openai_api_key or worker.openai_base_url):
        advice = "none is set: reminders work, talk does not; set ANTHROPIC_API_KEY or OPENAI_BASE_URL"
        findings.append(Finding("model", advice=advice))
    elif worker.anthropic_api_key or worker.openai_api_key:
        told = "for a question costs money: a wrong one is told in the chat"
        findings.append(Finding("whether the model's key is accepted", unseen=told))
    findings.append(persona_finding(worker))
    if bots.telegram_bot_token or bots.slack_bot_token:
        findings.append(access_finding(bots))
    return findings


def access_finding(settings: BotSettings) -> Finding:
    """Whether anybody may talk to the bot, and whether everybody may."""
    if settings.access is AccessRule.OPEN:
        return Finding("access", advice="everybody who finds the bot may talk to it: unset ZCLAW_ACCESS to change that")
    if settings.allow or settings.owners:
        return Finding("access")
    if settings.access is AccessRule.ALLOWLIST:
        return Finding("access", "nobody may talk to the bot: put your own id into ZCLAW_ALLOW")
    return Finding("access: by pairing")


def zone_finding(given: Given) -> Finding:
    """In which zone a time is meant of which nobody said where."""
    zone = given.settings(CommonSettings).timezone
    about = f"zone {zone.key}: it is {SystemClock().now().astimezone(zone):%H:%M} there"
    is_guess = "timezone" not in given.values and zone.key in ("UTC", "Etc/UTC")
    return Finding(about, advice="if that is not your time, set ZCLAW_TIMEZONE" if is_guess else "")


async def services_findings(given: Given, clock: Clock) -> list[Finding]:
    """What the store, the platforms and our own server say, each within its time and all side by side."""
    settings = given.settings(CommonSettings)
    looks = [within("store", _store(given, settings, clock), "is ZCLAW_REDIS_URL its address?")]
    with contextlib.suppress(BadSettings):  # Said above, by `settings_findings`.
        bots = given.settings(BotSettings)
        if bots.telegram_bot_token or bots.slack_bot_token:
            looks.append(platform_findings(bots, clock))
            looks.append(within("HTTP", listen_findings(bots.listen), "is ZCLAW_LISTEN an address of this machine?"))
    return [finding for part in await asyncio.gather(*looks) for finding in part]


async def _store(given: Given, settings: CommonSettings, clock: Clock) -> Sequence[Finding]:
    try:
        bots = given.settings(BotSettings)
    except BadSettings:
        bots = BotSettings()
    tokens = {"telegram": bots.telegram_bot_token, "slack": bots.slack_bot_token}
    return await store_findings(settings, expected_roles(bots), [name for name in tokens if tokens[name]], clock)


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


def _told(about: str, look: Callable[[], object]) -> Finding:
    try:
        look()
    except (OperatorError, RetryLater) as error:
        return Finding(about, str(error))
    return Finding(about)


def _secrets(given: Given) -> Iterator[str]:
    for kind in (BotSettings, WorkerSettings):
        with contextlib.suppress(BadSettings):
            yield from config.secret_values(given.settings(kind))


def _in_one_line(text: str) -> str:
    """Services' own words may hold anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
