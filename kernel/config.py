"""Settings: what a person may set, where it is read, and which part of it each role gets.

A setting has one key. In the environment it is the key in capitals, with `ZCLAW_` in front unless it belongs to a
service we talk to (TELEGRAM_, SLACK_, ANTHROPIC_, OPENAI_); in `zclaw.toml` it is the key itself, or stands in a
table; in the settings classes it is the field of that name. The environment wins over the file, except that of two
`access` values the stricter one does. So a new setting is one line in `_SETTINGS` and one field.

A role started by the supervisor finds its part, already merged, in a pipe instead: one line of JSON, after which the
pipe stays open for as long as the supervisor lives (zclaw/leash.py).

This is the only module that touches the environment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from kernel import readers
from kernel.errors import BadSettings
from kernel.messages import Effort
from kernel.misspelt import meant_by
from kernel.readers import Plain
from kernel.settings import (
    AccessRule,
    BotSettings,
    CommonSettings,
    Language,
    ListenAddress,
    LogLevel,
    ModelChoice,
    PlatformId,
    SchedulerSettings,
    Secret,
    ThinkingMode,
    WorkerSettings,
    default_data_dir,
)
from kernel.settings_file import load

__all__ = [
    "AccessRule",
    "BotSettings",
    "CommonSettings",
    "Given",
    "Language",
    "ListenAddress",
    "LogLevel",
    "ModelChoice",
    "PlatformId",
    "SchedulerSettings",
    "Secret",
    "ThinkingMode",
    "WorkerSettings",
    "child_environment",
    "conceal",
    "machine_language",
    "read",
    "secret_values",
    "settings_of_terminal",
]

HANDED_FD = "ZCLAW_HANDED_FD"
"""Names the inherited pipe with this process's settings; set by us, not by people."""

_HANDED_LIMIT_BYTES = 60_000
"""What a pipe takes without a reader on the other side, with room to spare (64 KiB)."""


def _local_zone() -> ZoneInfo:
    """The machine's own zone, so that nine o'clock on a laptop is its owner's; UTC when it does not say."""
    try:
        named = os.environ.get("TZ", "").lstrip(":") or str(Path("/etc/localtime").resolve())
        return ZoneInfo(named.rpartition("zoneinfo/")[2])
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


_S = TypeVar("_S", bound=CommonSettings)


@dataclass(frozen=True, slots=True)
class _Setting:
    key: str
    read: Callable[[str, Plain], Any]
    env: str | None = None
    """None: only in the file, in a table: `chat_fold` is `fold` in `[chat]`."""
    secret: bool = False


def _ours(key: str, read: Callable[[str, Plain], Any], *, secret: bool = False) -> _Setting:
    return _Setting(key, read, "ZCLAW_" + key.upper(), secret)


def _service(env: str, read: Callable[[str, Plain], Any], *, secret: bool = False) -> _Setting:
    return _Setting(env.lower(), read, env, secret)


_TELEGRAM_TOKEN = readers.secret_like(r"[0-9]+:[A-Za-z0-9_-]+", "BotFather gives one like 123456789:AbC…")
_TELEGRAM_SECRET = readers.secret_like(r"[A-Za-z0-9_-]{1,256}", "Telegram takes letters, digits, _ and - (256 at most)")
_SLACK_BOT_TOKEN = readers.secret_like(r"xoxb-\S+", "a bot token starts with xoxb-")
_SLACK_APP_TOKEN = readers.secret_like(r"xapp-\S+", "an app-level token starts with xapp-")

_SETTINGS = (
    _ours("redis_url", readers.redis_url, secret=True),
    _ours("data_dir", readers.folder),
    _ours("blob_dir", readers.folder),
    _ours("timezone", readers.zone),
    _ours("lang", readers.one_of(Language)),
    _ours("log", readers.one_of(LogLevel)),
    _ours("transcripts", readers.folder),
    _ours("listen", readers.listen_address),
    _ours("allow", readers.platform_ids),
    _ours("owners", readers.platform_ids),
    _ours("access", readers.one_of(AccessRule)),
    _ours("model", readers.models),
    _service("ANTHROPIC_API_KEY", readers.secret, secret=True),
    _service("ANTHROPIC_BASE_URL", readers.url),
    _service("OPENAI_API_KEY", readers.secret, secret=True),
    _service("OPENAI_BASE_URL", readers.url),
    _service("TELEGRAM_BOT_TOKEN", _TELEGRAM_TOKEN, secret=True),
    _service("TELEGRAM_API_URL", readers.url),
    _service("TELEGRAM_WEBHOOK_URL", readers.url),
    _service("TELEGRAM_WEBHOOK_SECRET", _TELEGRAM_SECRET, secret=True),
    _service("SLACK_BOT_TOKEN", _SLACK_BOT_TOKEN, secret=True),
    _service("SLACK_APP_TOKEN", _SLACK_APP_TOKEN, secret=True),
    _service("SLACK_SIGNING_SECRET", readers.secret, secret=True),
    _service("SLACK_API_URL", readers.slack_api_url),
    _Setting("chat_fold", readers.switch),
    _Setting("chat_history", readers.count(40, 10_000)),
    _Setting("model_max_iterations", readers.count(1, 1_000)),
    _Setting("model_thinking", readers.one_of(ThinkingMode)),
    _Setting("model_effort", readers.one_of(Effort)),
    _Setting("model_persona", readers.folder),
    _Setting("net_allow", readers.host_ports),
    _Setting("limits_daily_tokens", readers.count(1, 1_000_000_000)),
    _Setting("limits_daily_money", readers.dollars),
    _Setting("limits_messages", readers.count(1, 100_000)),
    _Setting("limits_member_messages", readers.count(1, 100_000)),
)

