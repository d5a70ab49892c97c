"""`zclaw up --background`: the same as a service of this user, kept by systemd on Linux and by launchd on macOS.

The service's file says what to run and which settings this terminal has that are no secrets. Secrets stay in a
`zclaw.toml` that only its owner reads: a terminal's are refused here rather than written down behind anyone's back.

`zclaw down` ends what runs, here too: it leaves in good order, so its keeper does not start it again before the
next login.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from xml.parsers.expat import ExpatError

from kernel.config import BotSettings, CommonSettings, Given, child_environment, settings_of_terminal
from kernel.errors import BadSettings, OperatorError
from zclaw.folder import DataFolder, open_folder
from zclaw.locks import is_locked
from zclaw.roles import command, roles_for
from zclaw.store import AlreadyRunning, taken_line

NAME: Final = "zclaw"
_DATA_DIR: Final = "ZCLAW_DATA_DIR"
STARTS_WITHIN_S = 20.0
_ANSWER_WITHIN_S = 5.0
_START_WITHIN_S = 60.0
_POLL_S = 0.05
_STOP_WITHIN_S = 90
"""Longer than the supervisor takes at most (`zclaw.down.WITHIN_S`)."""


class Keeper(Protocol):
    """Who keeps services running on this kind of machine."""

    @property
    def file(self) -> Path:
        """Where the service is described."""

    @property
    def disabling(self) -> str:
        """The command with which a person ends that it starts by itself."""

    @property
    def looking(self) -> str:
        """The command with which a person sees why it does not run."""

    def is_here(self) -> bool:
        """Whether it answers, for this user."""

    def described(self, words: Sequence[str], environment: Mapping[str, str], folder: DataFolder) -> bytes:
        """The service's file: these words are run with these variables."""

    def serves(self, description: bytes, folder: DataFolder) -> bool:
        """Whether that description is of this installation and no other."""

    def start(self) -> None:
        """Have the described service started, now and whenever the user logs in. Raises OperatorError."""

    def state(self) -> str:
        """One word on how it is: `active`, `inactive`, `failed` …"""


@dataclass(frozen=True, slots=True)
class Systemd:
    """The user instance of systemd."""

    home: Path

    @property
    def file(self) -> Path:
        """See `Keeper.file`."""
        return self.home / ".config" / "systemd" / "user" / f"{NAME}.service"

    @property
    def disabling(self) -> str:
        """See `Keeper.disabling`."""
        return f"systemctl --user disable {NAME}"

    @property
    def looking(self) -> str:
        """See `Keeper.looking`."""
        return f"journalctl --user -u {NAME}"

    def is_here(self) -> bool:
        """See `Keeper.is_here`; a container has the command and nobody behind it."""
        return shutil.which("systemctl") is not None and _run("systemctl", "--user", "show-environment").returncode == 0

    def described(self, words: Sequence[str], environment: Mapping[str, str], folder: DataFolder) -> bytes:  # noqa: ARG002
        """See `Keeper.described`."""
        lines = [
            "[Unit]",
            "Description=zclaw, an assistant for Telegram and Slack",
            "",
            "[Service]",
            "Type=exec",
            "ExecStart=" + " ".join(_quoted(word).replace("$", "$$") for word in words),
            *(f"Environment={_quoted(f'{name}={value}')}" for name, value in sorted(environment.items())),
            # The supervisor stops its parts in their order, the store last.
            "KillMode=mixed",
            f"TimeoutStopSec={_STOP_WITHIN_S}",
            "Restart=on-failure",
            "RestartSec=5",
            "# Wrong settings stay wrong.",
            "RestartPreventExitStatus=2",
            "",
            "[Install]",
            "WantedBy=default.target",
        ]
        return ("\n".join(lines) + "\n").encode()

    def serves(self, description: bytes, folder: DataFolder) -> bool:
        """See `Keeper.serves`."""
        return f"Environment={_quoted(f'{_DATA_DIR}={folder.root}')}\n".encode() in description

    def start(self) -> None:
        """See `Keeper.start`."""
        _insist("systemctl", "--user", "daemon-reload")
        _insist("systemctl", "--user", "enable", "--now", f"{NAME}.service")

    def state(self) -> str:
        """See `Keeper.state`."""
        return _run("systemctl", "--user", "is-active", f"{NAME}.service").stdout.strip() or "unknown"


