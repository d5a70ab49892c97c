"""What people asked to be remembered, in Redis."""

from __future__ import annotations

from typing import cast

from kernel.ports import Shelf
from kernel.stores import keys
from kernel.stores.keys import encoded
from kernel.stores.redis.connect import Server


class RedisMemories:
    """`Memories` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def on(self, shelf: Shelf) -> tuple[str, ...]:
        """See `Memories.on`."""
        found = await self._server.ask("LRANGE", keys.MEMORIES.head + shelf_piece(shelf), 0, -1)
        return tuple(cast(list[str], found))


def shelf_piece(shelf: Shelf) -> str:
    """What follows the beginning of the shelf's key."""
    return f"{encoded(shelf.platform)}:{'person' if shelf.is_private else 'chat'}:{encoded(shelf.owner)}"
