"""All that a process remembers with: one value that wiring hands on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kernel.ports import (
    Beats,
    Blobs,
    Chats,
    Conversations,
    Memories,
    Outbox,
    People,
    Prompts,
    Spendings,
    Triggers,
    Wakeups,
)


@dataclass(frozen=True, slots=True)
class Stores:
    """One object a port, all over the same memory; `close` lets go of connections."""

    conversations: Conversations
    outbox: Outbox
    triggers: Triggers
    prompts: Prompts
    people: People
    chats: Chats
    memories: Memories
    spendings: Spendings
    blobs: Blobs
    beats: Beats
    wakeups: Wakeups
    close: Callable[[], Awaitable[None]]
