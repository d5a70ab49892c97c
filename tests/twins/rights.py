"""Rights over an empty store: what the operator's lists alone give."""

from __future__ import annotations

from kernel.access import Access, Rights, Standing
from kernel.chat import ConversationId
from kernel.stores.memory.grants import MemoryGrants
from kernel.stores.memory.people import MemoryPeople
from kernel.stores.memory.state import Memory
from tests.twins.clock import JumpingClock


def rights_of(access: Access, memory: Memory | None = None) -> Rights:
    """Who people are by `access`, and by what is granted in `memory`."""
    memory = memory or Memory(JumpingClock())
    return Rights(access, MemoryGrants(memory), MemoryPeople(memory))


async def everybody_is_allowed(_person: str, _conversation: ConversationId) -> Standing:
    """For tests that are about something else."""
    return Standing.ALLOWED
