"""What `zclaw up` runs: the roles with their command lines and settings, and the store unless there is another."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from kernel.config import BotSettings, CommonSettings, Given, SchedulerSettings, WorkerSettings
from kernel.errors import BadSettings, OperatorError, RetryLater
from kernel.settings import AccessRule
from zclaw import settings_record
from zclaw.folder import DataFolder, open_folder
from zclaw.locks import try_lock
from zclaw.store import AlreadyRunning, RunningStore, start_store, taken_line
from zclaw.up import Role, Supervisor

READY = "ready"
TAKEN = "taken"
"""What a supervisor writes to its `ready_fd`: one of these, or the line that says why it cannot run."""


def command(*words: str) -> tuple[str, ...]:
    """The command line of a `zclaw` process of ours; it shows `zclaw` and the words."""
    return (sys.executable, "-P", "-m", "zclaw", *words)


def roles_for(given: Given) -> list[Role]:
    """The roles in the order in which they stop; no bots when no platform is set. Raises BadSettings."""
    bots = given.settings(BotSettings)
    given.settings(WorkerSettings)
    roles = [
        # A turn that cannot finish within 25 s is handed back; a few seconds more for that.
        Role("worker", command("worker"), given.part(WorkerSettings).line(leash=True), patience_s=35.0),
        Role("scheduler", command("scheduler"), given.part(SchedulerSettings).line(leash=True)),
    ]
    if bots.telegram_bot_token or bots.slack_bot_token:
        roles.insert(0, Role("bots", command("bots"), given.part(BotSettings).line(leash=True)))
    return roles


def run(given: Given, *, until_last_terminal: bool = False, ready_fd: int | None = None, is_seen: bool = True) -> int:
    """Run everything on this machine until told to stop; the exit code. Raises OperatorError.

    `is_seen`: a person reads what is said at the start, and not a log.
    """
    is_seen = is_seen and ready_fd is None
    told = _teller(ready_fd)
    try:
        settings = given.settings(CommonSettings)
        roles_for(given)  # Wrong settings are said before anything is started.
        if settings.redis_url is not None:
            greet = _greeting(given, settings.redis_url.reveal(), is_seen=is_seen)
            return _run_without_store(given, settings.data_dir, until_last_terminal, told, greet)
        with start_store(settings.data_dir) as store:
            roles = roles_for(given.with_redis_url(store.url))
            settings_record.keep(store.folder, given)
            greet = _greeting(given, store.url, is_seen=is_seen)
            return _supervise(store.folder, store, roles, until_last_terminal, told, greet)
    except AlreadyRunning:
        told(TAKEN)
        raise
    except OperatorError as error:
        told(str(error))
        raise


def _run_without_store(
    given: Given,
    data_dir: Path,
    until_last_terminal: bool,
    told: Callable[[str], None],
    greet: Callable[[], str],
) -> int:
    """Raises OperatorError also when the store elsewhere cannot be reached or does not fit: nothing is started then."""
    _look_at_store(given.settings(CommonSettings))
    folder = open_folder(data_dir)
    owner = try_lock(folder.owner_lock)
    if owner is None:
        raise AlreadyRunning(taken_line(folder))
    try:
        settings_record.keep(folder, given)
        return _supervise(folder, None, roles_for(given), until_last_terminal, told, greet)
    finally:
        owner.release()


def _greeting(given: Given, url: str, *, is_seen: bool) -> Callable[[], str]:
    """What else is said at the start: while nobody owns the bot on a platform, the code that makes an owner.

    Nothing when nobody reads it (`is_seen`), or when a code makes none.
    """
    bots = given.settings(BotSettings)
    tokens = (("telegram", bots.telegram_bot_token), ("slack", bots.slack_bot_token))
    listed = {each.platform for each in bots.owners}
    ownerless = [platform for platform, token in tokens if token and platform not in listed]

    def greet() -> str:
        if not (is_seen and ownerless) or bots.access is AccessRule.ALLOWLIST:
            return ""
        from zclaw import pair  # noqa: PLC0415 — only a start without an owner needs it

        try:
            if all(asyncio.run(pair.has_owner(url, platform)) for platform in ownerless):
                return ""
            return pair.line(asyncio.run(pair.offer(url)))
        except RetryLater:
            return "Nobody owns the bot yet: `zclaw pair` prints the code that makes an owner.\n"

    return greet


def _look_at_store(settings: CommonSettings) -> None:
    from kernel.stores.redis.connect import Server, check  # noqa: PLC0415 — only a store elsewhere needs it here

    async def look() -> None:
        assert settings.redis_url is not None
        server = Server(settings.redis_url.reveal())
        try:
            await check(server)
        finally:
            await server.close()

    try:
        asyncio.run(look())
    except RetryLater as error:
        raise BadSettings(f"{error}: does the store run, and is ZCLAW_REDIS_URL its address?") from None


def _supervise(
    folder: DataFolder,
    store: RunningStore | None,
    roles: list[Role],
    until_last_terminal: bool,
    told: Callable[[str], None],
    greet: Callable[[], str],
) -> int:
    supervisor = Supervisor(folder, store, roles, until_last_terminal=until_last_terminal)

    def ready() -> None:
        names = ", ".join(role.name for role in roles)
        # Not that they run: of a wrong token, say, the bots hear only once they have asked their platform.
        sys.stderr.write(
            f"zclaw is starting ({names}); its logs are in {folder.logs}. "
            "`zclaw status` shows what runs; Ctrl-C ends it.\n"
        )
        if all(role.name != "bots" for role in roles):
            sys.stderr.write(
                "No platform is set: `zclaw chat` talks here; TELEGRAM_BOT_TOKEN, or SLACK_BOT_TOKEN and "
                "SLACK_APP_TOKEN (or SLACK_SIGNING_SECRET), bring the bot to Telegram or Slack.\n"
            )
        sys.stderr.write(greet())
        told(READY)

    return supervisor.run(ready)


def _teller(ready_fd: int | None) -> Callable[[str], None]:
    def tell(line: str) -> None:
        nonlocal ready_fd
        if ready_fd is None:
            return
        try:
            os.write(ready_fd, line.encode() + b"\n")
            os.close(ready_fd)
        except BrokenPipeError:
            pass  # The terminal that started us is gone already; the terminals lock says what follows from that.
        ready_fd = None

    if ready_fd is not None:
        os.set_inheritable(ready_fd, False)
    return tell
