"""All ports over one memory: what tests and stories run on."""

from __future__ import annotations

from kernel.ports import Clock
from kernel.stores import rules
from kernel.stores.memory.beats import MemoryBeats
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.chats import MemoryChats
from kernel.stores.memory.conversations import MemoryConversations
from kernel.stores.memory.fetches import MemoryFetches
from kernel.stores.memory.floods import MemoryFloods
from kernel.stores.memory.grants import MemoryGrants
from kernel.stores.memory.locks import MemoryLocks
from kernel.stores.memory.memories import MemoryMemories
from kernel.stores.memory.outbox import MemoryOutbox
from kernel.stores.memory.overview import MemoryOverview
from kernel.stores.memory.people import MemoryPeople
from kernel.stores.memory.prompts import MemoryPrompts
from kernel.stores.memory.rates import MemoryRates
from kernel.stores.memory.silences import MemorySilences
from kernel.stores.memory.spendings import MemorySpendings
from kernel.stores.memory.state import Memory
from kernel.stores.memory.triggers import MemoryTriggers
from kernel.stores.memory.wakeups import MemoryWakeups
from kernel.stores.stores import Stores


def memory_stores(
    clock: Clock, *, memory: Memory | None = None, blob_total_bytes: int = rules.BLOB_TOTAL_BYTES
) -> Stores:
    """Stores that forget everything with the process; several over one `memory` are several processes."""
    shared = Memory(clock) if memory is None else memory

    async def close() -> None:
        """Nothing to let go of."""

    return Stores(
        conversations=MemoryConversations(shared),
        outbox=MemoryOutbox(shared),
        triggers=MemoryTriggers(shared),
        prompts=MemoryPrompts(shared),
        people=MemoryPeople(shared),
        chats=MemoryChats(shared),
        grants=MemoryGrants(shared),
        rates=MemoryRates(shared),
        floods=MemoryFloods(shared),
        silences=MemorySilences(shared),
        memories=MemoryMemories(shared),
        spendings=MemorySpendings(shared),
        fetches=MemoryFetches(shared),
        blobs=MemoryBlobs(shared, blob_total_bytes),
        beats=MemoryBeats(shared),
        locks=MemoryLocks(shared),
        overview=MemoryOverview(shared),
        wakeups=MemoryWakeups(shared),
        close=close,
    )
