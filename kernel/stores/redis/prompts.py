"""What tokens on buttons stand for, in Redis."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from kernel.chat import MessageRef
from kernel.codec import decode
from kernel.ports import PromptRecord
from kernel.stores import keys
from kernel.stores.redis.connect import Server, answering


class RedisPrompts:
    """`Prompts` over one Redis; records are stored by commits and firings."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def get(self, token: str) -> PromptRecord | None:
        """See `Prompts.get`."""
        async with answering():
            stored = cast(dict[str, str], await self._server.client.hgetall(keys.PROMPT.of(token)))
        if "record" not in stored:
            return None
        places = (stored[f"p{number + 1}"] for number in range(int(stored.get("places", 0))))
        return replace(
            decode(PromptRecord, stored["record"]),
            places=tuple(decode(MessageRef, place) for place in places),
            is_open=stored["open"] == "1",
        )
