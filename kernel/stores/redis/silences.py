"""What was not answered, in Redis: a short list for each chat."""

from __future__ import annotations

import json
from typing import cast

from kernel.chat import ConversationId
from kernel.ports.unanswered import KEEP_UNANSWERED, MAX_UNANSWERED, Silence, Unanswered
from kernel.stores import rules
from kernel.stores.keys import UNANSWERED
from kernel.stores.redis.connect import Server, answering


class RedisSilences:
    """`Silences` over one Redis. Told again because an answer was lost, a line may stand there twice."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def note(self, conversation: ConversationId, unanswered: Unanswered) -> None:
        """See `Silences.note`."""
        key = UNANSWERED.of(conversation.platform, conversation.chat)
        line = [rules.stamp(unanswered.at), unanswered.why.value, unanswered.name]
        async with answering(), self._server.client.pipeline() as batch:
            batch.rpush(key, json.dumps(line, ensure_ascii=False))
            batch.ltrim(key, -MAX_UNANSWERED, -1)
            batch.expire(key, KEEP_UNANSWERED)
            await batch.execute()

    async def of(self, conversation: ConversationId) -> tuple[Unanswered, ...]:
        """See `Silences.of`."""
        key = UNANSWERED.of(conversation.platform, conversation.chat)
        lines = cast(list[str], await self._server.ask("LRANGE", key, 0, -1))
        return tuple(Unanswered(rules.instant(at), Silence(why), name) for at, why, name in map(json.loads, lines))
