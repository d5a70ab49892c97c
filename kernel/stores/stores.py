"""All that a process remembers with: one value that wiring hands on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kernel.ports import (
    Beats,
    Blobs,
    Chats,
    Conversations,
    Fetches,
    Floods,
    Grants,
    Locks,
    Memories,
    Outbox,
    Overview,
    People,
    Prompts,
    Rates,
    Silences,
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
    grants: Grants
    rates: Rates
    floods: Floods
    silences: Silences
    memories: Memories
    spendings: Spendings
    fetches: Fetches
    blobs: Blobs
    beats: Beats
    locks: Locks
    overview: Overview
    wakeups: Wakeups
    close: Callable[[], Awaitable[None]]
