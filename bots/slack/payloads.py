"""What stands in Slack's payloads: found without raising, whatever JSON it is, and dated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bots.splitting import clean

TS: Final = re.compile(r"[0-9]{1,10}\.[0-9]{6}")
PERSON: Final = re.compile(r"[UW][A-Z0-9]{1,30}")
BOT: Final = re.compile(r"B[A-Z0-9]{1,30}")
CHANNEL: Final = re.compile(r"[CDG][A-Z0-9]{1,30}")
WORD: Final = re.compile(r"[\x21-\x7e]{1,255}")
NAME_LIMIT: Final = 80
"""Characters; Slack's own limit of names."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def as_object(value: object) -> Mapping[str, object]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_items(value: object) -> Sequence[object]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """`value` when it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """`value` when it counts something, else 0: `true` is a number to Python and none to who reads it back."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def as_name(value: object) -> str:
    """`value` as the name of somebody or something: clean and short; empty when it is no text."""
    return clean(as_text(value))[:NAME_LIMIT]


def micros_of(ts: str) -> int:
    """Microseconds since 1970 of a `ts` that matches `TS`: Slack's own order within a channel."""
    seconds, _, micros = ts.partition(".")
    return int(seconds) * 1_000_000 + int(micros)


def instant_of(ts: str) -> datetime:
    """The moment, aware UTC, of a `ts` that matches `TS`."""
    return _EPOCH + timedelta(microseconds=micros_of(ts))


def micros_at(moment: datetime) -> int:
    """`moment`, aware UTC, as `micros_of` counts."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def is_outside(home: str, *teams: object) -> bool:
    """Whether any of `teams` is another workspace. Organisations (`E…`) are above workspaces, not beside them."""
    return any(isinstance(team, str) and team.startswith("T") and team != home for team in teams)


def thread_of(thread_ts: object, ts: str) -> str:
    """The thread a message stands in; its root, which carries its own ts once it has replies, stands outside."""
    thread = as_text(thread_ts)
    return thread if thread != ts and TS.fullmatch(thread) else ""