_TABLES = {
    "chat": ("fold", "history"),
    "model": ("name", "max_iterations", "thinking", "effort", "persona"),
    "limits": ("daily_tokens", "daily_money", "messages", "member_messages"),
    "net": ("allow",),
}
"""`[model] name` is `model` itself: TOML cannot hold a value and a table of one name."""

_CONFIG = "ZCLAW_CONFIG"
_BY_KEY = {setting.key: setting for setting in _SETTINGS}
_BY_ENV = {setting.env: setting for setting in _SETTINGS if setting.env}

_HARMLESS = frozenset(
    {
        *("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR"),
        *("LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)
_HARMLESS_STARTS = ("LC_", "XDG_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Given:
    """Settings as given, merged and checked for their names; `settings` reads their values."""

    values: Mapping[str, Plain] = field(repr=False)
    written: Mapping[str, str] = field(repr=False, default_factory=dict)
    """How the person wrote each key, for messages."""
    pipe: int | None = None
    """The supervisor's pipe that these came from; its closing means that the supervisor is gone."""
    path: Path | None = None
    """The `zclaw.toml` that was read."""

    def settings(self, kind: type[_S]) -> _S:
        """The settings of one role, all values read. Raises BadSettings."""
        values: dict[str, Any] = {"timezone": _local_zone()}
        for part in fields(kind):
            if part.name in self.values:
                written = self.written.get(part.name, part.name)
                values[part.name] = _BY_KEY[part.name].read(written, self.values[part.name])
        return kind(**values)

    def part(self, kind: type[CommonSettings]) -> Given:
        """Only what a role of this kind may know."""
        names = {part.name for part in fields(kind)}
        return Given(
            {key: value for key, value in self.values.items() if key in names},
            {key: written for key, written in self.written.items() if key in names},
        )

    def with_redis_url(self, url: str) -> Given:
        """The same with the store at `url`."""
        return replace(self, values={**self.values, "redis_url": url})

    def line(self, *, leash: bool) -> bytes:
        """These settings as the line that a pipe hands on; `leash` when the pipe stays open as long as its writer.

        Raises BadSettings when it is too long.
        """
        content = {"values": dict(self.values), "written": dict(self.written), "leash": leash}
        handed = json.dumps(content).encode() + b"\n"
        if len(handed) > _HANDED_LIMIT_BYTES:
            raise BadSettings(f"The settings are too long together (over {_HANDED_LIMIT_BYTES // 1000} kB).")
        return handed


def read(environ: MutableMapping[str, str] | None = None, working_folder: Path | None = None) -> Given:
    """The settings of this process: from the supervisor's pipe, else from the environment and `zclaw.toml`.

    Checks every name. Raises BadSettings.
    """
    environ = os.environ if environ is None else environ
    handed = environ.pop(HANDED_FD, None)
    if handed is not None:
        return _from_pipe(int(handed) if handed.isdigit() else -1)
    values: dict[str, Plain] = {}
    written: dict[str, str] = {}
    for name, value in environ.items():
        setting = _BY_ENV.get(name)
        if setting is None and name.startswith("ZCLAW_") and name != _CONFIG:
            raise BadSettings(f"{name} is not a setting{_did_you_mean(name, [*_BY_ENV, _CONFIG])}")
        if setting is not None and value.strip():
            values[setting.key], written[setting.key] = value, name
    path = _config_file(environ, values, working_folder or Path.cwd())
    if path is not None:
        for key, wrote, found in _from_file(path):
            if key not in values or (key == "access" and _is_stricter(wrote, found, values[key])):
                values[key], written[key] = found, wrote
    return Given(values, written, path=path)


def mistaken_names(
    environ: Mapping[str, str] | None = None, working_folder: Path | None = None
) -> tuple[tuple[str, str], ...]:
    """Variables that nobody reads, each with the one that was probably meant and is set nowhere. Raises BadSettings.

    Our own prefix is strict: such a name is an error. These belong to others, who may mean something by them.
    """
    environ = os.environ if environ is None else environ
    if HANDED_FD in environ:
        return ()
    near = [(name, meant_by(name, (*_BY_ENV, _CONFIG))) for name in environ if not name.startswith("ZCLAW_")]
    found = [(name, right) for name, right in near if right is not None]
    if not found:
        return ()
    given = read(dict(environ), working_folder)
    return tuple((name, right) for name, right in found if right.lower().removeprefix("zclaw_") not in given.values)


def setting_names() -> tuple[str, ...]:
    """Every name that may be set, as people write it: in the environment, or `[table] name` in the file."""
    tables = (f"[{table}] {name}" for table, names in _TABLES.items() for name in names)
    return (*_BY_ENV, _CONFIG, *tables)


def machine_language(environ: Mapping[str, str] | None = None) -> str | None:
    """The language that this machine's locale asks for, `zh` or `en`; None for any other, `C` too.

    Read as written: a locale that is not installed here still says what its person reads.
    """
    environ = os.environ if environ is None else environ
    named = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    language = named.partition(".")[0].partition("_")[0].lower()
    return language if language in ("zh", "en") else None


def conceal(command: list[str], environ: MutableMapping[str, str] | None = None) -> None:
    """Start `command` in this process's place when the environment holds a secret; return when it holds none.

    What a process was started with stays readable in /proc for as long as it lives, also after a variable is
    removed. The new start finds the same settings in a pipe. Raises BadSettings.
    """
    environ = os.environ if environ is None else environ
    if not any(setting.secret and environ.get(name) for name, setting in _BY_ENV.items()):
        return
    line = read(environ).line(leash=False)
    reading, writing = os.pipe()
    os.write(writing, line)
    os.close(writing)
    os.set_inheritable(reading, True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(command[0], command, {**child_environment(environ), HANDED_FD: str(reading)})  # noqa: S606


def child_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment that a process of ours is started with: no setting of ours, nothing we do not know."""
    environ = os.environ if environ is None else environ
    return {
        name: value for name, value in environ.items() if name.upper() in _HARMLESS or name.startswith(_HARMLESS_STARTS)
    }


def settings_of_terminal(given: Given, environ: Mapping[str, str] | None = None) -> tuple[dict[str, str], list[str]]:
    """What this process's environment sets: the plain ones by name, and the names of the secrets."""
    environ = os.environ if environ is None else environ
    named = {name: setting for name, setting in _BY_ENV.items() if given.written.get(setting.key) == name}
    plain = {name: environ[name] for name, setting in named.items() if name in environ and not setting.secret}
    return plain, [name for name, setting in named.items() if setting.secret]


def secret_values(settings: CommonSettings) -> tuple[str, ...]:
    """Every secret that these settings hold, for masking."""
    held = (getattr(settings, part.name) for part in fields(settings))
    return tuple(value.reveal() for value in held if isinstance(value, Secret))


def _from_pipe(fd: int) -> Given:
    line = b""
    try:
        os.set_inheritable(fd, False)
        while not line.endswith(b"\n"):
            piece = os.read(fd, 65536)
            if not piece:
                break
            line += piece
        handed = json.loads(line)
        given = Given(handed["values"], handed["written"], fd if handed["leash"] else None)
    except (OSError, ValueError, KeyError) as error:
        raise BadSettings(f"{HANDED_FD} is set by zclaw itself: unset it.") from error
    if given.pipe is None:
        os.close(fd)
    return given


def _config_file(environ: Mapping[str, str], values: Mapping[str, Plain], working_folder: Path) -> Path | None:
    named = environ.get(_CONFIG, "").strip()
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise BadSettings(f"{_CONFIG} names a file that is not there: {path}.")
        return path
    data_dir = readers.folder("ZCLAW_DATA_DIR", values["data_dir"]) if "data_dir" in values else default_data_dir()
    for folder in (working_folder, data_dir):
        if (folder / "zclaw.toml").is_file():
            return folder / "zclaw.toml"
    return None


def _from_file(path: Path) -> Iterator[tuple[str, str, Plain]]:
    """Key, how it was written, and value of everything in a `zclaw.toml`."""
    content = load(path)
    top = [setting.key for setting in _SETTINGS if setting.env]
    for name, value in content.items():
        if isinstance(value, dict) and name in _TABLES:
            yield from _from_table(path, name, value)
        elif name not in top:
            raise BadSettings(f"{path}: {name} is not a setting{_did_you_mean(name, [*top, *_TABLES])}")
        else:
            yield name, f"{name} in {path}", _plain(path, name, value)


def _from_table(path: Path, table: str, content: dict[str, Any]) -> Iterator[tuple[str, str, Plain]]:
    for name, value in content.items():
        if name not in _TABLES[table]:
            hint = _did_you_mean(name, _TABLES[table])
            raise BadSettings(f"{path}: {name} in [{table}] is not a setting{hint}")
        key = "model" if (table, name) == ("model", "name") else f"{table}_{name}"
        yield key, f"{name} of [{table}] in {path}", _plain(path, name, value)


def _plain(path: Path, name: str, value: object) -> Plain:
    match value:
        case str() | bool() | int() | float():
            return value
        case list() if all(isinstance(entry, str) for entry in value):
            return value
        case _:
            raise BadSettings(f"{path}: {name} must be text, a number, true, false or a list of texts.")


def _is_stricter(written: str, value: Plain, than: Plain) -> bool:
    order = list(AccessRule)
    read_access = readers.one_of(AccessRule)
    return order.index(read_access(written, value)) < order.index(read_access("ZCLAW_ACCESS", than))


def _did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str:
    found = readers.nearest(word, known)
    return f"; did you mean {found}?" if found else "."
