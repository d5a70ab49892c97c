"""Finding our own posts again: each carries a mark that only we write and only we read (`metadata`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from bots.adapter import AnswerLost
from bots.slack.calls import PAUSE, Calls
from kernel.chat import ConversationId
from kernel.errors import RetryLater
from kernel.ports import Clock

LOOK_PATIENCE_S: Final = 3.0
"""With a call's own time-out behind it still within the lease."""
_LOOK_BACK: Final = timedelta(days=1)
"""How far back a post is looked for; its sender may have been dead for a while."""
_LOOK_AT: Final = 200
"""How many messages are looked through; the most that Slack recommends to ask for at once."""


class Kind(Enum):
    """What a post is; the value is the `event_type` of its metadata."""

    MESSAGE = "zclaw_message"
    DRAFT = "zclaw_draft"


@dataclass(frozen=True, slots=True)
class Marked:
    """A post of ours. `key` is the part's or, of a draft, the turn's."""

    ts: str
    kind: Kind
    key: str


def mark(kind: Kind, key: str) -> dict[str, object]:
    """The `metadata` of a post."""
    return {"event_type": kind.value, "event_payload": {"key": key}}


async def marked_in(
    place: ConversationId,
    calls: Calls,
    clock: Clock,
    patience_s: float = LOOK_PATIENCE_S,
    *,
    is_draft: bool = False,
) -> tuple[Marked, ...]:
    """Our posts among the newest of a chat or thread, in Slack's order. `is_draft`: a draft is looked for, no message.

    Raises `RetryLater` when Slack does not tell now, an `OperatorError` when it never will.
    """
    where: dict[str, object] = {
        "channel": place.chat,
        "oldest": f"{(clock.now() - _LOOK_BACK).timestamp():.6f}",
        "limit": _LOOK_AT,
        "include_all_metadata": True,
        "ts": place.thread or None,
    }
    method = "conversations.replies" if place.thread else "conversations.history"
    try:
        async with asyncio.timeout(patience_s):
            answer = await calls.ask(method, where, reads=True, is_draft=is_draft)
    except (AnswerLost, TimeoutError) as error:
        raise RetryLater(f"{method}: no answer", PAUSE) from error
    messages = answer.get("messages")
    return tuple(_marked(messages)) if isinstance(messages, list) else ()


def _marked(messages: list[object]) -> Iterator[Marked]:
    for message in messages:
        if isinstance(message, dict) and (found := _read(message)):
            yield found


def _read(message: Mapping[str, object]) -> Marked | None:
    ts, metadata = message.get("ts"), message.get("metadata")
    if not isinstance(ts, str) or not isinstance(metadata, dict):
        return None
    kind = next((each for each in Kind if each.value == metadata.get("event_type")), None)
    payload = metadata.get("event_payload")
    key = payload.get("key") if isinstance(payload, dict) else None
    return Marked(ts, kind, key) if kind is not None and isinstance(key, str) else None
