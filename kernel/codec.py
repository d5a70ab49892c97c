"""Frozen values to versioned JSON and back.

A record is `{"v": 1, "k": <kind>, "d": {…}}`. Members of unions carry a short tag `t`, enums their value, instants
ISO 8601 with offset, spans whole microseconds. Fields that hold their default are left out, and unknown fields are
passed over: adding a field with a default needs no new version; changing a default or a meaning does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, TypeVar, cast

from cattrs import Converter
from cattrs.errors import BaseValidationError, StructureHandlerNotFoundError

from kernel.chat import (
    AccessRequested,
    Attachment,
    ButtonPress,
    ConversationId,
    Draft,
    Expired,
    Inbound,
    MessageRef,
    Notice,
    Outbound,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.errors import BadRecord
from kernel.messages import Image, Message, Opaque, Part, Text, ToolCall, ToolResult
from kernel.ports import Alarm, PromptRecord
from kernel.schedule.values import Cron, Every, Once, Schedule
from kernel.session import Gate, Session, Turn
from kernel.triggers import Trigger

VERSION = 1
"""Of every record that is written; others raise BadRecord."""

T = TypeVar("T")

KINDS: dict[type, str] = {
    Session: "session",
    Turn: "turn",
    Gate: "gate",
    Message: "message",
    Trigger: "trigger",
    PromptRecord: "prompt-record",
    Alarm: "alarm",
    Draft: "draft",
    ConversationId: "conversation",
    Sender: "person",
    MessageRef: "ref",
    Attachment: "attachment",
    UserMessage: "said",
    ButtonPress: "pressed",
    Expired: "expired",
    AccessRequested: "asks-in",
    Reply: "reply",
    Prompt: "prompt",
    PromptClosed: "closed",
    Notice: "notice",
}
"""What can be a record, and the word for it in `k`."""

UNIONS: tuple[tuple[Any, dict[type, str]], ...] = (
    (Part, {Text: "x", Image: "i", ToolCall: "c", ToolResult: "r", Opaque: "o"}),
    (Schedule, {Once: "once", Every: "every", Cron: "cron"}),
)
"""Unions inside records, with the tag of each member."""

_CLASSES = {kind: cls for cls, kind in KINDS.items()}
_DECODE_ERRORS = (
    BaseValidationError,
    StructureHandlerNotFoundError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What cattrs and json raise on a text that is no record of ours; all become BadRecord."""


def encode(value: object) -> str:
    """The record of `value`, whose class is one of `KINDS`; one line, not restricted to ASCII."""
    kind = KINDS[type(value)]
    data = _converter().unstructure(value)
    return json.dumps({"v": VERSION, "k": kind, "d": data}, ensure_ascii=False, separators=(",", ":"))


def decode(cls: type[T], text: str) -> T:
    """The value that `encode` wrote. Raises BadRecord (version, kind or shape unknown), without quoting the text."""
    kind, data = _open(text)
    if _CLASSES.get(kind) is not cls:
        raise BadRecord(f"a record of kind {KINDS[cls]} was expected, this one says {kind[:20]!r}")
    return cast(T, _build(cls, kind, data))


def decode_inbound(text: str) -> Inbound:
    """Whichever inbound `text` holds. Raises BadRecord."""
    return cast(Inbound, _any_of(Inbound, text))


def decode_outbound(text: str) -> Outbound:
    """Whichever outbound `text` holds. Raises BadRecord."""
    return cast(Outbound, _any_of(Outbound, text))


def _any_of(union: UnionType, text: str) -> object:
    kind, data = _open(text)
    cls = _CLASSES.get(kind)
    if cls is None or cls not in union.__args__:
        raise BadRecord(f"a record of kind {kind[:20]!r} stands where another was expected")
    return _build(cls, kind, data)


def _open(text: str) -> tuple[str, object]:
    try:
        record = json.loads(text)
        version, kind, data = record["v"], record["k"], record["d"]
    except _DECODE_ERRORS as error:
        raise BadRecord("a stored record is not one of ours (no JSON with v, k and d)") from error
    if version != VERSION or not isinstance(kind, str):
        raise BadRecord(f"a stored record has version {str(version)[:20]}, this code reads {VERSION}")
    return kind, data


def _build(cls: type, kind: str, data: object) -> object:
    try:
        return _converter().structure(data, cls)
    except _DECODE_ERRORS as error:
        # Not chained: the cause would carry what people wrote into logs.
        raise BadRecord(f"a stored record of kind {kind} has an unknown shape ({type(error).__name__})") from None


@cache
def _converter() -> Converter:
    converter = Converter(omit_if_default=True, detailed_validation=False)
    converter.register_unstructure_hook(datetime, _write_instant)
    converter.register_structure_hook(datetime, lambda text, _: _read_instant(text))
    converter.register_unstructure_hook(date, date.isoformat)
    converter.register_structure_hook(date, lambda text, _: date.fromisoformat(text))
    converter.register_unstructure_hook(timedelta, lambda span: span // timedelta(microseconds=1))
    converter.register_structure_hook(timedelta, lambda number, _: timedelta(microseconds=number))
    for plain in (str, int, bool):
        converter.register_structure_hook(plain, _exactly(plain))
    for union, tags in UNIONS:
        _register_union(converter, union, tags)
    return converter


def _register_union(converter: Converter, union: Any, tags: dict[type, str]) -> None:
    """Tagged members, with the hooks of each looked up once."""
    writers = {cls: converter.get_unstructure_hook(cls) for cls in tags}
    readers = {tag: (converter.get_structure_hook(cls), cls) for cls, tag in tags.items()}

    def write(value: object) -> dict[str, object]:
        cls = value.__class__
        written: dict[str, object] = writers[cls](value)
        written["t"] = tags[cls]
        return written

    def read(data: dict[str, Any], _: object) -> object:
        hook, cls = readers[data["t"]]
        return hook(data, cls)

    converter.register_unstructure_hook(union, write)
    converter.register_structure_hook(union, read)


def _exactly(plain: type) -> Callable[[object, object], object]:
    """cattrs would call `str(5)`; a record with the wrong type is damaged, not to be guessed at."""

    def read(value: object, _: object) -> object:
        if value.__class__ is not plain:
            raise TypeError(plain.__name__)
        return value

    return read


def _write_instant(instant: datetime) -> str:
    if instant.tzinfo is None:
        raise ValueError("a naive datetime in a record: all instants are aware UTC")
    return instant.astimezone(UTC).isoformat()


def _read_instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError("naive")
    return instant.astimezone(UTC)