@dataclass(frozen=True, slots=True)
class Launchd:
    """The launchd of a Mac's user session."""

    home: Path

    @property
    def file(self) -> Path:
        """See `Keeper.file`."""
        return self.home / "Library" / "LaunchAgents" / f"{NAME}.plist"

    @property
    def disabling(self) -> str:
        """See `Keeper.disabling`."""
        return f"launchctl bootout {self._domain}/{NAME}; rm {self.file}"

    @property
    def looking(self) -> str:
        """See `Keeper.looking`."""
        return f"launchctl print {self._domain}/{NAME}"

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}"

    def is_here(self) -> bool:
        """See `Keeper.is_here`."""
        return shutil.which("launchctl") is not None and _run("launchctl", "print", self._domain).returncode == 0

    def described(self, words: Sequence[str], environment: Mapping[str, str], folder: DataFolder) -> bytes:
        """See `Keeper.described`."""
        log = str(folder.logs / "service.log")
        content = {
            "Label": NAME,
            "ProgramArguments": list(words),
            "EnvironmentVariables": dict(environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 30,
            "ExitTimeOut": _STOP_WITHIN_S,
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
        return plistlib.dumps(content)

    def serves(self, description: bytes, folder: DataFolder) -> bool:
        """See `Keeper.serves`."""
        try:
            environment = plistlib.loads(description)["EnvironmentVariables"]
        except (ValueError, KeyError, plistlib.InvalidFileException, ExpatError):
            return False
        return bool(environment.get(_DATA_DIR) == str(folder.root))

    def start(self) -> None:
        """See `Keeper.start`."""
        _run("launchctl", "bootout", f"{self._domain}/{NAME}")  # An earlier description; there may be none.
        _insist("launchctl", "bootstrap", self._domain, str(self.file))

    def state(self) -> str:
        """See `Keeper.state`."""
        lines = _run("launchctl", "print", f"{self._domain}/{NAME}").stdout.splitlines()
        return next((line.partition("=")[2].strip() for line in lines if line.strip().startswith("state =")), "unknown")


def keeper(platform: str = sys.platform) -> Keeper:
    """Who would keep it on this kind of machine."""
    return Launchd(Path.home()) if platform == "darwin" else Systemd(Path.home())


def run(given: Given) -> int:
    """Have everything run in the background; the exit code. Raises OperatorError."""
    settings = given.settings(CommonSettings)
    roles_for(given)  # Wrong settings are said here and not into a log.
    plain, secret = settings_of_terminal(given)
    if secret:
        place = given.path or settings.data_dir / "zclaw.toml"
        raise BadSettings(
            f"Only this terminal has {', '.join(secret)}, and a service does not see it: "
            f'write it into {place} (chmod 600), like {secret[0].lower()} = "…".'
        )
    service = keeper()
    if not service.is_here():
        sys.stderr.write(
            "Nobody here keeps services of this user (no systemd user session, no launchd). Run `zclaw up` in the "
            "foreground; in a container it is the one process, and the container is what is restarted.\n"
        )
        return 1
    folder = open_folder(settings.data_dir)
    if is_locked(folder.owner_lock):
        raise AlreadyRunning(taken_line(folder))
    environment = {**plain, _DATA_DIR: str(folder.root)}
    if given.path is not None:
        environment["ZCLAW_CONFIG"] = str(given.path.resolve())
    _write(service.file, service.described(command("up", "--unattended"), environment, folder))
    service.start()
    if not _is_started(folder):
        sys.stderr.write(f"The service was started but does not run: `{service.looking}` says why.\n")
        return 1
    sys.stdout.write(
        f"zclaw runs in the background and starts again when you log in; its logs are in {folder.logs}.\n"
        f"`zclaw status` shows what runs, `zclaw down` ends it, and `{service.disabling}` keeps it from starting.\n"
    )
    bots = given.settings(BotSettings)
    if bots.telegram_bot_token or bots.slack_bot_token:
        sys.stdout.write("`zclaw pair` prints the code that makes your account on a platform its owner.\n")
    if isinstance(service, Systemd) and not _lingers():
        sys.stdout.write("It ends when you log out: `loginctl enable-linger` lets it stay.\n")
    return 0


def installed(folder: DataFolder) -> Keeper | None:
    """Who keeps this installation, when it was put into the background."""
    service = keeper()
    try:
        return service if service.serves(service.file.read_bytes(), folder) else None
    except OSError:
        return None


def _is_started(folder: DataFolder) -> bool:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not is_locked(folder.owner_lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _lingers() -> bool:
    return "yes" in _run("loginctl", "show-user", "--property=Linger").stdout


def _write(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as error:
        raise OperatorError(f"{file} cannot be written ({error.strerror}).") from error


def _run(*words: str, within_s: float = _ANSWER_WITHIN_S) -> subprocess.CompletedProcess[str]:
    """The command's end; one that is not there or does not end counts as failed. None of our settings reach it."""
    try:
        return subprocess.run(
            words,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=within_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 1, "", type(error).__name__)


def _insist(*words: str) -> None:
    ended = _run(*words, within_s=_START_WITHIN_S)
    if ended.returncode != 0:
        why = ended.stderr.strip().splitlines()
        raise OperatorError(f"`{' '.join(words)}` failed: {why[-1] if why else 'it said nothing'}")


def _quoted(text: str) -> str:
    """As systemd reads a word with blanks, quotes and `%` in it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    return f'"{escaped}"'
