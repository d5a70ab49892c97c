"""What can be set, as values: the settings of each role and the words they are made of.

`kernel/config.py` reads them; everyone else is handed them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import Enum
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from kernel.errors import BadSettings
from kernel.messages import Effort, Thinking


class Secret:
    """A value that only `reveal` shows: not repr, not str, not a format, not a pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself; for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(••••)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not stored")


@dataclass(frozen=True, slots=True, order=True)
class PlatformId:
    """A person, group, channel or team, by the id that its platform gave it; never by a name."""

    platform: str
    id: str


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and the kind of service that runs it: `anthropic` or `openai`."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where `zclaw bots` listens for HTTP."""

    host: str
    port: int


class Language(Enum):
    """The language the bot answers in; `auto` follows the person."""

    AUTO = "auto"
    ZH = "zh"
    EN = "en"


class LogLevel(Enum):
    """How much goes into the logs."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class AccessRule(Enum):
    """Who may talk to the bot beyond `allow` and `owners`, from strict to open."""

    ALLOWLIST = "allowlist"
    PAIRING = "pairing"
    OPEN = "open"


class ThinkingMode(Enum):
    """How models think before they act."""

    OFF = "off"
    """As little as the model allows."""
    NATIVE = "native"
    """In its own way, where it has one."""
    PLAN = "plan"
    """It writes a plan first, without tools; its own thinking is left to it."""

    @property
    def of_model(self) -> Thinking:
        """What a request tells the model about it."""
        match self:
            case ThinkingMode.OFF:
                return Thinking.OFF
            case ThinkingMode.NATIVE:
                return Thinking.ON
            case ThinkingMode.PLAN:
                return Thinking.OWN


def default_data_dir() -> Path:
    """Where an installation lives when nobody says otherwise."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "zclaw"
    return Path.home() / ".local" / "share" / "zclaw"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSettings:
    """What every role gets."""

    redis_url: Secret | None = None
    """None: the embedded store in `data_dir`."""
    data_dir: Path = field(default_factory=default_data_dir)
    blob_dir: Path | None = None
    """None: blobs lie in Redis."""
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    lang: Language = Language.AUTO
    log: LogLevel = LogLevel.INFO
    allow: frozenset[PlatformId] = frozenset()
    owners: frozenset[PlatformId] = frozenset()
    access: AccessRule = AccessRule.PAIRING


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSettings(CommonSettings):
    """What `zclaw bots` gets: the platforms' secrets, no model's."""

    listen: ListenAddress = field(default_factory=lambda: ListenAddress("127.0.0.1", 8377))
    telegram_bot_token: Secret | None = None
    telegram_api_url: str | None = None
    telegram_webhook_url: str | None = None
    telegram_webhook_secret: Secret | None = None
    slack_bot_token: Secret | None = None
    slack_app_token: Secret | None = None
    slack_signing_secret: Secret | None = None
    slack_api_url: str | None = None
    limits_messages: int = 300
    """Messages and presses a minute that are read of one who was let in."""
    limits_member_messages: int = 30
    """Likewise of one whom only an open chat lets talk."""

    def __post_init__(self) -> None:
        if self.slack_bot_token and not (self.slack_app_token or self.slack_signing_secret):
            raise BadSettings(
                "SLACK_BOT_TOKEN needs SLACK_APP_TOKEN beside it (Socket Mode), or SLACK_SIGNING_SECRET (HTTP)."
            )
        if self.slack_app_token and not self.slack_bot_token:
            raise BadSettings("SLACK_APP_TOKEN needs SLACK_BOT_TOKEN beside it.")
        if self.telegram_webhook_url and not self.telegram_webhook_secret:
            raise BadSettings("TELEGRAM_WEBHOOK_URL needs TELEGRAM_WEBHOOK_SECRET beside it.")
        if self.telegram_webhook_url:
            _check_webhook(self.telegram_webhook_url)


def _check_webhook(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        raise BadSettings("TELEGRAM_WEBHOOK_URL must start with https://: Telegram sends what people say there.")
    if not parts.path.endswith("/telegram") or parts.query or parts.fragment:
        raise BadSettings("TELEGRAM_WEBHOOK_URL must end in /telegram: that is where `zclaw bots` listens for it.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings(CommonSettings):
    """What `zclaw worker` gets: the models' secrets, no platform's."""

    model: tuple[ModelChoice, ...] = ()
    """Empty: chosen from the keys that are set."""
    anthropic_api_key: Secret | None = None
    anthropic_base_url: str | None = None
    openai_api_key: Secret | None = None
    openai_base_url: str | None = None
    transcripts: Path | None = None
    chat_fold: bool = True
    """False: each message gets an answer of its own."""
    chat_history: int = 200
    """How many messages of a chat a request may hold."""
    model_max_iterations: int = 10
    model_thinking: ThinkingMode = ThinkingMode.NATIVE
    model_effort: Effort | None = None
    """None: the model's own."""
    model_persona: Path | None = None
    """The file that `kernel.persona` reads; None: `persona.md` in `data_dir`, where there is one."""
    net_allow: frozenset[tuple[str, int]] = frozenset()
    """Hosts and ports that tools may reach although their addresses are not public."""
    limits_daily_tokens: int | None = None
    """What one chat may use up in a day, in and out; None: no limit."""
    limits_daily_money: int | None = None
    """Likewise in millionths of a US dollar, as `kernel.usage` estimates it."""

    def __post_init__(self) -> None:
        kinds = {choice.provider for choice in self.model}
        if "anthropic" in kinds and not (self.anthropic_api_key or self.anthropic_base_url):
            raise BadSettings("ZCLAW_MODEL names an Anthropic model: set ANTHROPIC_API_KEY too.")
        if "openai" in kinds and not (self.openai_api_key or self.openai_base_url):
            raise BadSettings("ZCLAW_MODEL names an OpenAI model: set OPENAI_API_KEY or OPENAI_BASE_URL too.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSettings(CommonSettings):
    """What `zclaw scheduler` gets: no secret but the way to the store."""
