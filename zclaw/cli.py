"""The command line. Every command imports only what it needs: `zclaw parse` starts within 300 ms."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kernel.errors import BadSettings, OperatorError, RetryError

if TYPE_CHECKING:
    from kernel.config import BotSettings, CommonSettings

_WRONG_USE = 2

_PASSED_ON = {
    "chat": "zclaw.chat",
    "parse": "zclaw.parse",
    "reminders": "zclaw.reminders",
    "status": "zclaw.status",
    "doctor": "zclaw.doctor",
    "pair": "zclaw.pair",
}
"""Commands that read their own arguments: `run(argv) -> exit code` in the module."""
_STARTING = frozenset(("up", "chat", "bots", "worker"))
"""Commands for which a setting that nobody reads is worth a word."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code of the command line `argv`: 0 fine, 1 failed, 2 wrong use or wrong settings."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except OperatorError as error:
        _say(str(error))
        return _WRONG_USE
    except RetryError as error:
        _say(f"{error}: does the store run, and is ZCLAW_REDIS_URL its address?")
        return _WRONG_USE
    except KeyboardInterrupt:
        return 1
    except BrokenPipeError:
        # `zclaw … | head` closed our output: not an error, and nothing more may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(words: list[str]) -> int:
    if words and words[0] in _STARTING:
        _warn()
    if words and words[0] in _PASSED_ON:
        if words[0] == "chat":
            _conceal()
        run: Callable[[list[str]], int] = importlib.import_module(_PASSED_ON[words[0]]).run
        return run(words[1:])
    arguments = _parser().parse_args(words)
    match arguments.command:
        case "up":
            if arguments.background:
                from kernel import config
                from zclaw import background

                return background.run(config.read())
            return _up(arguments.until_last_terminal, arguments.ready_fd, is_seen=not arguments.unattended)
        case "down":
            from kernel import config
            from zclaw import down

            return down.run(config.read())
        case "bots":
            return _role("bots", arguments.platform)
        case role:
            return _role(role)


def _up(until_last_terminal: bool, ready_fd: int | None, *, is_seen: bool) -> int:
    _conceal()
    from kernel import config
    from zclaw import roles

    return roles.run(config.read(), until_last_terminal=until_last_terminal, ready_fd=ready_fd, is_seen=is_seen)


def _role(name: str, platform: str | None = None) -> int:
    _conceal()
    from kernel import config
    from zclaw import leash
    from zclaw.store import with_store

    given = config.read()
    if given.pipe is not None:
        leash.hold(given.pipe)
    settings: CommonSettings
    match name:
        case "bots":
            settings = _only(given.settings(config.BotSettings), platform)
        case "worker":
            settings = given.settings(config.WorkerSettings)
        case _:
            settings = given.settings(config.SchedulerSettings)
    run: Callable[[CommonSettings], int] = importlib.import_module(f"zclaw.wiring.{name}").run
    try:
        return run(with_store(settings))
    except RetryError as error:
        if given.pipe is None:
            raise
        # Its supervisor starts it again until the store is back.
        _say(str(error))
        return 1


def _only(settings: BotSettings, platform: str | None) -> BotSettings:
    """The settings of one platform, or of all that are set; there must be one."""
    if platform == "telegram":
        settings = dataclasses.replace(settings, slack_bot_token=None, slack_app_token=None, slack_signing_secret=None)
    if platform == "slack":
        settings = dataclasses.replace(settings, telegram_bot_token=None, telegram_webhook_url=None)
    if settings.telegram_bot_token or settings.slack_bot_token:
        return settings
    needed = {
        "telegram": "TELEGRAM_BOT_TOKEN",
        "slack": "SLACK_BOT_TOKEN and SLACK_APP_TOKEN (or SLACK_SIGNING_SECRET)",
    }
    raise BadSettings(f"No platform is set: set {needed[platform] if platform else ' or '.join(needed.values())}.")


def _warn() -> None:
    """Before anything else: a start that hides secrets begins once more, without what it does not know."""
    from kernel import config

    for name, right in config.mistaken_names():
        _say(f"{name} is set, but nothing here reads it: did you mean {right}?")


def _conceal() -> None:
    from kernel import config
    from kernel.children import linux

    config.conceal([sys.executable, *sys.orig_argv[1:]])
    # What our tools start as our own user must not read our memory either.
    linux.hide()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zclaw", description="One assistant for Telegram, Slack and this terminal.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    up = commands.add_parser("up", help="run everything on this machine")
    up.add_argument("--background", action="store_true", help="as a service of this user (systemd, launchd)")
    up.add_argument("--until-last-terminal", action="store_true", help=argparse.SUPPRESS)
    up.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    up.add_argument("--unattended", action="store_true", help=argparse.SUPPRESS)
    commands.add_parser("chat", help="the same, with this terminal as the chat; joins a running one")
    commands.add_parser("down", help="end what runs on this machine")
    bots = commands.add_parser("bots", help="only the bots")
    bots.add_argument("platform", nargs="?", choices=("telegram", "slack"))
    commands.add_parser("worker", help="only a worker; any number may run")
    commands.add_parser("scheduler", help="only the scheduler")
    commands.add_parser("parse", help="show how a sentence is understood as a reminder")
    commands.add_parser("reminders", help="list reminders")
    commands.add_parser("pair", help="print the code that makes an account an owner of the bot")
    commands.add_parser("status", help="show which parts run")
    commands.add_parser("doctor", help="check settings and surroundings")
    return parser


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(line + "\n")
