"""Turns what a person wrote for one setting into its value, or says in one line what to change.

Every reader takes the setting's name as the person wrote it and the value as given: text from the environment; text,
number, boolean or list from `zclaw.toml`. It raises BadSettings, and repeats no value that could be a secret.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from enum import Enum
from pathlib import Path
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from kernel.errors import BadSettings
from kernel.settings import ListenAddress, ModelChoice, PlatformId, Secret

Plain: TypeAlias = str | int | float | bool | list[str]
"""A value as given; it survives JSON."""

_E = TypeVar("_E", bound=Enum)

_ECHO_LIMIT_CHARS = 40
_MOST_DOLLARS = 100_000
_NUMERIC = re.compile(r"-?[0-9]{1,20}")
_SLACK_ID = re.compile(r"[UWCGDT][A-Z0-9]{2,20}")


def text(name: str, given: Plain) -> str:
    """Any text in one line."""
    if not isinstance(given, str) or not given.isprintable():
        raise BadSettings(f"{name} must be text in one line.")
    return given.strip()


def secret(name: str, given: Plain) -> Secret:
    """A secret of any form."""
    return Secret(text(name, given))


def secret_like(pattern: str, form: str) -> Callable[[str, Plain], Secret]:
    """A reader for a secret that a whole `pattern` must match; `form` tells a person what one looks like."""

    def read(name: str, given: Plain) -> Secret:
        value = text(name, given)
        if not re.fullmatch(pattern, value):
            raise BadSettings(f"{name} does not look right: {form}.")
        return Secret(value)

    return read


def url(name: str, given: Plain) -> str:
    """An http or https address."""
    return _address(name, given, ("http", "https"))


def slack_api_url(name: str, given: Plain) -> str:
    """An http or https address that ends in `/api/`, as Slack's clients need it."""
    value = url(name, given)
    if not value.endswith("/api/"):
        raise BadSettings(f"{name} must end in /api/ (the last slash too).")
    return value


def redis_url(name: str, given: Plain) -> Secret:
    """The address of a Redis or Valkey server; secret, since it may hold a password."""
    return Secret(_address(name, given, ("redis", "rediss", "unix")))


def folder(name: str, given: Plain) -> Path:
    """An absolute path; `~` is the home folder."""
    value = text(name, given)
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise BadSettings(f"{name} must be an absolute path, not {_echo(value)}.")
    return path


def zone(name: str, given: Plain) -> ZoneInfo:
    """A time zone by its IANA name."""
    value = text(name, given)
    try:
        return ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        hint = nearest(value, zoneinfo.available_timezones()) or "Asia/Shanghai"
        raise BadSettings(f"{name}: there is no time zone {_echo(value)}; did you mean {hint}?") from None


def one_of(kind: type[_E]) -> Callable[[str, Plain], _E]:
    """A reader for one word of the enum `kind`."""

    def read(name: str, given: Plain) -> _E:
        value = text(name, given).lower()
        for member in kind:
            if member.value == value:
                return member
        raise BadSettings(f"{name} must be one of {', '.join(str(m.value) for m in kind)}; it is {_echo(value)}.")

    return read


def switch(name: str, given: Plain) -> bool:
    """True or false."""
    match given:
        case bool():
            return given
        case "true" | "false":
            return given == "true"
        case _:
            raise BadSettings(f"{name} must be true or false.")


def count(least: int, most: int) -> Callable[[str, Plain], int]:
    """A reader for a whole number from `least` to `most`."""

    def read(name: str, given: Plain) -> int:
        digits = given if isinstance(given, str) else str(given)
        if isinstance(given, bool) or not _NUMERIC.fullmatch(digits) or not least <= int(digits) <= most:
            raise BadSettings(f"{name} must be a whole number from {least} to {most}.")
        return int(digits)

    return read


def dollars(name: str, given: Plain) -> int:
    """An amount of US dollars like 2 or 0.5, in millionths of a dollar."""
    try:
        amount = Decimal(str(given)) * 1_000_000
    except InvalidOperation:
        amount = Decimal(0)
    if isinstance(given, bool | list) or not amount.is_finite() or not 0 < amount <= _MOST_DOLLARS * 1_000_000:
        raise BadSettings(f"{name} must be an amount of US dollars like 0.5, at most {_MOST_DOLLARS}.")
    return int(amount)


def platform_ids(name: str, given: Plain) -> frozenset[PlatformId]:
    """People, groups, channels and teams by numeric or Slack id; a name is refused: names can be taken over."""
    return frozenset(_platform_id(name, entry) for entry in _entries(name, given))


def models(name: str, given: Plain) -> tuple[ModelChoice, ...]:
    """Models in the order of failover, each `anthropic:<model>` or `openai:<model>`."""
    return tuple(_model(name, entry) for entry in _entries(name, given))


def host_ports(name: str, given: Plain) -> frozenset[tuple[str, int]]:
    """Exact exceptions to the address rule, each `host:port`; an IPv6 host stands in brackets."""
    found = [listen_address(name, entry) for entry in _entries(name, given)]
    return frozenset((each.host, each.port) for each in found)


def listen_address(name: str, given: Plain) -> ListenAddress:
    """`host:port`; an IPv6 host stands in brackets."""
    host, colon, port = text(name, given).rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise BadSettings(f"{name} must be host:port, like 127.0.0.1:8377.")
    return ListenAddress(host.strip("[]"), int(port))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant; None when none is near."""
    by_case = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_case, n=1, cutoff=0.5)
    return by_case[found[0]] if found else None


def _address(name: str, given: Plain, schemes: tuple[str, ...]) -> str:
    value = text(name, given)
    try:
        parts = urlsplit(value)
        complete = bool(parts.path) if parts.scheme == "unix" else bool(parts.hostname)
        parts.port  # noqa: B018 — raises when the port is no number
    except ValueError:
        complete = False
    if not complete or parts.scheme not in schemes or any(c.isspace() for c in value):
        raise BadSettings(f"{name} must be an address that starts with {' or '.join(s + '://' for s in schemes)}.")
    return value


def _entries(name: str, given: Plain) -> list[str]:
    match given:
        case str():
            parts = given.split(",")
        case list():
            parts = given
        case _:
            raise BadSettings(f"{name} must be a list, or one text with commas.")
    return [part.strip() for part in parts if part.strip()]


def _platform_id(name: str, entry: str) -> PlatformId:
    platform, _, id_ = entry.partition(":")
    match platform:
        case "telegram" if _NUMERIC.fullmatch(id_):
            return PlatformId(platform, id_)
        case "slack" if _SLACK_ID.fullmatch(id_):
            return PlatformId(platform, id_)
        case "telegram":
            wanted = (
                "a Telegram entry is telegram:<number> (the bot answers a stranger with it); names are not accepted"
            )
        case "slack":
            wanted = "a Slack entry is slack:<id> like slack:U012AB3CD; names are not accepted"
        case _:
            wanted = "an entry is telegram:<number> or slack:<id>; names are not accepted"
    raise BadSettings(f"{name}: {_echo(entry)} cannot be used: {wanted}.")


def _model(name: str, entry: str) -> ModelChoice:
    provider, _, model = entry.partition(":")
    if provider not in ("anthropic", "openai") or not model or any(c.isspace() for c in model):
        raise BadSettings(f"{name}: {_echo(entry)} must be anthropic:<model> or openai:<model>.")
    return ModelChoice(provider, model)


def _echo(value: str) -> str:
    shown = value if len(value) <= _ECHO_LIMIT_CHARS else "that value"
    return f"“{shown}”" if shown is value else shown
