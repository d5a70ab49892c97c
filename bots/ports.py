"""The ports that bots use, as one value that wiring hands in."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.ports import (
    Blobs,
    Chats,
    Clock,
    Conversations,
    Fetches,
    Grants,
    Locks,
    Outbox,
    People,
    Prompts,
    Rates,
    Silences,
    Wakeups,
)


@dataclass(frozen=True, slots=True)
class BotPorts:
    """One object a port, all over the same store."""

    conversations: Conversations
    fetches: Fetches
    blobs: Blobs
    outbox: Outbox
    prompts: Prompts
    people: People
    chats: Chats
    grants: Grants
    rates: Rates
    silences: Silences
    locks: Locks
    wakeups: Wakeups
    clock: Clock
